import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { startBrowser } from "@signsealship/testing/browser";
import { forTests } from "@signsealship/testing/for-tests";
import { cameraOrigin, enginePids, fakeDevices, joinByPage, startEngine } from "@signsealship/testing/media";
import { madeUpFrame, openPeer, vp8Payloads } from "@signsealship/testing/media-peer";
import { temporaryFolder } from "@signsealship/testing/temporary-folder";
import { startLivekit } from "@signsealship/testing/tools/livekit";
import { needs } from "@signsealship/testing/tools/tools";
import { until } from "@signsealship/testing/until";
import { emptyChain } from "../../../src/providers/media/chain.ts";
import { openChunk, readSpool, recordKey, spoolFiles } from "../../../src/providers/media/spool.ts";
import { probeLivekit } from "../../../src/providers/providers.ts";
import { behavesAsAnEngine } from "./contract.ts";

const soundOnly = [
  "v=0",
  "m=audio 9 UDP/TLS/RTP/SAVPF 111",
  "a=ice-ufrag:u",
  "a=ice-pwd:p",
  "a=fingerprint:sha-256 00",
  "a=mid:0",
  "a=sendonly",
  "a=rtpmap:111 opus/48000/2",
  "",
].join("\r\n");

const needed = needs("livekit", "chromium", "ffmpeg");
if (needed.skip === false) await withLivekit();
else test("LiveKit forwards and is recorded", needed, () => {});

async function withLivekit(): Promise<void> {
  const server = await forTests(startLivekit());
  const media = await forTests(startEngine(server.settings));
  const { engine } = media;

  behavesAsAnEngine(media);

  test("two browsers see each other, and ffprobe reads the recorded takes", async () => {
    const browser = await forTests(startBrowser(fakeDevices));
    const origin = await forTests(cameraOrigin());
    const folder = await forTests(temporaryFolder());
    const key = randomBytes(32);
    await engine.open("browsers", { key, head: emptyChain, firstTake: 1, lastTake: 10 });
    const joined = await Promise.all(
      ["a", "b"].map(async (person) => {
        const { page } = await browser.open(origin.url, { width: 800 });
        return joinByPage(media, page, { session: "browsers", person });
      }),
    );
    for (const { seen } of joined) await until(async () => (await seen()).some(({ width }) => width === 640));
    await media.happened("quality", ({ session, picture }) => session === "browsers" && picture?.width === 640);
    await media.happened("chunk", ({ session, line }) => session === "browsers" && line.take === 2 && line.n === 4);
    await engine.close("browsers");
    for (const { leave } of joined) leave();
    const files = await spoolFiles(join(media.spoolDir, "browsers"));
    const chunks = (await Promise.all(files.map(readSpool))).flatMap((each) => each.chunks);
    for (const take of [1, 2]) {
      const file = join(folder.path, `${take}.webm`);
      const own = chunks.filter(({ line }) => line.take === take);
      writeFileSync(file, Buffer.concat(own.map(({ line, sealed }) => openChunk(recordKey(key), line, sealed))));
      const args = ["-v", "error", "-count_frames", "-show_entries", "stream=codec_name,width,nb_read_frames", "-of"];
      const found = JSON.parse(execFileSync("ffprobe", [...args, "json", file], { encoding: "utf8" })) as {
        streams: { codec_name: string; width?: number; nb_read_frames: string }[];
      };
      const streams = new Map(found.streams.map((stream) => [stream.codec_name, stream]));
      assert.deepEqual([...streams.keys()].sort(), ["opus", "vp8"]);
      assert.equal(streams.get("vp8")?.width, 640);
      for (const { nb_read_frames: frames } of streams.values()) assert.ok(Number(frames) > 20, `${frames} frames`);
    }
  });

  test("a person above the rate limit loses the connection, because LiveKit would forward everything", async () => {
    await engine.open("flood", null);
    const a = await openPeer({ engine, session: "flood", person: "a", bytesOfFrame: 60_000 });
    await media.happened("left", ({ session, cause }) => session === "flood" && cause === "failed");
    await engine.close("flood");
    await a.close();
  });

  test("a modified client shows others nothing that the recording lacks", async () => {
    const key = randomBytes(32);
    await engine.open("modified", { key, head: emptyChain, firstTake: 1, lastTake: 10 });
    const mark = Buffer.from("off the record");
    let shown = 0;
    const onPayload = (payload: Buffer) => {
      if (payload.includes(mark)) shown++;
    };
    const b = await openPeer({ engine, session: "modified", person: "b", onPayload });
    const a = await openPeer({ engine, session: "modified", person: "a", namesStreams: true });
    // This person only receives, and is never recorded.
    const c = await openPeer({ engine, session: "modified", person: "c", audio: false, video: false });
    const seenOf = (peer: typeof b) => peer.received.get("a")?.video ?? 0;
    await until(() => seenOf(b) > 20 && seenOf(c) > 20);

    const inVideo = (lines: string) => (sdp: string) =>
      sdp.replace(/(m=video [\s\S]*?a=sendonly\r\n)/, `$1${lines}\r\n`);
    const another = (sdp: string) => `${sdp}${/m=video [\s\S]*/.exec(sdp)?.[0].replace("a=mid:1", "a=mid:2") ?? ""}`;
    for (const change of [inVideo("a=rid:h send\r\na=simulcast:send h"), inVideo("a=ssrc-group:SIM 5 6"), another])
      await assert.rejects(a.offerChanged(change), { code: "validation" });

    const picture = (isKey: boolean) => {
      const frame = madeUpFrame(isKey, 600);
      mark.copy(frame, 100);
      return vp8Payloads(frame)[0] as Buffer;
    };
    const sound = Buffer.concat([Buffer.from([0xf8]), mark]);
    const [audio, video] = ["0", "1"];
    const sent: Promise<boolean>[] = [];
    for (let sequence = 0; sequence < 60; sequence++) {
      const payload = picture(sequence % 20 === 0);
      const seen = { type: 96, sequence, mid: video, payload } as const;
      const heard = { type: 111, ssrc: 7_002, sequence, mid: audio, payload: sound } as const;
      for (const [peer, over] of [
        [a, "sending"],
        [c, "receiving"],
      ] as const)
        sent.push(peer.sendRaw(over, { ...seen, ssrc: 7_001 }), peer.sendRaw(over, heard));
      for (const [ssrc, rid] of [
        [7_003, "h"],
        [7_004, "l"],
      ] as const)
        sent.push(a.sendRaw("sending", { ...seen, ssrc, rid }));
      await sleep(50);
    }
    assert.ok((await Promise.all(sent)).every((each) => each));
    const before = seenOf(b);
    await until(() => seenOf(b) > before + 20);
    await engine.close("modified");
    await Promise.all([a, b, c].map((peer) => peer.close()));
    const files = await spoolFiles(join(media.spoolDir, "modified"));
    const chunks = (await Promise.all(files.map(readSpool))).flatMap((each) => each.chunks);
    const opened = chunks.map(({ line, sealed }) => openChunk(recordKey(key), line, sealed));
    const recorded = opened.filter((bytes) => bytes.includes(mark)).length;
    assert.ok(chunks.some(({ line }) => line.person === "a"));
    assert.ok(chunks.every(({ line }) => line.person !== "c"));
    assert.ok(shown === 0 || recorded > 0, `${shown} packets were shown, ${recorded} chunks have them`);
  });

  test("rooms end with the process, because LiveKit would go on forwarding what nobody records", async () => {
    await engine.open("unrecorded", { key: randomBytes(32), head: emptyChain, firstTake: 1, lastTake: 10 });
    const a = await openPeer({ engine, session: "unrecorded", person: "a" });
    const b = await openPeer({ engine, session: "unrecorded", person: "b", audio: false, video: false });
    const arrived = () => b.received.get("a")?.audio ?? 0;
    await until(() => arrived() > 20);
    for (const pid of enginePids()) process.kill(pid, "SIGKILL");
    await media.happened("lost", ({ sessions }) => sessions.includes("unrecorded"));
    await until(async () => {
      const before = arrived();
      await sleep(300);
      return arrived() === before;
    });
    await Promise.all([a.close(), b.close()]);
  });

  test("the server's key is checked, and its end ends connections but not the recording", async () => {
    const { settings } = server;
    await probeLivekit(settings, Date.now());
    const wrong = { ...settings, secret: "another secret of these tests, as long" };
    await assert.rejects(probeLivekit(wrong, Date.now()), /refuses LIVEKIT_API_KEY/);
    await engine.open("ended", { key: randomBytes(32), head: emptyChain, firstTake: 1, lastTake: 10 });
    const a = await openPeer({ engine, session: "ended", person: "a" });
    await media.happened("chunk", ({ session, line }) => session === "ended" && line.n === 1);
    await server.stop();
    await media.happened("left", ({ session, cause }) => session === "ended" && cause === "failed");
    const { ticket } = await engine.admit("ended", "b", { audio: true, video: true });
    await assert.rejects(engine.signal(ticket, { kind: "publish", sdp: soundOnly }), { code: "unavailable" });
    await assert.rejects(probeLivekit(settings, Date.now()), /LIVEKIT_URL can't be reached/);
    await engine.close("ended");
    await a.close();
    assert.ok((await spoolFiles(join(media.spoolDir, "ended"))).length > 0);
  });
}
