// The graph of the last ten minutes: rates above, the send buffer below, changes of quality as marks.
import { el, replace, setText, svg } from "./dom.js";
import { bitRate } from "./format.js";
import { historySeconds } from "./history.js";

/** 1, 2, 2.5, 5 or 10 times a power of ten, and at least this number. */
export function roundUp(number) {
  if (!(number > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(number));
  return [1, 2, 2.5, 5, 10].map((step) => step * power).find((step) => step >= number * 0.9999);
}

/** The parts of a line, which is interrupted where a value is missing, or no sample was taken for 20 s. */
export function segments(samples, name) {
  const parts = [];
  let previous;
  for (const sample of samples) {
    const isThere = sample[name] !== undefined;
    const goesOn = isThere && previous?.[name] !== undefined && sample.time - previous.time < 20;
    if (isThere && !goesOn) parts.push([]);
    if (isThere) parts.at(-1).push([sample.time, sample[name]]);
    previous = sample;
  }
  return parts;
}

/** An SVG path. @param place maps time and value to x and y @param isStepped whether a value holds until the next */
export function path(parts, place, isStepped = false) {
  let text = "";
  for (const part of parts) {
    part.forEach(([time, value], index) => {
      const [x, y] = place(time, value).map((number) => Math.round(number * 10) / 10);
      if (index === 0) text += `M${x} ${y}h0.1`;
      else text += isStepped ? `H${x}V${y}` : `L${x} ${y}`;
    });
  }
  return text;
}

export function area(parts, place) {
  return parts.map((part) => {
    const base = place(0, 0)[1];
    const [left, right] = [place(part[0][0], 0)[0], place(part.at(-1)[0], 0)[0]].map((x) => Math.round(x * 10) / 10);
    return `${path([part], place)}V${base}H${left}Z`.replace(`H${right}Z`, "Z");
  }).join("");
}

export function summary(samples, changes) {
  const sent = samples.map((sample) => sample.sent).filter((value) => value !== undefined);
  if (sent.length === 0) return "Nothing was sent while this page was open.";
  const buffered = Math.max(...samples.map((sample) => sample.buffered ?? 0));
  const [least, most] = [Math.min(...sent), Math.max(...sent)];
  return `Sent between ${bitRate(least)} and ${bitRate(most)}; at most ${buffered.toFixed(2)} s buffered; `
    + (changes.length === 1 ? "1 change of quality." : `${changes.length} changes of quality.`);
}

const lines = [
  ["target", "Target", "line-target"],
  ["sent", "Sent", "line-sent"],
  ["acknowledged", "Arrived", "line-acknowledged"],
];
const frame = { left: 4, right: 4, top: 14, rates: 130, gap: 26, buffer: 44, bottom: 20 };
const height = frame.top + frame.rates + frame.gap + frame.buffer + frame.bottom;

export class Graph {
  constructor() {
    this.image = svg("svg", { class: "graph", height, role: "img", "aria-label": "" });
    this.values = Object.fromEntries(["target", "sent", "acknowledged", "buffered"].map((name) => [name, el("dd", {}, "–")]));
    const entry = (name, label, style) =>
      el("div", {}, el("dt", {}, svg("svg", { class: "key", width: 22, height: 10, "aria-hidden": "true" },
        svg("path", { class: style, d: style === "area-buffer" ? "M0 2H22V9H0Z" : "M0 5H22" })), label), this.values[name]);
    this.legend = el("dl", { class: "legend" },
      lines.map(([name, label, style]) => entry(name, label, style)), entry("buffered", "Buffer", "area-buffer"));
    this.element = el("figure", {}, this.legend, this.image);
    this.width = 600;
    new ResizeObserver(([entry]) => {
      this.width = Math.max(200, Math.floor(entry.contentRect.width));
      if (this.drawn) this.draw(...this.drawn);
    }).observe(this.element);
    this.image.addEventListener("pointermove", (event) => this.point(event));
    this.image.addEventListener("pointerleave", () => this.point(null));
  }

  /** @param now in seconds, on the history's clock */
  draw(history, now) {
    this.drawn = [history, now];
    const { samples, changes } = history;
    const scale = this.scale(samples, now);
    this.image.setAttribute("width", this.width);
    this.image.setAttribute("aria-label", `Graph of the last ten minutes. ${summary(samples, changes)}`);
    replace(this.image, ...this.grid(scale), ...this.marks(changes, scale), ...this.curves(samples, scale));
    this.cursor = svg("path", { class: "cursor", d: "" });
    this.image.append(this.cursor);
    this.show(this.pointed === undefined ? history.latest : this.nearest(this.pointed));
  }

  scale(samples, now) {
    const most = Math.max(100_000, ...samples.flatMap((sample) => [sample.target ?? 0, sample.sent ?? 0, sample.acknowledged ?? 0]));
    const [topRate, topBuffer] = [roundUp(most), roundUp(Math.max(1, ...samples.map((sample) => sample.buffered ?? 0)))];
    const x = (time) => frame.left + (1 - (now - time) / historySeconds) * (this.width - frame.left - frame.right);
    const bufferBase = height - frame.bottom;
    return {
      topRate, topBuffer, x, bufferBase, now,
      rate: (time, value) => [x(time), frame.top + (1 - value / topRate) * frame.rates],
      buffer: (time, value) => [x(time), bufferBase - (value / topBuffer) * frame.buffer],
    };
  }

  grid({ topRate, topBuffer, x, now, bufferBase }) {
    const right = this.width - frame.right;
    const [rateBase, bufferTop] = [frame.top + frame.rates, bufferBase - frame.buffer];
    const across = [frame.top, frame.top + frame.rates / 2, rateBase, bufferTop, bufferBase];
    const parts = across.map((y) => svg("path", { class: "grid", d: `M${frame.left} ${y}H${right}` }));
    const text = (words, x, y, anchor = "start") => svg("text", { x, y, "text-anchor": anchor }, words);
    for (let minutes = 10; minutes >= 0; minutes -= 2) {
      const at = x(now - minutes * 60);
      const anchor = minutes === 10 ? "start" : minutes === 0 ? "end" : "middle";
      parts.push(text(minutes === 0 ? "now" : `${minutes} min`, at, height - 5, anchor));
    }
    parts.push(text(bitRate(topRate), frame.left, frame.top - 4), text(bitRate(topRate / 2), frame.left, frame.top + frame.rates / 2 - 4));
    parts.push(text(`${topBuffer} s buffered`, frame.left, bufferTop - 4));
    return parts;
  }

  marks(changes, { x, bufferBase }) {
    return changes.slice(-40).map(({ time, quality }) =>
      svg("path", { class: "mark", d: `M${Math.round(x(time))} ${frame.top}V${bufferBase}` }, svg("title", {}, quality)));
  }

  curves(samples, { rate, buffer }) {
    const buffered = segments(samples, "buffered");
    const curves = lines.map(([name, , style]) =>
      svg("path", { class: style, d: path(segments(samples, name), rate, name === "target") }));
    return [svg("path", { class: "area-buffer", d: area(buffered, buffer) }), ...curves.reverse()];
  }

  nearest(x) {
    const [history, now] = this.drawn;
    const time = now - (1 - (x - frame.left) / (this.width - frame.left - frame.right)) * historySeconds;
    return history.samples.reduce((best, sample) => (Math.abs(sample.time - time) < Math.abs(best.time - time) ? sample : best),
      history.samples[0]);
  }

  point(event) {
    if (!this.drawn || !this.cursor) return;
    this.pointed = event ? event.clientX - this.image.getBoundingClientRect().left : undefined;
    this.cursor.setAttribute("d", event ? `M${Math.round(this.pointed)} ${frame.top}V${height - frame.bottom}` : "");
    this.show(event ? this.nearest(this.pointed) : this.drawn[0].latest);
  }

  show(sample) {
    for (const [name] of lines) setText(this.values[name], bitRate(sample?.[name]));
    setText(this.values.buffered, sample?.buffered === undefined ? "–" : `${sample.buffered.toFixed(2)} s`);
  }
}
