import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { createSocket } from "node:dgram";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { forTests } from "@signsealship/testing/for-tests";
import { startEngine } from "@signsealship/testing/media";
import { openPeer } from "@signsealship/testing/media-peer";
import { until } from "@signsealship/testing/until";
import { emptyChain, followChain } from "../../../src/providers/media/chain.ts";
import { askForKeyFrame, askIfDue } from "../../../src/providers/media/engine/person.ts";
import { permissionsFor } from "../../../src/providers/media/engine.ts";
import { openChunk, readSpool, recordKey, spoolFiles } from "../../../src/providers/media/spool.ts";

const media = await forTests(startEngine());
const { engine } = media;
const key = randomBytes(32);
const run = { key, head: emptyChain, firstTake: 1, lastTake: 1_000 };
const refused = (code: string, words: RegExp) => (error: Error & { code?: string }) =>
  error.code === code && words.test(error.message);

const spooled = async (session: string) => {
  const files = await spoolFiles(join(media.spoolDir, session));
  return (await Promise.all(files.map(readSpool))).flatMap(({ chunks }) => chunks);
};

test("people receive each other's media but not their own, and a loop returns their own", async () => {
  await engine.open("three", null);
  const [a, b] = await Promise.all(["a", "b"].map((person) => openPeer({ engine, session: "three", person })));
  const c = await openPeer({ engine, session: "three", person: "c", loop: true, video: false });
  await until(() => (a?.received.get("c")?.audio ?? 0) > 3 && (b?.received.get("a")?.video ?? 0) > 3);
  await until(() => (c.received.get("b")?.video ?? 0) > 3 && (c.received.get("c")?.audio ?? 0) > 3);
  assert.equal(a?.received.has("a"), false);
  assert.equal(a?.received.get("c")?.video ?? 0, 0);
  const quality = await media.happened("quality", ({ person, videoPackets }) => person === "a" && videoPackets > 10);
  assert.ok(quality.silentMs < 1_000 && (quality.unseenMs ?? 1_000) < 1_000);
  // A person who sends only sound counts as unseen.
  await media.happened(
    "quality",
    ({ person, audioPackets, unseenMs }) => person === "c" && audioPackets > 10 && unseenMs === null,
  );

  await engine.mute("three", "b", { audio: false, video: true });
  const heard = a?.received.get("b")?.audio ?? 0;
  const seen = a?.received.get("b")?.video ?? 0;
  await until(() => (a?.received.get("b")?.audio ?? 0) > heard + 20);
  assert.ok((a?.received.get("b")?.video ?? 0) < seen + 20);

  await engine.remove("three", "b");
  await media.happened("left", ({ person, cause }) => person === "b" && cause === "removed");
  await Promise.all([a, b, c].map((peer) => peer?.close()));
  await engine.close("three");
  assert.deepEqual(readdirSync(media.spoolDir), []);
});

test("descriptions for people name only the announced address, and an initial bit rate", async () => {
  await engine.open("addresses", null);
  const peers = [await openPeer({ engine, session: "addresses", person: "a" })];
  peers.push(await openPeer({ engine, session: "addresses", person: "b" }));
  await until(() => peers.every(({ received }) => received.size === 1));
  for (const description of peers.flatMap(({ descriptions }) => descriptions)) {
    const addresses = new Set([...description.matchAll(/\d+\.\d+\.\d+\.\d+/g)].map(([address]) => address));
    addresses.delete("0.0.0.0");
    assert.deepEqual([...addresses], ["127.0.0.1"]);
    assert.doesNotMatch(description, /transport-cc|goog-remb/);
    assert.match(description, /x-google-start-bitrate=600/);
  }
  await Promise.all(peers.map((peer) => peer.close()));
  await engine.close("addresses");
});

test("a recording is one chain over all takes, encrypted on the disk, and a returning person begins a new take", async () => {
  await engine.open("recorded", run);
  const a = await openPeer({ engine, session: "recorded", person: "a" });
  const b = await openPeer({ engine, session: "recorded", person: "b" });
  await media.happened("chunk", ({ session, line }) => session === "recorded" && line.take === 2 && line.n === 2);
  await b.close();
  const again = await openPeer({ engine, session: "recorded", person: "b" });
  await media.happened("chunk", ({ session, line }) => session === "recorded" && line.take === 3 && line.n === 1);
  await engine.close("recorded");
  await Promise.all([a.close(), again.close()]);

  const chunks = await spooled("recorded");
  const lines = chunks.map(({ line }) => line);
  assert.ok(!("brokenAt" in followChain(emptyChain, lines)));
  assert.deepEqual([...new Set(lines.map(({ take, person }) => `${take} ${person}`))].sort(), ["1 a", "2 b", "3 b"]);
  for (const take of [1, 2]) {
    const own = lines.filter((line) => line.take === take);
    assert.deepEqual(
      own.map(({ n }) => n),
      own.map((_, index) => index),
    );
    assert.ok(own.every(({ from, to }) => to - from <= 1_000));
  }
  const plain = chunks.map(({ line, sealed }) => openChunk(recordKey(key), line, sealed));
  assert.ok(plain.some((bytes) => bytes.includes("webm")));
  for (const name of readdirSync(join(media.spoolDir, "recorded")))
    assert.equal(readFileSync(join(media.spoolDir, "recorded", name)).includes(Buffer.from("1a45dfa3", "hex")), false);
  // Another key, or a changed byte, makes decryption fail.
  const [first] = chunks;
  assert.ok(first);
  assert.throws(() => openChunk(recordKey(randomBytes(32)), first.line, first.sealed));
  assert.throws(() => openChunk(recordKey(key), { ...first.line, n: 1 }, first.sealed));
});

test("a kind that is sent later begins another take, and media outside takes reach nobody", async () => {
  await engine.open("later", run);
  const a = await openPeer({ engine, session: "later", person: "a", video: false, mayVideo: true });
  const b = await openPeer({ engine, session: "later", person: "b" });
  await until(() => (b.received.get("a")?.audio ?? 0) > 3);
  await a.addVideo();
  await until(() => (b.received.get("a")?.video ?? 0) > 3);
  await media.happened("chunk", ({ session, line }) => session === "later" && line.person === "a" && line.take === 3);
  await engine.close("later");
  await Promise.all([a.close(), b.close()]);
  const headers = (await spooled("later")).filter(({ line }) => line.n === 0 && line.person === "a");
  const opened = headers.map(({ line, sealed }) => openChunk(recordKey(key), line, sealed).includes("V_VP8"));
  assert.deepEqual(opened, [false, true]);
});

test("a recording without a number for another take ends, and offers of one person are limited", async () => {
  await engine.open("numbered", { ...run, lastTake: 1 });
  const a = await openPeer({ engine, session: "numbered", person: "a" });
  const b = await openPeer({ engine, session: "numbered", person: "b", video: false });
  const { why } = await media.happened("broken", ({ session }) => session === "numbered");
  assert.match(why, /no more numbers/);
  await Promise.all([a.close(), b.close()]);
  assert.ok((await spooled("numbered")).every(({ line }) => line.take === 1));
  await engine.open("offers", null);
  const { ticket } = await engine.admit("offers", "a", { audio: true, video: true });
  const offer = () => engine.signal(ticket, { kind: "publish", sdp: "v=0\r\nm=audio 9 X 96\r\n" });
  for (let count = 0; count < 30; count++) await assert.rejects(offer(), refused("validation", /can be answered/));
  await assert.rejects(offer(), refused("unavailable", /Too many offers/));
  await engine.close("offers");
});

test("a key frame that is wanted too soon after the last one is requested half a second later, once", () => {
  let asked = 0;
  const person = { askedAt: 0, isKeyFrameDue: false, publishing: { askForKeyFrame: () => asked++ } };
  askForKeyFrame(person, 10_000);
  askForKeyFrame(person, 10_100);
  askIfDue(person, 10_400);
  assert.equal(asked, 1);
  for (const now of [10_500, 10_600, 11_200]) askIfDue(person, now);
  assert.equal(asked, 2);
});

test("media above the rate limit are dropped, and counted", async () => {
  await engine.open("flood", null);
  const a = await openPeer({ engine, session: "flood", person: "a", bytesOfFrame: 60_000 });
  const b = await openPeer({ engine, session: "flood", person: "b", audio: false, video: false });
  const { videoPackets } = await media.happened(
    "quality",
    ({ session, dropped }) => session === "flood" && dropped > 100,
  );
  assert.ok(videoPackets < 900, `${videoPackets} packets of a second went on`);
  await engine.close("flood");
  await Promise.all([a.close(), b.close()]);
});

test("the process can't read keys or settings next to its code, and starts nothing", () => {
  const spool = mkdtempSync(join(tmpdir(), "sss-spool-"));
  const root = fileURLToPath(new URL("../../../..", import.meta.url));
  const script = join(spool, "try.mjs");
  writeFileSync(
    script,
    `
    import { readFileSync, readdirSync, writeFileSync } from "node:fs";
    import { spawn } from "node:child_process";
    const code = (work) => { try { work(); return "done"; } catch (error) { return error.code; } };
    console.log([
      code(() => readdirSync(${JSON.stringify(join(root, "var"))})),
      code(() => readFileSync(${JSON.stringify(join(root, ".env"))})),
      code(() => readFileSync("/etc/passwd")),
      code(() => spawn("true")),
      code(() => writeFileSync(${JSON.stringify(join(root, "service/src/x"))}, "")),
      code(() => writeFileSync(${JSON.stringify(join(spool, "x"))}, "")),
    ].join(" "));`,
  );
  const out = execFileSync(process.execPath, [...permissionsFor(spool), script], { encoding: "utf8" });
  rmSync(spool, { recursive: true });
  assert.equal(out.trim(), `${"ERR_ACCESS_DENIED ".repeat(5)}done`);
});

test("a killed process is lost: its recordings are complete except for a moment, and another accepts sessions", async () => {
  await engine.open("killed", run);
  const peer = await openPeer({ engine, session: "killed", person: "a" });
  await media.happened("chunk", ({ session, line }) => session === "killed" && line.n === 2);
  for (const pid of childrenOf(process.pid)) process.kill(pid, "SIGKILL");
  const killedAt = Date.now();
  const { sessions } = await media.happened("lost");
  assert.ok(sessions.includes("killed"));
  const lines = (await spooled("killed")).map(({ line }) => line);
  const head = followChain(emptyChain, lines);
  assert.ok(!("brokenAt" in head));
  const last = lines.at(-1);
  assert.ok(last && killedAt - Date.parse(last.at) < 1_500, `${killedAt - Date.parse(last?.at ?? "")} ms are missing`);
  await peer.close();
  await until(() =>
    engine.open("killed", { key, head, firstTake: 1_001, lastTake: 2_000 }).then(
      () => true,
      () => false,
    ),
  );
  const back = await openPeer({ engine, session: "killed", person: "a" });
  await media.happened("chunk", ({ session, line }) => session === "killed" && line.take === 1_001);
  await engine.close("killed");
  await back.close();
  const all = (await spooled("killed")).map(({ line }) => line);
  assert.ok(!("brokenAt" in followChain(emptyChain, all)));
});

/** The engine is the only child of this process that runs its module. */
function childrenOf(pid: number): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8")
    .split(" ")
    .filter((child) => child !== "" && readFileSync(`/proc/${child}/cmdline`, "utf8").includes("media-main"))
    .map(Number);
}

test("malformed messages are refused, and ended sessions are not found", async () => {
  await engine.open("refusals", null);
  await assert.rejects(engine.open("refusals", null), refused("conflict", /open already/));
  await assert.rejects(engine.open("no name", null), refused("validation", /^session must have/));
  await assert.rejects(
    engine.admit("refusals", "../a", { audio: true, video: true }),
    refused("validation", /^person must/),
  );
  await assert.rejects(engine.admit("nowhere", "a", { audio: true, video: true }), refused("not_found", /not open/));
  const { ticket } = await engine.admit("refusals", "a", { audio: true, video: false });
  const wrong: [unknown, RegExp][] = [
    [{ kind: "other" }, /^kind must be/],
    [null, /^kind must be/],
    [{ kind: "publish" }, /^sdp must be a session description/],
    [{ kind: "publish", sdp: `v=0\r\n${"a=x\r\n".repeat(3_000)}` }, /^sdp must have at most 2000 lines/],
    [{ kind: "publish", sdp: `v=0${"x".repeat(70_000)}` }, /^sdp must have at most 65536 bytes/],
    [{ kind: "publish", sdp: "v=0\r\nm=video 9 X 96\r\na=sendonly\r\n" }, /must not send video/],
    [{ kind: "publish", sdp: "v=0\r\nm=audio 9 X 96\r\na=sendonly\r\n" }, /^sdp must be an offer that can be answered/],
    [{ kind: "publish", sdp: "v=0\r\nm=application 9 X 96\r\n" }, /sections of audio and video only/],
    [{ kind: "publish", sdp: "v=0\r\ns=-\r\n" }, /^sdp must have a section of audio or video/],
    [{ kind: "subscribe", sdp: "v=0" }, /^subscribe must follow join/],
  ];
  for (const [message, words] of wrong)
    await assert.rejects(engine.signal(ticket, message as never), refused("validation", words));
  await engine.signal(ticket, { kind: "join" });
  await assert.rejects(
    engine.signal(ticket, { kind: "subscribe", sdp: "v=0" }),
    refused("validation", /waits for its answer/),
  );
  const later = await engine.admit("refusals", "a", { audio: true, video: false });
  await assert.rejects(engine.signal(ticket, { kind: "join" }), refused("not_found", /ticket/));
  await engine.signal(later.ticket, { kind: "join" });
  for (let person = 1; person < 8; person++) await engine.admit("refusals", `p${person}`, { audio: true, video: true });
  await assert.rejects(engine.admit("refusals", "p8", { audio: true, video: true }), refused("conflict", /at most 8/));
  await engine.close("refusals");
  await assert.rejects(engine.signal(later.ticket, { kind: "join" }), refused("not_found", /ticket/));
});

test("a connection request without the password gets no answer, and random packets end nothing", async () => {
  await engine.open("strangers", null);
  const peer = await openPeer({ engine, session: "strangers", person: "a" });
  await media.happened("joined", ({ session }) => session === "strangers");
  const port = Number(/a=candidate:\S+ 1 udp \d+ \S+ (\d+)/.exec(peer.descriptions.join("\n"))?.[1]);
  const socket = createSocket("udp4");
  const answers: Buffer[] = [];
  socket.on("message", (answer) => answers.push(answer));
  const binding = Buffer.concat([Buffer.from("000100002112a442", "hex"), randomBytes(12)]);
  const named = Buffer.from("0006000461626364", "hex");
  const withName = Buffer.concat([Buffer.from("000100082112a442", "hex"), randomBytes(12), named]);
  for (const packet of [binding, withName, ...Array.from({ length: 300 }, (_, n) => nonsense(n))])
    await new Promise((resolve) => socket.send(packet, port, "127.0.0.1", resolve));
  const counted = media.events.filter((event) => event.kind === "quality").length;
  await until(() => media.events.filter((event) => event.kind === "quality").length > counted + 1);
  assert.deepEqual(answers, []);
  socket.close();
  const last = media.events.findLast((event) => event.kind === "quality");
  assert.ok(last?.kind === "quality" && last.silentMs < 1_000 && last.videoPackets > 10);
  await peer.close();
  await engine.close("strangers");
});

/** Random packets whose first bytes look like STUN, DTLS, RTP or RTCP. */
function nonsense(n: number): Buffer {
  const packet = randomBytes(1 + (n % 200));
  packet[0] = [0x00, 0x01, 0x16, 0x17, 0x80, 0x90, 0xbf, 0xff][n % 8] ?? 0;
  if (n % 3 === 0 && packet.length > 1) packet[1] = 200 + (n % 8);
  return packet;
}
