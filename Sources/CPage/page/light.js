// The lamp on the page. It blinks as the camera's light does, unless the reader wants no motion.
import { el } from "./dom.js";
import { phase } from "./rhythm.js";

const stillness = matchMedia("(prefers-reduced-motion: reduce)");

export class Lamp {
  constructor(attributes = {}) {
    this.element = el("span", { class: "lamp", "aria-hidden": "true", ...attributes });
    this.rhythm = null;
    stillness.addEventListener("change", () => this.step());
  }

  /** Shows a rhythm from its start; the same rhythm goes on undisturbed. */
  show(rhythm) {
    if (JSON.stringify(rhythm) === JSON.stringify(this.rhythm)) return;
    this.rhythm = rhythm;
    this.start = performance.now();
    this.step();
  }

  step() {
    clearTimeout(this.timer);
    const { isLit, remaining } = phase(this.rhythm, performance.now() - this.start);
    const isBlinking = remaining !== null;
    const state = isBlinking && stillness.matches ? "half" : isLit ? "lit" : "dark";
    this.element.dataset.light = state;
    if (isBlinking && !stillness.matches) this.timer = setTimeout(() => this.step(), remaining);
  }
}
