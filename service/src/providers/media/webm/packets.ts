/** Sorts the packets of one RTP stream and assembles them to frames. */

import { isKeyFrame, type Picture, pictureOf, readVp8Packet } from "./vp8.ts";
import type { Media } from "./webm.ts";

/** The fields of a packet that are needed here. */
export type Packet = {
  readonly sequence: number;
  readonly timestamp: number;
  readonly marker: boolean;
  readonly payload: Buffer;
};

/** A complete frame. `ticks` is its RTP time with the wrap-around removed. */
export type TimedFrame = {
  readonly ticks: number;
  readonly isKey: boolean;
  readonly picture: Picture | null;
  readonly data: Buffer;
};

/**
 * The longest wait for a missing packet. The packet is requested again, and usually arrives within some 100 ms. After
 * this time it counts as lost.
 */
export const reorderMs = 200;
/**
 * The most packets that are buffered; a full buffer ends the wait for a missing one. Browsers stay far below, although
 * the rate limit (`rates` in person.ts) allows a burst of 1,000.
 */
const maxWaiting = 512;
/** The largest frame: 1 MiB. A key frame at 1280x720 has 100 KB. */
const maxFrameBytes = 1024 * 1024;
/** A larger jump of sequence numbers is not a gap but a restart of the sender. */
const farApart = 3_000;

/** Extends a counter to its full value. Packets contain only its lowest bits, which wrap around. */
function unwrapper(bits: 16 | 32): (value: number) => number {
  const range = 2 ** bits;
  let last: number | null = null;
  return (value) => {
    if (last === null) last = value;
    else {
      let step = (value - (last % range) + range) % range;
      if (step >= range / 2) step -= range;
      last = Math.max(0, last + step);
    }
    return last;
  };
}

type Waiting = { readonly packet: Packet; readonly at: number };

/**
 * Sorts packets, waits `reorderMs` for a missing one, and drops duplicates.
 * @param hole called when a missing packet counts as lost
 * @returns two functions, `push` and `flush`, which return the frames that are now complete
 */
export function frameReader(media: Media, hole: () => void) {
  const join = media === "audio" ? joinOpus() : joinVp8(hole);
  const waiting = new Map<number, Waiting>();
  const extended = unwrapper(16);
  let next: number | null = null;

  function nextFrames(now: number, all: boolean): TimedFrame[] {
    const frames: TimedFrame[] = [];
    while (next !== null && waiting.size > 0) {
      const found: Waiting | undefined = waiting.get(next);
      if (found) {
        waiting.delete(next);
        const frame = join(found.packet, false);
        if (frame) frames.push(frame);
        next++;
        continue;
      }
      const oldest = Math.min(...waiting.keys());
      const since = waiting.get(oldest)?.at ?? now;
      if (!all && now - since < reorderMs && waiting.size < maxWaiting) break;
      next = oldest;
      join(null, true);
      hole();
    }
    return frames;
  }

  return {
    push(packet: Packet, now: number): TimedFrame[] {
      const sequence = extended(packet.sequence);
      if (next === null) next = sequence;
      if (Math.abs(sequence - next) > farApart) {
        waiting.clear();
        join(null, true);
        next = sequence;
      }
      if (sequence < next) return nextFrames(now, false);
      if (!waiting.has(sequence)) waiting.set(sequence, { packet, at: now });
      return nextFrames(now, false);
    },
    flush: (now: number, all = false): TimedFrame[] => nextFrames(now, all),
  };
}

type Join = (packet: Packet | null, hole: boolean) => TimedFrame | null;

/** Each Opus packet is a complete frame (RFC 7587). */
function joinOpus(): Join {
  const ticksOf = unwrapper(32);
  return (packet) =>
    packet && packet.payload.length > 0
      ? { ticks: ticksOf(packet.timestamp), isKey: true, picture: null, data: Buffer.from(packet.payload) }
      : null;
}

/** Drops a frame if one of its packets is missing. */
function joinVp8(broken: () => void): Join {
  const ticksOf = unwrapper(32);
  let parts: Buffer[] = [];
  let length = 0;
  let timestamp: number | null = null;
  const drop = () => {
    parts = [];
    length = 0;
    timestamp = null;
  };
  return (packet, hole) => {
    if (hole || !packet) {
      drop();
      return null;
    }
    const read = readVp8Packet(packet.payload);
    if (!read) return null;
    if (read.isFirst) {
      drop();
      timestamp = packet.timestamp;
    } else if (timestamp !== packet.timestamp) {
      if (timestamp !== null) broken();
      drop();
      return null;
    }
    length += read.data.length;
    if (length > maxFrameBytes) {
      drop();
      broken();
      return null;
    }
    parts.push(read.data);
    if (!packet.marker) return null;
    const data = Buffer.concat(parts);
    const ticks = ticksOf(timestamp);
    drop();
    return { ticks, isKey: isKeyFrame(data), picture: pictureOf(data), data };
  };
}
