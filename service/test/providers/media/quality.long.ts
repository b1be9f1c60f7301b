import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { startBrowser } from "@signsealship/testing/browser";
import { forTests } from "@signsealship/testing/for-tests";
import { freePort } from "@signsealship/testing/free-port";
import {
  cameraOrigin,
  type EngineUnderTest,
  fakeDevices,
  joinByPage,
  lossyWay,
  startEngine,
  testMedia,
} from "@signsealship/testing/media";
import { temporaryFolder } from "@signsealship/testing/temporary-folder";
import { testsNeeding } from "@signsealship/testing/tools/tools";
import { until } from "@signsealship/testing/until";
import type { Page } from "playwright-core";
import { emptyChain } from "../../../src/providers/media/chain.ts";
import { openChunk, readSpool, recordKey, spoolFiles } from "../../../src/providers/media/spool.ts";

const { test } = testsNeeding("chromium", "ffmpeg", "coturn");

const folder = await forTests(temporaryFolder());
const origin = await forTests(cameraOrigin());
const browser = await forTests(startBrowser([...fakeDevices, "--autoplay-policy=no-user-gesture-required"]));
const key = randomBytes(32);
const run = { key, head: emptyChain, firstTake: 1, lastTake: 1_000 };
const look = { width: 800 };

/**
 * For 300 ms of every two seconds, a camera turns white and a microphone beeps. One timer controls both, and draws a
 * frame at each tick. Frames are sent more often than the timer ticks. If they were sent less often, a flash could wait
 * for the next frame and seem late.
 */
const flashAndBeep = `
navigator.mediaDevices.getUserMedia = async () => {
  const canvas = Object.assign(document.createElement("canvas"), { width: 640, height: 480 });
  const brush = canvas.getContext("2d");
  const audio = new AudioContext();
  const [out, gain, tone] = [audio.createMediaStreamDestination(), audio.createGain(), audio.createOscillator()];
  gain.gain.value = 0;
  tone.frequency.value = 1000;
  tone.connect(gain).connect(out);
  tone.start();
  let lit = false;
  const paint = () => { brush.fillStyle = lit ? "#fff" : "#000"; brush.fillRect(0, 0, 640, 480); };
  let ticks = 0;
  setInterval(() => {
    const wanted = ticks++ % 33 < 5;
    if (wanted !== lit) gain.gain.setValueAtTime(wanted ? 1 : 0, audio.currentTime);
    lit = wanted;
    paint();
  }, 60);
  return new MediaStream([...canvas.captureStream().getTracks(), ...out.stream.getTracks()]);
};`;

async function takeOf({ spoolDir }: EngineUnderTest, session: string): Promise<string> {
  const files = await spoolFiles(join(spoolDir, session));
  const chunks = (await Promise.all(files.map(readSpool))).flatMap((file) => file.chunks);
  const path = join(folder.path, `${session}.webm`);
  writeFileSync(path, Buffer.concat(chunks.map(({ line, sealed }) => openChunk(recordKey(key), line, sealed))));
  return path;
}

function ffmpeg(...args: string[]): { stdout: string; stderr: string } {
  const { status, stdout, stderr } = spawnSync("ffmpeg", args, { encoding: "utf8", maxBuffer: 1 << 27 });
  assert.equal(status, 0, stderr);
  return { stdout, stderr };
}

/** The delay of the sound relative to the picture in milliseconds: the median over all flashes. */
function offsetIn(path: string): number {
  const stats = "signalstats,metadata=mode=print:key=lavfi.signalstats.YAVG:file=-";
  const { stdout } = ffmpeg("-v", "error", "-i", path, "-an", "-vf", stats, "-f", "null", "-");
  const frames = [...stdout.matchAll(/pts_time:([\d.]+)\s+lavfi\.signalstats\.YAVG=([\d.]+)/g)];
  const flashes = frames.flatMap(([, at, light], index) =>
    index > 0 && Number(light) > 128 && Number(frames[index - 1]?.[2]) <= 128 ? [Number(at)] : [],
  );
  const { stderr } = ffmpeg("-i", path, "-vn", "-af", "silencedetect=noise=-35dB:d=0.5", "-f", "null", "-");
  const beeps = [...stderr.matchAll(/silence_end: ([\d.]+)/g)].map(([, at]) => Number(at));
  const offsets = flashes.flatMap((flash) => {
    const [nearest] = beeps.map((beep) => beep - flash).sort((a, b) => Math.abs(a) - Math.abs(b));
    return nearest !== undefined && Math.abs(nearest) < 0.5 ? [nearest * 1_000] : [];
  });
  assert.ok(offsets.length >= 4, `${flashes.length} flashes, ${beeps.length} beeps`);
  return offsets.sort((a, b) => a - b)[Math.floor(offsets.length / 2)] ?? Number.NaN;
}

for (const loss of [0, 3])
  test(`sound and picture of a recording differ by less than 45 ms, with ${loss} % of the packets lost`, async (t) => {
    const media = startEngine();
    const way = lossyWay(media);
    t.after(async () => {
      way.close();
      await media.stop();
    });
    const session = `flash-${loss}`;
    await media.engine.open(session, run);
    const { page, close } = await browser.open(origin.url, look);
    await page.evaluate(flashAndBeep);
    way.lose(loss);
    await joinByPage(way, page, { session, person: "a" });
    await media.happened("quality", ({ picture }) => picture?.width === 640);
    await media.happened("chunk", ({ line }) => line.to > 16_000);
    await media.engine.close(session);
    await close();
    const path = await takeOf(media, session);
    const offset = offsetIn(path);
    t.diagnostic(`offset ${offset.toFixed(0)} ms`);
    assert.ok(Math.abs(offset) < 45, `${offset} ms`);
    // The engine requests missing pictures again, so its own count of lost packets may be 0.
    assert.equal(way.lost() > 20, loss > 0);
  });

test("a connection that carries nothing for eight seconds recovers by itself within five", async (t) => {
  const media = startEngine();
  const way = lossyWay(media);
  t.after(async () => {
    way.close();
    await media.stop();
  });
  await media.engine.open("gone", run);
  const { page, close } = await browser.open(origin.url, look);
  await joinByPage(way, page, { session: "gone", person: "a" });
  await media.happened("chunk", ({ line }) => line.n === 2);
  way.lose(100);
  await media.happened("quality", ({ silentMs }) => silentMs > 7_000);
  await sleep(1_000);
  const [from, seen] = [Date.now(), media.events.length];
  way.lose(0);
  await until(() => media.events.slice(seen).some((event) => event.kind === "quality" && event.silentMs < 500));
  t.diagnostic(`back after ${Date.now() - from} ms`);
  assert.ok(Date.now() - from < 5_000);
  assert.equal(
    media.events.some(({ kind }) => kind === "left"),
    false,
  );
  await media.engine.close("gone");
  await close();
});

test("if UDP is blocked, media use TCP", async (t) => {
  const blocked = await startBrowser([...fakeDevices, "--force-webrtc-ip-handling-policy=disable_non_proxied_udp"]);
  const media = startEngine({ ...testMedia(), tcp: true });
  t.after(async () => {
    await blocked.close();
    await media.stop();
  });
  await media.engine.open("tcp", null);
  const { page, close } = await blocked.open(origin.url, look);
  const { seen } = await joinByPage(media, page, { session: "tcp", person: "a", loop: true });
  await until(async () => (await seen()).length === 1);
  assert.deepEqual(await protocols(page), ["tcp"]);
  await media.engine.close("tcp");
  await close();
});

/** The protocols of the page's candidate pairs that carry media. */
const protocols = (page: Page): Promise<string[]> =>
  page.evaluate(`(async () => {
    const stats = [...(await media.sent.getStats()).values()];
    const pairs = stats.filter(({ type, nominated, state }) => type === "candidate-pair" && nominated && state === "succeeded");
    return pairs.map((pair) => {
      const local = stats.find(({ id }) => id === pair.localCandidateId);
      return local.candidateType === "relay" ? "relay by " + local.relayProtocol : local.protocol;
    });
  })()`);

test("with only a relay, media go through coturn with time-limited credentials", async (t) => {
  const port = await freePort();
  const secret = randomBytes(16).toString("hex");
  const program = [
    "-n",
    "--use-auth-secret",
    `--static-auth-secret=${secret}`,
    "--realm=test",
    "--no-cli",
    "--no-tls",
    "--no-dtls",
    "--listening-ip=127.0.0.1",
    `--listening-port=${port}`,
    "--relay-ip=127.0.0.1",
    "--allow-loopback-peers",
    "--log-file=stdout",
    `--pidfile=${join(folder.path, "turn.pid")}`,
    `--userdb=${join(folder.path, "turn.db")}`,
  ];
  const relay = spawn("turnserver", program, { stdio: "ignore" });
  await until(() => answers(port));
  const turn = { urls: [`turn:127.0.0.1:${port}?transport=tcp`], secret };
  const media = startEngine({ ...testMedia(), turn });
  t.after(async () => {
    await media.stop();
    relay.kill();
  });
  await media.engine.open("relayed", run);
  const { page, close } = await browser.open(origin.url, look);
  await joinByPage(media, page, { session: "relayed", person: "a", relayOnly: true });
  await media.happened("chunk", ({ line }) => line.n === 2);
  assert.deepEqual(await protocols(page), ["relay by tcp"]);
  await media.engine.close("relayed");
  await close();
});

const answers = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => {
      socket.destroy();
      resolve(true);
    });
    socket.on("error", () => resolve(false));
  });
