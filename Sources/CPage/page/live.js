// What is sent, what arrived, what is wrong, and what happened.
import { el, freshID, replace, section, setText, switchField } from "./dom.js";
import { bitRate, bytes, count } from "./format.js";
import { Graph } from "./graph.js";
import { acknowledgedBytes } from "./history.js";
import { EventList } from "./events.js";
import { faultItem } from "./faults.js";
import { isLive } from "./rhythm.js";

/** Names and values of what is sent, for a status with or without a stream. */
export function sentRows(status) {
  const isSending = status.width !== undefined;
  return [
    ["Quality", status.quality ?? "–"],
    ["Frame size", isSending ? `${status.width}×${status.height}` : "–"],
    ["Bit rate", isSending ? bitRate(status.bitsPerSecond) : "–"],
    ["Target", isSending ? bitRate(status.targetBitsPerSecond) : "–"],
    ["Frame rate", isSending ? `${status.framesPerSecond.toFixed(1)} fps` : "–"],
    ["Buffered", isSending ? `${status.bufferedSeconds.toFixed(2)} s` : "–"],
    ["Encoder", encoderWords(status.encoder)],
    ["Frames sent", isSending ? count(status.videoFrames) : "–"],
    ["Skipped", isSending ? count(status.videoSkipped) : "–"],
    ["Dropped", isSending ? count(status.videoDropped) : "–"],
  ];
}

function encoderWords(encoder) {
  if (encoder === "openh264") return "Software";
  return encoder?.startsWith("v4l2:") ? "Hardware" : encoder ?? "–";
}

/** The servers of a status: one without a name if `stream.json` has no list of targets. */
export function targetsOf(status) {
  if (status.targets?.length > 0) return status.targets;
  if (!status.destination) return [];
  const state = isLive(status) || ["connecting", "reconnecting", "stopping"].includes(status.state) ? status.state : "off";
  return [{
    destination: status.destination, state, leading: true, bufferedSeconds: status.bufferedSeconds,
    videoFrames: status.videoFrames, videoDropped: status.videoDropped, deliveredBytes: acknowledgedBytes(status),
  }];
}

class TargetRow {
  constructor(target, page) {
    this.name = target.name;
    this.title = el("strong", {}, target.name ?? "Server");
    this.state = el("span", { class: "state" });
    this.destination = el("p", { class: "address" });
    this.numbers = el("p", { class: "numbers" });
    const control = target.name && switchField(`Send to ${target.name}`, false, (isOn) => this.turn(isOn, page));
    this.input = control?.input;
    this.element = el("li", { class: "target" }, el("p", { class: "spread" }, this.title, this.state), this.destination,
      this.numbers, control?.row);
  }

  async turn(isOn, page) {
    this.isWaiting = true;
    await page.command(`target ${this.name} ${isOn ? "on" : "off"}`);
    this.isWaiting = false;
    page.refresh();
  }

  update(target) {
    const leads = target.leading && target.name ? ", leads the quality" : "";
    setText(this.state, target.state + leads);
    setText(this.destination, target.reason ? `${target.destination}: ${target.reason}` : target.destination);
    const arrived = target.deliveredBytes === undefined ? "" : `${bytes(target.deliveredBytes)} arrived`;
    const buffered = target.bufferedSeconds === undefined ? "" : `${target.bufferedSeconds.toFixed(2)} s buffered`;
    const dropped = target.videoDropped ? `${count(target.videoDropped)} frames dropped` : "";
    setText(this.numbers, [arrived, buffered, dropped].filter(Boolean).join(" · "));
    if (this.input && !this.isWaiting) this.input.checked = target.state !== "off";
  }
}

export class LiveView {
  constructor(page) {
    this.page = page;
    this.graph = new Graph();
    this.events = new EventList(page);
    this.values = sentRows({}).map(([name]) => [name, el("dd", {}, "–")]);
    this.targets = el("ul", { class: "plain" });
    this.rows = [];
    this.faults = el("ul", { class: "plain" });
    const id = freshID("faults");
    this.faultCard = el("section", { class: "card warning", "aria-labelledby": id, hidden: true },
      el("h2", { id }, "What is wrong"), this.faults);
    this.element = el("div", { class: "columns" },
      el("div", {}, this.faultCard,
        section("Sending", el("dl", { class: "facts" }, this.values.map(([name, value]) => el("div", {}, el("dt", {}, name), value)))),
        section("Servers", this.targets)),
      el("div", {}, section("Last ten minutes", this.graph.element), section("Events", this.events.element)));
  }

  get title() { return "Live"; }

  shown() {
    this.isShown = true;
    this.events.start();
    this.update();
  }

  hidden() {
    this.isShown = false;
    this.events.stop();
  }

  /** A new status, or the page has become visible. */
  update() {
    const { status, history } = this.page;
    if (!this.isShown || !status) return;
    sentRows(status).forEach(([, value], index) => setText(this.values[index][1], value));
    this.updateTargets(targetsOf(status));
    this.updateFaults(status);
    this.graph.draw(history, performance.now() / 1000);
  }

  updateTargets(targets) {
    const names = targets.map((target) => target.name).join();
    if (names !== this.names) {
      this.names = names;
      this.rows = targets.map((target) => new TargetRow(target, this.page));
      const none = el("li", {}, "None: set one in the ", el("a", { href: "#setup/stream" }, "stream settings"), ".");
      replace(this.targets, this.rows.length > 0 ? this.rows.map((row) => row.element) : none);
    }
    targets.forEach((target, index) => this.rows[index].update(target));
  }

  updateFaults({ faults = [], details = [] }) {
    const key = JSON.stringify([faults, details]);
    if (key === this.faultKey) return;
    this.faultKey = key;
    this.faultCard.hidden = faults.length + details.length === 0;
    replace(this.faults, faults.map(faultItem),
      details.length > 0 && el("li", {}, el("p", {}, "The camera says:"), el("ul", {}, details.map((text) => el("li", {}, text)))));
  }
}
