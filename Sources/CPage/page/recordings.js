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
    const recordings = files.filter((file) => file.state !== "foreign");
    const whole = recordings.reduce((sum, file) => sum + file.byteCount, 0);
    const count = recordings.length === 1 ? "1 file" : `${recordings.length} files`;
    setText(this.folder, folder ? `${count}, ${bytes(whole)}, in ${folder}` : "There is no folder to record in.");
    const current = this.page.status?.recording?.file?.split("/").at(-1);
    const key = JSON.stringify([recordings, current]);
    if (key === this.key) return;
    this.key = key;
    replace(this.list, recordings.reverse().map((file) => this.row(file, file.file === current)),
      recordings.length === 0 && el("li", {}, "No recordings yet."));
  }

  row({ file, byteCount, state, reason, start, seconds, targets, marks }, isCurrent) {
    const link = el("a", { href: `api/v1/recordings/${encodeURIComponent(file)}`, download: file, class: "button" }, "Download",
      el("span", { class: "unseen" }, ` ${file}`));
    const words = reason ?? (state === "finished" || isCurrent ? null : state === "empty" ? "empty" : "cut off: it plays up to there");
    const lines = [
      [clock(seconds), bytes(byteCount), file].join(" · "), words && capitalized(words),
      // The newest part is still on its way.
      ...targets.filter(({ missingSeconds }) => missingSeconds > (isCurrent ? 5 : 0)).map(({ name, missingSeconds }) =>
        `${name} lacks ${missingSeconds.toFixed(1)} s`),
      ...marks.map(({ at, text }) => `${clock(at)} ${text}`),
    ];
    return el("li", { class: "spread" }, el("div", {}, el("strong", {}, start ? dateTime(start) : file),
      lines.filter(Boolean).map((line) => el("p", { class: "numbers" }, line))),
    isCurrent ? el("span", { class: "state" }, "being written") : link);
  }
}
