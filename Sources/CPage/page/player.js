// One video element with Media Source Extensions: plays fragments at the live edge.
import { AppendQueue, atEdge, surplus } from "./edge.js";

/** iPhones have only the managed one. */
const Source = globalThis.MediaSource ?? globalThis.ManagedMediaSource;
const isManaged = !globalThis.MediaSource && globalThis.ManagedMediaSource !== undefined;
const isSafari = /^((?!chrome|chromium|android|firefox).)*safari/i.test(navigator.userAgent);

export const canPlay = Source !== undefined;

function rangesOf(buffered) {
  return Array.from({ length: buffered.length }, (_, index) => [buffered.start(index), buffered.end(index)]);
}

export class Player {
  /**
   * @param video a new element, not yet used
   * @param hooks `failed()`: this element cannot go on; `wanted(isWanted)`: whether the browser wants data now (iPhone)
   */
  constructor(video, hooks) {
    this.video = video;
    this.hooks = hooks;
    this.queue = new AppendQueue();
    this.source = new Source();
    if (isManaged) {
      video.disableRemotePlayback = true;
      this.source.addEventListener("startstreaming", () => hooks.wanted(true));
      this.source.addEventListener("endstreaming", () => hooks.wanted(false));
    }
    this.source.addEventListener("sourceopen", () => this.pump(), { once: true });
    video.addEventListener("error", () => this.fail());
    this.address = URL.createObjectURL(this.source);
    video.src = this.address;
    this.timer = setInterval(() => this.keepUp(), 200);
  }

  /** An initialization segment; fragments that follow belong to it. */
  initialize(codecs, segment) {
    const type = `video/mp4; codecs="${codecs}"`;
    if (!Source.isTypeSupported(type)) return this.fail();
    return this.put(type, segment);
  }

  fragment(data) {
    this.put(null, data);
  }

  put(type, data) {
    if (this.isOver) return;
    if (this.queue.put(type, data)) this.pump();
    else this.fail();
  }

  pump() {
    if (this.isOver || this.source.readyState !== "open" || this.buffer?.updating || this.queue.isEmpty) return;
    const item = this.queue.take();
    try {
      if (item.type) this.use(item.type);
      this.buffer.appendBuffer(item.data);
    } catch (error) {
      this.refused(item, error);
    }
  }

  use(type) {
    if (!this.buffer) {
      this.buffer = this.source.addSourceBuffer(type);
      this.buffer.addEventListener("updateend", () => this.appended());
    } else if (type !== this.type) {
      this.buffer.changeType(type);
    }
    this.type = type;
  }

  /** The browser's memory for media is full: only the last seconds stay. */
  refused(item, error) {
    const range = error.name === "QuotaExceededError" && surplus(rangesOf(this.buffer.buffered), this.video.currentTime);
    if (!range) return this.fail();
    this.queue.putBack(item);
    return this.buffer.remove(...range);
  }

  appended() {
    if (this.isOver) return;
    this.keepUp();
    // Ten seconds are no burden, and removing less often costs less.
    const range = surplus(rangesOf(this.buffer.buffered), this.video.currentTime);
    if (range && range[1] - range[0] > 6 && !this.buffer.updating) this.buffer.remove(...range);
    else this.pump();
  }

  keepUp() {
    const { video } = this;
    if (this.isOver || video.readyState === 0 || video.seeking) return;
    const { seek, rate } = atEdge(rangesOf(video.buffered), video.currentTime, video.playbackRate, isSafari);
    if (seek !== undefined) video.currentTime = seek;
    else if (video.playbackRate !== rate) video.playbackRate = rate;
  }

  fail() {
    if (this.isOver) return;
    this.end();
    this.hooks.failed();
  }

  end() {
    this.isOver = true;
    clearInterval(this.timer);
    URL.revokeObjectURL(this.address);
    this.video.removeAttribute("src");
    this.video.load();
    this.video.remove();
  }
}
