// Forms for the keys that people change most. Each field edits the file's text.
import { get as read } from "./api.js";
import { button, el, field, replace, select, switchField, whileDisabled } from "./dom.js";
import { get, remove, set } from "./jsontext.js";
import { services, serviceOf } from "./services.js";

/** What the camera shows in place of a secret; sent back, it keeps that secret. */
const kept = /^\(kept( \d+)?\)$/;

const qualities = [["", "The camera's default"], ..."Low1 Low2 Low3 Medium1 Medium2 Medium3 High1 High2 High3".split(" ")
  .map((name, index) => [name, `${name}: ${[150, 264, 350, 512, 800, 1000, 1200, 1500, 2000][index]} kbit/s`]),
["3M", "3 Mbit/s"], ["4.5M", "4.5 Mbit/s"], ["6M@60", "6 Mbit/s, 60 frames per second"]];

/** Label, path and choices. The first choice stands for the default: it removes the key. */
export const deviceFields = [
  ["Picture", [
    ["Camera", ["camera"], [["", "The first camera that gives frames"], ["front", "Front"], ["back", "Back"], ["external", "USB camera"],
      ["synthetic", "Test pattern"]]],
    ["Frame size", ["dimension"], [["", "640×480"], ["640x360", "640×360"], ["1280x720", "1280×720"], ["1920x1080", "1920×1080"]]],
    ["Turned clockwise by", ["orientation"], [["", "0°"], [90, "90°"], [180, "180°"], [270, "270°"]]],
    ["Mirrored", ["mirrored"], "switch"],
  ]],
  ["Quality", [
    ["Lowest", ["quality", "lowest"], qualities], ["At the start", ["quality", "start"], qualities],
    ["Highest", ["quality", "highest"], qualities],
  ]],
  ["Sound", [
    ["Source", ["audio", "source"], [["", "A microphone if there is one, else silence"], ["microphone", "A microphone"],
      ["silence", "Silence"], ["none", "No sound at all"]]],
  ]],
  ["Button and start", [
    ["Go live when switched on", ["startAtBoot"], "switch"],
    ["Two short presses", ["doublePress"], [["", "Nothing"], ["snapshot", "Snapshot"], ["camera", "Next camera"], ["mute", "Mute"],
      ["pause", "Pause"], ["torch", "Torch"], ["record", "Record"]]],
    ["Torch", ["torch"], [["", "Off"], ["on", "On"], ["live", "While live"], ["auto", "While live in the dark"]]],
  ]],
  ["Recording and outputs", [
    ["Record", ["record", "when"], [["", "When asked"], ["live", "While live"], ["always", "Always"], ["off", "Never"]]],
    ["Keep", ["record", "keep"], [["", "The newest: old ones are deleted"], ["all", "All: a full disk ends the recording"]]],
    ["HDMI display", ["preview", "display"], [["", "Off"], ["hdmi", "Shows what is sent"]]],
    ["USB webcam", ["webcam"], [["", "Off"], [true, "On"], ["ask", "On, after a press of the button"]]],
  ]],
];

/** Keys that may be a word in place of an object: `"record": "live"`. */
const shorthands = { record: "when", preview: "display" };

/** The value that a path has, also where its object is written as a word. */
export function valueAt(text, path) {
  if (text.trim() === "") return undefined;
  const value = get(text, path);
  if (value !== undefined || path.length !== 2 || shorthands[path[0]] !== path[1]) return value;
  const word = get(text, [path[0]]);
  return typeof word === "string" ? word : undefined;
}

/** The text with a form's value; an empty one removes the key. */
export function withValue(text, path, value) {
  const isEmpty = value === "" || value === undefined || value === false;
  if (!isEmpty) {
    const word = path.length === 2 && shorthands[path[0]] ? valueAt(text, [path[0]]) : undefined;
    // Another key beside a word: the word becomes an object first.
    const base = typeof word === "string" ? set(text, [path[0]], { [shorthands[path[0]]]: word }) : text;
    return set(base, path, value);
  }
  if (text.trim() === "") return text;
  const changed = path.length === 2 && shorthands[path[0]] === path[1] && typeof valueAt(text, [path[0]]) === "string"
    ? remove(text, [path[0]]) : remove(text, path);
  const parent = path.length > 1 && typeof path[0] === "string" ? get(changed, [path[0]]) : undefined;
  // An object that has become empty goes, too.
  const isHollow = parent && typeof parent === "object" && !Array.isArray(parent) && Object.keys(parent).length === 0;
  return isHollow ? remove(changed, [path[0]]) : changed;
}

/** What a form's fields work on. */
class Form {
  /** @param file has `text` and `edit(text)` */
  constructor(file) {
    this.file = file;
  }

  value(path) { return valueAt(this.file.text, path); }

  change(path, value, redraws = false) { this.file.edit(withValue(this.file.text, path, value), redraws); }

  text(label, path, options = {}) {
    const { help, redraws, ...attributes } = options;
    const value = this.value(path);
    const input = el("input", { type: "text", value: value ?? "", autocomplete: "off", autocapitalize: "off", spellcheck: "false",
      "data-key": keyName(path), ...attributes, onchange: () => this.change(path, input.value.trim(), redraws) });
    return field(label, input, help);
  }

  /** Write-only: what is stored is never shown, and an empty input keeps it. */
  secret(label, path, help) {
    const stored = this.value(path) ?? "";
    const isStored = kept.test(stored);
    const input = el("input", { type: "password", value: isStored ? "" : stored, autocomplete: "new-password",
      "data-key": keyName(path), placeholder: isStored ? "stored; type to replace it" : "",
      onchange: () => this.change(path, input.value.trim() || (isStored ? stored : "")) });
    const show = button("Show", () => {
      const isShown = input.type === "text";
      input.type = isShown ? "password" : "text";
      show.textContent = isShown ? "Show" : "Hide";
    }, { "aria-label": `Show or hide: ${label}` });
    const whole = field(label, input, help);
    const joined = el("div", { class: "joined" });
    input.replaceWith(joined);
    joined.append(input, show);
    return whole;
  }

  choice(label, path, choices, redraws) {
    const value = this.value(path);
    const isKnown = value === undefined || choices.some(([choice]) => choice === value);
    const all = isKnown ? choices : [...choices, [value, typeof value === "object" ? "as written in the text" : String(value)]];
    // Numbers and `true` are values, too, so a choice is known by its place.
    const places = all.map(([, words], index) => [String(index), words]);
    const now = Math.max(0, all.findIndex(([choice]) => choice === (value ?? "")));
    return field(label, select(places, String(now), (index) => this.change(path, all[index][0], redraws), { "data-key": keyName(path) }));
  }

  flag(label, path) {
    return switchField(label, this.value(path) === true, (isOn) => this.change(path, isOn), { "data-key": keyName(path) }).row;
  }
}

/** As faults name keys: `wifi[0].password`. */
export function keyName(path) {
  return path.map((key, index) => (typeof key === "number" ? `[${key}]` : index === 0 ? key : `.${key}`)).join("");
}

const group = (title, ...parts) => el("fieldset", { class: "group" }, el("legend", {}, title), parts);

function serverFields(form, base) {
  const url = form.value([...base, "url"]);
  const service = serviceOf(url);
  const other = url ? "other" : "";
  const choices = [["", "Choose…"], ...services.map(({ name, url: address }) => [address, name]), ["other", "Another server"]];
  const chosen = select(choices, service?.url ?? other, (address) =>
    address !== "" && form.change([...base, "url"], address === "other" ? (service ? "" : url) : address, true));
  return [
    field("Service", chosen),
    form.text("Server address", [...base, "url"], { inputmode: "url", placeholder: "rtmps://server/application", redraws: true,
      help: "As the service shows it, without the key." }),
    form.secret("Stream key", [...base, "key"], service ? `Where it is: ${service.key}.` : "It is stored on the camera, and never shown again."),
  ];
}

function streamForm(form) {
  const targets = form.value(["targets"]);
  if (Array.isArray(targets)) {
    return [...targets.map((target, index) => group(`Server ${index + 1}`,
      form.text("Name", ["targets", index, "name"], { maxlength: 16 }), serverFields(form, ["targets", index]),
      form.flag("Starts switched off", ["targets", index, "disabled"]),
      button("Remove this server", () => form.file.edit(remove(form.file.text, ["targets", index]), true)))),
    targets.length < 4 && button("Add a server", () => form.change(["targets", targets.length], { name: `server-${targets.length + 1}`, url: "", key: "" }, true))];
  }
  if (form.value(["hosts"]) !== undefined || form.value(["hub"]) !== undefined || form.value(["publishKey"]) !== undefined) {
    return [el("p", {}, "This is Pili's stream object: take it from the service's console as it is."),
      form.secret("Publish key", ["publishKey"]), form.flag("Publish nothing", ["disabled"])];
  }
  return [group("Where to send", serverFields(form, []), form.flag("Publish nothing", ["disabled"]))];
}

function deviceForm(form) {
  return deviceFields.map(([title, fields]) => group(title, fields.map(([label, path, kind]) =>
    (kind === "switch" ? form.flag(label, path) : form.choice(label, path, kind)))));
}

function networkForm(form) {
  const wifi = form.value(["wifi"]);
  const networks = Array.isArray(wifi) ? wifi : [];
  const zones = el("datalist", { id: "time-zones" },
    (Intl.supportedValuesOf?.("timeZone") ?? []).map((name) => el("option", { value: name })));
  const found = el("datalist", { id: "wifi-networks" });
  const outcome = el("p", { class: "help", role: "status" });
  const search = button("Search for networks", () => whileDisabled(search, async () => {
    outcome.textContent = "Searching…";
    try {
      const usable = (await read("wifi")).filter(({ isExact, security }) => isExact && security !== "enterprise");
      replace(found, usable.map(({ name, signal, security }) => el("option", { value: name }, `${signal} dBm, ${security}`)));
      outcome.textContent = `In range: ${usable.map(({ name, security }) => `${name} (${security})`).join(", ") || "none"}.`;
    } catch (error) {
      outcome.textContent = error.message;
    }
  }));
  const here = Intl.DateTimeFormat().resolvedOptions().timeZone;
  return [
    group("Wi-Fi", form.text("Country", ["country"], { maxlength: 2, placeholder: "DE", help: "Two letters. Without it, some channels stay unused." }),
      networks.map((network, index) => group(`Network ${index + 1}`, form.text("Name", ["wifi", index, "ssid"], { list: "wifi-networks" }),
        form.secret("Password", ["wifi", index, "password"], "Leave it empty for an open network."),
        form.flag("Does not send its name", ["wifi", index, "hidden"]),
        button("Remove this network", () => form.file.edit(remove(form.file.text, ["wifi", index]), true)))),
      found, search, outcome,
      button("Add a network", () => form.change(["wifi", networks.length], { ssid: "" }, true))),
    group("Name and time", form.text("Name of the camera", ["hostName"], { maxlength: 63, placeholder: "tallycam", help: "It is found as NAME.local." }),
      form.text("Time zone", ["timeZone"], { list: "time-zones", placeholder: "UTC" }), zones,
      here && button(`Use this browser's: ${here}`, () => form.change(["timeZone"], here, true))),
  ];
}

const forms = { "stream.json": streamForm, "device.json": deviceForm, "network.json": networkForm };

export const hasForm = (name) => name in forms;

/** The form's elements for a file whose text is JSON. */
export function formFor(name, file) {
  return forms[name](new Form(file));
}
