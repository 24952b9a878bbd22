// The tally light's rhythms and the words for each state, as docs/trouble/light.md has them.

/** Milliseconds of light and dark in turn; an empty rhythm is steady light. */
export const rhythms = {
  boot: [500, 500],
  updating: [100, 100, 100, 100, 500, 300],
  ready: [80, 2920],
  recording: [80, 920],
  webcam: [],
  "waiting for a press": [50, 50, 50, 50, 50, 50, 50, 1150],
  pairing: [50, 50, 50, 50, 50, 50, 50, 1150],
  connecting: [125, 125],
  live: [],
  degraded: [900, 100],
  "live in software": [700, 100, 100, 100],
  paused: [1000, 2000],
  reconnecting: [100, 100, 100, 100, 100, 100, 700, 300],
  stopping: [1500, 500],
  shutdown: [1500, 500],
};

export function blinks(number) {
  const steps = Array.from({ length: Math.max(1, number) }, () => [250, 250]).flat();
  steps[steps.length - 1] = 1500;
  return steps;
}

/** The rhythm that the camera's light shows with this status; null while the light is dark or the status unknown. */
export function rhythmOf(status) {
  if (!status) return null;
  if (status.state === "fault" || status.state === "no network") {
    const counts = (status.faults ?? []).map((fault) => fault.blinks);
    return blinks(counts.length > 0 ? Math.min(...counts) : 6);
  }
  return rhythms[status.state] ?? null;
}

/** Whether it is lit, and how many milliseconds remain until that changes (null for a steady light). */
export function phase(rhythm, milliseconds) {
  if (rhythm === null) return { isLit: false, remaining: null };
  const period = rhythm.reduce((sum, step) => sum + step, 0);
  if (period === 0) return { isLit: true, remaining: null };
  let rest = milliseconds % period;
  for (const [index, step] of rhythm.entries()) {
    if (rest < step) return { isLit: index % 2 === 0, remaining: step - rest };
    rest -= step;
  }
  return { isLit: false, remaining: period };
}

const words = {
  boot: ["Starting", "The camera has just been switched on."],
  updating: ["Reading files", "Changed files are being read."],
  ready: ["Ready", "Nothing is sent. Start goes live."],
  recording: ["Recording", "The camera records, and sends nothing."],
  webcam: ["Webcam", "A program on a computer sees the camera."],
  "waiting for a press": ["Waiting for permission", "A program on a computer asks for the camera."],
  pairing: ["Pairing", "Another browser waits for a press of the button."],
  connecting: ["Connecting", "No server has accepted the stream yet."],
  live: ["Live", "The server has accepted the stream."],
  degraded: ["Live", "The uplink is slow: quality is reduced."],
  "live in software": ["Live", "The hardware encoder is dead: encoding in software."],
  paused: ["Paused", "A still frame and silence are sent."],
  reconnecting: ["Reconnecting", "The connection was lost."],
  stopping: ["Ending", "The stream ends in order."],
  shutdown: ["Powering off", "The camera powers off or restarts."],
  "no network": ["No network", "A start is remembered until the network is there."],
};

/** @returns { title, advice } for people */
export function wordsOf(status) {
  if (!status) return { title: "Asking the camera", advice: "" };
  if (status.state === "fault") {
    return { title: "Fault", advice: capitalized(status.faults?.[0]?.meaning ?? "Something is wrong.") };
  }
  const [title, advice] = words[status.state] ?? [capitalized(status.state), ""];
  return { title, advice };
}

/** A sentence's first letter; the name of a file stays as it is. */
export function capitalized(text) {
  return /^\S+\.json/.test(text) ? text : text.charAt(0).toUpperCase() + text.slice(1);
}

export function isLive(status) {
  return ["live", "degraded", "live in software", "paused"].includes(status?.state);
}
