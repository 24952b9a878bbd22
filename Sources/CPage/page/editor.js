// A text area with line numbers, and faults that jump to their line.
import { button, el, freshID, replace } from "./dom.js";

/** Where a line starts and ends in a text; a line that is not there is the last one. */
export function lineRange(text, line) {
  const lines = text.split("\n");
  const index = Math.min(Math.max(1, line), lines.length) - 1;
  const start = lines.slice(0, index).reduce((sum, part) => sum + part.length + 1, 0);
  return [start, start + lines[index].length];
}

/** "Line 3, video.bitrate: …" */
export function faultWords({ line, key, text, example, isWarning }) {
  const place = [line && `line ${line}`, key].filter(Boolean).join(", ");
  const words = [isWarning && "warning", place, text].filter(Boolean).join(": ") + (example ? `; for example: ${example}` : "");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

export class Editor {
  /** @param edited called with the text after each change by the reader */
  constructor(label, edited) {
    const [id, faultsID] = [freshID("text"), freshID("faults")];
    this.numbers = el("pre", { class: "line-numbers", "aria-hidden": "true" });
    this.area = el("textarea", {
      id, spellcheck: "false", autocapitalize: "off", autocomplete: "off", wrap: "off", rows: 14, "aria-describedby": faultsID,
      oninput: () => { this.number(); edited(this.area.value); }, onscroll: () => { this.numbers.scrollTop = this.area.scrollTop; },
    });
    this.faults = el("ul", { class: "plain faults", id: faultsID });
    this.wrong = new Set();
    this.element = el("div", { class: "editor" }, el("label", { for: id }, label), el("div", { class: "editor-box" }, this.numbers, this.area));
  }

  get text() { return this.area.value; }

  set text(text) {
    if (this.area.value !== text) this.area.value = text;
    this.number();
  }

  number() {
    const count = this.area.value.split("\n").length;
    const key = `${count} ${[...this.wrong]}`;
    if (key === this.numberKey) return;
    this.numberKey = key;
    replace(this.numbers, Array.from({ length: count }, (_, index) => (this.wrong.has(index + 1)
      ? el("mark", {}, `${index + 1}\n`) : `${index + 1}\n`)));
  }

  /** @param jump called with a fault when its button is pressed */
  showFaults(faults, jump) {
    this.wrong = new Set(faults.map(({ line }) => line));
    this.area.setAttribute("aria-invalid", String(faults.some(({ isWarning }) => !isWarning)));
    this.number();
    replace(this.faults, faults.map((fault) => el("li", {}, button(faultWords(fault), () => jump(fault), { class: "fault-link warning" }))));
  }

  jump({ line, column }) {
    if (!line) return this.area.focus();
    const [start, end] = lineRange(this.text, line);
    this.area.focus();
    this.area.setSelectionRange(Math.min(end, start + Math.max(0, (column ?? 1) - 1)), end);
    const height = parseFloat(getComputedStyle(this.area).lineHeight);
    this.area.scrollTop = Math.max(0, (line - 4) * height);
    return undefined;
  }
}
