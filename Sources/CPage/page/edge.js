// Keeps a live video at its edge: decisions without a video element.

/** Seconds of media kept behind the playhead. */
export const keptSeconds = 4;
const furthest = 2.5;
const afterJump = 0.1;

/**
 * What to do so that playback stays close to the end of what has arrived.
 * @param ranges `[start, end]` of what is buffered, in seconds, ascending
 * @param jumps whether the browser buffers anew when the playback rate changes (Safari): it then jumps instead
 * @returns { seek } to this time, or { rate }
 */
export function atEdge(ranges, currentTime, currentRate, jumps) {
  if (ranges.length === 0) return { rate: 1 };
  const [start, end] = ranges[ranges.length - 1];
  // A gap follows a pause or a lost fragment: playback never crosses it alone.
  if (currentTime < start - 0.01) return { seek: Math.max(start, end - afterJump) };
  const behind = end - currentTime;
  if (behind > (jumps ? 1 : furthest) || behind < -0.5) return { seek: Math.max(start, end - afterJump) };
  if (jumps) return { rate: 1 };
  if (behind > 0.8) return { rate: 1.5 };
  // What is shown is some 50 ms older than that, and should be less than 300 ms old.
  if (behind > 0.22) return { rate: 1.15 };
  // Between the two limits the rate stays, so that it does not change with each frame.
  return { rate: behind < 0.12 ? 1 : currentRate };
}

/** What to remove so that only the last seconds remain; null if there is nothing. */
export function surplus(ranges, currentTime, kept = keptSeconds) {
  if (ranges.length === 0) return null;
  const until = Math.min(currentTime, ranges[ranges.length - 1][1]) - kept;
  return until > ranges[0][0] ? [ranges[0][0], until] : null;
}

/** Media that waits for its SourceBuffer. It is bounded: a browser that decodes too slowly starts again. */
export class AppendQueue {
  constructor(mostBytes = 6_000_000) {
    this.mostBytes = mostBytes;
    this.items = [];
    this.bytes = 0;
  }

  get isEmpty() { return this.items.length === 0; }

  put(type, data) {
    this.items.push({ type, data });
    this.bytes += data.byteLength;
    return this.bytes <= this.mostBytes;
  }

  /** What to append next: all fragments up to the next initialization segment together, or that segment with its type. */
  take() {
    const first = this.items.shift();
    const parts = [first.data];
    while (!first.type && this.items.length > 0 && !this.items[0].type) parts.push(this.items.shift().data);
    const data = parts.length === 1 ? parts[0] : joined(parts);
    this.bytes -= data.byteLength;
    return { type: first.type, data };
  }

  putBack({ type, data }) {
    this.items.unshift({ type, data });
    this.bytes += data.byteLength;
  }
}

function joined(parts) {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.byteLength, 0));
  let offset = 0;
  for (const part of parts) {
    whole.set(new Uint8Array(part), offset);
    offset += part.byteLength;
  }
  return whole.buffer;
}

/** Where a pointer is in the frame, each from 0 to 1, or null beside it. `box` shows the frame as large as it fits. */
export function pointInFrame(x, y, box, frame) {
  if (!(frame.width > 0 && frame.height > 0)) return null;
  const scale = Math.min(box.width / frame.width, box.height / frame.height);
  const [width, height] = [frame.width * scale, frame.height * scale];
  const point = { x: (x - (box.width - width) / 2) / width, y: (y - (box.height - height) / 2) / height };
  return point.x >= 0 && point.x <= 1 && point.y >= 0 && point.y <= 1 ? point : null;
}
