// Numbers as people read them.

/** 1234567 is "1.2 MB". */
export function bytes(number) {
  if (!Number.isFinite(number)) return "–";
  const step = number < 1e3 ? 0 : number < 1e6 ? 1 : number < 1e9 ? 2 : 3;
  const scaled = number / 1000 ** step;
  return `${scaled.toFixed(step > 0 && scaled < 100 ? 1 : 0)} ${["B", "kB", "MB", "GB"][step]}`;
}

/** 375487 is "375 kbit/s"; from 10 Mbit/s on in Mbit/s. */
export function bitRate(bitsPerSecond) {
  if (!Number.isFinite(bitsPerSecond)) return "–";
  if (bitsPerSecond >= 9.9995e6) return `${(bitsPerSecond / 1e6).toFixed(1)} Mbit/s`;
  return `${Math.round(bitsPerSecond / 1000).toLocaleString("en")} kbit/s`;
}

/** 3723 is "1:02:03", 63 is "1:03". */
export function clock(seconds) {
  if (!Number.isFinite(seconds)) return "–";
  const whole = Math.max(0, Math.floor(seconds));
  const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  const two = (number) => String(number).padStart(2, "0");
  return hours > 0 ? `${hours}:${two(minutes)}:${two(rest)}` : `${minutes}:${two(rest)}`;
}

export function count(number) {
  return Number.isFinite(number) ? number.toLocaleString("en") : "–";
}

/** At most three decimals, as the camera writes numbers. */
export function decimal(number) {
  return String(Math.round(number * 1000) / 1000);
}

/** A time as a text, or in seconds since 1970, in the browser's own form; a text that is not a time stays. */
export function dateTime(time) {
  const date = new Date(typeof time === "number" ? time * 1000 : time);
  if (!time || Number.isNaN(date.getTime())) return time || "–";
  return date.toLocaleString(undefined, { dateStyle: "medium", timeStyle: "medium" });
}
