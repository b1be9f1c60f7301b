import assert from "node:assert/strict";
import { test } from "node:test";
import { madeUpFrame, vp8Payloads } from "@signsealship/testing/media-peer";
import { type Chunk, Take } from "../../../src/providers/media/webm/take.ts";
import type { Media } from "../../../src/providers/media/webm/webm.ts";

const arrivedFirst = 50_000;
/** The sender's clock differs from ours by this much. */
const aheadMs = 3_600_000;

type Run = {
  /** When the sender's reports about sound and picture arrive, in milliseconds after the first packet. */
  reports: Partial<Record<Media, number>>;
  /** How many milliseconds longer sound takes than the picture, from the sender to the recording. */
  soundLateMs: number;
  lastsMs: number;
  /** The milliseconds by which the picture begins later than the sound. */
  pictureLateMs?: number;
  /** The sender's report gives the sound a time that is this many milliseconds too early. */
  soundSetBackMs?: number;
};

/** Records a sender's picture and sound for some time. */
function recorded({ reports, soundLateMs, lastsMs, pictureLateMs = 0, soundSetBackMs = 0 }: Run) {
  const chunks: (Chunk & { at: number })[] = [];
  let now = arrivedFirst;
  const onChunk = (chunk: Chunk) => void chunks.push({ ...chunk, at: now - arrivedFirst });
  const take = new Take({ media: { audio: true, video: true }, onChunk, onHole: () => {} }, now);
  const ticks = { audio: 48, video: 90 };
  const packet = (kind: Media, n: number, ms: number, payload: Buffer) =>
    take.packet(kind, { sequence: n, timestamp: ms * ticks[kind], marker: true, payload }, now);
  for (let ms = 0; ms <= lastsMs; ms += 10, now += 10) {
    if (ms >= pictureLateMs && ms % 50 === 0)
      packet("video", ms / 50, ms, vp8Payloads(madeUpFrame((ms - pictureLateMs) % 3_000 === 0, 300))[0] as Buffer);
    const sent = ms - soundLateMs;
    if (sent >= 0 && sent % 20 === 0) packet("audio", sent / 20, sent, Buffer.from([0xf8, 0xaa, (sent / 20) & 0xff]));
    for (const kind of ["audio", "video"] as const)
      if (reports[kind] === ms) {
        const senderMs = arrivedFirst + aheadMs - (kind === "audio" ? soundSetBackMs : 0);
        take.report(kind, { senderMs, timestamp: 0 });
      }
    if (ms % 100 === 0) take.tick(now);
  }
  take.end(now);
  return { chunks, blocks: blocksOf(Buffer.concat(chunks.map(({ bytes }) => bytes))) };
}

/** The time of each block in the file. */
function blocksOf(webm: Buffer) {
  const times: { media: Media; ms: number }[] = [];
  let cluster = 0;
  for (const block of blocksIn(webm)) {
    if (block.kind === "cluster") cluster = block.ms;
    else times.push({ media: block.track === 1 ? "audio" : "video", ms: cluster + block.ms });
  }
  return times;
}

type Found = { kind: "cluster"; ms: number } | { kind: "block"; track: number; ms: number };

const clusterId = 0x1f43b675;

function* blocksIn(webm: Buffer): Generator<Found> {
  let at = 0;
  const vint = (keepsMarker: boolean): number => {
    const first = webm[at] ?? 0;
    const length = Math.clz32(first) - 23;
    let value = keepsMarker ? first : first & (0xff >> length);
    for (let byte = 1; byte < length; byte++) value = value * 256 + (webm[at + byte] ?? 0);
    at += length;
    return value;
  };
  while (at < webm.length) {
    const id = vint(true);
    const size = vint(false);
    const end = at + size;
    if (id === clusterId || id === 0x18538067) continue;
    if (id === 0xe7) yield { kind: "cluster", ms: Number(BigInt(`0x${webm.subarray(at, end).toString("hex")}`)) };
    if (id === 0xa3) {
      const track = vint(false);
      yield { kind: "block", track, ms: webm.readInt16BE(at) };
    }
    at = end;
  }
}

const timesOf = (blocks: ReturnType<typeof blocksOf>, kind: Media) =>
  blocks.flatMap(({ media, ms }) => (media === kind ? [ms] : []));

test("chunks are durable within 1.5 s of their first frame even before the sender reports its clock", () => {
  for (const reports of [{ video: 500, audio: 2_500 }, { video: 500 }, {}]) {
    const { chunks } = recorded({ reports, soundLateMs: 40, lastsMs: 6_000 });
    for (const { at, from, n } of chunks.map((chunk, n) => ({ ...chunk, n })))
      assert.ok(at - from <= 1_500, `chunk ${n} was complete ${at - from} ms after its first frame`);
  }
});

test("sound and picture are aligned by the sender's clock, also once its report comes late, and times never fall", () => {
  for (const audio of [400, 2_500]) {
    const { blocks } = recorded({ reports: { video: 400, audio }, soundLateMs: 60, lastsMs: 6_000 });
    const [sound, picture] = [timesOf(blocks, "audio"), timesOf(blocks, "video")];
    // The last sound was sent 60 ms before the last picture, and both arrived together.
    const offset = (sound.at(-1) ?? 0) - (picture.at(-1) ?? 0) + 60;
    assert.ok(Math.abs(offset) <= 25, `the sound is ${offset} ms off`);
    for (const times of [sound, picture]) assert.ok(times.every((ms, n) => n === 0 || ms >= (times[n - 1] ?? 0)));
  }
});

test("sound from before the first picture is recorded at its own time, by the sender's clock or by arrival", () => {
  for (const reports of [{}, { video: 100, audio: 100 }, { video: 900, audio: 2_500 }]) {
    const { blocks } = recorded({ reports, soundLateMs: 0, pictureLateMs: 600, lastsMs: 4_000 });
    const sound = timesOf(blocks, "audio");
    assert.equal(sound.length, 201, "each sound that was sent");
    assert.deepEqual(
      sound.slice(0, 40),
      Array.from({ length: 40 }, (_, n) => n * 20),
    );
    assert.equal(timesOf(blocks, "video")[0], 600);
  }
});

test("a sender whose reports place its sound long before its picture is recorded from the first sound on", () => {
  for (const audio of [20, 2_500]) {
    const run = { reports: { video: 20, audio }, soundLateMs: 0, soundSetBackMs: 4_900, lastsMs: 5_000 };
    const times = timesOf(recorded(run).blocks, "audio");
    assert.equal(times.length, 251);
    assert.ok(times.every((ms, n) => n === 0 || ms >= (times[n - 1] ?? 0)));
  }
});

test("a kind counts as recorded only with the frames that are written", () => {
  const take = new Take({ media: { audio: true, video: true }, onChunk: () => {}, onHole: () => {} }, 0);
  for (let n = 0; n < 10; n++)
    take.packet("audio", { sequence: n, timestamp: n * 960, marker: true, payload: Buffer.from([0xf8, n]) }, n * 20);
  take.tick(200);
  assert.deepEqual(take.sinceWhole("audio", 200), { ms: 200, hasFrame: false });
  take.tick(900);
  assert.deepEqual(take.sinceWhole("audio", 900), { ms: 720, hasFrame: true });
});
