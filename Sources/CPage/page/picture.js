// The preview with a tap to focus, and everything that can be changed about the picture.
import { get, request } from "./api.js";
import { button, el, field, replace, section, select, setText } from "./dom.js";
import { described, groups, pointText } from "./controls.js";
import { pointInFrame } from "./edge.js";
import { OverlayPanel } from "./overlays.js";
import { Preview } from "./preview.js";
import { Repeater } from "./retry.js";
import { capitalized } from "./rhythm.js";
import { camerasOf, filtersOf } from "./settings.js";
import { SoundPanel } from "./sound.js";
import { widgetFor } from "./widgets.js";

export class PictureView {
  constructor(page) {
    this.page = page;
    this.preview = new Preview();
    this.sound = new SoundPanel(page, () => this.reader.now());
    this.overlays = new OverlayPanel(page, () => this.reader.now());
    this.widgets = new Map();
    this.reader = new Repeater(() => this.read(), { interval: () => (document.hidden ? 15 : 3), failed: (error) => this.failed(error) });
    this.cameraPlace = el("div");
    this.controlPlace = el("div", { class: "controls" });
    this.preview.element.addEventListener("click", (event) => this.tapped(event));
    this.reticle = el("span", { class: "reticle", "aria-hidden": "true", hidden: true });
    this.preview.element.append(this.reticle);
    this.element = el("div", { class: "columns picture" },
      el("section", { class: "watch", "aria-labelledby": "preview-title" }, el("h2", { id: "preview-title", class: "unseen" }, "Preview"),
        this.preview.element, el("div", {}, this.hint = el("p", { class: "help" }), this.buttons())),
      el("div", {}, section("Controls", el("div", { class: "controls" }, this.cameraPlace, this.controlPlace)), section("Sound", this.sound.element),
        section("Overlays", this.overlays.element)));
  }

  get title() { return "Picture"; }

  buttons() {
    this.listen = button("Listen", () => {
      this.preview.setMuted(!this.preview.isMuted);
      setText(this.listen, this.preview.isMuted ? "Listen" : "Stop listening");
    });
    this.pause = button("Pause", () => this.page.command(`pause ${this.page.status?.paused ? "off" : "on"}`).then(() => this.page.refresh()));
    return el("div", { class: "row" }, this.listen,
      button("Save frame", (event) => this.page.act(event.currentTarget, () => this.saveFrame())),
      button("Snapshot on the card", (event) => this.page.act(event.currentTarget, () => this.page.command("snapshot", { tellsAnswer: true }))),
      this.pause);
  }

  shown() {
    this.isShown = true;
    this.preview.start();
    this.reader.start();
    this.update();
  }

  hidden() {
    this.isShown = false;
    this.preview.stop();
    this.reader.stop();
  }

  update() {
    const { status } = this.page;
    if (!this.isShown || !status) return;
    this.sound.update(status);
    this.pause.hidden = !status.isStreamWanted;
    setText(this.pause, status.paused ? "End the pause" : "Pause");
    if (status.state !== this.state) this.reader.now();
    this.state = status.state;
  }

  /** The settings exist only with a stream; the controls also while a computer looks. */
  async read() {
    const [controls, settings] = await Promise.all([get("controls"), this.page.quietly("settings")]);
    this.showControls(controls);
    this.sound.controlsRead(controls);
    this.showCameras(camerasOf(settings));
    this.overlays.update(settings.length > 0 ? filtersOf(settings) : null);
  }

  failed(error) {
    if (error.status === 0) return;
    this.widgets.clear();
    this.controlKey = null;
    this.overlays.update(null);
    replace(this.controlPlace, el("p", {}, `${capitalized(error.message)}.`));
  }

  showControls(controls) {
    const all = controls.map(described).filter(Boolean);
    const shown = all.filter((control) => control.missing === undefined && control.kind !== "none");
    const key = JSON.stringify(shown.map(({ name, kind, words, range }) => [name, kind, words, range]));
    if (key !== this.controlKey) this.makeControls(shown, all.filter((control) => control.missing !== undefined), key);
    for (const control of shown) this.widgets.get(control.name)?.update(control);
    this.canFocusAt = shown.some((control) => control.name === "focus-point");
    setText(this.hint, this.canFocusAt ? "Tap the picture to focus there." : "");
    this.preview.element.classList.toggle("can-focus", this.canFocusAt);
  }

  makeControls(shown, missing, key) {
    this.controlKey = key;
    this.widgets.clear();
    const parts = groups.map((group) => {
      const widgets = shown.filter((control) => control.group === group).map((control) => {
        const widget = widgetFor(control, (value) => this.set(control.name, value));
        this.widgets.set(control.name, widget);
        return widget.element;
      });
      return widgets.length > 0 && el("div", { class: "group" }, el("h3", {}, group), widgets);
    });
    const absent = missing.length > 0 && el("details", {}, el("summary", {}, `Not available (${missing.length})`),
      el("ul", {}, missing.map(({ label, missing: reason }) => el("li", {}, `${label}: ${reason}`))));
    replace(this.controlPlace, parts, absent);
  }

  async set(name, value) {
    await this.page.command(`set ${name} ${value}`);
    this.reader.now();
  }

  showCameras({ current, names }) {
    const key = JSON.stringify([current, names]);
    if (key === this.cameraKey) return;
    this.cameraKey = key;
    const chooser = names.length > 1 && field("Camera", select(names.map((name) => [name, name]), current, (name) =>
      this.page.command(`camera ${name}`).then(() => this.reader.now())));
    replace(this.cameraPlace, chooser);
  }

  async tapped(event) {
    if (!this.canFocusAt) return;
    const box = this.preview.element.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    const point = pointInFrame(x, y, box, this.preview.frame);
    if (!point) return;
    this.reticle.hidden = false;
    this.reticle.style.left = `${x}px`;
    this.reticle.style.top = `${y}px`;
    this.reticle.dataset.state = "asked";
    const lines = await this.page.command(`set focus-point ${pointText(point)}`);
    this.reticle.dataset.state = lines ? "done" : "refused";
    if (lines) this.page.announce(`Focus: ${lines.join(", ")}`);
    clearTimeout(this.reticleTimer);
    this.reticleTimer = setTimeout(() => { this.reticle.hidden = true; }, 2500);
    this.reader.now();
  }

  async saveFrame() {
    const { value } = await request("snapshot", { as: "blob" });
    this.page.save(value, `tallycam-${new Date().toISOString().replace(/[:.]/g, "-")}.jpg`);
  }
}
