import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { startBrowser } from "@signsealship/testing/browser";
import {
  cameraOrigin,
  type EngineUnderTest,
  enginePids,
  fakeDevices,
  joinByPage,
  lossyWay,
  startEngine,
} from "@signsealship/testing/media";
import { type MediaPeer, openPeer } from "@signsealship/testing/media-peer";
import { until } from "@signsealship/testing/until";
import { emptyChain } from "../service/src/providers/media/chain.ts";
import { atLeast, atMost, type Result } from "./result.ts";
import { byService, weightOf } from "./support/media-service.ts";
import { p95 } from "./support/times.ts";

/** Compares each figure with its ceiling, both in the same unit. */
const budget = (name: string, value: number, unit: string, max: number): Result =>
  atMost(name, [value], [max], unit, 1);

const newRun = () => ({ key: randomBytes(32), head: emptyChain, firstTake: 1, lastTake: 10_000 });

const ticksInSecond = 100;
const cpuSeconds = (pid: number): number => {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
    .replace(/^.*\) /, "")
    .split(" ");
  return (Number(fields[11]) + Number(fields[12])) / ticksInSecond;
};
const residentMb = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1_024;

const threeIn = (media: EngineUnderTest, session: string): Promise<MediaPeer[]> =>
  Promise.all(["a", "b", "c"].map((person) => openPeer({ engine: media.engine, session, person })));

/** CPU seconds that a session with three people uses per second. */
async function cpuOfThree(media: EngineUnderTest, pid: number, recorded: boolean): Promise<number> {
  const session = recorded ? "cpu-recorded" : "cpu";
  await media.engine.open(session, recorded ? newRun() : null);
  const peers = await threeIn(media, session);
  await sleep(3_000);
  const [from, before] = [performance.now(), cpuSeconds(pid)];
  await sleep(8_000);
  const share = (cpuSeconds(pid) - before) / ((performance.now() - from) / 1_000);
  await media.engine.close(session);
  await Promise.all(peers.map((peer) => peer.close()));
  return share;
}

async function load(): Promise<Result[]> {
  const media = startEngine();
  await media.engine.open("warm", null);
  await media.engine.close("warm");
  const [pid = 0] = enginePids();
  const base = residentMb(pid);
  const shares = { plain: [] as number[], recorded: [] as number[] };
  // The first run is not measured. It is slower, because its code is compiled during the run.
  await cpuOfThree(media, pid, true);
  for (let round = 0; round < 2; round++) {
    shares.plain.push(await cpuOfThree(media, pid, false));
    shares.recorded.push(await cpuOfThree(media, pid, true));
  }
  const [plain, recorded] = [Math.min(...shares.plain), Math.min(...shares.recorded)];
  const before = residentMb(pid);
  const sessions = ["m1", "m2", "m3"];
  const peers: MediaPeer[] = [];
  for (const session of sessions) {
    await media.engine.open(session, newRun());
    peers.push(...(await threeIn(media, session)));
  }
  await sleep(2_000);
  const [from, used] = [performance.now(), cpuSeconds(pid)];
  await sleep(8_000);
  const busy = (cpuSeconds(pid) - used) / ((performance.now() - from) / 1_000);
  const perSession = (residentMb(pid) - before) / sessions.length;
  for (const session of sessions) await media.engine.close(session);
  await Promise.all(peers.map((peer) => peer.close()));
  await media.stop();
  return [
    budget("media: CPU of a person, recorded", (recorded / 3) * 100, "% of a core", 5),
    budget("media: the recording's share of it", Math.max(0, 1 - plain / recorded) * 100, "%", 35),
    atLeast("media: sessions of three on a core", [(0.8 * sessions.length) / busy], [10], "at 80 % busy", 1),
    budget("media: memory of the process", base, "MB", 110),
    budget("media: memory of a session of three", perSession, "MB", 10),
  ];
}

/** The recorder delays frames for this long, to merge audio and video by their times. */
const mergeMs = 250;
type Line = { take: number; at: string; from: number; to: number };

/**
 * The start of each take, estimated from its chunks. The earliest estimate counts, because its chunk was delayed least.
 */
function startsOf(lines: readonly Line[]): Map<number, number> {
  const starts = new Map<number, number>();
  for (const { take, at, to } of lines)
    starts.set(take, Math.min(starts.get(take) ?? Number.POSITIVE_INFINITY, Date.parse(at) - to - mergeMs));
  return starts;
}

/**
 * The time from a chunk's first frame until the chunk is durable. Measure it with browsers only: under load, synthetic
 * peers fall behind the clock.
 */
function chunkLags(lines: readonly Line[]): number[] {
  const starts = startsOf(lines);
  return lines.map(({ take, at, from }) => Date.parse(at) - (starts.get(take) ?? 0) - from);
}

/**
 * Kills the media processes during a recording. `lost`: the milliseconds of the last take that were received but not
 * yet durable. `back`: the milliseconds until a new session is recorded.
 */
async function afterKills(): Promise<{ lost: number[]; back: number[] }> {
  const media = startEngine();
  const browser = await startBrowser(fakeDevices);
  const origin = await cameraOrigin();
  const lost: number[] = [];
  const back: number[] = [];
  for (let round = 0; round < 5; round++) {
    const session = `kill-${round}`;
    await media.engine.open(session, newRun());
    const { page, close } = await browser.open(origin.url, look);
    const { leave } = await joinByPage(media, page, { session, person: "a" });
    const linesOf = () =>
      media.events.flatMap((event) =>
        event.kind === "chunk" && event.session === session && event.line.n > 0 ? [event.line] : [],
      );
    await until(() => linesOf().length > 4);
    await sleep(Math.random() * 1_000);
    const killedAt = Date.now();
    for (const pid of enginePids()) process.kill(pid, "SIGKILL");
    await until(() => media.events.some((event) => event.kind === "lost" && event.sessions.includes(session)));
    const lines = linesOf();
    const last = lines.at(-1);
    lost.push(killedAt - ((startsOf(lines).get(last?.take ?? 0) ?? 0) + (last?.to ?? 0)));
    leave();
    await close();
    const next = `${session}-again`;
    await media.engine.open(next, newRun());
    const again = await browser.open(origin.url, look);
    const joined = await joinByPage(media, again.page, { session: next, person: "a" });
    await until(() => media.events.some((event) => event.kind === "chunk" && event.session === next));
    back.push(Date.now() - killedAt);
    joined.leave();
    await again.close();
  }
  await browser.close();
  origin.close();
  await media.stop();
  return { lost, back };
}

/** The seconds until packets arrive again, after 8 seconds in which the network dropped all packets. */
async function afterLostLine(): Promise<number> {
  const media = startEngine();
  const way = lossyWay(media);
  const browser = await startBrowser(fakeDevices);
  const origin = await cameraOrigin();
  await media.engine.open("gone", newRun());
  const { page } = await browser.open(origin.url, look);
  const { leave } = await joinByPage(way, page, { session: "gone", person: "a" });
  await media.happened("chunk", ({ line }) => line.n === 2);
  way.lose(100);
  await sleep(8_000);
  const [from, seen] = [performance.now(), media.events.length];
  way.lose(0);
  await until(() => media.events.slice(seen).some((event) => event.kind === "quality" && event.silentMs < 500));
  const back = performance.now() - from;
  leave();
  await browser.close();
  origin.close();
  way.close();
  await media.stop();
  return back / 1_000;
}

const look = { width: 400 };

async function byBrowsers(): Promise<Result[]> {
  const media = startEngine();
  const browser = await startBrowser(fakeDevices);
  const origin = await cameraOrigin();
  await media.engine.open("room", newRun());
  const there = await browser.open(origin.url, look);
  const first = await joinByPage(media, there.page, { session: "room", person: "one" });
  const joins: number[] = [];
  const reloads: number[] = [];
  for (let round = 0; round < 12; round++) {
    const { page, close } = await browser.open(origin.url, look);
    const from = performance.now();
    const joined = await joinByPage(media, page, { session: "room", person: "two" });
    await until(async () => (await joined.seen()).some(({ person }) => person === "one"));
    joins.push(performance.now() - from);
    if (round % 4 === 3) {
      await until(async () => (await first.seen()).some(({ person }) => person === "two"));
      joined.leave();
      const [gone, before] = [performance.now(), media.events.length];
      await page.reload();
      const again = await joinByPage(media, page, { session: "room", person: "two" });
      const isBack = () =>
        media.events.slice(before).some((event) => event.kind === "joined" && event.person === "two");
      await until(isBack);
      const wasAt = (await first.seen()).find(({ person }) => person === "two")?.time ?? 0;
      await until(async () =>
        (await first.seen()).some(({ person, time }) => person === "two" && (time > wasAt + 0.2 || time < wasAt - 1)),
      );
      reloads.push(performance.now() - gone);
      again.leave();
    } else joined.leave();
    await media.engine.remove("room", "two");
    await close();
  }
  const own = media.events.flatMap((event) =>
    event.kind === "chunk" && event.line.person === "one" ? [event.line] : [],
  );
  const lags = chunkLags(own.filter(({ n }) => n > 0));
  const seconds = (own.at(-1)?.to ?? 0) / 1_000;
  const bytes = own.reduce((sum, line) => sum + line.bytes, 0);
  await media.engine.close("room");
  await browser.close();
  origin.close();
  await media.stop();
  return [
    budget("media: join, p95", p95(joins) / 1_000, "s", 1.5),
    budget("media: back after a reload", Math.max(...reloads) / 1_000, "s", 3),
    budget("media: chunk durable after its first packet", p95(lags) / 1_000, "s", 1.5),
    budget("media: recording of a person in an hour", ((bytes / seconds) * 3_600) / 1e6, "MB", 270),
  ];
}

/**
 * The budgets of live sessions. Synthetic participants make the load; Chromium shows what people see and what is
 * recorded.
 */
export async function run(): Promise<Result[]> {
  // Runs first. Otherwise, garbage collection after the other parts would lengthen the signing times.
  const { signing, first, seek } = await byService();
  const seen = await byBrowsers();
  const loaded = await load();
  const { lost, back } = await afterKills();
  return [
    ...seen,
    ...loaded,
    budget("media: back after 8 s without packets", await afterLostLine(), "s", 5),
    budget("media: script of a room", await weightOf("notary-room.js"), "KB gz", 40),
    budget("media: script that opens a notary's key", await weightOf("notary-sign.js"), "KB gz", 60),
    budget("media: a notary's prepare and complete, 5 MB, p95", signing, "ms", 120),
    budget("media: first picture of a recording", first / 1_000, "s", 1.5),
    budget("media: picture after a seek", seek / 1_000, "s", 1),
    budget("media: lost by kill -9", Math.max(...lost) / 1_000, "s", 1.5),
    budget("media: recorded again after kill -9", Math.max(...back) / 1_000, "s", 10),
  ];
}
