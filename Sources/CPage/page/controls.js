// Each control's words for people, and how its value is chosen: docs/reference/controls.md.
import { decimal } from "./format.js";
import { capitalized } from "./rhythm.js";

/** Label, group and kind. A control that is not here is shown by what the camera says of it. */
const known = {
  focus: ["Focus", "Focus"],
  "focus-point": ["Focus on", "Focus", "area"],
  lens: ["Lens distance", "Focus"],
  exposure: ["Exposure", "Exposure"],
  "exposure-time": ["Exposure time", "Exposure", "time"],
  gain: ["Gain", "Exposure"],
  "exposure-value": ["Brighter or darker", "Exposure"],
  metering: ["Metering", "Exposure"],
  "exposure-point": ["Expose for", "Exposure", "area"],
  "white-balance": ["White balance", "Color", "temperature"],
  brightness: ["Brightness", "Color"],
  contrast: ["Contrast", "Color"],
  saturation: ["Saturation", "Color"],
  sharpness: ["Sharpness", "Color"],
  denoise: ["Noise reduction", "Color"],
  zoom: ["Zoom", "View"],
  "zoom-center": ["Zoom to", "View", "point"],
  mirror: ["Mirror", "View", "flag"],
  flip: ["Upside down", "View", "flag"],
  torch: ["Torch", "Light"],
  webcam: ["USB webcam", "Others", "flag"],
};
export const groups = ["View", "Focus", "Exposure", "Color", "Light", "Others"];
const elsewhere = new Set(["microphone-gain", "mute"]);
/** A choice that means gains of any value; those are typed as numbers elsewhere. */
const gainsMark = "RED/BLUE";

/** How a control is shown; null if another part of the page shows it. */
export function described(control) {
  if (elsewhere.has(control.name)) return null;
  const [label, group, kind] = known[control.name] ?? [capitalized(control.name.replaceAll("-", " ")), "Others"];
  const words = (control.choices ?? []).filter((word) => word !== gainsMark);
  const hasRange = Number.isFinite(control.minimum) && Number.isFinite(control.maximum) && control.maximum > control.minimum;
  const isFlag = kind === "flag" || words.join() === "on,off";
  return {
    name: control.name, label, group, words, missing: control.missing, value: control.value, reported: control.reported,
    kind: isFlag ? "flag" : kind === "area" || kind === "point" ? kind : hasRange ? "number" : words.length > 0 ? "word" : "none",
    range: hasRange ? [control.minimum, control.maximum] : null,
    unit: kind === "temperature" ? "K" : control.unit ?? "",
    isLogarithmic: kind === "time" || (control.name === "gain" && control.minimum > 0),
    suffix: kind === "temperature" ? "K" : "",
  };
}

export const sliderSteps = 400;

/** A slider's position for a value, and back. Times are set by their ratio, not by their difference. */
export function toPosition(value, [least, most], isLogarithmic) {
  const clamped = Math.min(most, Math.max(least, value));
  const part = isLogarithmic ? Math.log(clamped / least) / Math.log(most / least) : (clamped - least) / (most - least);
  return Math.round(part * sliderSteps);
}

export function fromPosition(position, [least, most], isLogarithmic) {
  const part = position / sliderSteps;
  const value = isLogarithmic ? least * (most / least) ** part : least + part * (most - least);
  if (position <= 0) return least;
  if (position >= sliderSteps) return most;
  // As many digits as a step can be told apart by, and no value beyond the range.
  const step = isLogarithmic ? value * 0.01 : (most - least) / sliderSteps;
  const digits = Math.min(3, Math.max(0, Math.ceil(-Math.log10(step))));
  return Math.min(most, Math.max(least, Number(value.toFixed(digits))));
}

const reportedNumber = {
  gain: /gain ([\d.]+)/, "exposure-time": /([\d.]+) ms/, "white-balance": /([\d.]+)K/, lens: /([\d.]+) dioptres/,
};

/** The number that a control has now: its value or, while that is a word such as `auto`, what the camera reports. */
export function numberOf(control) {
  const value = Number.parseFloat(control.value);
  if (Number.isFinite(value)) return value;
  const pattern = reportedNumber[control.name] ?? /^(-?[\d.]+)/;
  const reported = Number.parseFloat((control.reported ?? "").match(pattern)?.[1]);
  return Number.isFinite(reported) ? reported : control.range[0];
}

export function valueWords(number, { unit, name }) {
  if (name === "exposure-time" && number < 500) return `1/${Math.round(1000 / number)} s`;
  return [decimal(number), unit].filter(Boolean).join(" ");
}

/** A point as the camera takes it: at most three decimals. */
export function pointText({ x, y }) {
  return `${decimal(x)},${decimal(y)}`;
}

/** The middle of a point or an area, or null for a word. */
export function middleOf(value) {
  const numbers = (value ?? "").split(",").map(Number);
  if (numbers.some((number) => !Number.isFinite(number)) || ![2, 4].includes(numbers.length)) return null;
  const [left, top, width = 0, height = 0] = numbers;
  return { x: left + width / 2, y: top + height / 2 };
}

/** Gains and mutes of microphones, from "1: 6.0 dB by the card, 2: not open" and "1: heard, 2: muted". */
export function microphonesOf(controls) {
  const parts = (name) => {
    const text = controls.find((control) => control.name === name)?.reported ?? "";
    const found = new Map();
    for (const [, number, words] of text.matchAll(/(?:^|, )(\d+): (.*?)(?=, \d+: |$)/g)) found.set(Number(number), words);
    return found;
  };
  const [gains, mutes] = [parts("microphone-gain"), parts("mute")];
  return [...new Set([...gains.keys(), ...mutes.keys()])].sort((a, b) => a - b).map((number) => {
    const gain = [...(gains.get(number) ?? "").matchAll(/(-?[\d.]+) dB/g)].reduce((sum, match) => sum + Number(match[1]), 0);
    return { number, gain, isMuted: mutes.get(number) === "muted", words: gains.get(number) ?? "" };
  });
}
