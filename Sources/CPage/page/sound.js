// Level, gain and mute of the microphones.
import { el, field, freshID, replace, setText, switchField } from "./dom.js";
import { microphonesOf } from "./controls.js";
import { Latest } from "./retry.js";

const quietest = -60;
const gainRange = [-60, 40];

/** Peaks of a status in dB below full scale: `[{ name, decibels }]`; null stands for digital silence. */
export function levelsOf(status) {
  const sources = status.sources ?? {};
  const each = sources.eachAudioPeakDecibels;
  if (Array.isArray(each)) return each.map((decibels, index) => ({ name: `Microphone ${index + 1}`, decibels }));
  if (!(sources.audioSamples > 0)) return [];
  return [{ name: "Level", decibels: sources.audioPeakDecibels ?? null }];
}

/** A level as a part of the meter, from 0 to 1. */
export function meterPart(decibels) {
  if (decibels === null) return 0;
  return Math.min(1, Math.max(0, 1 - decibels / quietest));
}

class MeterRow {
  constructor(name) {
    const id = freshID("level");
    this.meter = el("meter", { min: 0, max: 1, high: meterPart(-6), low: meterPart(-40), optimum: 0.6, "aria-labelledby": id });
    this.words = el("span", { class: "numbers" });
    this.element = el("li", { class: "level" }, el("span", { id }, name), this.meter, this.words);
  }

  update(decibels) {
    this.meter.value = meterPart(decibels);
    setText(this.words, decibels === null ? "silent" : `${decibels.toFixed(1)} dB`);
  }
}

class MicrophoneRow {
  constructor({ number }, panel) {
    this.send = new Latest((gain) => panel.set(`microphone-gain ${number}:${gain}`));
    const name = `Microphone ${number}`;
    this.gain = el("input", { type: "range", min: gainRange[0], max: gainRange[1], step: 0.5, oninput: () => this.moved() });
    this.words = el("output");
    const { row, input } = switchField(`Mute ${name.toLowerCase()}`, false, (isOn) => panel.set(`mute ${number}:${isOn ? "on" : "off"}`));
    this.mute = input;
    const slider = field(`Gain of ${name.toLowerCase()}`, this.gain);
    slider.classList.add("slider");
    slider.firstChild.after(this.words);
    this.element = el("li", {}, slider, row);
  }

  moved() {
    this.show(Number(this.gain.value));
    this.send.put(this.gain.value);
  }

  show(gain) {
    setText(this.words, `${gain.toFixed(1)} dB`);
    this.gain.setAttribute("aria-valuetext", `${gain.toFixed(1)} decibels`);
  }

  update({ gain, isMuted }) {
    this.mute.checked = isMuted;
    if (this.send.isBusy || document.activeElement === this.gain) return;
    this.gain.value = gain;
    this.show(gain);
  }
}

export class SoundPanel {
  constructor(page, changed) {
    this.page = page;
    this.changed = changed;
    const { row, input } = switchField("Mute all sound", false, (isOn) => this.set(`mute ${isOn ? "on" : "off"}`));
    this.mute = input;
    this.muteRow = row;
    this.none = el("p", {}, "Levels are shown while a stream is on.");
    this.levels = el("ul", { class: "plain" });
    this.microphones = el("ul", { class: "plain" });
    this.element = el("div", {}, this.none, this.levels, this.muteRow, this.microphones);
  }

  async set(words) {
    await this.page.command(`set ${words}`);
    this.changed();
  }

  update(status) {
    const levels = levelsOf(status);
    this.none.hidden = levels.length > 0;
    this.muteRow.hidden = status.muted === undefined;
    if (status.muted !== undefined) this.mute.checked = status.muted;
    if (this.meters?.length !== levels.length) {
      this.meters = levels.map(({ name }) => new MeterRow(name));
      replace(this.levels, this.meters.map((meter) => meter.element));
    }
    levels.forEach(({ decibels }, index) => this.meters[index].update(decibels));
  }

  controlsRead(controls) {
    const microphones = microphonesOf(controls);
    if (this.rows?.length !== microphones.length) {
      this.rows = microphones.map((microphone) => new MicrophoneRow(microphone, this));
      replace(this.microphones, this.rows.map((row) => row.element));
    }
    microphones.forEach((microphone, index) => this.rows[index].update(microphone));
  }
}
