// The check-up (`doctor`), a support file, and restarting.
import { command, get } from "./api.js";
import { button, el, replace } from "./dom.js";
import { capitalized } from "./rhythm.js";

/** The lines of `doctor`: steps, and the summary in its words. */
export function findingsOf(lines) {
  const steps = [];
  let summary = "";
  for (const line of lines) {
    const [, step, rest] = /^([^:]+): +(.*)$/s.exec(line) ?? [];
    const [, result, text, next] = /^(ok|warning|problem|not checked)(?:: (.*?))?(?:; next: (.*))?$/s.exec(rest ?? "") ?? [];
    if (step === "summary") summary = rest;
    else if (result) steps.push({ step, result, text, next });
  }
  return { steps, summary };
}

export class CheckupPanel {
  constructor(page) {
    this.page = page;
    this.results = el("ul", { class: "plain" });
    this.summary = el("p", { role: "status" });
    this.element = el("div", {}, el("p", {}, "Checks the camera part by part and says what to do next. It takes some seconds."),
      el("div", { class: "row" }, button("Check now", (event) => page.act(event.currentTarget, () => this.check()), { class: "strong" }),
        button("Support file", (event) => page.act(event.currentTarget, () => this.support()))),
      this.summary, this.results,
      el("div", { class: "restart" }, el("h3", {}, "Restart"), el("p", {}, "The stream ends in order first."), el("div", { class: "row" },
        button("Restart the camera", () => this.end("reboot", "Restart the camera?", "Restart")),
        button("Power off", () => this.end("poweroff", "Power the camera off? Only its plug or button switches it on again.", "Power off")))));
  }

  shown() {}

  async check() {
    replace(this.results);
    this.summary.textContent = "Checking…";
    try {
      const { steps, summary } = findingsOf(await command("doctor", { seconds: 90 }));
      this.summary.textContent = capitalized(summary);
      replace(this.results, steps.map(({ step, result, text, next }) => el("li", { class: "finding", "data-result": result },
        el("span", { class: "state" }, result), el("div", {}, el("strong", {}, capitalized(step)), el("p", {}, text),
          next && el("p", { class: "help" }, `Next: ${next}`)))));
    } catch (error) {
      this.summary.textContent = "";
      throw error;
    }
  }

  /** Everything that helps to find a fault. The camera leaves secrets out of all of it. */
  async support() {
    this.page.save(await get("support", { as: "blob", seconds: 90 }), "tallycam-support.txt");
  }

  async end(line, question, verb) {
    if (await this.page.confirm(question, verb)) await this.page.command(line, { tellsAnswer: true });
  }
}
