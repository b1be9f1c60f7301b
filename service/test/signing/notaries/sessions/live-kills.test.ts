import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { forTests } from "@signsealship/testing/for-tests";
import { openHarness } from "@signsealship/testing/harness";
import { enginePids } from "@signsealship/testing/media";
import { ownProcess, startService, temporaryFolder } from "@signsealship/testing/service";
import { until } from "@signsealship/testing/until";
import { emptyChain, followChain } from "../../../../src/providers/media/chain.ts";
import { liveSettings } from "./live-rules.ts";
import { type BegunSession, connectAll, liveWorld } from "./live-world.ts";

/** How many times the media process and the service are killed. `KILLS=50` repeats it for a long run. */
const kills = Number(process.env["KILLS"] ?? 2);

const folder = await forTests(temporaryFolder());
const settings = { ...liveSettings(folder.path), ...ownProcess };
const running = await forTests(openHarness(settings));
const world = await liveWorld(running, folder.path);

/** The longest recording that a kill may lose, and the time limits until people are recorded again. */
const limits = { lostMs: 1_500, backMs: 10_000, otherNodeMs: 20_000 };
/** The writer delays frames for this long, to merge audio and video by their times. */
const mergeMs = 250;

/**
 * Writes durably to the recordings' disk ten times a second, as recorders do. The measured delays are the machine's
 * own, so each limit is extended by them.
 */
function watchMachine() {
  const path = join(folder.path, "pace");
  const delays: { at: number; ms: number }[] = [];
  let isStopped = false;
  const running = (async () => {
    const file = await open(path, "w");
    while (!isStopped) {
      const due = Date.now() + 100;
      await sleep(100);
      await file.write("x", 0);
      await file.datasync();
      delays.push({ at: Date.now(), ms: Date.now() - due });
    }
    await file.close();
  })();
  return {
    /** The sum of the machine's delays between two times. */
    delayMs: (from: number, to: number): number =>
      delays.filter(({ at }) => at > from && at <= to + 1_000).reduce((sum, { ms }) => sum + ms, 0),
    async stop(): Promise<void> {
      isStopped = true;
      await running;
    },
  };
}

const machine = await forTests(watchMachine());

/** Asserts that `ms` is at most the limit plus the machine's own delays since `from`. */
function assertWithin(t: TestContext, what: string, ms: number, limit: number, from: number): void {
  const delay = machine.delayMs(from, Date.now());
  t.diagnostic(`${what}: ${ms} ms, of at most ${limit} and ${delay} of the machine`);
  assert.ok(ms <= limit + delay, `${what}: ${ms} ms, and at most ${limit} are allowed`);
}

/**
 * Ends the session. Asserts that the whole recording is one chain, and that the manifest names a gap of each person
 * after each kill. Only the last moments before a kill may be lost.
 */
async function checkRecord(t: TestContext, session: BegunSession, killedAt: readonly number[]): Promise<void> {
  await world.end(session);
  const { manifest, lines } = await world.recordOf(session);
  assert.deepEqual(followChain(emptyChain, lines), { seq: manifest.chain.lines, sha256: manifest.chain.headSha256 });
  for (const { person } of session.pages) {
    for (const at of killedAt) {
      const gap = manifest.gaps.find(({ to, person: of }) => of === person && Date.parse(to) > at);
      assert.equal(gap?.cause, "stopped");
      // The last chunk lacks the frames that were still being merged when it was written.
      const lost = at - Date.parse(gap?.from ?? "") + mergeMs;
      assertWithin(t, `lost of ${person}`, lost, limits.lostMs, at - 3_000);
    }
  }
}

test(`media process and service killed ${kills} times at random moments: the chain holds, and people are back`, async (t) => {
  const session = await world.begin("killed@example.com");
  const killedAt: number[] = [];
  let peers = await connectAll(running.service.baseUrl, session);
  await world.recordedSince(0, session);
  for (let n = 0; n < kills; n++) {
    await sleep(Math.random() * 1_500);
    const { pid } = running.service.process();
    const isMedia = n % 2 === 0;
    killedAt.push(Date.now());
    if (isMedia) for (const engine of enginePids(pid)) process.kill(engine, "SIGKILL");
    else {
      await running.service.kill();
      running.service = await running.service.restart();
    }
    const from = Date.now();
    await Promise.all(peers.map((peer) => peer.close()));
    peers = await connectAll(running.service.baseUrl, session);
    await world.recordedSince(from, session);
    assertWithin(t, `after the ${isMedia ? "media process" : "service"}`, Date.now() - from, limits.backMs, from);
  }
  await checkRecord(t, session, killedAt);
  await Promise.all(peers.map((peer) => peer.close()));
});

test("a media process that hangs is replaced, and one whose service hangs ends before another node may have its sessions", async (t) => {
  const session = await world.begin("hangs@example.com");
  let peers = await connectAll(running.service.baseUrl, session);
  await world.recordedSince(0, session);
  const comeBack = async () => {
    const from = Date.now();
    await Promise.all(peers.map((peer) => peer.close()));
    peers = await connectAll(running.service.baseUrl, session);
    await world.recordedSince(from, session);
    assertWithin(t, "after a hang", Date.now() - from, limits.backMs, from);
  };
  const { pid } = running.service.process();
  const [engine] = enginePids(pid);
  assert.ok(pid && engine);
  const hungAt = Date.now();
  process.kill(engine, "SIGSTOP");
  await until(() => !enginePids(pid).includes(engine));
  await comeBack();

  const [next] = enginePids(pid);
  assert.ok(next);
  process.kill(pid, "SIGSTOP");
  const stoppedAt = Date.now();
  try {
    // The media process has ended once it is a zombie. It stays a zombie until the stopped service continues.
    await until(() => readFileSync(`/proc/${next}/stat`, "utf8").split(" ")[2] === "Z");
  } finally {
    process.kill(pid, "SIGCONT");
  }
  const goneAt = Date.now();
  await comeBack();
  await checkRecord(t, session, [hungAt, stoppedAt]);
  const { lines } = await world.recordOf(session);
  // Six seconds after the service stopped, another node could have taken over the session. So no line may be from the
  // time between then and `goneAt`.
  const late = lines.filter(({ at }) => Date.parse(at) > stoppedAt + 6_000 && Date.parse(at) < goneAt);
  assert.deepEqual(late, []);
  await Promise.all(peers.map((peer) => peer.close()));
});

test("of two services on one database, the other opens the session of a killed one, with new takes", async (t) => {
  const first = 38_000 + (process.pid % 200) * 20;
  const other = await startService({
    DATA_DIR: running.service.dataDir,
    RATE_LIMITS: "off",
    ...settings,
    MEDIA_PORTS: `${first}-${first + 19}`,
  });
  await forTests({ stop: () => other.stop() });
  const session = await world.begin("two-nodes@example.com");
  const before = await connectAll(running.service.baseUrl, session);
  await world.recordedSince(0, session);
  await running.service.kill();
  const from = Date.now();
  await Promise.all(before.map((peer) => peer.close()));
  running.service = other;
  const peers = await connectAll(other.baseUrl, session);
  await world.recordedSince(from, session);
  assertWithin(t, "in the other service", Date.now() - from, limits.otherNodeMs, from);
  await checkRecord(t, session, [from]);
  await Promise.all(peers.map((peer) => peer.close()));
});
