/** Records a participant's audio and video from one connection as received: not mixed and not re-encoded. */
import { frameReader, type Packet, reorderMs, type TimedFrame } from "./packets.ts";
import type { Picture } from "./vp8.ts";
import { clusterOf, type Frame, liveHeader, type Media } from "./webm.ts";

/** The next bytes of a take: a header, and then whole WebM clusters. Times are milliseconds since the take's start. */
export type Chunk = { readonly bytes: Buffer; readonly from: number; readonly to: number; readonly isKey: boolean };

/** A sender report (RFC 3550 section 6.4.1): the sender's time of day at an RTP time. */
export type SenderReport = { readonly senderMs: number; readonly timestamp: number };

type TakeInput = {
  readonly media: { readonly audio: boolean; readonly video: boolean };
  readonly onChunk: (chunk: Chunk) => void;
  /** Called when the picture can't be decoded until the next key frame. */
  readonly onHole: () => void;
  /** Called with the picture size of each key frame. */
  readonly onPicture?: (picture: Picture) => void;
};

/**
 * The longest cluster. Each cluster is one chunk. A chunk may last a second, but the limit is lower, so that a chunk is
 * durable within 1.5 s of its first packet.
 */
const clusterMs = 900;
/**
 * The longest time for which frames are buffered until the sender's first report reveals the sender's clock. Buffered
 * frames are not durable, and Chromium sends its first report about audio only after 2.5 s. So after this time, arrival
 * times are used until the report.
 */
const reportMs = 900;
/** Frames of audio and video are merged by time after this delay, so that the slower stream can arrive. */
const mergeMs = reorderMs + 50;
/** A sender's time that differs this much from the arrival time is not used. */
const farMs = 5_000;
const maxHeld = 1_000;
const rates = { audio: 48_000, video: 90_000 } as const;

/**
 * After this long with packets but without a whole frame, the kind of media is reported as incomplete. After this long
 * without a packet, it counts as silent.
 */
const missingMs = 3_000;

/**
 * The arrival times of the last packet and the last recorded frame of a kind; before the first, the start of the take.
 * `since`: the time when packets began to arrive, or arrived again after a pause.
 */
type Flow = { packetAt: number; wholeAt: number; since: number; hasFrame: boolean; isReported: boolean };

type Held = { readonly frame: TimedFrame; readonly at: number };
type Stream = {
  readonly rate: number;
  readonly reader: ReturnType<typeof frameReader>;
  /** The frames that are buffered until the sender's clock is known. */
  held: Held[];
  report: SenderReport | null;
  /** The time in the take at tick 0 of this stream. */
  zeroMs: number | null;
  /** True if `zeroMs` is based on arrival times, because the sender's clock is not known yet. */
  isByArrival: boolean;
  lastMs: number;
};

const signed32 = (value: number): number => value | 0;
const ticksToMs = (ticks: number, rate: number): number => (ticks / rate) * 1_000;

/** The sender's time of day for a frame, by the stream's first report; null without one. */
function senderTime({ report, rate }: Stream, { ticks }: TimedFrame): number | null {
  if (!report) return null;
  return report.senderMs + ticksToMs(signed32((ticks % 2 ** 32) - report.timestamp), rate);
}

export class Take {
  readonly #input: TakeInput;
  readonly #streams: Readonly<Record<Media, Stream>>;
  readonly #kinds: readonly Media[];
  readonly #clusters: ReturnType<typeof clusterWriter>;
  readonly #flows: Readonly<Record<Media, Flow>>;
  #firstAt: number | null = null;
  /** The start of the take by the local clock, and the take's first key frame or, without one, its first audio. */
  #start: Start | null = null;

  constructor(input: TakeInput, now: number) {
    this.#input = input;
    const flow = () => ({ packetAt: now, wholeAt: now, since: now, hasFrame: false, isReported: false });
    this.#flows = { audio: flow(), video: flow() };
    this.#streams = { audio: openStream("audio", () => {}), video: openStream("video", input.onHole) };
    this.#kinds = (["audio", "video"] as const).filter((kind) => input.media[kind]);
    this.#clusters = clusterWriter(input.onChunk);
  }

  packet(kind: Media, packet: Packet, now: number): void {
    if (!this.#input.media[kind]) return;
    const flow = this.#flows[kind];
    if (now - flow.packetAt > missingMs) flow.since = now;
    flow.packetAt = now;
    this.#hold(kind, this.#streams[kind].reader.push(packet, now), now);
  }

  /** Milliseconds since the last whole frame of this kind arrived or, before the first, since the take began. */
  sinceWhole(kind: Media, now: number): { ms: number; hasFrame: boolean } {
    const { wholeAt, hasFrame } = this.#flows[kind];
    return { ms: now - wholeAt, hasFrame };
  }

  /** The kinds of media whose packets have stopped. */
  silent(now: number): Media[] {
    return this.#kinds.filter((kind) => now - this.#flows[kind].packetAt > missingMs);
  }

  /** Kinds of media whose packets arrive but form no whole frame; each is reported once until a whole frame arrives. */
  newlyIncomplete(now: number): Media[] {
    return this.#kinds.filter((kind) => {
      const flow = this.#flows[kind];
      const { wholeAt, since, packetAt, isReported } = flow;
      if (isReported || now - Math.max(wholeAt, since) <= missingMs || now - packetAt > missingMs) return false;
      flow.isReported = true;
      return true;
    });
  }

  report(kind: Media, report: SenderReport): void {
    this.#streams[kind].report ??= report;
  }

  /** Writes frames whose merge delay is over, and closes full clusters. Must be called about ten times a second. */
  tick(now: number): void {
    for (const kind of this.#kinds) this.#hold(kind, this.#streams[kind].reader.flush(now), now);
    this.#advance(now, false);
    this.#clusters.flush(now, false);
  }

  /**
   * The time from which a stream's wait for the sender's clock is counted. Streams that begin together end their wait
   * together. Otherwise one stream's frames would be late for the merge, and get later times.
   */
  #waitsSince({ at }: Held): number {
    const firstAt = this.#firstAt ?? at;
    return at - firstAt < reportMs ? firstAt : at;
  }

  /** Writes out all remaining frames. */
  end(now: number): void {
    for (const kind of this.#kinds) this.#hold(kind, this.#streams[kind].reader.flush(now, true), now);
    this.#advance(now, true);
    this.#clusters.flush(now, true);
  }

  #hold(kind: Media, frames: readonly TimedFrame[], now: number): void {
    if (frames.length === 0) return;
    this.#firstAt ??= now;
    const { held } = this.#streams[kind];
    for (const frame of frames) {
      held.push({ frame, at: now });
      if (frame.picture) this.#input.onPicture?.(frame.picture);
    }
    if (held.length > maxHeld) held.splice(0, held.length - maxHeld);
    if (!this.#start) this.#begin(now, false);
    else this.#place(kind, now, false);
  }

  #advance(now: number, isEnd: boolean): void {
    if (!this.#start && this.#firstAt !== null) this.#begin(now, isEnd);
    else for (const kind of this.#kinds) this.#place(kind, now, isEnd);
  }

  /**
   * Starts the take once the clocks of all kinds of media are known, or the time limit is over. The take begins with a
   * key frame if there is one. Without a key frame and without audio, the take does not start.
   */
  #begin(now: number, isEnd: boolean): void {
    const { media, onChunk } = this.#input;
    const { audio, video } = this.#streams;
    const isLate = isEnd || (this.#firstAt !== null && now - this.#firstAt >= reportMs);
    const key = video.held.findIndex(({ frame }) => frame.picture !== null);
    if (media.video && key < 0 && !isLate) return;
    const isUnclear = (kind: Media) => this.#streams[kind].held.length === 0 || !this.#streams[kind].report;
    if (!isLate && this.#kinds.some(isUnclear)) return;
    if (key > 0) video.held.splice(0, key);
    const first = key >= 0 ? video : audio;
    const opening = first.held[0];
    if (!opening) return;
    const start: Start = { at: opening.at, leadMs: 0, stream: first, frame: opening.frame };
    const sound = audio.held[0];
    // The other participants hear a participant from the first packet on. So audio from before the first key frame is
    // recorded as well.
    const leadMs = sound ? Math.max(0, -(sinceStart(start, audio, sound) ?? sound.at - start.at)) : 0;
    this.#start = { ...start, at: opening.at - leadMs, leadMs };
    const picture: Picture = opening.frame.picture ?? { width: 640, height: 480 };
    const bytes = liveHeader({ audio: media.audio, video: media.video ? picture : null });
    onChunk({ bytes, from: 0, to: 0, isKey: false });
    for (const kind of this.#kinds) this.#place(kind, now, isEnd);
  }

  /**
   * Assigns times to the buffered frames of a stream once its clock is known. A frame with an implausible time gets its
   * arrival time: the other participants have heard or seen it. From here on, a frame counts as recorded.
   */
  #place(kind: Media, now: number, isEnd: boolean): void {
    const own = this.#streams[kind];
    const oldest = own.held[0];
    const start = this.#start;
    if (!start || !oldest) return;
    if (own.zeroMs === null || own.isByArrival) {
      const bySender = sinceStart(start, own, oldest);
      const mayWait = own.zeroMs === null && !isEnd && bySender === null && own.held.length < maxHeld;
      if (mayWait && now - this.#waitsSince(oldest) < reportMs) return;
      if (own.zeroMs === null || bySender !== null)
        own.zeroMs = (bySender ?? oldest.at - start.at) - ticksToMs(oldest.frame.ticks, own.rate);
      own.isByArrival = bySender === null;
    }
    for (const { frame, at } of own.held.splice(0)) {
      const arrived = at - start.at;
      let ms = own.zeroMs + ticksToMs(frame.ticks, own.rate);
      if (Math.abs(ms - arrived) > farMs) {
        own.zeroMs += arrived - ms;
        ms = arrived;
      }
      // Keeps times rising: after loss, two frames may get one millisecond, and a report may move the clock back.
      own.lastMs = Math.max(Math.round(ms), own.lastMs + 1);
      Object.assign(this.#flows[kind], { wholeAt: at, hasFrame: true, isReported: false });
      this.#clusters.add({ media: kind, ms: own.lastMs, isKey: frame.isKey, data: frame.data }, at);
    }
  }
}

type Start = {
  readonly at: number;
  /** The time of `frame` in the take. It is above 0 when the take has audio from before its first key frame. */
  readonly leadMs: number;
  readonly stream: Stream;
  readonly frame: TimedFrame;
};

/**
 * The frame's time in the take, by the sender's clock. Null while that clock is unknown or implausible: then the
 * arrival time is used.
 */
function sinceStart(start: Start, own: Stream, { at, frame }: Held): number | null {
  if (own === start.stream) return ticksToMs(frame.ticks - start.frame.ticks, own.rate) + start.leadMs;
  const began = senderTime(start.stream, start.frame);
  const senderMs = senderTime(own, frame);
  if (began === null || senderMs === null) return null;
  const ms = senderMs - began + start.leadMs;
  return Math.abs(ms - (at - start.at)) > farMs ? null : ms;
}

const openStream = (kind: Media, hole: () => void): Stream => ({
  rate: rates[kind],
  reader: frameReader(kind, hole),
  held: [],
  report: null,
  zeroMs: null,
  isByArrival: false,
  lastMs: -1,
});

/** Sorts frames by time and closes clusters: at each key frame, and after `clusterMs`. */
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
    // The take already has frames up to `lastMs`, so a late frame gets this time instead of its own.
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
