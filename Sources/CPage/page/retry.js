// Asks again and again, and backs off while nothing answers.

/** Seconds until the next attempt after this many failures in a row: 1, 2, 4, 8, then 15. */
export function backOff(failures) {
  return Math.min(15, 2 ** Math.max(0, failures - 1));
}

/** Calls `task` at an interval; after a failure with the delays of `backOff`. */
export class Repeater {
  /**
   * @param task asynchronous; throws on failure
   * @param hooks `interval()` in seconds; `failed(error, seconds)` before a delay; `succeeded()`
   */
  constructor(task, hooks) {
    this.task = task;
    this.hooks = hooks;
    this.failures = 0;
    this.isRunning = false;
  }

  start() {
    if (this.isRunning) return;
    this.isRunning = true;
    this.now();
  }

  stop() {
    this.isRunning = false;
    clearTimeout(this.timer);
  }

  /** Does not wait for the next turn. While a turn is under way, another follows at once. */
  now() {
    if (!this.isRunning) return;
    this.isDue = this.isBusy;
    clearTimeout(this.timer);
    if (!this.isBusy) this.turn();
  }

  async turn() {
    this.isBusy = true;
    let delay;
    try {
      await this.task();
      this.failures = 0;
      delay = this.hooks.interval();
      this.hooks.succeeded?.();
    } catch (error) {
      this.failures += 1;
      delay = backOff(this.failures);
      if (this.isRunning) this.hooks.failed?.(error, delay);
    }
    this.isBusy = false;
    if (this.isDue) delay = 0;
    this.isDue = false;
    clearTimeout(this.timer);
    if (this.isRunning) this.timer = setTimeout(() => this.turn(), delay * 1000);
  }
}

/** Passes on the latest value, one at a time: a slider moves faster than the camera answers. */
export class Latest {
  /** @param send asynchronous */
  constructor(send) {
    this.send = send;
  }

  async put(value) {
    this.waiting = { value };
    if (this.isBusy) return;
    this.isBusy = true;
    while (this.waiting) {
      const next = this.waiting.value;
      this.waiting = null;
      await this.send(next);
    }
    this.isBusy = false;
  }
}
