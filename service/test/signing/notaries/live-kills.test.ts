import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { type TestContext, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { forTests } from "@signsealship/testing/for-tests";
import { openHarness } from "@signsealship/testing/harness";
import { enginePids } from "@signsealship/testing/media";
import { ownProcess, startService, temporaryFolder } from "@signsealship/testing/service";
import { until } from "@signsealship/testing/until";
import { emptyChain, followChain } from "../../../src/providers/media/chain.ts";
import { liveSettings } from "./live-rules.ts";
import { type BegunSession, connectAll, liveWorld } from "./live-world.ts";

/** How many times the media process and the service are killed. `KILLS=50` repeats it for a long run. */
const kills = Number(process.env["KILLS"] ?? 2);

const folder = await forTests(temporaryFolder());
const settings = { ...liveSettings(folder.path), ...ownProcess };
const running = await forTests(openHarness(settings));
const world = await liveWorld(running, folder.path);

/**
 * Ends the session. Asserts that everything recorded forms one chain, and that the manifest names a gap of each person
 * after each kill. The benchmark has the budgets for the length of a gap and for the time until people are back.
 */
async function checkRecord(t: TestContext, session: BegunSession, killedAt: readonly number[]): Promise<void> {
  await world.end(session);
  const { manifest, lines } = await world.recordOf(session);
  assert.deepEqual(followChain(emptyChain, lines), { seq: manifest.chain.lines, sha256: manifest.chain.headSha256 });
  for (const { person } of session.pages) {
    for (const at of killedAt) {
      const gap = manifest.gaps.find(({ to, person: of }) => of === person && Date.parse(to) > at);
      assert.equal(gap?.cause, "stopped");
      t.diagnostic(`${at - Date.parse(gap?.from ?? "")} ms of ${person} are lost`);
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
    t.diagnostic(
      `${isMedia ? "media process" : "service"} killed: on the recording again after ${Date.now() - from} ms`,
    );
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
    t.diagnostic(`on the recording again after ${Date.now() - from} ms`);
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
    // The killed process stays as an entry without a program until the stopped service continues.
    await until(() => readFileSync(`/proc/${next}/stat`, "utf8").split(" ")[2] === "Z");
  } finally {
    process.kill(pid, "SIGCONT");
  }
  const goneAt = Date.now();
  await comeBack();
  await checkRecord(t, session, [hungAt, stoppedAt]);
  const { lines } = await world.recordOf(session);
  // Another node could have had the session 6 seconds after the service had stopped.
  const late = lines.filter(({ at }) => Date.parse(at) > stoppedAt + 6_000 && Date.parse(at) < goneAt);
  assert.deepEqual(late, []);
  await Promise.all(peers.map((peer) => peer.close()));
});

test("of two services on one database, the other opens the session of a killed one, with new takes", async (t) => {
  const first = 38_000 + (process.pid % 200) * 20;
  const other = await startService({
    ...{ DATA_DIR: running.service.dataDir, RATE_LIMITS: "off" },
    ...{ ...settings, MEDIA_PORTS: `${first}-${first + 19}` },
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
  t.diagnostic(`on the recording of the other service after ${Date.now() - from} ms`);
  await checkRecord(t, session, [from]);
  await Promise.all(peers.map((peer) => peer.close()));
});
