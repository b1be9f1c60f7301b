import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { sha256Hex } from "../../src/digest.ts";
import { type EnvelopeEvidence, envelopeBytes, verifyEnvelope } from "../../src/envelope/envelope.ts";
import { canonicalJson, type JsonObject } from "../../src/manifest/canonical-json.ts";

const verifyCode = "mfrggzdfmztwq2lknnwg23tpoa";
const orderCode = "ab".repeat(20);
const hash = (digit: string) => digit.repeat(64);
const hashOf = (value: JsonObject) => sha256Hex(new TextEncoder().encode(canonicalJson(value)));
const at = (second: number) => new Date(Date.UTC(2026, 2, 4, 5, 6, second)).toISOString();

/** The revisions of a file that two people signed. */
const states = [0, 1, 2, 3, 4].map((number) => ({ number, bytes: 100 * (number + 1), sha256: hash(`${number}`) }));
const signers = ["Jane", "Juan 売主"].map((name, index) => ({
  n: index + 1,
  name,
  email: `signer${index + 1}@example.com`,
  language: "en",
  routing: 1,
  auth: "link",
  signedAt: at(index + 1),
}));

const actOf = (index: number): JsonObject => {
  const { n, name, email, signedAt } = signers[index] ?? assert.fail();
  return {
    at: signedAt,
    envelope: verifyCode,
    orderCode,
    revision: { ...states[index + 1] },
    signer: { n, name, email },
  };
};

/** Recomputes the hash chain of the records, so that nothing but the test's own change is wrong. */
async function chained(records: readonly JsonObject[]): Promise<EnvelopeEvidence["trail"]> {
  const trail: EnvelopeEvidence["trail"][number][] = [];
  for (const [index, record] of records.entries()) {
    const before = trail.at(-1);
    const previousSha256 = before ? await hashOf(before) : null;
    const frame = { at: at(index), envelope: verifyCode, event: "", position: index + 1, previousSha256 };
    trail.push({ ...frame, ...record } as EnvelopeEvidence["trail"][number]);
  }
  return trail;
}

const sizeOf = ({ bytes, sha256 }: { bytes: number; sha256: string } = assert.fail()) => ({ bytes, sha256 });

async function records(): Promise<JsonObject[]> {
  const acts = await Promise.all(
    signers.map(async ({ n }, index) => ({
      event: "signed",
      act: actOf(index),
      actSha256: await hashOf(actOf(index)),
      signer: n,
      revision: { ...states[index + 2] },
      timeStamp: null,
    })),
  );
  return [
    { event: "created", orderCode, document: sizeOf(states[0]), revision: { ...states[1] } },
    { event: "opened", signer: 1 },
    ...acts,
    { event: "sealed", document: sizeOf(states[4]) },
  ];
}

async function evidence(trail: readonly JsonObject[]): Promise<EnvelopeEvidence> {
  const kinds = ["original", "prepared", "signed", "signed", "sealed"] as const;
  return {
    format: "signsealship-envelope",
    version: 1,
    verifyCode,
    orderCode,
    environment: "live",
    document: { originalSha256: hash("0"), sealedSha256: hash("4"), bytes: 500 },
    revisions: states.map((state, index) => ({
      ...state,
      kind: kinds[index] ?? "sealed",
      signer: kinds[index] === "signed" ? index - 1 : null,
    })),
    signers,
    trail: await chained(trail),
  };
}

const failing = async (envelope: EnvelopeEvidence | Uint8Array) => {
  const { claims } = await verifyEnvelope(envelope instanceof Uint8Array ? envelope : envelopeBytes(envelope));
  return claims.filter(({ state }) => state !== "holds").map(({ name }) => name);
};

/** The records with one of them changed. */
const changed = async (index: number, change: JsonObject) =>
  (await records()).map((record, i) => (i === index ? { ...record, ...change } : record));

describe("the evidence of an envelope", () => {
  test("holds in its original form", async () => {
    assert.deepEqual(await failing(await evidence(await records())), []);
  });

  test("is refused when a record was changed, removed or moved, even if everything else is the same", async () => {
    const whole = await evidence(await records());
    const with1 = whole.trail.map((entry) => (entry.position === 2 ? { ...entry, at: at(30) } : entry));
    assert.deepEqual(await failing({ ...whole, trail: with1 }), ["trail_chain"]);
    assert.deepEqual(await failing({ ...whole, trail: whole.trail.filter(({ position }) => position !== 2) }), [
      "trail_chain",
    ]);
    const [first, second, ...rest] = whole.trail;
    assert.ok(first && second);
    assert.deepEqual(await failing({ ...whole, trail: [second, first, ...rest] }), ["trail_chain", "trail_begins"]);
  });

  test("is refused when its records were chained again but contradict the rest", async () => {
    const cases: [string[], JsonObject[]][] = [
      [["trail_chain"], await changed(1, { envelope: "a".repeat(26) })],
      [["trail_begins"], await changed(0, { orderCode: "cd".repeat(20) })],
      [["trail_begins"], await changed(0, { document: { bytes: 100, sha256: hash("9") } })],
      [["trail_sealed"], await changed(4, { document: { bytes: 499, sha256: hash("4") } })],
      [["trail_sealed"], [...(await records()), { event: "opened", signer: 1 }]],
      [["act_hashes"], await changed(2, { actSha256: hash("a") })],
      [["acts_recorded", "act_hashes"], await changed(2, { act: { ...actOf(0), at: at(9) } })],
      [["acts_recorded"], await changed(3, { signer: 1 })],
      [["acts_recorded", "revision_table"], (await records()).toSpliced(3, 1)],
    ];
    for (const [names, trail] of cases) assert.deepEqual(await failing(await evidence(trail)), names);
  });

  test("is refused when an act is by another person than the table of signers names", async () => {
    const whole = await evidence(await records());
    const [jane, juan] = whole.signers;
    assert.ok(jane && juan);
    const other = { ...jane, email: "other@example.com" };
    assert.deepEqual(await failing({ ...whole, signers: [other, juan] }), ["acts_recorded"]);
  });

  test("has only one text", async () => {
    const bytes = envelopeBytes(await evidence(await records()));
    const spaced = new TextEncoder().encode(` ${new TextDecoder().decode(bytes)}`);
    assert.deepEqual(await failing(spaced), ["envelope_canonical"]);
  });

  test("can't be read when members are missing, unknown, duplicated, or of another kind", async () => {
    const whole = await evidence(await records());
    const { signers: _, ...missing } = whole;
    const text = new TextDecoder().decode(envelopeBytes(whole));
    const broken: string[] = [
      "",
      "[]",
      JSON.stringify(missing),
      JSON.stringify({ ...whole, more: 1 }),
      JSON.stringify({ ...whole, version: 2 }),
      JSON.stringify({ ...whole, revisions: whole.revisions.toReversed() }),
      JSON.stringify({ ...whole, trail: [] }),
      text.replace('"version":1', '"version":1,"version":1'),
      text.replace('"position":1', '"position":1.5'),
      text.replace('"routing":1', '"routing":1e400'),
    ];
    for (const one of broken)
      assert.deepEqual(await failing(new TextEncoder().encode(one)), ["envelope_readable"], one.slice(0, 60));
  });
});
