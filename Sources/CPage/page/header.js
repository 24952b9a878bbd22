// The top of the page: the light, the state, start and stop, and the way to the four views.
import { post } from "./api.js";
import { button, el, setText } from "./dom.js";
import { clock } from "./format.js";
import { Lamp } from "./light.js";
import { capitalized, isLive, rhythmOf, wordsOf } from "./rhythm.js";

export const views = [["live", "Live"], ["picture", "Picture"], ["recordings", "Recordings"], ["setup", "Set-up"]];

/** What the large button does with this status: `{ words, path, question }`. */
export function mainAction(status) {
  if (!status) return { words: "Start", isDisabled: true };
  if (status.state === "waiting for a press") return { words: "Allow", command: "webcam allow" };
  if (!status.isStreamWanted) return { words: "Start", path: "start", isDisabled: ["boot", "shutdown"].includes(status.state) };
  const question = isLive(status) ? "End the live stream? Viewers lose it at once." : null;
  return { words: "Stop", path: "stop", question, isDisabled: ["stopping", "shutdown"].includes(status.state) };
}

export class Header {
  constructor(page) {
    this.page = page;
    this.lamp = new Lamp();
    this.title = el("p", { class: "state-title" }, "Asking the camera");
    this.time = el("span", { class: "state-time" });
    this.advice = el("p", { class: "state-advice" });
    this.main = button("Start", (event) => page.act(event.currentTarget, () => this.press()), { class: "strong main-action" });
    this.links = views.map(([address, name]) => el("a", { href: `#${address}` }, name));
    this.nav = el("nav", { class: "views", "aria-label": "Views" }, this.links);
    this.lost = el("p", { class: "lost", role: "alert", hidden: true });
    this.element = el("div", { class: "top-inner" }, this.lamp.element,
      el("div", { class: "state-words" }, el("div", { class: "state-line" }, this.title, this.time), this.advice), this.main, this.nav);
  }

  async press() {
    const { path, command, question } = mainAction(this.page.status);
    if (question && !(await this.page.confirm(question, "End the stream", "Keep streaming"))) return;
    if (command) await this.page.command(command);
    else await post(path);
    this.page.refresh();
  }

  update(status) {
    const { title, advice } = wordsOf(status);
    const time = isLive(status) ? clock(status.liveSeconds) : "";
    this.lamp.show(rhythmOf(status));
    setText(this.title, title);
    setText(this.time, time);
    const also = status?.recording?.state === "recording" && status.state !== "recording" ? " It is recorded, too." : "";
    setText(this.advice, advice + also);
    const action = mainAction(status);
    setText(this.main, action.words);
    this.main.disabled = action.isDisabled === true;
    document.title = `${isLive(status) ? "● " : ""}${title} – ${location.hostname}`;
    if (title !== this.announced && this.announced !== undefined) this.page.announce(`${capitalized(title)}. ${advice}`);
    this.announced = title;
  }

  mark(address) {
    this.links.forEach((link, index) => {
      if (views[index][0] === address) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    });
  }

  /** @param words why nothing is known now; empty when the camera answers again */
  showLost(words) {
    setText(this.lost, words);
    this.lost.hidden = words === "";
    document.body.classList.toggle("is-lost", words !== "");
    if (words !== "") this.lamp.show(null);
  }
}
