// Inputs for controls. Each has `element` and `update(control)`, which leaves alone what is moved.
import { button, el, field, freshID, select, setText, switchField } from "./dom.js";
import { fromPosition, middleOf, numberOf, pointText, sliderSteps, toPosition, valueWords } from "./controls.js";
import { Latest } from "./retry.js";
import { capitalized } from "./rhythm.js";

/** @param set asynchronous; sends the value's text to the camera */
export function widgetFor(control, set) {
  switch (control.kind) {
    case "flag": return new Flag(control, set);
    case "number": return new NumberSlider(control, set);
    case "word": return new Word(control, set);
    case "area":
    case "point": return new Point(control, set);
    default: return null;
  }
}

const wordChoices = (words) => words.map((word) => [word, capitalized(word.replaceAll("-", " "))]);

class Flag {
  constructor(control, set) {
    const { row, input } = switchField(control.label, control.value === "on", (isOn) => set(isOn ? "on" : "off"));
    this.input = input;
    this.element = row;
  }

  update(control) {
    this.input.checked = control.value === "on";
  }
}

class Word {
  constructor(control, set) {
    this.select = select(wordChoices(control.words), control.value, set);
    this.element = field(control.label, this.select);
  }

  update(control) {
    if (document.activeElement !== this.select && control.value !== undefined) this.select.value = control.value;
  }
}

/** A slider with its value in words, and for some controls words beside it such as `auto`. */
class NumberSlider {
  constructor(control, set) {
    this.control = control;
    this.send = new Latest(set);
    const id = freshID("slider");
    this.input = el("input", { type: "range", id, min: 0, max: sliderSteps, step: 1,
      oninput: () => this.moved(), onpointerup: () => { this.isHeld = false; }, onpointerdown: () => { this.isHeld = true; } });
    this.output = el("output", { for: id });
    this.element = el("div", { class: "field slider" }, el("label", { for: id }, control.label), this.output, this.input);
    if (control.words.length > 0) this.addWords(control, set);
    this.update(control);
  }

  addWords(control, set) {
    const choices = [...wordChoices(control.words), ["", "As the slider"]];
    this.words = select(choices, "", (word) => set(word || this.text()), { "aria-label": `${control.label}: mode` });
    this.element.append(this.words);
  }

  get number() {
    return fromPosition(Number(this.input.value), this.control.range, this.control.isLogarithmic);
  }

  text() {
    return `${this.number}${this.control.suffix}`;
  }

  moved() {
    this.show(this.number);
    if (this.words) this.words.value = "";
    this.send.put(this.text());
  }

  show(number) {
    const words = valueWords(number, this.control);
    setText(this.output, words);
    this.input.setAttribute("aria-valuetext", words);
  }

  update(control) {
    if (this.isHeld || this.send.isBusy) return;
    this.control = control;
    const number = numberOf(control);
    this.input.value = toPosition(number, control.range, control.isLogarithmic);
    this.show(number);
    if (this.words && document.activeElement !== this.words) this.words.value = control.words.includes(control.value) ? control.value : "";
  }
}

/** A point of the frame in percent: the way for keyboards to what a tap on the picture does. */
class Point {
  constructor(control, set) {
    this.inputs = ["across", "down"].map((side) => el("input", {
      type: "number", min: 0, max: 100, step: 1, value: 50, "aria-label": `${control.label}: percent ${side}`,
    }));
    const apply = () => set(pointText({ x: this.part(0), y: this.part(1) }));
    this.element = el("fieldset", { class: "point" }, el("legend", {}, control.label), this.inputs[0],
      el("span", { "aria-hidden": "true" }, "% across"), this.inputs[1], el("span", { "aria-hidden": "true" }, "% down"),
      button("Set", apply, { "aria-label": `Set: ${control.label}` }),
      control.words.includes("auto") && button("Automatic", () => set("auto"), { "aria-label": `${control.label}: automatic` }));
    this.update(control);
  }

  part(index) {
    return Math.min(100, Math.max(0, Number(this.inputs[index].value) || 0)) / 100;
  }

  update(control) {
    const middle = middleOf(control.value);
    if (!middle || this.inputs.includes(document.activeElement)) return;
    this.inputs[0].value = Math.round(middle.x * 100);
    this.inputs[1].value = Math.round(middle.y * 100);
  }
}
