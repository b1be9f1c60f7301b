/** Tests of the behavior that all media engines have in common. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { type EngineUnderTest, enginePids } from "@signsealship/testing/media";
import { openPeer } from "@signsealship/testing/media-peer";
import { until } from "@signsealship/testing/until";
import { emptyChain, followChain } from "../../../src/providers/media/chain.ts";
import { openChunk, readSpool, recordKey, spoolFiles } from "../../../src/providers/media/spool.ts";

export function behavesAsAnEngine(media: EngineUnderTest): void {
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
    // For a person who sends only sound, `unseenMs` is null.
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
      assert.equal(
        readFileSync(join(media.spoolDir, "recorded", name)).includes(Buffer.from("1a45dfa3", "hex")),
        false,
      );
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

  test("a killed process is lost: its recordings are complete except for a moment, and another accepts sessions", async () => {
    await engine.open("killed", run);
    const peer = await openPeer({ engine, session: "killed", person: "a" });
    await media.happened("chunk", ({ session, line }) => session === "killed" && line.n === 2);
    for (const pid of enginePids()) process.kill(pid, "SIGKILL");
    const killedAt = Date.now();
    const { sessions } = await media.happened("lost");
    assert.ok(sessions.includes("killed"));
    const lines = (await spooled("killed")).map(({ line }) => line);
    const head = followChain(emptyChain, lines);
    assert.ok(!("brokenAt" in head));
    const last = lines.at(-1);
    assert.ok(
      last && killedAt - Date.parse(last.at) < 1_500,
      `${killedAt - Date.parse(last?.at ?? "")} ms are missing`,
    );
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
}
