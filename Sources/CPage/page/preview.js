// The preview: the stream's frames over a WebSocket, or a snapshot a second.
import { request, socket } from "./api.js";
import { el, setText } from "./dom.js";
import { Player, canPlay } from "./player.js";
import { Repeater, backOff } from "./retry.js";
import { capitalized } from "./rhythm.js";

const tooManyViewers = 1013;
/** Seconds until a hidden tab stops looking, and until a picture that stands still is asked for again. */
const hiddenSeconds = 5;
const stillSeconds = 6;

export class Preview {
  constructor() {
    this.words = el("p", { class: "stage-words", role: "status" });
    this.element = el("div", { class: "stage" }, this.words);
    this.isMuted = true;
    this.failures = 0;
    document.addEventListener("visibilitychange", () => this.visibilityChanged());
    this.snapshots = new Repeater(() => this.showSnapshot(), {
      interval: () => 1,
      failed: (error) => this.say(error.message),
    });
  }

  /** Size of the frames in pixels; zero while there is none. */
  get frame() {
    const { video, image } = this;
    if (image) return { width: image.naturalWidth, height: image.naturalHeight };
    return { width: video?.videoWidth ?? 0, height: video?.videoHeight ?? 0 };
  }

  start() {
    if (this.isOn) return;
    this.isOn = true;
    this.failures = 0;
    this.say("Waiting for the picture…");
    if (canPlay) this.connect();
    else this.snapshots.start();
    this.watch = setInterval(() => this.look(), 1000);
  }

  stop() {
    this.isOn = false;
    clearTimeout(this.timer);
    clearTimeout(this.hideTimer);
    clearInterval(this.watch);
    this.snapshots.stop();
    this.socket?.close();
    this.socket = null;
    this.endPlayer();
  }

  say(words) {
    setText(this.words, words);
    this.words.hidden = words === "";
  }

  setMuted(isMuted) {
    this.isMuted = isMuted;
    if (this.video) this.video.muted = isMuted;
  }

  connect() {
    clearTimeout(this.timer);
    const opened = socket("preview");
    this.socket = opened;
    this.codecs = null;
    opened.onmessage = ({ data }) => this.received(data);
    opened.onclose = ({ code, reason }) => {
      if (this.isOn && this.socket === opened) this.lost(code, reason);
    };
  }

  lost(code, reason) {
    this.socket = null;
    this.endPlayer();
    this.failures += 1;
    const isFull = code === tooManyViewers;
    const delay = isFull ? 10 : backOff(this.failures);
    this.say(isFull ? `${capitalized(reason || "two viewers are already watching")}. Trying again every 10 s.`
      : `The preview was interrupted. Trying again in ${delay} s.`);
    this.timer = setTimeout(() => this.connect(), delay * 1000);
  }

  /** A text announces what the next binary message is, or says why there is no picture. */
  received(data) {
    if (typeof data !== "string") return this.receivedMedia(data);
    let message;
    try {
      message = JSON.parse(data);
    } catch {
      return undefined;
    }
    if (message.init) this.codecs = message.init.codecs;
    if (message.idle !== undefined) {
      this.endPlayer();
      this.say(capitalized(message.idle));
    }
    return undefined;
  }

  receivedMedia(data) {
    if (this.codecs === null) return this.player?.fragment(data);
    const codecs = this.codecs;
    this.codecs = null;
    this.failures = 0;
    if (!this.player) this.makePlayer();
    return this.player.initialize(codecs, data);
  }

  makePlayer() {
    this.video = el("video", { muted: this.isMuted, autoplay: true, playsInline: true, "aria-label": "Preview of the camera" });
    this.video.addEventListener("playing", () => this.say(""));
    this.element.prepend(this.video);
    this.player = new Player(this.video, {
      failed: () => this.playerFailed(),
      wanted: (isWanted) => this.tell({ pause: !isWanted }),
    });
    this.video.play().catch((error) => {
      if (error.name === "NotAllowedError") this.offerPlay();
    });
  }

  /** Whatever the reason, a picture does not stay still. */
  look() {
    const time = this.video?.currentTime;
    if (time === undefined || time !== this.lastTime || this.isPaused || this.video.paused) this.stillFor = 0;
    else this.stillFor += 1;
    this.lastTime = time;
    if (this.stillFor < stillSeconds) return;
    this.endPlayer();
    this.playerFailed();
  }

  endPlayer() {
    const { player } = this;
    this.player = null;
    this.video = null;
    player?.end();
  }

  /** A decoder that has failed never works again: a fresh element takes the next initialization segment. */
  playerFailed() {
    this.player = null;
    this.video = null;
    const { socket: old } = this;
    if (!this.isOn || !old) return;
    this.socket = null;
    old.close();
    this.failures += 1;
    this.say("The preview starts again.");
    this.timer = setTimeout(() => this.connect(), this.failures === 1 ? 300 : backOff(this.failures) * 1000);
  }

  /** Browsers may want a touch first, for example in battery saver. */
  offerPlay() {
    this.say("Touch the picture to play it.");
    this.element.addEventListener("click", () => this.video?.play().catch(() => {}), { once: true });
  }

  visibilityChanged() {
    clearTimeout(this.hideTimer);
    if (!this.isOn) return;
    if (document.hidden) this.hideTimer = setTimeout(() => this.setPaused(true), hiddenSeconds * 1000);
    else if (this.isPaused) this.setPaused(false);
  }

  setPaused(isPaused) {
    this.isPaused = isPaused;
    if (!canPlay) return isPaused ? this.snapshots.stop() : this.snapshots.start();
    this.tell({ pause: isPaused });
    if (!isPaused) this.video?.play().catch(() => {});
    return undefined;
  }

  tell(message) {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
  }

  async showSnapshot() {
    const { value } = await request("snapshot", { as: "blob" });
    const address = URL.createObjectURL(value);
    this.image ??= el("img", { alt: "Latest frame of the camera" });
    if (!this.image.isConnected) this.element.prepend(this.image);
    this.image.src = address;
    await this.image.decode().finally(() => URL.revokeObjectURL(address));
    this.say("");
  }
}
