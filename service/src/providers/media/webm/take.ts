/** One person's audio and video from one connection, as it arrives: never mixed, never encoded again. */
import { frameReader, type Packet, reorderMs, type TimedFrame } from "./packets.ts";
import type { Picture } from "./vp8.ts";
import { clusterOf, type Frame, liveHeader, type Media } from "./webm.ts";

/** Bytes that follow the ones before: the header, then whole clusters. Times are in the take, in milliseconds. */
export type Chunk = { readonly bytes: Buffer; readonly from: number; readonly to: number; readonly isKey: boolean };

/** A sender report (RFC 3550 section 6.4.1): the sender's time of day at an RTP time. */
export type SenderReport = { readonly senderMs: number; readonly timestamp: number };

export type Take = {
  packet: (media: Media, packet: Packet, now: number) => void;
  report: (media: Media, report: SenderReport) => void;
  /** Call some ten times a second: closes what has waited long enough. */
  tick: (now: number) => void;
  /** Writes out what is there. */
  end: (now: number) => void;
};

type TakeInput = {
  readonly media: { readonly audio: boolean; readonly video: boolean };
  readonly onChunk: (chunk: Chunk) => void;
  /** Called when a picture can't be decoded until the next key frame. */
  readonly onHole: () => void;
  /** Called with the size of each key frame's picture. */
  readonly onPicture?: (picture: Picture) => void;
};

/** Less than the second that a chunk may last, so that it is durable within 1.5 s of its first packet. */
const clusterMs = 900;
/** The sender's clock is not known before its first report; later the time of arrival has to do. */
const reportMs = 3_000;
/** Frames of both kinds are put in the order of their times after the slower one has had its chance. */
const mergeMs = reorderMs + 50;
/** A time that is so far from the time of arrival is not one to believe. */
const farMs = 5_000;
const mostHeld = 1_000;
const rates = { audio: 48_000, video: 90_000 } as const;

type Held = { readonly frame: TimedFrame; readonly at: number };
type Stream = {
  readonly rate: number;
  readonly reader: ReturnType<typeof frameReader>;
  /** Frames that wait for the clock. */
  held: Held[];
  report: SenderReport | null;
  /** The take's time at tick 0 of this stream. */
  zeroMs: number | null;
  lastMs: number;
};

const signed32 = (value: number): number => value | 0;
const ticksToMs = (ticks: number, rate: number): number => (ticks / rate) * 1_000;

/** The sender's time of day at the frame, by the report; null without one. */
function senderTime({ report, rate }: Stream, { ticks }: TimedFrame): number | null {
  if (!report) return null;
  return report.senderMs + ticksToMs(signed32((ticks % 2 ** 32) - report.timestamp), rate);
}

export function openTake({ media, onChunk, onHole, onPicture }: TakeInput): Take {
  const stream = (kind: Media): Stream => ({
    rate: rates[kind],
    reader: frameReader(kind, kind === "video" ? onHole : () => {}),
    held: [],
    report: null,
    zeroMs: null,
    lastMs: -1,
  });
  const streams = { audio: stream("audio"), video: stream("video") };
  const kinds = (["audio", "video"] as const).filter((kind) => media[kind]);
  const clusters = clusterWriter(onChunk);
  let firstAt: number | null = null;
  /** When the take began: on our clock, and on the sender's where it is known. */
  let start: { at: number; senderMs: number | null } | null = null;

  function hold(kind: Media, frames: readonly TimedFrame[], now: number): void {
    if (frames.length === 0) return;
    firstAt ??= now;
    const { held } = streams[kind];
    for (const frame of frames) {
      held.push({ frame, at: now });
      if (frame.picture) onPicture?.(frame.picture);
    }
    if (held.length > mostHeld) held.splice(0, held.length - mostHeld);
    if (!start) begin(now);
    else place(kind, now);
  }

  /** Begins with a key frame, once each kind's clock is known. */
  function begin(now: number, isEnd = false): void {
    const isLate = isEnd || (firstAt !== null && now - firstAt >= reportMs);
    const key = streams.video.held.findIndex(({ frame }) => frame.picture !== null);
    if (media.video && key < 0 && !isLate) return;
    if (!isLate && kinds.some((kind) => streams[kind].held.length === 0 || !streams[kind].report)) return;
    if (key > 0) streams.video.held.splice(0, key);
    const first = key >= 0 ? streams.video : streams.audio;
    const opening = first.held[0];
    if (!opening) return;
    start = { at: opening.at, senderMs: senderTime(first, opening.frame) };
    const picture: Picture = opening.frame.picture ?? { width: 640, height: 480 };
    onChunk({
      bytes: liveHeader({ audio: media.audio, video: media.video ? picture : null }),
      from: 0,
      to: 0,
      isKey: false,
    });
    for (const kind of kinds) place(kind, now, isEnd);
  }

  /** Gives the frames of a stream their times once its clock is known. */
  function place(kind: Media, now: number, isEnd = false): void {
    const own = streams[kind];
    const oldest = own.held[0];
    if (!start || !oldest) return;
    if (own.zeroMs === null) {
      const senderMs = senderTime(own, oldest.frame);
      if (!isEnd && senderMs === null && now - oldest.at < reportMs && own.held.length < mostHeld) return;
      const ms =
        senderMs !== null && start.senderMs !== null ? senderMs - start.senderMs : oldest.at - start.at;
      own.zeroMs = (Math.abs(ms - (oldest.at - start.at)) > farMs ? oldest.at - start.at : ms) - ticksToMs(oldest.frame.ticks, own.rate);
    }
    for (const { frame, at } of own.held.splice(0)) {
      const arrived = at - start.at;
      let ms = own.zeroMs + ticksToMs(frame.ticks, own.rate);
      if (Math.abs(ms - arrived) > farMs) {
        own.zeroMs += arrived - ms;
        ms = arrived;
      }
      // Sound from before the first picture is left out.
      if (ms < 0) continue;
      // Two frames can round to one millisecond after loss.
      own.lastMs = Math.max(Math.round(ms), own.lastMs + 1);
      clusters.add({ media: kind, ms: own.lastMs, isKey: frame.isKey, data: frame.data }, at);
    }
  }

  return {
    packet: (kind, packet, now) => {
      if (media[kind]) hold(kind, streams[kind].reader.push(packet, now), now);
    },
    report: (kind, report) => {
      streams[kind].report ??= report;
    },
    tick(now) {
      for (const kind of kinds) hold(kind, streams[kind].reader.flush(now), now);
      if (!start && firstAt !== null) begin(now);
      else for (const kind of kinds) place(kind, now);
      clusters.flush(now, false);
    },
    end(now) {
      for (const kind of kinds) hold(kind, streams[kind].reader.flush(now, true), now);
      if (!start) begin(now, true);
      else for (const kind of kinds) place(kind, now, true);
      clusters.flush(now, true);
    },
  };
}

/** Puts frames in the order of their times and closes clusters: with a key frame, and after `clusterMs`. */
function clusterWriter(onChunk: (chunk: Chunk) => void) {
  const waiting: { frame: Frame; at: number }[] = [];
  let open: { frames: Frame[]; at: number } | null = null;
  let lastMs = 0;

  function close(): void {
    const first = open?.frames[0];
    const last = open?.frames.at(-1);
    if (open && first && last)
      onChunk({
        bytes: clusterOf(open.frames),
        from: first.ms,
        to: last.ms,
        isKey: first.media === "video" && first.isKey,
      });
    open = null;
  }

  function write(frame: Frame, now: number): void {
    // A frame that comes after its turn can't go in front of what is written.
    const ms = Math.max(frame.ms, lastMs);
    const start = open?.frames[0]?.ms ?? ms;
    if ((frame.media === "video" && frame.isKey) || ms - start >= clusterMs) close();
    open ??= { frames: [], at: now };
    open.frames.push({ ...frame, ms });
    lastMs = ms;
  }

  return {
    add(frame: Frame, at: number): void {
      let index = waiting.length;
      while (index > 0 && (waiting[index - 1]?.frame.ms ?? 0) > frame.ms) index--;
      waiting.splice(index, 0, { frame, at });
    },
    flush(now: number, all: boolean): void {
      for (let next = waiting[0]; next && (all || now - next.at >= mergeMs); next = waiting[0]) {
        waiting.shift();
        write(next.frame, now);
      }
      if (all || (open && now - open.at >= clusterMs)) close();
    },
  };
}
