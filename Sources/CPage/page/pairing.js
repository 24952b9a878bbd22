// Pairing: a press of the camera's button lets this browser in.
import { APIError, get, post } from "./api.js";
import { button, el, setText } from "./dom.js";
import { clock } from "./format.js";
import { Lamp } from "./light.js";
import { Repeater } from "./retry.js";
import { capitalized, rhythms } from "./rhythm.js";

/**
 * What to show for the state of pairing: `{ title, words, action, isWaiting }`.
 * @param isAsked whether this page has asked
 * @param wereOthers whether other browsers waited until now
 */
export function pairingWords({ state, seconds, press, code, others }, isAsked, wereOthers = false) {
  switch (state) {
    case "waiting": {
      if (others > 0) {
        return {
          title: "Do not press yet",
          words: `Another browser asks as well, so a press only ends both attempts. The console can allow code ${code}.`,
          isWaiting: true, seconds, code,
        };
      }
      const twice = press === "doublePress";
      return {
        title: twice ? "Press the button twice" : "Press the button on the camera",
        words: twice ? "The camera is live, and a single press would stop it: press the button twice, quickly."
          : "One short press lets this browser in. The light answers the press.",
        isWaiting: true, seconds, code,
      };
    }
    case "expired":
      if (isAsked && wereOthers) {
        return { title: "Nobody was let in", words: "Several browsers asked at once. Ask again with one.", action: "Ask again" };
      }
      // Also what the camera says of an attempt of yesterday.
      if (!isAsked) return pairingWords({ state: "none" }, false);
      return { title: "The time is over", words: "Nobody pressed the button within two minutes.", action: "Ask again" };
    case "granted":
    case "paired":
      return { title: "Paired", words: "This browser can see and steer the camera now." };
    default:
      return {
        title: isAsked ? "The camera no longer waits" : "Pair this browser",
        words: "Whoever can reach the camera's button may use this page: pairing takes one press, within two minutes.",
        action: "Pair",
      };
  }
}

export class PairingView {
  /** @param paired called when this browser has a key */
  constructor(page, paired) {
    this.page = page;
    this.paired = paired;
    this.lamp = new Lamp({ class: "lamp large" });
    this.name = el("p", { class: "camera-name" });
    this.heading = el("h1", { tabindex: "-1" });
    this.words = el("p", {});
    this.time = el("p", { class: "countdown", role: "timer" });
    this.problem = el("p", { class: "problem", role: "alert" });
    this.action = button("Pair", (event) => page.act(event.currentTarget, () => this.ask()), { class: "strong wide" });
    this.element = el("section", { class: "pairing card", "aria-label": "Pairing" }, this.lamp.element, this.name, this.heading,
      this.words, this.time, this.problem, this.action);
    this.reader = new Repeater(() => this.read(), { interval: () => 1, failed: (error) => this.failed(error),
      succeeded: () => this.failed(null) });
    this.show({ state: "none" });
  }

  start() { this.reader.start(); }

  stop() { this.reader.stop(); }

  async read() {
    const answer = await get("pairing");
    // Another site can put a foreign attempt into this browser: a press for that one would let the other in.
    if (answer.state === "waiting" && answer.code !== this.code) answer.state = "none";
    this.show(answer);
    if (answer.state !== "granted" && answer.state !== "paired") return;
    this.stop();
    this.paired(answer);
  }

  async ask() {
    this.isAsked = true;
    this.refusal = null;
    try {
      const answer = await post("pairing");
      this.code = answer.code;
      this.show(answer);
      this.failed(null);
    } catch (error) {
      if (!(error instanceof APIError)) throw error;
      this.failed(error);
    }
    this.reader.now();
  }

  /** A refusal stays until the next attempt; a lost connection until the camera answers. */
  failed(error) {
    if (error === null && this.refusal) return;
    this.refusal = error && error.status !== 0 ? error : null;
    setText(this.problem, error ? capitalized(error.message) : "");
  }

  show(answer) {
    const { title, words, action, isWaiting, seconds, code } = pairingWords(answer, this.isAsked, this.others > 0);
    if (isWaiting) this.others = answer.others;
    if (isWaiting) this.refusal = null;
    if (answer.name) setText(this.name, answer.name);
    else if (!this.name.textContent) setText(this.name, location.hostname);
    setText(this.heading, title);
    setText(this.words, words);
    setText(this.time, isWaiting ? `${clock(seconds)}, code ${code}` : "");
    this.lamp.show(isWaiting ? rhythms.pairing : null);
    this.action.hidden = action === undefined;
    if (action) setText(this.action, action);
    if (title === this.title) return;
    this.title = title;
    this.page.announce(`${title}. ${words}`);
  }
}
