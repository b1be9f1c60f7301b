import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseCheckpoint, parseLogProof } from "@signsealship/evidence/log";
import { parseDetached } from "@signsealship/evidence/ots";
import { verifyProof } from "@signsealship/evidence/seal";
import { parseCertificatesPem } from "@signsealship/evidence/x509";
import { readZip } from "@signsealship/evidence/zip";
import { startCalendar } from "@signsealship/testing/doubles/calendar";
import { startTsa } from "@signsealship/testing/doubles/tsa";
import { type Harness, openHarness } from "@signsealship/testing/harness";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { newPartner, temporaryFolder } from "@signsealship/testing/service";
import { type ReadOts, readByReference } from "@signsealship/testing/tools/reference-ots";
import { testsNeeding } from "@signsealship/testing/tools/tools";
import { until } from "@signsealship/testing/until";
import { monitorAnswer } from "@signsealship/verifier";
import { createNodeCrypto } from "@signsealship/verifier/node-crypto";
import { openAnchoring } from "../../../src/evidence/anchoring/anchoring.ts";
import {
  anchorRoots,
  type HourlyRootDeps,
  queueEntry,
} from "../../../src/evidence/transparency-log/transparency-log.ts";
import { sql } from "../../../src/kernel/platform/database/sql.ts";
import { openLog } from "../../../src/kernel/platform/logs.ts";
import { createMetrics } from "../../../src/kernel/platform/metrics.ts";
import { type Caller, seal } from "../proof-passports/seal-document.ts";

const { before, after, test } = testsNeeding("openssl", "opentimestamps");

const opened: { close: () => Promise<void> }[] = [];
const keep = async <T extends { close: () => Promise<void> }>(one: Promise<T>): Promise<T> => {
  const it = await one;
  opened.unshift(it);
  return it;
};
let tsa: Awaited<ReturnType<typeof startTsa>>;
let calendars: Awaited<ReturnType<typeof startCalendar>>[];
let harness: Harness;
let caller: Caller;

before(async () => {
  tsa = await keep(startTsa());
  calendars = [await keep(startCalendar()), await keep(startCalendar())];
  harness = await keep(
    openHarness({
      TSA_URLS: tsa.url,
      OTS_CALENDARS: calendars.map(({ url }) => url).join(","),
      OTS_EACH_SEAL: "off",
      LOG_ROOT_INTERVAL: "1",
    }),
  );
  caller = { ...(await newPartner(harness.service, { live: true })), baseUrl: harness.service.baseUrl };
});
after(async () => {
  for (const each of opened) await each.close();
});

const get = (path: string) => fetch(`${harness.service.baseUrl}${path}`);
const bytesAt = async (path: string) => Buffer.from(await (await get(path)).arrayBuffer());

/**
 * Asserts that the service's `.ots` of the sealed PDF proves as much as the calendars' `.ots` of the log's root. The
 * reference reader must find the same attestations of the same messages in both.
 */
function attestsSameMessages(files: ReadonlyMap<string, Uint8Array>): ReadOts["found"] {
  const read = (name: string) => readByReference(files.get(name) ?? assert.fail(name));
  const [composed, ofRoot] = [read("sealed.pdf.ots"), read("checkpoint.ots")];
  const { checkpoint } = parseLogProof(files.get("sealed.pdf.tlog-proof") ?? assert.fail());
  assert.equal(ofRoot.digest, Buffer.from(parseCheckpoint(checkpoint).root).toString("hex"));
  assert.ok(ofRoot.found.length > 0);
  assert.deepEqual(composed.found.sort(), ofRoot.found.sort());
  return ofRoot.found;
}

test("leaves calendars to the hourly root, from which each seal gets an .ots that the reference client verifies", async () => {
  const sealed = [await seal(caller, makePdf({ text: "first" })), await seal(caller, makePdf({ text: "second" }))];
  for (const { timestamps } of sealed) assert.equal(timestamps.openTimestamps, null);
  for (const { verifyCode, sealedSha256 } of sealed) {
    const url = `/api/passport/verify/${verifyCode}/ots`;
    await until(async () => (await get(url)).status === 200);
    const { digest, found } = readByReference(await bytesAt(url));
    assert.equal(digest, sealedSha256);
    assert.deepEqual(
      found.map(([kind]) => kind),
      ["PendingAttestation", "PendingAttestation"],
    );
    const path = `/api/passport/verify/${verifyCode}/evidence`;
    await until(async () => readZip(await bytesAt(path)).has("checkpoint.ots"));
    attestsSameMessages(readZip(await bytesAt(path)));
  }
  for (const { submitted } of calendars)
    for (const { sealedSha256 } of sealed) assert.ok(!submitted.includes(sealedSha256));
});

test("includes the stamps and the anchor of the checkpoint in the evidence, and the verifier accepts them", async () => {
  const sealed = await seal(caller, makePdf({ text: "evidence" }));
  const path = `/api/passport/verify/${sealed.verifyCode}`;
  const filesOf = async () => readZip(await bytesAt(`${path}/evidence`));
  await until(async () => (await filesOf()).has("checkpoint.ots") && (await filesOf()).has("checkpoint-1.tst"));
  const block = calendars[0]?.mine();
  assert.ok(block);
  block.header.writeUInt32LE(Math.floor(Date.now() / 1000), 68);
  await anchorRoots({ ...deps(), clock: () => new Date(Date.now() + 3600_000) });
  const files = await filesOf();
  assert.ok(attestsSameMessages(files).some(([kind]) => kind === "BitcoinBlockHeaderAttestation"));
  const part = (name: string) => files.get(name) ?? assert.fail(name);
  const text = JSON.parse((await get("/seal/trust.json").then((answer) => answer.text())) || "{}");
  const [key] = text.logs.filter((one: { environment: string }) => one.environment === "live");
  const result = await verifyProof(
    part("sealed.pdf"),
    {
      sealAnchors: parseCertificatesPem(await (await get("/seal/certificate.pem")).text()),
      tsaAnchors: parseCertificatesPem(tsa.caPem),
      blockHeaders: new Map([[block.height, block.header]]),
      logs: [key],
    },
    Date.now() + 24 * 3600_000,
    {
      crypto: createNodeCrypto(),
      detached: {
        logProof: part("sealed.pdf.tlog-proof"),
        otsProof: part("sealed.pdf.ots"),
        checkpoint: { tokens: [part("checkpoint-1.tst")], ots: part("checkpoint.ots") },
      },
    },
  );
  assert.equal(result.verdict, "verified", JSON.stringify(result.claims));
  const state = (name: string) => result.claims.find((one) => one.name === name)?.state;
  for (const name of [
    "log_inclusion",
    "log_checkpoint_signed",
    "log_checkpoint_stamped",
    "log_checkpoint_anchored",
    "log_carried",
    "log_sandwich",
    "anchored_in_block",
  ])
    assert.equal(state(name), "holds", name);
  const { checkpoint } = parseLogProof(part("sealed.pdf.tlog-proof"));
  const { size, root } = parseCheckpoint(checkpoint);
  assert.deepEqual(Buffer.from(parseDetached(part("checkpoint.ots")).digest), Buffer.from(root));
  const anchors = (await (await get(`/log/live/anchors/${size}`)).json()) as { checkpoint: string; anchors: unknown[] };
  assert.equal(anchors.checkpoint, checkpoint);
  assert.equal(anchors.anchors.length, 2);
  for (const other of ["0", "-1", "x", "999999999", "1e3"])
    assert.equal((await get(`/log/live/anchors/${other}`)).status, 404);
  // Runs the steps of the README with openssl only.
  const folder = temporaryFolder();
  const file = (name: string, bytes: Uint8Array | string) => {
    writeFileSync(join(folder.path, name), bytes);
    return join(folder.path, name);
  };
  const readme = Buffer.from(part("README.txt")).toString();
  assert.match(readme, /checkpoint-1\.tst is a time stamp over that checkpoint/);
  const [command = ""] = /^ {2}sed .* > checkpoint$/m.exec(readme) ?? [];
  file("sealed.pdf.tlog-proof", part("sealed.pdf.tlog-proof"));
  file("checkpoint-1.tst", part("checkpoint-1.tst"));
  file("tsa.pem", tsa.caPem);
  execFileSync("sh", ["-c", command], { cwd: folder.path });
  const args = "ts -verify -data checkpoint -token_in -in checkpoint-1.tst -CAfile tsa.pem".split(" ");
  assert.match(
    execFileSync("openssl", args, { cwd: folder.path, stdio: ["ignore", "pipe", "ignore"] }).toString(),
    /OK/,
  );
  folder.remove();
});

test("lists the anchored states, and a monitor finds none missing", async () => {
  type Listed = { intervalSeconds: number; roots: { size: number; chosenAtUtc: string; isAnchored: boolean }[] };
  const listed = async (log: string) => (await (await get(`/log/${log}/anchors`)).json()) as Listed;
  const { intervalSeconds, roots } = await listed("live");
  assert.equal(intervalSeconds, 1);
  assert.deepEqual(
    roots.map(({ size }) => size),
    roots.map(({ size }) => size).toSorted((one, other) => other - one),
  );
  assert.ok(roots.some(({ isAnchored }) => isAnchored));
  assert.equal((await listed("test")).intervalSeconds, 24);
  for (const other of ["live-2x", "x"]) assert.equal((await get(`/log/${other}/anchors`)).status, 404);
  const state = temporaryFolder();
  const monitored = async (now: Date) => {
    const { json } = await monitorAnswer(`${harness.service.baseUrl}/log/live`, {
      key: null,
      state: state.path,
      with: [],
      isFull: false,
      fetch,
      now: () => now,
      policy: null,
      quorumWait: { seconds: 0 },
    });
    const { findings, missing } = json as { findings: string[]; missing: string[] };
    return { findings, anchors: missing.filter((sentence) => sentence.includes("anchor")) };
  };
  await until(async () => (await listed("live")).roots[0]?.isAnchored === true);
  assert.deepEqual(await monitored(new Date()), { findings: [], anchors: [] });
  assert.deepEqual(await monitored(new Date(Date.now() + 5 * 3600_000)), { findings: [], anchors: [] });
  state.remove();
});

/** The dependencies of another node. @param more replaces some of them */
function deps(more: Partial<HourlyRootDeps> = {}): HourlyRootDeps {
  const log = openLog("silent");
  const urls = calendars.map(({ url }) => url);
  const anchoring = openAnchoring({
    ...harness,
    calendars: urls,
    fetch,
    clock: () => new Date(),
    log,
    metrics: createMetrics(),
  });
  return {
    db: harness.db,
    clock: () => new Date(),
    log,
    intervalMs: 3600_000,
    stampers: new Map(),
    calendars: anchoring.calendars,
    ...more,
  };
}

let commitments = 0;
const grown = async (): Promise<number> => {
  const { db } = harness;
  const sizeNow = async () =>
    (await db.query<{ size: number }>(sql`SELECT max(size) AS size FROM log_checkpoints WHERE log = 'test'`))[0]
      ?.size ?? 0;
  const before_ = await sizeNow();
  const commitment = String(++commitments).padStart(64, "0");
  await db.query(queueEntry("test", { kind: "artifact/v1", commitment }, new Date()));
  await until(async () => (await sizeNow()) > before_);
  return sizeNow();
};

const day = 24 * 3600_000;
const statusOf = async (source: string) =>
  (
    await harness.db.query<{ size: number; status: string; looks: number }>(
      sql`SELECT size, status, looks FROM log_anchors WHERE source = ${source} ORDER BY log, size`,
    )
  ).map(({ size, status, looks }) => `${size} ${status} ${looks}`);

test("chooses one root per interval when the log has grown, even if many nodes ask concurrently", async () => {
  const source = "https://one.example";
  let stamped = 0;
  const stamper = async () => {
    stamped += 1;
    return { token: Buffer.from("token"), authority: source, genTime: new Date() };
  };
  let now = Date.now() + 10 * day;
  const node = () =>
    anchorRoots(deps({ clock: () => new Date(now), stampers: new Map([[source, stamper]]), calendars: null }));
  const first = await grown();
  await Promise.all(Array.from({ length: 5 }, node));
  const ofTest = async () =>
    (await statusOf(source)).filter((line) => line.startsWith(`${first} `) || line.startsWith(`${first + 1} `));
  assert.deepEqual(await ofTest(), [`${first} stamped 1`]);
  await grown();
  now += day / 2;
  await node();
  assert.deepEqual(await ofTest(), [`${first} stamped 1`]);
  now += day / 2 + 1;
  await Promise.all([node(), node()]);
  assert.deepEqual(await ofTest(), [`${first} stamped 1`, `${first + 1} stamped 1`]);
  now += 2 * day;
  await node();
  assert.deepEqual(
    (await statusOf(source)).filter((line) => line.startsWith(`${first + 2} `)),
    [],
  );
  assert.ok(stamped >= 2);
});

test("every authority stamps each root, also when another one fails", async () => {
  const names = ["https://four.example", "https://five.example", "https://six.example"];
  const stamper = (authority: string) => async () =>
    authority === names[1] ? null : { token: Buffer.from(authority), authority, genTime: new Date() };
  const stampers = new Map(names.map((name) => [name, stamper(name)]));
  const size = await grown();
  const clock = () => new Date(Date.now() + 20 * day);
  await anchorRoots(deps({ clock, stampers, calendars: null }));
  const states = await Promise.all(names.map(statusOf));
  assert.deepEqual(states.flat(), [`${size} stamped 1`, `${size} waiting 1`, `${size} stamped 1`]);
});

test("asks a failed source again, and stops once it has anchored a later root", async () => {
  const source = "https://two.example";
  let isDown = true;
  const stamper = async () => (isDown ? null : { token: Buffer.from("token"), authority: source, genTime: new Date() });
  let now = Date.now() + 30 * day;
  const node = () =>
    anchorRoots(deps({ clock: () => new Date(now), stampers: new Map([[source, stamper]]), calendars: null }));
  const sizes: number[] = [];
  for (let i = 0; i < 2; i++) {
    sizes.push(await grown());
    await node();
    await node();
    now += 2 * day;
  }
  const mine = async () => (await statusOf(source)).filter((line) => sizes.some((size) => line.startsWith(`${size} `)));
  const waiting = await mine();
  assert.deepEqual(
    waiting.map((line) => line.split(" ")[1]),
    ["waiting", "waiting"],
  );
  isDown = false;
  sizes.push(await grown());
  await node();
  assert.deepEqual((await mine()).at(-1), `${sizes[2]} stamped 1`);
  for (const line of await mine()) assert.match(line, / (stamped|superseded) /);
});

test("continues after a node that died with a claim, and after a source that throws", async () => {
  const source = "https://three.example";
  let fails = true;
  const stamper = async () => {
    if (fails) throw new Error("a bug");
    return { token: Buffer.from("token"), authority: source, genTime: new Date() };
  };
  let now = Date.now() + 60 * day;
  const node = () =>
    anchorRoots(deps({ clock: () => new Date(now), stampers: new Map([[source, stamper]]), calendars: null }));
  const size = await grown();
  await node();
  const own = async () => (await statusOf(source)).filter((line) => line.startsWith(`${size} `));
  assert.deepEqual(await own(), [`${size} waiting 1`]);
  fails = false;
  await node();
  assert.deepEqual(await own(), [`${size} waiting 1`], "the claim is of another");
  now += 5 * 60_000;
  await node();
  assert.deepEqual(await own(), [`${size} stamped 2`]);
});

test("refuses to remove a proof", async () => {
  for (const change of [
    sql`UPDATE log_anchors SET proof = '\\x00' WHERE status = 'stamped'`,
    sql`UPDATE log_anchors SET proof = NULL, status = 'superseded', anchored_at = NULL WHERE proof IS NOT NULL`,
    sql`DELETE FROM log_anchors`,
    sql`TRUNCATE log_anchors`,
  ])
    await assert.rejects(harness.db.query(change), /only grow|append-only/);
});
