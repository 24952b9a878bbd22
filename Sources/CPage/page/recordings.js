// What the camera has recorded, and starting and stopping it.
import { get } from "./api.js";
import { button, el, field, replace, section, setText } from "./dom.js";
import { bytes, clock, dateTime } from "./format.js";
import { Repeater } from "./retry.js";
import { capitalized } from "./rhythm.js";

const stateWords = {
  off: "Nothing is being recorded.",
  opening: "The recording is being opened.",
  recording: "Recording",
  waitingForDisk: "Waiting for a disk",
  failed: "Recording fails",
};

/** The state of `recording` in a status, in words. */
export function recordingWords(recording) {
  if (!recording) return "";
  const words = stateWords[recording.state] ?? recording.state;
  const more = recording.problem ?? (recording.state === "recording" ? recording.file?.split("/").at(-1) : undefined);
  const dropping = recording.isDropping ? " The disk is too slow: parts are missing." : "";
  return (more ? `${words}: ${more}.` : words) + dropping;
}

export class RecordingsView {
  constructor(page) {
    this.page = page;
    this.reader = new Repeater(() => this.read(), { interval: () => (document.hidden ? 30 : 5), failed: (error) => this.failed(error) });
    this.state = el("p", { role: "status" });
    this.folder = el("p", { class: "help" });
    this.list = el("ul", { class: "plain recordings" });
    this.record = button("Start recording", (event) => this.page.act(event.currentTarget, () =>
      this.command(this.isRecording ? "record stop" : "record start")), { class: "strong" });
    this.markText = el("input", { type: "text", maxlength: 200, autocomplete: "off", placeholder: "second half" });
    const mark = el("form", { class: "inline", onsubmit: (event) => this.mark(event) },
      field("Note for this moment", this.markText), el("button", { type: "submit" }, "Mark"));
    this.markForm = mark;
    this.element = el("div", { class: "columns" },
      el("div", {}, section("Record", this.state, el("div", { class: "row" }, this.record,
        button("Eject the stick", (event) => this.page.act(event.currentTarget, () => this.command("record eject")))), mark)),
      el("div", {}, section("Files", this.folder, this.list)));
  }

  get title() { return "Recordings"; }

  get isRecording() {
    return ["opening", "recording", "waitingForDisk"].includes(this.page.status?.recording?.state);
  }

  shown() {
    this.isShown = true;
    this.reader.start();
    this.update();
  }

  hidden() {
    this.isShown = false;
    this.reader.stop();
  }

  update() {
    const { status } = this.page;
    if (!this.isShown || !status) return;
    setText(this.state, recordingWords(status.recording));
    setText(this.record, this.isRecording ? "Stop recording" : "Start recording");
    this.markForm.hidden = status.recording?.state !== "recording";
    const key = `${status.recording?.state} ${status.recording?.file}`;
    if (this.stateKey !== undefined && key !== this.stateKey) this.reader.now();
    this.stateKey = key;
  }

  async command(line) {
    await this.page.command(line, { tellsAnswer: true });
    this.page.refresh();
  }

  async mark(event) {
    event.preventDefault();
    const text = this.markText.value.trim();
    if (text === "") return this.markText.focus();
    const lines = await this.page.command(`record mark ${text}`, { tellsAnswer: true });
    if (lines) this.markText.value = "";
    return undefined;
  }

  failed(error) {
    if (error.status !== 0) setText(this.folder, `${capitalized(error.message)}.`);
  }

  async read() {
    const { folder, files } = await get("recordings");
    const whole = files.reduce((sum, file) => sum + (file.bytes ?? 0), 0);
    setText(this.folder, folder ? `${files.length === 1 ? "1 file" : `${files.length} files`}, ${bytes(whole)}, in ${folder}` : "There is no folder to record in.");
    const key = JSON.stringify(files);
    if (key === this.key) return;
    this.key = key;
    const newest = [...files].sort((a, b) => (a.name < b.name ? 1 : -1));
    replace(this.list, newest.map((file) => this.row(file)), files.length === 0 && el("li", {}, "No recordings yet."));
  }

  row({ name, bytes: size, start, seconds, finished }) {
    const about = [Number.isFinite(seconds) && clock(seconds), Number.isFinite(size) && bytes(size), start && name].filter(Boolean).join(" · ");
    const link = el("a", { href: `api/v1/recordings/${encodeURIComponent(name)}`, download: name, class: "button" }, "Download",
      el("span", { class: "unseen" }, ` ${name}`));
    return el("li", { class: "spread" }, el("div", {}, el("strong", {}, start ? dateTime(start) : name), el("p", { class: "numbers" }, about)),
      finished ? link : el("span", { class: "state" }, "being written"));
  }
}
