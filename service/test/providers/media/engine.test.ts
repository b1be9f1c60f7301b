import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { createSocket } from "node:dgram";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type MockTimers, test } from "node:test";
import { fileURLToPath } from "node:url";
import { forTests } from "@signsealship/testing/for-tests";
import { startEngine } from "@signsealship/testing/media";
import { madeUpFrame, openPeer, vp8Payloads } from "@signsealship/testing/media-peer";
import { until } from "@signsealship/testing/until";
import { RtpHeader, RtpPacket } from "werift";
import { emptyChain } from "../../../src/providers/media/chain.ts";
import { askForKeyFrame, askIfDue, countPacket, newPerson } from "../../../src/providers/media/engine/person.ts";
import { Rooms } from "../../../src/providers/media/engine/rooms.ts";
import { readOffer } from "../../../src/providers/media/engine/sdp.ts";
import type { PublishInput, ReceiveInput, Transport } from "../../../src/providers/media/engine/transport.ts";
import { permissionsFor } from "../../../src/providers/media/engine.ts";
import type { MediaEvent } from "../../../src/providers/media/media.ts";
import { openSpool, recordKey } from "../../../src/providers/media/spool.ts";
import { behavesAsAnEngine } from "./contract.ts";

const media = await forTests(startEngine());
const { engine } = media;
const refused = (code: string, words: RegExp) => (error: Error & { code?: string }) =>
  error.code === code && words.test(error.message);

behavesAsAnEngine(media);

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
  const opened = Date.now();
  await engine.open("flood", null);
  const a = await openPeer({ engine, session: "flood", person: "a", bytesOfFrame: 60_000 });
  const b = await openPeer({ engine, session: "flood", person: "b", audio: false, video: false });
  const counts = () =>
    media.events
      .filter((event) => event.kind === "quality")
      .filter(({ session, person }) => session === "flood" && person === "a");
  await until(
    () =>
      counts()
        .slice(1)
        .reduce((sum, { dropped }) => sum + dropped, 0) > 100,
  );
  for (const [index, { at, videoPackets }] of counts().entries()) {
    const seconds = (at - (counts()[index - 1]?.at ?? opened)) / 1_000;
    // The limit is 500,000 bytes a second, which is about 450 of these packets, and a burst of as many. On a busy
    // machine, the measured time is longer than a second.
    assert.ok(videoPackets < 450 * (1 + seconds), `${videoPackets} packets of ${seconds} s went on`);
  }
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

test("an offer sends one stream of each kind, so the recorded one is the one that others see", () => {
  const all = { audio: true, video: true };
  const section = (kind: string, ...lines: string[]) => [`m=${kind} 9 X 96`, ...lines, "a=sendonly"];
  const read = (...lines: string[]) => readOffer(["v=0", ...lines, ""].join("\r\n"), all).kinds;
  const repeated = ["a=ssrc-group:FID 1 2", "a=ssrc:1 cname:x", "a=ssrc:2 cname:x"];
  assert.deepEqual(read(...section("audio", "a=ssrc:3 cname:x"), ...section("video", ...repeated)), all);
  const old = ["m=video 9 X 96", "a=inactive"];
  assert.deepEqual(read(...old, ...section("video")), { audio: false, video: true });
  for (const kind of ["audio", "video"])
    assert.throws(
      () => read(...section(kind), ...section(kind)),
      refused("validation", new RegExp(`^sdp must send ${kind} in one section`)),
    );
  for (const lines of [
    ["a=rid:h send"],
    ["a=simulcast:send h;l"],
    ["a=ssrc-group:SIM 1 2"],
    ["a=ssrc:1 cname:x", "a=ssrc:2 cname:x"],
    [...repeated, "a=ssrc:4 cname:x"],
  ])
    assert.throws(() => read(...section("video", ...lines)), refused("validation", /^sdp must send one stream/));
});

test("a packet without a picture shows nobody", () => {
  const person = newPerson("a", { audio: true, video: true }, 0);
  countPacket(person, "video", { sequence: 1, bytes: 0, at: 10 });
  assert.equal(person.seenAt, null);
  countPacket(person, "video", { sequence: 2, bytes: 9, at: 20 });
  assert.equal(person.seenAt, 20);
});

test("joins that overlap make one connection, none outlives its person, and joins of one person are limited", async () => {
  const [opened, closed] = [[] as string[], [] as string[]];
  let hold: Promise<void> | null = null;
  const receive = ({ person }: { person: string }) => {
    opened.push(person);
    const close = async () => {
      await hold;
      closed.push(person);
    };
    return { show() {}, continued() {}, pause() {}, send() {}, answered: async () => {}, close };
  };
  const transport = { open() {}, close: async () => {}, receive, dropsPackets: true } as unknown as Transport;
  const rooms = new Rooms({ transport, maxSessions: 1, folderOf: String, now: Date.now, emit() {} });
  await rooms.open("s", null, "s.1");
  await rooms.admit("s", "a", { audio: true, video: true });
  const join = () => rooms.signal("s", "a", { kind: "join" });
  const slowly = async (work: () => Promise<unknown>[]) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    hold = promise;
    const all = work();
    resolve();
    const settled = await Promise.allSettled(all);
    return settled.filter(({ status }) => status === "rejected").length;
  };
  await join();
  assert.equal(await slowly(() => [join(), join(), join()]), 2);
  assert.deepEqual([opened.length, closed.length], [2, 1]);
  const again = () => rooms.admit("s", "a", { audio: true, video: true });
  assert.equal(await slowly(() => [join(), again()]), 1);
  assert.deepEqual([opened.length, closed.length], [2, 2]);
  for (let count = 0; count < 30; count++) await join();
  await assert.rejects(join(), refused("unavailable", /Too many joins/));
  await rooms.stop();
  assert.equal(closed.length, opened.length);
});

const bothKinds = [
  "v=0",
  "m=audio 9 X 111",
  "a=sendonly",
  "a=fingerprint:sha-256 00",
  "m=video 9 X 96",
  "a=sendonly",
  "",
].join("\r\n");

/** A recorded session with two people over a transport without a network. The test advances the time. */
async function withoutNetwork({ mock }: { mock: { timers: MockTimers } }) {
  mock.timers.enable({ apis: ["setInterval"] });
  const folder = mkdtempSync(join(tmpdir(), "sss-spool-"));
  const [events, paused] = [[] as MediaEvent[], [] as string[]];
  let now = 1_000_000;
  const sequence = { audio: 0, video: 0 };
  let put: PublishInput["onPacket"] = () => {};
  let [cut, offer] = [() => {}, () => {}];
  const receive = ({ onEnd, onOffer }: ReceiveInput) => {
    cut = onEnd;
    offer = () => onOffer({ kind: "subscribe", sdp: "", tracks: [] });
    const pause = (from: string, kind: string) => void paused.push(`${from} ${kind}`);
    return { show() {}, continued() {}, pause, send() {}, answered: async () => {}, close: async () => {} };
  };
  const publish = async ({ onPacket }: PublishInput) => {
    put = onPacket;
    return { answer: "", again: async () => "", askForKeyFrame() {}, close: async () => {} };
  };
  const transport = { open() {}, close: async () => {}, receive, publish, dropsPackets: false } as unknown as Transport;
  const input = { transport, maxSessions: 1, folderOf: () => folder, now: () => now };
  const rooms = new Rooms({ ...input, emit: (event) => void events.push(event) });
  const run = { key: randomBytes(32), head: emptyChain, firstTake: 1, lastTake: 10 };
  await rooms.open("s", run, "s.1");
  for (const person of ["a", "b"]) {
    await rooms.admit("s", person, { audio: true, video: true });
    await rooms.signal("s", person, { kind: "join" });
  }
  await rooms.signal("s", "a", { kind: "publish", sdp: bothKinds });
  const packet = (media: "audio" | "video", payload: Buffer, marker: boolean) =>
    put(media, new RtpPacket(new RtpHeader({ sequenceNumber: sequence[media]++, timestamp: now, marker }), payload));
  return {
    rooms,
    events,
    paused,
    /** Ends the connection by which the last person who joined receives media. */
    cut: () => cut(),
    /** Offers that person a connection. */
    offer: () => offer(),
    /**
     * Advances the clock by a second, in which the person sends these frames every 100 ms. @returns for how many
     * milliseconds the person was unseen; null before the first picture
     */
    second({ sound = false, picture = null }: { sound?: boolean; picture?: "whole" | "torn" | null }): number | null {
      for (let tenth = 0; tenth < 10; tenth++) {
        if (sound) packet("audio", Buffer.from([0xf8, 1, 2]), false);
        if (picture) packet("video", vp8Payloads(madeUpFrame(true, 500))[0] as Buffer, picture === "whole");
        now += 100;
        mock.timers.tick(100);
      }
      const last = events.findLast((event) => event.kind === "quality" && event.person === "a");
      return last?.kind === "quality" ? last.unseenMs : null;
    },
    async close() {
      await rooms.stop();
      rmSync(folder, { recursive: true });
    },
  };
}

test("a person whose sound or picture stops, or never becomes whole, is unseen, and a server passes on what stopped no more", async (t) => {
  const { second, events, paused, close } = await withoutNetwork(t);
  const unseen = (each: Parameters<typeof second>[0], seconds: number) => {
    let ms: number | null = null;
    for (let count = 0; count < seconds; count++) ms = second(each);
    return ms ?? Number.NaN;
  };
  const torn = () => events.filter((event) => event.kind === "incomplete");
  assert.ok(unseen({ sound: true, picture: "whole" }, 2) < 1_000);
  assert.ok(unseen({ sound: true }, 5) > 4_000);
  assert.deepEqual([...new Set(paused), torn().length], ["a video", 0]);
  assert.ok(unseen({ sound: true, picture: "whole" }, 1) < 1_000);
  paused.length = 0;
  assert.ok(unseen({ sound: true, picture: "torn" }, 5) > 4_000);
  assert.deepEqual(torn(), [{ kind: "incomplete", session: "s", person: "a", take: 1, media: "video" }]);
  assert.deepEqual(paused, []);
  assert.ok(unseen({ sound: true, picture: "whole" }, 1) < 1_000);
  assert.ok(unseen({ picture: "whole" }, 5) > 4_000);
  assert.deepEqual([...new Set(paused)], ["a audio"]);
  assert.ok(unseen({ sound: true, picture: "whole" }, 1) < 1_000);
  unseen({ sound: true, picture: "torn" }, 5);
  assert.equal(torn().length, 2);
  await close();
});

test("a person whose connection fails or never comes is told so once, and nobody whose connection was closed", async (t) => {
  const { rooms, events, cut, second, close } = await withoutNetwork(t);
  const told = () => events.filter((event) => event.kind === "cut");
  cut();
  cut();
  assert.deepEqual(told(), [{ kind: "cut", session: "s", person: "b" }]);
  await rooms.signal("s", "b", { kind: "join" });
  await rooms.remove("s", "b");
  cut();
  assert.equal(told().length, 1);
  // The person sends nothing for 16 seconds. The browser may not notice that its connection failed, so the engine ends
  // the connection.
  for (let count = 0; count < 16; count++) second({});
  await new Promise(setImmediate);
  const failed = events.filter((event) => event.kind === "left" && event.cause === "failed");
  assert.deepEqual(failed, [{ kind: "left", session: "s", person: "a", cause: "failed" }]);
  assert.deepEqual(told().at(-1), { kind: "cut", session: "s", person: "a" });
  await close();
});

test("a person whose browser answers no offer joins again, and nobody whose browser has answered", async (t) => {
  const { rooms, events, offer, second, close } = await withoutNetwork(t);
  const told = () => events.filter((event) => event.kind === "cut" && event.person === "b").length;
  const answer = () => rooms.signal("s", "b", { kind: "subscribe", sdp: "" });
  const waits = () => {
    for (let count = 0; count < 17; count++) second({});
  };
  offer();
  waits();
  assert.equal(told(), 1);
  await assert.rejects(answer(), refused("validation", /must follow join/));
  await rooms.signal("s", "b", { kind: "join" });
  offer();
  await answer();
  waits();
  assert.equal(told(), 1);
  await close();
});

test("an observer has joined when the observer's browser answers an offer, and has left when it receives no more", async (t) => {
  const { rooms, events, cut, offer, close } = await withoutNetwork(t);
  await rooms.admit("s", "o", { audio: false, video: false });
  const moves = () =>
    events.flatMap((event) =>
      "person" in event && event.person === "o" && event.kind !== "message"
        ? [event.kind === "left" ? `left: ${event.cause}` : event.kind]
        : [],
    );
  const comes = async () => {
    await rooms.signal("s", "o", { kind: "join" });
    offer();
  };
  const answers = () => rooms.signal("s", "o", { kind: "subscribe", sdp: "" });
  await comes();
  assert.deepEqual(moves(), []);
  for (let count = 0; count < 2; count++) await answers();
  assert.deepEqual(moves(), ["joined"]);
  cut();
  assert.deepEqual(moves(), ["joined", "left: failed", "cut"]);
  await comes();
  await answers();
  await comes();
  await answers();
  await rooms.remove("s", "o");
  assert.deepEqual(moves().slice(3), ["joined", "left: replaced", "joined", "left: removed"]);
  await close();
});

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
  // The message to the engine's process can't contain a function, so the admission fails.
  await assert.rejects(engine.admit("refusals", "a", { audio: () => {} } as never), /could not be cloned/);
  await engine.signal(later.ticket, { kind: "join" });
  for (let person = 1; person < 8; person++) await engine.admit("refusals", `p${person}`, { audio: true, video: true });
  await assert.rejects(engine.admit("refusals", "p8", { audio: true, video: true }), refused("conflict", /at most 8/));
  await engine.close("refusals");
  await assert.rejects(engine.signal(later.ticket, { kind: "join" }), refused("not_found", /ticket/));
});

test("of two admissions of a person, the later one's ticket works, although ending the connection delays the earlier one", async () => {
  await engine.open("reordered", null);
  const peer = await openPeer({ engine, session: "reordered", person: "a" });
  await media.happened("joined", ({ session }) => session === "reordered");
  const admit = () => engine.admit("reordered", "a", { audio: true, video: true });
  const [earlier, later] = await Promise.all([admit(), admit()]);
  await assert.rejects(engine.signal(earlier.ticket, { kind: "join" }), refused("not_found", /ticket/));
  assert.deepEqual(await engine.signal(later.ticket, { kind: "join" }), []);
  await peer.close();
  await engine.close("reordered");
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

test("a folder that can't be made is the failure of its session alone, which then writes nothing", async () => {
  const file = join(mkdtempSync(join(tmpdir(), "sss-spool-")), "file");
  writeFileSync(file, "");
  const [failures, written] = [[] as Error[], [] as unknown[]];
  const spool = openSpool({
    folder: join(file, "session"),
    key: recordKey(Buffer.alloc(32)),
    head: emptyChain,
    now: () => 0,
    onChunk: (line) => void written.push(line),
    onPart: (part) => void written.push(part),
    onFailure: (error) => void failures.push(error),
  });
  await until(() => failures.length === 1);
  spool.add({ take: 1, n: 0, person: "a", bytes: Buffer.from("chunk"), from: 0, to: 1, isKey: true });
  await spool.close();
  assert.deepEqual([failures.length, written], [1, []]);
  rmSync(join(file, ".."), { recursive: true });
});
