// One file of the card: its form and its text, saved only if nobody else has changed it meanwhile.
import { request } from "./api.js";
import { button, el, replace, setText } from "./dom.js";
import { Editor } from "./editor.js";
import { formFor, hasForm } from "./forms.js";
import { parse } from "./jsontext.js";

export class FilePanel {
  /** @param name such as `stream.json` */
  constructor(page, name) {
    this.page = page;
    this.name = name;
    this.text = this.savedText = "";
    this.isTextShown = !hasForm(name);
    this.editor = new Editor(`Text of ${name}`, (text) => this.typed(text));
    this.form = el("div", { class: "form" });
    this.conflict = el("div");
    this.saved = el("span", { class: "state", role: "status" });
    this.save = button("Save", (event) => page.act(event.currentTarget, () => this.write()), { class: "strong" });
    this.element = el("div", {}, this.modes(), this.conflict, this.editor.faults, this.form, this.editor.element,
      el("div", { class: "row bar" }, this.save, button("Undo changes", () => this.undo()), this.saved));
  }

  get isChanged() { return this.text !== this.savedText; }

  modes() {
    if (!hasForm(this.name)) return null;
    this.modeButtons = [false, true].map((isText) => button(isText ? "Text" : "Form", () => this.showText(isText),
      { "aria-pressed": String(isText === this.isTextShown) }));
    return el("div", { class: "modes", role: "group", "aria-label": "Edit as" }, this.modeButtons);
  }

  showText(isText) {
    this.isTextShown = isText;
    this.modeButtons?.forEach((item, index) => item.setAttribute("aria-pressed", String((index === 1) === isText)));
    this.draw();
  }

  /** Reads the file unless there are changes that would be lost. */
  async shown() {
    if (this.isChanged) return;
    try {
      await this.read();
    } catch (error) {
      if (error.status !== 0) this.page.fail(error);
    }
  }

  async fetch() {
    try {
      const { value, etag } = await request(`files/${this.name}`, { as: "text" });
      return { text: value, etag };
    } catch (error) {
      if (error.status === 404) return { text: "", etag: null };
      throw error;
    }
  }

  async read() {
    const { text, etag } = await this.fetch();
    this.take(text, etag);
    this.editor.showFaults([], () => {});
    this.draw();
  }

  take(text, etag) {
    this.text = this.savedText = text;
    this.etag = etag;
  }

  undo() {
    this.text = this.savedText;
    this.editor.showFaults([], () => {});
    replace(this.conflict);
    this.draw();
  }

  typed(text) {
    this.text = text;
    this.showSaved();
  }

  /** A field of the form changed the text. @param redraws whether other fields change with it */
  edit(text, redraws) {
    this.text = text;
    if (redraws) this.draw();
    else this.showSaved();
  }

  showSaved() {
    setText(this.saved, this.isChanged ? "Changed, not saved" : this.etag === null ? "This file is not there yet" : "Saved");
  }

  draw() {
    this.editor.text = this.text;
    this.editor.element.hidden = !this.isTextShown;
    this.form.hidden = this.isTextShown;
    if (!this.isTextShown) this.drawForm();
    this.showSaved();
  }

  drawForm() {
    try {
      if (this.text.trim() !== "") parse(this.text);
    } catch (fault) {
      const jump = () => { this.showText(true); this.editor.jump(fault); };
      replace(this.form, el("p", {}, `The text is not JSON: line ${fault.line}, column ${fault.column}: ${fault.message}.`),
        button("Show it in the text", jump));
      return;
    }
    // The focus stays on the same key, although the field is a new element.
    const key = document.activeElement?.dataset?.key;
    replace(this.form, formFor(this.name, this));
    if (key) this.form.querySelector(`[data-key="${CSS.escape(key)}"]`)?.focus();
  }

  async write() {
    const condition = this.etag === null ? { "If-None-Match": "*" } : { "If-Match": this.etag };
    const sent = this.text;
    try {
      const { value, etag } = await request(`files/${this.name}`, { method: "PUT", text: sent, headers: condition, seconds: 30 });
      await this.written(sent, etag, value?.faults ?? []);
    } catch (error) {
      if (error.status === 412) await this.showConflict();
      else if (error.status === 422 && error.body.faults) this.showFaults(error.body.faults);
      else throw error;
    }
  }

  async written(sent, etag, warnings) {
    replace(this.conflict);
    this.page.announce(`${this.name} is saved.`);
    this.savedText = sent;
    this.etag = etag;
    // Secrets come back as placeholders, unless something was typed while the card wrote.
    if (this.text === sent) await this.read();
    else this.draw();
    this.editor.showFaults(warnings, (fault) => this.jump(fault));
  }

  showFaults(faults) {
    this.editor.showFaults(faults, (fault) => this.jump(fault));
    this.page.announce(`Not saved. ${faults.length === 1 ? "One fault" : `${faults.length} faults`} in ${this.name}.`);
    this.editor.faults.querySelector("button")?.focus();
    this.showSaved();
  }

  jump(fault) {
    const input = !this.isTextShown && fault.key && this.form.querySelector(`[data-key="${CSS.escape(fault.key)}"]`);
    if (input) return input.focus();
    this.showText(true);
    return this.editor.jump(fault);
  }

  async showConflict() {
    const { text, etag } = await this.fetch();
    const theirs = el("textarea", { readonly: true, rows: 10, wrap: "off", "aria-label": `${this.name} as somebody else saved it` });
    theirs.value = text;
    const close = () => { replace(this.conflict); this.draw(); };
    const heading = el("h3", { tabindex: "-1" }, "Somebody else has changed this file");
    replace(this.conflict, el("div", { class: "card warning conflict" }, heading,
      el("p", {}, `${this.name} was changed since you opened it. Yours is below, this is theirs:`), theirs,
      el("div", { class: "row" },
        button("Keep mine", () => { this.savedText = text; this.etag = etag; close(); }, { class: "strong" }),
        button("Take theirs", () => { this.take(text, etag); this.editor.showFaults([], () => {}); close(); }))));
    heading.focus();
  }
}
