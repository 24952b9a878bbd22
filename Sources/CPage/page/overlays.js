// Filters of the live stream: text, image, look, skin. docs/reference/filters.md has the table.
import { button, el, field, select, switchField } from "./dom.js";
import { filterCommand } from "./settings.js";

const places = ["top-left", "top", "top-right", "left", "center", "right", "bottom-left", "bottom", "bottom-right"];
const strength = ["strength", "Strength", { min: 0, max: 1, step: 0.05, usual: 0.5 }];
const part = (usual) => ({ min: 0, max: 1, step: 0.01, usual });

/** Name, words, and the keys that the page offers. */
const offered = [
  ["text", "Text", [["text", "Text", { text: "{time}" }], ["position", "Where", { places: "bottom-left" }],
    ["size", "Size", { min: 0.02, max: 0.2, step: 0.01, usual: 0.05 }]]],
  ["image", "Image", [["file", "File on the card", { text: "/boot/logo.png" }], ["position", "Where", { places: "top-right" }],
    ["width", "Width", { min: 0.05, max: 1, step: 0.05, usual: 0.15 }], ["opacity", "Opacity", part(1)]]],
  ["lut", "Look", [["file", "Table on the card", { text: "/boot/look.cube" }], ["strength", "Strength", part(1)]]],
  ["smooth", "Smooth skin", [strength]],
  ["whiten", "Brighten", [strength]],
  ["redden", "Warm", [strength]],
  ["gray", "Gray", []],
  ["mirror", "Mirror, with overlays", []],
];

class Overlay {
  constructor([name, label, keys], panel) {
    this.name = name;
    this.panel = panel;
    this.inputs = new Map(keys.map(([key, words, shape]) => [key, this.input(words, shape)]));
    const { row, input } = switchField(label, false, (isOn) => this.turn(isOn));
    this.switch = input;
    const fields = keys.map(([key, words]) => field(words, this.inputs.get(key)));
    this.details = keys.length > 0 && el("details", {}, el("summary", {}, `Change ${label.toLowerCase()}`), fields,
      button("Apply", () => this.send(), { "aria-label": `Apply: ${label}` }));
    this.element = el("li", {}, row, this.details);
  }

  input(words, shape) {
    if (shape.places) return select(places.map((place) => [place, place.replace("-", " ")]), shape.places, () => {});
    if (shape.text) return el("input", { type: "text", value: shape.text, autocomplete: "off", autocapitalize: "off", spellcheck: "false" });
    return el("input", { type: "range", min: shape.min, max: shape.max, step: shape.step, value: shape.usual });
  }

  turn(isOn) {
    return isOn ? this.send() : this.panel.send(`filter ${this.name} off`);
  }

  send() {
    return this.panel.send(filterCommand(this.name, Object.fromEntries([...this.inputs].map(([key, input]) => [key, input.value]))));
  }

  update(options) {
    this.switch.checked = options !== undefined;
    const isBeingEdited = this.details && this.details.contains(document.activeElement);
    if (!options || isBeingEdited) return;
    for (const [key, input] of this.inputs) {
      const value = options.get(key);
      if (value === undefined || input.value === value) continue;
      if (input.tagName === "SELECT" && !places.includes(value)) input.append(el("option", { value }, value));
      input.value = value;
    }
  }
}

export class OverlayPanel {
  constructor(page, changed) {
    this.page = page;
    this.changed = changed;
    this.overlays = offered.map((row) => new Overlay(row, this));
    this.list = el("ul", { class: "plain overlays" }, this.overlays.map((overlay) => overlay.element));
    this.none = el("p", {}, "Overlays can be changed while a stream is on. Those that it starts with are “filters” in the ",
      el("a", { href: "#setup/device" }, "device settings"), ".");
    this.element = el("div", {}, this.none, this.list);
    this.update(null);
  }

  async send(line) {
    await this.page.command(line);
    this.changed();
  }

  /** @param filters as `filtersOf` gives them; null without a stream */
  update(filters) {
    this.none.hidden = filters !== null;
    this.list.hidden = filters === null;
    if (filters === null) return;
    for (const overlay of this.overlays) overlay.update(filters.find(({ name }) => name === overlay.name)?.options);
  }
}
