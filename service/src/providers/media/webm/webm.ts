/**
 * WebM files: one for each take (a participant's recording from one connection). Track 1 has Opus, and track 2 has VP8.
 * A take may have only one of them. All functions are pure.
 */
import { element, elementStart, endlessStart, fixedUint, float, text, uint } from "./ebml.ts";

export type Media = "audio" | "video";

/** A frame of audio or video. `ms` is its time since the start of the take. */
export type Frame = { readonly media: Media; readonly ms: number; readonly isKey: boolean; readonly data: Uint8Array };

/** The tracks of a take. The picture size is that of its first key frame. */
export type Tracks = {
  readonly audio: boolean;
  readonly video: { readonly width: number; readonly height: number } | null;
};

const trackNumber = { audio: 1, video: 2 } as const;
const app = "SignSealShip";

const id = {
  ebml: 0x1a45dfa3,
  segment: 0x18538067,
  info: 0x1549a966,
  tracks: 0x1654ae6b,
  cues: 0x1c53bb6b,
  cluster: 0x1f43b675,
} as const;

const ebmlHeader = (): Buffer =>
  element(
    id.ebml,
    uint(0x4286, 1),
    uint(0x42f7, 1),
    uint(0x42f2, 4),
    uint(0x42f3, 8),
    text(0x4282, "webm"),
    uint(0x4287, 4),
    uint(0x4285, 2),
  );

/**
 * The element that states the duration, with one millisecond as the unit of time.
 * @param durationMs null while the take is being recorded
 */
const info = (durationMs: number | null): Buffer =>
  element(
    id.info,
    uint(0x2ad7b1, 1_000_000),
    text(0x4d80, app),
    text(0x5741, app),
    ...(durationMs === null ? [] : [float(0x4489, durationMs)]),
  );

/**
 * The header of the Opus track (RFC 7845 section 5.1): version 1, two channels, no pre-skip, 48 kHz, no gain, mapping
 * family 0.
 */
const opusHead = Buffer.from("4f707573486561640102000080bb000000000000", "hex").subarray(0, 19);

function tracksOf({ audio, video }: Tracks): Buffer {
  const entries: Buffer[] = [];
  if (audio)
    entries.push(
      element(
        0xae,
        uint(0xd7, trackNumber.audio),
        uint(0x73c5, trackNumber.audio),
        uint(0x83, 2),
        uint(0x9c, 0),
        text(0x86, "A_OPUS"),
        element(0x63a2, opusHead),
        uint(0x56bb, 80_000_000),
        element(0xe1, float(0xb5, 48_000), uint(0x9f, 2)),
      ),
    );
  if (video)
    entries.push(
      element(
        0xae,
        uint(0xd7, trackNumber.video),
        uint(0x73c5, trackNumber.video),
        uint(0x83, 1),
        uint(0x9c, 0),
        text(0x86, "V_VP8"),
        element(0xe0, uint(0xb0, video.width), uint(0xba, video.height)),
      ),
    );
  return element(id.tracks, ...entries);
}

/** The header of a take that is being recorded. Its segment extends to the end of the file. */
export const liveHeader = (tracks: Tracks): Buffer =>
  Buffer.concat([ebmlHeader(), endlessStart(id.segment), info(null), tracksOf(tracks)]);

/**
 * A cluster of known size. A block states its time in 16 bits, relative to the cluster's time. @param frames sorted by
 * time
 */
export function clusterOf(frames: readonly Frame[]): Buffer {
  const start = frames[0]?.ms ?? 0;
  const blocks = frames.map(({ media, ms, isKey, data }) => {
    const head = Buffer.alloc(4);
    head[0] = 0x80 | trackNumber[media];
    head.writeInt16BE(ms - start, 1);
    head[3] = isKey ? 0x80 : 0;
    return element(0xa3, head, data);
  });
  const content = [uint(0xe7, start), ...blocks];
  const length = content.reduce((sum, part) => sum + part.length, 0);
  return Buffer.concat([elementStart(id.cluster, length), ...content]);
}

/** A cluster of a finished take: its length, its time, and whether it starts with a key frame. */
export type Place = { readonly bytes: number; readonly ms: number; readonly isKey: boolean };

/**
 * The header of a finished take, with its duration and seek points. It replaces the live header; the clusters stay as
 * recorded. Without video, every cluster is a seek point.
 */
export function finishedHeader(tracks: Tracks, clusters: readonly Place[], durationMs: number): Buffer {
  const front = Buffer.concat([info(durationMs), tracksOf(tracks)]);
  const track = tracks.video ? trackNumber.video : trackNumber.audio;
  let at = 0;
  const points: { ms: number; at: number }[] = [];
  for (const { bytes, ms, isKey } of clusters) {
    if (isKey || !tracks.video) points.push({ ms, at });
    at += bytes;
  }
  const cuesOf = (base: number): Buffer =>
    element(
      id.cues,
      ...points.map((point) =>
        element(0xbb, fixedUint(0xb3, point.ms), element(0xb7, uint(0xf7, track), fixedUint(0xf1, base + point.at))),
      ),
    );
  // A position is always written in the same number of bytes. So the length of the cues is known before the positions
  // are.
  const base = front.length + (points.length > 0 ? cuesOf(0).length : 0);
  const cues = points.length > 0 ? cuesOf(base) : Buffer.alloc(0);
  return Buffer.concat([ebmlHeader(), elementStart(id.segment, base + at), front, cues]);
}

/** The tracks that a live header declares. @throws Error when the bytes are not a header that this service wrote */
export function tracksIn(header: Buffer): Tracks {
  for (const audio of [true, false]) {
    if (header.equals(liveHeader({ audio, video: null }))) return { audio, video: null };
    const width = header.indexOf(Buffer.from("b0", "hex"), header.indexOf("V_VP8"));
    if (width < 0) continue;
    const video = {
      width: uintAt(header, width),
      height: uintAt(header, width + 2 + ((header[width + 1] ?? 0) & 0x7f)),
    };
    if (header.equals(liveHeader({ audio, video }))) return { audio, video };
  }
  throw new Error("the header of a take is not one that this service writes");
}

/** The number in the element at this offset, whose id has one byte. */
function uintAt(bytes: Buffer, at: number): number {
  const length = (bytes[at + 1] ?? 0) & 0x7f;
  return length >= 1 && length <= 4 && at + 2 + length <= bytes.length ? bytes.readUIntBE(at + 2, length) : 0;
}
