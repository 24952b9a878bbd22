// Faults in words, with the steps that repair them: docs/trouble/light.md, for somebody who has this page.
import { el } from "./dom.js";
import { capitalized } from "./rhythm.js";

const streamFile = ["#setup/stream", "stream settings"];
const deviceFile = ["#setup/device", "device settings"];
const networkFile = ["#setup/network", "network settings"];
const checkup = ["#setup/checkup", "check-up"];

/** A step is text, or a list of text and links. By the number of blinks. */
export const steps = {
  2: [["Open the ", streamFile, ": the line that is wrong is shown there."],
    "Choose the service, and paste the stream key.", "Is the stream switched off there? Switch it on."],
  3: [["Open the ", deviceFile, ": while one value is wrong, the whole file is ignored."],
    ["Open the ", networkFile, ": a wrong network or key is left out. In a Wi-Fi password, capitals count."],
    "If an image, font or table is named, put that file on the card."],
  4: ["Is the camera's cable straight, and its connector closed? Disconnect the power before you touch it.",
    ["In the ", deviceFile, ", choose “the first camera that gives frames”."],
    "To try the rest without a camera, choose the test pattern there."],
  5: ["Plug the microphone in.", ["In the ", deviceFile, ", choose any microphone, or silence."]],
  6: ["Cable: is it plugged in, and does the router's lamp shine?",
    ["Wi-Fi: correct name, password and country in the ", networkFile, "."], "The router must give addresses by DHCP."],
  7: ["Copy the key from the service again; stop any other encoder that uses it.",
    ["Compare the server's address in the ", streamFile, "."], ["The ", checkup, " shows which step fails."]],
  8: [["Choose a smaller frame size in the ", deviceFile, "."], "Disconnect the power and connect it again."],
  9: ["Is the card full, old or write-protected? Replace it.", "Is a wire or an expander loose?", ["The ", checkup, " names the part."]],
  10: ["Stop the stream and wait 30 s: most boards then restart by themselves.", ["Otherwise restart the camera under ", checkup, "."]],
  11: ["Plug in a USB stick with free space.", "Move the lock of a stick or card that is read-only.",
    ["Or let old recordings be deleted: “keep” in the ", deviceFile, "."]],
};

/** One fault of the status. */
export function faultItem(fault) {
  const list = (steps[fault.blinks] ?? []).map((step) => el("li", {}, [step].flat(1).map((part) =>
    Array.isArray(part) ? el("a", { href: part[0] }, part[1]) : part)));
  return el("li", { class: "fault" },
    el("p", {}, el("strong", {}, capitalized(fault.meaning)), ` (${fault.blinks} blinks)`),
    list.length > 0 && el("ol", {}, list));
}
