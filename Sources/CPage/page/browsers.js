// The paired browsers.
import { get, remove } from "./api.js";
import { button, el, replace } from "./dom.js";
import { dateTime } from "./format.js";

export class BrowsersPanel {
  constructor(page) {
    this.page = page;
    this.list = el("ul", { class: "plain" });
    this.element = el("div", {}, el("p", {}, "Each of them can see and steer the camera. A new one needs a press of the button."), this.list);
  }

  async shown() {
    try {
      const keys = await get("keys");
      replace(this.list, keys.map((key) => this.row(key)));
    } catch (error) {
      if (error.status !== 0) this.page.fail(error);
    }
  }

  row({ id, name, created, current }) {
    const words = current ? "Unpair" : "Remove";
    return el("li", { class: "spread" }, el("div", {}, el("strong", {}, name), current && el("span", { class: "state" }, " this browser"),
      el("p", { class: "numbers" }, created ? `paired ${dateTime(created)}` : "paired while the clock was not set")),
    button(words, (event) => this.page.act(event.currentTarget, () => this.revoke(id, name, current)), { "aria-label": `${words}: ${name}` }));
  }

  async revoke(id, name, isCurrent) {
    const question = isCurrent ? "Unpair this browser? You need a press of the button to come back." : `Remove ${name}? It needs a press of the button to come back.`;
    if (!(await this.page.confirm(question, isCurrent ? "Unpair" : "Remove"))) return;
    await remove(`keys/${encodeURIComponent(id)}`);
    await this.shown();
  }
}
