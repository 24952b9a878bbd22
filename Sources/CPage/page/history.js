// What the status said in the last ten minutes.

export const historySeconds = 600;
/** Servers acknowledge in steps, so their rate is a mean over this many seconds. */
const rateSeconds = 4;

/** Bytes that the leading server, or the only one, has acknowledged; undefined if nothing says so. */
export function acknowledgedBytes(status) {
  const targets = status.targets ?? [];
  const leading = targets.find((target) => target.leading) ?? targets[0];
  return leading ? leading.deliveredBytes : status.deliveredBytes;
}

export class History {
  constructor() {
    this.samples = [];
  }

  add(status, now) {
    const isSending = status.bitsPerSecond !== undefined;
    this.samples.push({
      time: now,
      target: status.targetBitsPerSecond,
      sent: status.bitsPerSecond,
      buffered: status.bufferedSeconds,
      acknowledged: this.acknowledgedRate(status, now),
      bytes: isSending ? acknowledgedBytes(status) : undefined,
      quality: isSending ? qualityText(status) : undefined,
    });
    while (this.samples[0].time < now - historySeconds) this.samples.shift();
  }

  acknowledgedRate(status, now) {
    const bytes = acknowledgedBytes(status);
    if (bytes === undefined || status.bitsPerSecond === undefined) return undefined;
    const earlier = this.samples.find((sample) => sample.time >= now - rateSeconds - 0.5 && sample.bytes !== undefined);
    // Fewer bytes than before: another stream has started.
    if (!earlier || earlier.bytes > bytes || now <= earlier.time) return undefined;
    return ((bytes - earlier.bytes) * 8) / (now - earlier.time);
  }

  get latest() {
    return this.samples.at(-1);
  }

  /** Where the quality or the size changed while sending: `{ time, quality }`. */
  get changes() {
    const changes = [];
    let quality;
    for (const sample of this.samples) {
      if (sample.quality === undefined) continue;
      if (quality !== undefined && sample.quality !== quality) changes.push({ time: sample.time, quality: sample.quality });
      quality = sample.quality;
    }
    return changes;
  }
}

export function qualityText(status) {
  const size = status.width ? `${status.width}×${status.height}` : "";
  return [status.quality, size].filter(Boolean).join(", ");
}
