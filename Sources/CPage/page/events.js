// The camera's latest events, in its own words. The WebSocket only tells that there are new ones.
import { get, socket } from "./api.js";
import { el, replace } from "./dom.js";
import { Repeater, backOff } from "./retry.js";

/** Seconds without the WebSocket's hint after which the list is read again anyway. */
const patience = 20;

export class EventList {
  constructor(page) {
    this.page = page;
    this.list = el("ol", { class: "events", tabindex: "0", "aria-label": "Latest events, newest first" });
    this.element = this.list;
    this.reader = new Repeater(() => this.read(), { interval: () => patience });
    this.failures = 0;
  }

  start() {
    this.isOn = true;
    this.reader.start();
    this.follow();
  }

  stop() {
    this.isOn = false;
    this.reader.stop();
    clearTimeout(this.timer);
    clearTimeout(this.hint);
    this.hint = null;
    this.socket?.close();
  }

  async read() {
    const { lines } = await get("events");
    const key = lines.join("\n");
    if (key === this.key) return;
    this.key = key;
    replace(this.list, [...lines].reverse().map((line) => el("li", {}, line)), lines.length === 0 && el("li", {}, "No events yet."));
  }

  follow() {
    const opened = socket("events/live");
    this.socket = opened;
    opened.onopen = () => { this.failures = 0; };
    opened.onmessage = ({ data }) => this.heard(data);
    opened.onclose = () => {
      if (!this.isOn || this.socket !== opened) return;
      this.failures += 1;
      this.timer = setTimeout(() => this.follow(), backOff(this.failures) * 1000);
    };
  }

  /** Several events of one moment are read together. `status` comes every few seconds and is not in the list. */
  heard(data) {
    if (typeof data !== "string" || data.includes('"name":"status"') || this.hint) return;
    this.hint = setTimeout(() => {
      this.hint = null;
      this.reader.now();
    }, 500);
    if (data.includes('"name":"deviceStateChanged"')) this.page.refresh();
  }
}
