// Set-up: the files of the card, the paired browsers, the check-up.
import { el, replace } from "./dom.js";
import { BrowsersPanel } from "./browsers.js";
import { CheckupPanel } from "./checkup.js";
import { FilePanel } from "./file.js";

/** Address, name, and what makes it. */
const panels = [
  ["stream", "Stream", (page) => new FilePanel(page, "stream.json")],
  ["device", "Device", (page) => new FilePanel(page, "device.json")],
  ["network", "Network", (page) => new FilePanel(page, "network.json")],
  ["board", "Board", (page) => new FilePanel(page, "board.json")],
  ["browsers", "Browsers", (page) => new BrowsersPanel(page)],
  ["checkup", "Check-up", (page) => new CheckupPanel(page)],
];

export class SetupView {
  constructor(page) {
    this.page = page;
    this.made = new Map();
    this.links = panels.map(([address, name]) => el("a", { href: `#setup/${address}`, class: "button" }, name));
    this.heading = el("h2");
    this.place = el("div");
    this.element = el("div", { class: "setup" }, el("nav", { class: "tabs", "aria-label": "Set-up" }, this.links),
      el("section", { class: "card", "aria-label": "Settings" }, this.heading, this.place));
    addEventListener("beforeunload", (event) => {
      if ([...this.made.values()].some((panel) => panel.isChanged)) event.preventDefault();
    });
  }

  get title() { return "Set-up"; }

  /** @param address the part of the page's address after `#setup/` */
  shown(address) {
    const index = Math.max(0, panels.findIndex(([name]) => name === address));
    const [name, words, make] = panels[index];
    if (!this.made.has(name)) this.made.set(name, make(this.page));
    this.links.forEach((link, position) => {
      if (position === index) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    });
    const panel = this.made.get(name);
    if (this.heading.textContent !== words) scrollTo(0, 0);
    this.heading.textContent = words;
    replace(this.place, panel.element);
    panel.shown();
  }

  hidden() {}

  update() {}
}
