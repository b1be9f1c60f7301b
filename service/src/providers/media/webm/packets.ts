/** Packets of one RTP stream, put in order and joined to frames. */

import { isKeyFrame, type Picture, pictureOf, readVp8Packet } from "./vp8.ts";
import type { Media } from "./webm.ts";

/** As much of a packet as matters here. */
export type Packet = {
  readonly sequence: number;
  readonly timestamp: number;
  readonly marker: boolean;
  readonly payload: Buffer;
};

/** A whole frame; `ticks` is its RTP time without wrapping around. */
export type TimedFrame = {
  readonly ticks: number;
  readonly isKey: boolean;
  readonly picture: Picture | null;
  readonly data: Buffer;
};

/** A lost packet is asked for again and comes within some 100 ms; later the hole is final. */
export const reorderMs = 200;
/** More wait only where somebody sends nonsense: 200 ms at full rate are 25 packets. */
const mostWaiting = 512;
/** 1 MiB: a key frame at 1280x720 has 100 KB. */
const mostFrameBytes = 1024 * 1024;
/** A jump of more is not a hole: the sender began again. */
const farApart = 3_000;

/** Follows a counter that wraps around, from its low bits. */
export function unwrapper(bits: 16 | 32): (value: number) => number {
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
 * Puts packets in order, waits `reorderMs` for a missing one, and drops repeated ones.
 * @returns `push` and `flush` return the frames that became whole; `hole` is called when a missing packet is given up
 */
export function frameReader(media: Media, hole: () => void) {
  const join = media === "audio" ? joinOpus() : joinVp8(hole);
  const waiting = new Map<number, Waiting>();
  const extended = unwrapper(16);
  let next: number | null = null;

  function take(now: number, all: boolean): TimedFrame[] {
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
      if (!all && now - since < reorderMs && waiting.size < mostWaiting) break;
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
      if (sequence < next) return take(now, false);
      if (!waiting.has(sequence)) waiting.set(sequence, { packet, at: now });
      return take(now, false);
    },
    flush: (now: number, all = false): TimedFrame[] => take(now, all),
  };
}

type Join = (packet: Packet | null, hole: boolean) => TimedFrame | null;

/** Each packet of Opus is a frame (RFC 7587). */
function joinOpus(): Join {
  const ticksOf = unwrapper(32);
  return (packet) =>
    packet && packet.payload.length > 0
      ? { ticks: ticksOf(packet.timestamp), isKey: true, picture: null, data: Buffer.from(packet.payload) }
      : null;
}

/** A frame of which a packet is missing is dropped. */
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
    if (length > mostFrameBytes) {
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
