// The page: pairs the browser if it must, then asks for the status once a second and shows one of four views.
import { APIError, command, get, signals, unpaired } from "./api.js";
import { confirm, notice, save } from "./dialogs.js";
import { el, replace, whileDisabled } from "./dom.js";
import { Header } from "./header.js";
import { History } from "./history.js";
import { LiveView } from "./live.js";
import { PairingView } from "./pairing.js";
import { PictureView } from "./picture.js";
import { RecordingsView } from "./recordings.js";
import { Repeater } from "./retry.js";
import { SetupView } from "./setup.js";

const viewOf = { live: LiveView, picture: PictureView, recordings: RecordingsView, setup: SetupView };
/** Seconds between two questions for the status; a hidden tab needs fewer. */
const interval = { seen: 1, hidden: 5 };

/** What the views may use. */
class Page {
  constructor() {
    this.history = new History();
    this.content = document.getElementById("content");
    this.announcer = document.getElementById("announcer");
    this.header = new Header(this);
    this.views = {};
    this.poller = new Repeater(() => this.askStatus(), {
      interval: () => (document.hidden ? interval.hidden : interval.seen),
      failed: (error, seconds) => this.statusFailed(error, seconds),
      succeeded: () => this.header.showLost(""),
    });
    signals.addEventListener(unpaired, () => this.pair());
    addEventListener("hashchange", () => this.route());
    addEventListener("online", () => this.poller.now());
    document.addEventListener("visibilitychange", () => !document.hidden && this.poller.now());
    // A page that the browser keeps for "back" must not hold a viewer's place at the camera.
    addEventListener("pagehide", () => this.leave());
    addEventListener("pageshow", ({ persisted }) => persisted && !this.pairing && this.begin());
    document.querySelector(".skip").addEventListener("click", (event) => {
      event.preventDefault();
      this.content.focus();
    });
  }

  /** A console command. Its failure is shown. @returns its lines, or null if it failed */
  async command(line, { tellsAnswer = false } = {}) {
    try {
      const lines = await command(line);
      if (tellsAnswer) notice(lines.join("\n") || "Done.", false);
      return lines;
    } catch (error) {
      this.fail(error);
      return null;
    }
  }

  /** A command whose refusal means nothing new, such as `settings` without a stream. */
  async quietly(line) {
    try {
      return await command(line);
    } catch (error) {
      if (error.status === 0 || error.name === unpaired) throw error;
      return [];
    }
  }

  /** What a button does: once at a time, and its failure is shown. */
  act(control, action) {
    return whileDisabled(control, async () => {
      try {
        await action();
      } catch (error) {
        this.fail(error);
      }
    });
  }

  fail(error) {
    if (!(error instanceof APIError)) throw error;
    if (error.name !== unpaired) notice(error.message, true);
  }

  announce(words) {
    this.announcer.textContent = words;
  }

  refresh() {
    this.poller.now();
  }

  async askStatus() {
    const status = await get("status");
    this.status = status;
    this.history.add(status, performance.now() / 1000);
    this.header.update(status);
    this.view?.update();
  }

  statusFailed(error, seconds) {
    if (error.name === unpaired) return;
    // A mistake of this page is not the camera's: it belongs into the browser's console.
    if (!(error instanceof APIError)) console.error(error);
    const words = error instanceof APIError ? error.message : "This page failed to show the camera's answer.";
    this.header.showLost(`${words} Trying again in ${seconds} s.`);
  }

  /** Shows a view when the camera's state is known, so that nothing moves afterwards. A refusal leads to pairing. */
  async begin() {
    try {
      await this.askStatus();
    } catch (error) {
      if (error.name === unpaired) return;
    }
    document.body.classList.remove("is-pairing");
    replace(document.getElementById("top"), this.header.lost, this.header.element);
    this.pairing = null;
    this.route();
    this.poller.start();
  }

  leave() {
    this.poller.stop();
    this.view?.hidden();
    this.view = null;
  }

  /** Without a key, nothing of the camera can be shown. */
  pair() {
    if (this.pairing) return;
    this.leave();
    document.body.classList.add("is-pairing");
    document.title = "Pair – Tallycam";
    replace(document.getElementById("top"));
    this.pairing = new PairingView(this, () => this.begin());
    replace(this.content, this.pairing.element);
    this.pairing.start();
  }

  route() {
    if (this.pairing) return;
    const [address, rest] = location.hash.slice(1).split("/");
    const name = address in viewOf ? address : "live";
    this.views[name] ??= new viewOf[name](this);
    const next = this.views[name];
    this.header.mark(name);
    if (next !== this.view) {
      const isFirst = !this.view;
      this.view?.hidden();
      this.view = next;
      const heading = el("h1", { class: "unseen", tabindex: "-1" }, next.title);
      replace(this.content, heading, next.element);
      if (!isFirst) {
        heading.focus({ preventScroll: true });
        scrollTo(0, 0);
      }
    }
    next.shown(rest);
  }
}

Object.assign(Page.prototype, { confirm, save });

new Page().begin();
