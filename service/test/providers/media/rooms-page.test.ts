import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { startBrowser } from "@signsealship/testing/browser";
import { forTests } from "@signsealship/testing/for-tests";
import { cameraOrigin, fakeDevices, joinByPage, startEngine } from "@signsealship/testing/media";
import { temporaryFolder } from "@signsealship/testing/temporary-folder";
import { testsNeeding } from "@signsealship/testing/tools/tools";
import { until } from "@signsealship/testing/until";
import type { Page } from "playwright-core";
import { emptyChain, followChain } from "../../../src/providers/media/chain.ts";
import { openChunk, readSpool, recordKey, spoolFiles } from "../../../src/providers/media/spool.ts";

const { test } = testsNeeding("chromium", "ffmpeg");

const media = await forTests(startEngine());
const browser = await forTests(startBrowser(fakeDevices));
const origin = await forTests(cameraOrigin());
const folder = await forTests(temporaryFolder());
const key = randomBytes(32);
const look = { width: 800 };

/** The file of each take, assembled from the spool. */
async function takesOf(session: string): Promise<Map<string, Buffer>> {
  const files = await spoolFiles(join(media.spoolDir, session));
  const chunks = (await Promise.all(files.map(readSpool))).flatMap((file) => file.chunks);
  assert.ok(
    !(
      "brokenAt" in
      followChain(
        emptyChain,
        chunks.map(({ line }) => line),
      )
    ),
  );
  const takes = new Map<string, Buffer[]>();
  for (const { line, sealed } of chunks) {
    const name = `${line.take}-${line.person}`;
    takes.set(name, [...(takes.get(name) ?? []), openChunk(recordKey(key), line, sealed)]);
  }
  return new Map([...takes].map(([name, parts]) => [name, Buffer.concat(parts)]));
}

/**
 * Waits until a page has sent this many more frames. A busy machine captures few frames in a second, and a take needs
 * some.
 */
async function sendsPictures(page: Page, count: number): Promise<void> {
  const sent = () =>
    page.evaluate(
      "media.sent.getStats().then((all) => [...all.values()].find(({ type, kind }) => type === 'outbound-rtp' && kind === 'video')?.framesSent ?? 0)",
    ) as Promise<number>;
  const before = await sent();
  await until(async () => (await sent()) >= before + count);
}

type Packet = { codec_type: string; pts_time: string; dts_time: string };

function probe(file: string): { packets: Packet[]; errors: string } {
  const args = ["-v", "error", "-show_entries", "packet=codec_type,pts_time,dts_time", "-of", "json", file];
  const errors = execFileSync("ffmpeg", ["-v", "error", "-i", file, "-f", "null", "-"], {
    encoding: "utf8",
    stdio: "pipe",
  });
  return { packets: JSON.parse(execFileSync("ffprobe", args, { encoding: "utf8" })).packets, errors };
}

test("two browsers see each other within seconds, also after a reload, and each take is a playable file", async () => {
  await media.engine.open("room", { key, head: emptyChain, firstTake: 1, lastTake: 1_000 });
  const one = await browser.open(origin.url, look);
  const two = await browser.open(origin.url, look);
  const first = await joinByPage(media, one.page, { session: "room", person: "one" });
  const second = await joinByPage(media, two.page, { session: "room", person: "two" });
  await until(async () => (await first.seen()).some(({ person }) => person === "two"));
  await until(async () => (await second.seen()).some(({ person }) => person === "one"));
  await until(async () => (await first.seen()).some(({ width }) => width === 640));
  await sendsPictures(one.page, 20);
  await sendsPictures(two.page, 20);
  await first.restart();
  second.leave();
  await two.page.reload();
  const again = await joinByPage(media, two.page, { session: "room", person: "two" });
  await until(async () => (await again.seen()).some(({ person }) => person === "one"));
  const before = (await first.seen()).find(({ person }) => person === "two")?.time ?? 0;
  await until(async () => (await first.seen()).some(({ person, time }) => person === "two" && time > before + 1));
  await sendsPictures(two.page, 20);
  await media.engine.close("room");

  const takes = await takesOf("room");
  assert.deepEqual([...takes.keys()].sort(), ["1-one", "2-two", "3-two"]);
  for (const [name, bytes] of takes) {
    const file = join(folder.path, `${name}.webm`);
    writeFileSync(file, bytes);
    const { packets, errors } = probe(file);
    assert.equal(errors, "", name);
    for (const kind of ["audio", "video"]) {
      const times = packets.filter(({ codec_type }) => codec_type === kind).map(({ dts_time }) => Number(dts_time));
      const gaps = times.slice(1).map((time, index) => time - (times[index] ?? 0));
      assert.ok(times.length > 10, `${name} has ${times.length} ${kind} packets`);
      assert.ok(Math.min(...gaps) > 0, `${name}: ${kind} times rise`);
      assert.ok(Math.max(...gaps) < 0.5, `${name}: a gap of ${Math.max(...gaps)} s`);
    }
  }
});
