import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { readCarriedCheckpoint, sealReasons } from "@signsealship/evidence/seal";
import { startTsa, type TsaDouble } from "@signsealship/testing/doubles/tsa";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { testsNeeding } from "@signsealship/testing/tools/tools";
import { createNodeCrypto } from "@signsealship/verifier/node-crypto";
import { sealChainPem } from "../../../src/evidence/seals/certificate/certificate.ts";
import type { SealIdentity } from "../../../src/evidence/seals/identity.ts";
import { type SealKey, SealKeyError } from "../../../src/evidence/seals/keys/seal-key.ts";
import { createSealer, type Stamp } from "../../../src/evidence/seals/sealer.ts";
import { createSelfCheck, SealNotVerified } from "../../../src/evidence/seals/self-check.ts";
import { createTimeStamping } from "../../../src/evidence/seals/time-stamping.ts";
import { ServiceError } from "../../../src/kernel/platform/errors.ts";
import { systemRandom } from "../../../src/kernel/platform/random.ts";
import { inlineWorkers } from "../../../src/kernel/platform/workers/inline.ts";
import { createWorkerPool } from "../../../src/kernel/platform/workers/pool.ts";
import { TaskKilled, type Workers } from "../../../src/kernel/platform/workers/task.ts";
import { memoryKey, selfSigned } from "./signers.ts";

const { after, before, test } = testsNeeding("openssl");

const pool = createWorkerPool({ size: 1, heapMb: 512, processMb: 16_384 });
const clock = () => new Date();
const reason = sealReasons.proof.test;
let identity: SealIdentity;
let tsa: TsaDouble;
let stamp: Stamp;

async function identityOf(key: SealKey): Promise<SealIdentity> {
  const certificate = await selfSigned(key, Date.now());
  return { key, chain: [certificate], chainPem: sealChainPem([certificate]) };
}

before(async () => {
  identity = await identityOf(memoryKey("p-256"));
  tsa = await startTsa();
  const crypto = createNodeCrypto();
  const anchorsOf = () => [];
  stamp = createTimeStamping({
    authorities: [tsa.url],
    anchorsOf,
    fetch,
    clock,
    randomBytes,
    crypto,
    onRefusal: () => {},
  });
});
after(async () => {
  await tsa?.close();
  await pool.close();
});

test("a tail that fits into the spare memory is written there; otherwise the document is copied, with the same result", async () => {
  const seal = createSealer({ workers: inlineWorkers, random: systemRandom, identity, clock, stamp: null });
  const document = makePdf();
  const roomy = Buffer.alloc(document.length + 64 * 1024);
  document.copy(roomy);
  const spare = roomy.length - document.length;
  const inPlace = await seal({ bytes: roomy.subarray(0, document.length), reason, spare });
  assert.equal(inPlace.bytes.buffer, roomy.buffer);
  for (const given of [{}, { spare: 10 }]) {
    const { bytes, sealedSha256 } = await seal({ bytes: document, reason, ...given });
    assert.equal(createHash("sha256").update(bytes).digest("hex"), sealedSha256);
    assert.deepEqual(bytes.subarray(0, document.length), document);
  }
});

test("other memory after the document stays unchanged", async () => {
  const document = makePdf();
  const shared = Buffer.concat([document, Buffer.from("somebody else's")]);
  await createSealer({ workers: inlineWorkers, random: systemRandom, identity, clock, stamp: null })({
    bytes: shared.subarray(0, document.length),
    reason,
  });
  assert.equal(shared.toString("latin1", document.length), "somebody else's");
});

test("a seal contains the newest checkpoint of its log, in at most 400 additional bytes", async () => {
  const checkpoint = [
    "sign.example.com/log/live",
    "1234567",
    randomBytes(32).toString("base64"),
    "",
    `\u2014 sign.example.com/log/live ${randomBytes(68).toString("base64")}`,
    "",
  ].join("\n");
  const newestCheckpoint = () => checkpoint;
  const parts = { workers: inlineWorkers, random: { below: () => 0 }, identity, clock, stamp: null };
  const plain = await createSealer(parts)({ bytes: makePdf(), reason });
  const { bytes } = await createSealer({ ...parts, newestCheckpoint })({ bytes: makePdf(), reason });
  assert.equal(await readCarriedCheckpoint(bytes), checkpoint);
  assert.equal(await readCarriedCheckpoint(plain.bytes), null);
  const more = bytes.length - plain.bytes.length;
  assert.ok(more > 0 && more <= 400, String(more));
  const odd = "(a)\\\n\u2014 obj\r";
  const written = await createSealer({ ...parts, newestCheckpoint: () => odd })({ bytes: makePdf(), reason }).catch(
    String,
  );
  assert.match(String(written), /Error/, "a checkpoint that can't be read is not sealed in");
});

test("a token that is longer than its reserved space is requested once more, and then has space", async () => {
  const seal = createSealer({ workers: inlineWorkers, random: systemRandom, identity, clock, stamp, tokenRoom: 100 });
  const asked = tsa.requestCount();
  assert.notEqual((await seal({ bytes: makePdf(), reason })).timeStamp, null);
  assert.equal(tsa.requestCount(), asked + 2);
  assert.notEqual((await seal({ bytes: makePdf(), reason })).timeStamp, null);
  assert.equal(tsa.requestCount(), asked + 3);
});

test("a token beyond every limit is left out, and the seal succeeds", async () => {
  const huge: Stamp = async () => ({ token: new Uint8Array(60_000), authority: "https://tsa", genTime: new Date() });
  assert.equal(
    (
      await createSealer({ workers: inlineWorkers, random: systemRandom, identity, clock, stamp: huge })({
        bytes: makePdf(),
        reason,
      })
    ).timeStamp,
    null,
  );
});

test("no authority is asked for a seal without a time stamp", async () => {
  const asked = tsa.requestCount();
  const { timeStamp } = await createSealer({ workers: inlineWorkers, random: systemRandom, identity, clock, stamp })({
    bytes: makePdf(),
    reason,
    timeStamped: false,
  });
  assert.deepEqual([timeStamp, tsa.requestCount()], [null, asked]);
});

const refusal = (code: string) => (error: unknown) => error instanceof ServiceError && error.code === code;

test("a failing seal key is not the document's fault: unavailable", async () => {
  const broken: SealKey = { ...identity.key, sign: () => Promise.reject(new SealKeyError("unreachable", "gone")) };
  const seal = createSealer({
    workers: inlineWorkers,
    random: systemRandom,
    identity: { ...identity, key: broken },
    clock,
    stamp: null,
  });
  await assert.rejects(seal({ bytes: makePdf(), reason }), refusal("unavailable"));
});

test("a seal that the verifier refuses is not returned: another key's signature, an expired certificate", async () => {
  const other: SealKey = { ...identity.key, sign: memoryKey("p-256").sign };
  const forged = createSealer({
    workers: inlineWorkers,
    random: systemRandom,
    identity: { ...identity, key: other },
    clock,
    stamp: null,
  });
  await assert.rejects(forged({ bytes: makePdf(), reason }), refusal("unavailable"));
  const inElevenYears = () => new Date(Date.now() + 11 * 365.25 * 86_400_000);
  const late = createSealer({
    workers: inlineWorkers,
    random: systemRandom,
    identity,
    clock: inElevenYears,
    stamp: null,
  });
  await assert.rejects(late({ bytes: makePdf(), reason }), refusal("unavailable"));
});

test("a token that the verifier refuses is reported and left out, and the seal succeeds without it", async () => {
  const replayed = await stamp(Buffer.from("another signature"));
  const unfit: string[] = [];
  const onUnfitTimeStamp = (authority: string) => unfit.push(authority);
  const stale = createSealer({
    workers: inlineWorkers,
    random: systemRandom,
    identity,
    clock,
    stamp: async () => replayed,
    onUnfitTimeStamp,
  });
  assert.equal((await stale({ bytes: makePdf(), reason })).timeStamp, null);
  assert.deepEqual(unfit, [replayed?.authority]);
});

test("the self-check refuses changed bytes, other hashes and a missing time stamp, and reports whose fault it is", async () => {
  const check = createSelfCheck(identity.chain[0]);
  const sealed = await createSealer({ workers: inlineWorkers, random: systemRandom, identity, clock, stamp: null })({
    bytes: makePdf(),
    reason,
  });
  const claim = { ...sealed, timeStamped: false, at: new Date() };
  await check(claim);
  const changed = Buffer.from(sealed.bytes);
  changed[20] = (changed[20] ?? 0) ^ 1;
  const longer = Buffer.concat([sealed.bytes, Buffer.from("\n")]);
  const refused = (documentAtFault: boolean) => (error: unknown) =>
    error instanceof SealNotVerified && error.documentAtFault === documentAtFault;
  await assert.rejects(check({ ...claim, bytes: changed }), SealNotVerified);
  await assert.rejects(check({ ...claim, bytes: longer }), refused(true));
  await assert.rejects(check({ ...claim, docSha256: "0".repeat(64) }), refused(false));
  await assert.rejects(check({ ...claim, sealedSha256: "0".repeat(64) }), refused(false));
  await assert.rejects(check({ ...claim, timeStamped: true }), refused(false));
});

for (const [why, code] of [
  ["time", "validation"],
  ["memory", "validation"],
  ["crash", "unavailable"],
  ["closed", "unavailable"],
] as const) {
  test(`a worker that is killed for its ${why} makes a seal ${code}`, async () => {
    const workers: Workers = { run: () => Promise.reject(new TaskKilled(why)) };
    const sealing = createSealer({ workers, random: systemRandom, identity, clock, stamp: null })({
      bytes: makePdf(),
      reason,
    });
    const error = await sealing.catch((reason: unknown) => reason);
    assert.ok(error instanceof ServiceError && error.code === code);
    if (code === "validation") assert.match(error.message, /^The PDF is too complex: .* takes too long\.$/);
  });
}

test("other requests are answered while 34 MB are sealed", async () => {
  const bytes = makePdf({ bytes: 34_000_000 });
  const hash = createHash("sha256").update(bytes);
  const sealing = createSealer({ workers: pool, random: systemRandom, identity, clock, stamp: null })({
    bytes,
    reason,
    hash,
    spare: 0,
  });
  let turns = 0;
  let done = false;
  const finished = sealing.then(() => {
    done = true;
  });
  while (!done) {
    turns += 1;
    await new Promise(setImmediate);
  }
  await finished;
  assert.ok(turns >= 8, `${turns} turns`);
});
