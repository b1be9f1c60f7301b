import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { concatBytes } from "../../src/bytes.ts";
import { writeDetached } from "../../src/ots/write.ts";
import type { DetachedEvidence } from "../../src/seal/detached-evidence.ts";
import { type ProofTrust, verifyProof } from "../../src/seal/verify-proof.ts";
import { createWebCrypto } from "../../src/webcrypto.ts";
import { testSigner, tokenOver } from "../signer.ts";
import { signPdf } from "./signed-pdf.ts";

const crypto = createWebCrypto(globalThis.crypto.subtle);
const HOUR = 3600_000;
const sealedAt = Date.UTC(2026, 0, 2);
const ended = Date.UTC(2036, 0, 1);
/** The instant of verification: years after the certificates of the seal and of the authority expired. */
const at = Date.UTC(2040, 0, 1);
const seal = testSigner("seal", Date.UTC(2025, 0, 1), ended);
const tsa = testSigner("tsa");
const stranger = testSigner("tsa");
const bytes = signPdf(Uint8Array.from(makePdf({ text: "Contract" })), { signer: seal });
const sha256 = Uint8Array.from(createHash("sha256").update(bytes).digest());
const height = 900_000;

/** An OpenTimestamps proof that the blocks at these heights contain a digest. */
function proofOf(digest: Uint8Array, ...heights: readonly number[]): Uint8Array {
  const branch = (one: number) => ({ attestation: { kind: "bitcoin", height: one } }) as const;
  return writeDetached({
    fileHashOp: "sha256",
    digest,
    timestamp: (heights.length > 0 ? heights : [height]).map(branch),
  });
}

const otsProof = proofOf(sha256);

/** A Bitcoin block header with this merkle root and time. */
function header(root: Uint8Array, time: number): Uint8Array {
  const out = new Uint8Array(80);
  out.set(root, 36);
  new DataView(out.buffer).setUint32(68, time / 1000, true);
  return out;
}

type Given = { detached?: DetachedEvidence; headers?: readonly Uint8Array[]; trust?: Partial<ProofTrust>; at?: number };

async function judged({ detached, headers = [], trust, at: instant = at }: Given, file = bytes) {
  const blockHeaders = new Map(headers.map((one, index) => [height + index, one]));
  const anchors = { sealAnchors: [seal.certificate], tsaAnchors: [tsa.certificate], blockHeaders };
  const options = { crypto, ...(detached && { detached }) };
  const result = await verifyProof(file, { ...anchors, ...trust }, instant, options);
  const state = (name: string) => result.claims.find((one) => one.name === name)?.state;
  return { verdict: result.verdict, time: result.seal?.provenTime ?? null, state };
}

test("refuses a seal whose certificate has expired when nothing proves its time", async () => {
  const { verdict, time } = await judged({});
  assert.deepEqual({ verdict, time }, { verdict: "not_verified", time: null });
});

test("judges a seal at the time of a trusted token next to the file, over the signature value or the whole file", async () => {
  const first = await verifyProof(bytes, { sealAnchors: [], tsaAnchors: [] }, sealedAt, { crypto });
  const value = first.seal?.pades.signatureValue;
  assert.ok(value);
  for (const timeStampToken of [tokenOver(bytes, tsa, sealedAt), tokenOver(value, tsa, sealedAt)]) {
    const { verdict, time } = await judged({ detached: { timeStampToken } });
    assert.deepEqual({ verdict, time }, { verdict: "verified", time: sealedAt });
  }
});

test("accepts no time from a detached token of an untrusted authority, or from after the certificate's end", async () => {
  const ofStranger = await judged({ detached: { timeStampToken: tokenOver(bytes, stranger, sealedAt) } });
  assert.deepEqual([ofStranger.verdict, ofStranger.time], ["not_verified", null]);
  const detached = { timeStampToken: tokenOver(bytes, tsa, sealedAt) };
  const untrusted = await judged({ detached, trust: { tsaAnchors: [] } });
  assert.deepEqual([untrusted.verdict, untrusted.time], ["not_verified", null]);
  const lasting = testSigner("tsa", Date.UTC(2025, 0, 1), Date.UTC(2045, 0, 1));
  const late = tokenOver(bytes, lasting, ended + HOUR);
  const afterEnd = await judged({ detached: { timeStampToken: late }, trust: { tsaAnchors: [lasting.certificate] } });
  assert.deepEqual([afterEnd.verdict, afterEnd.time], ["not_verified", ended + HOUR]);
});

test("judges a seal two hours after the block that a header confirms, and no earlier", async () => {
  const { verdict, time, state } = await judged({ detached: { otsProof }, headers: [header(sha256, sealedAt)] });
  assert.deepEqual([verdict, time, state("anchored_in_block")], ["verified", sealedAt + 2 * HOUR, "holds"]);
  const atEnd = await judged({ detached: { otsProof }, headers: [header(sha256, ended - 2 * HOUR)] });
  assert.equal(atEnd.verdict, "verified");
  const afterEnd = await judged({ detached: { otsProof }, headers: [header(sha256, ended - 2 * HOUR + 1000)] });
  assert.equal(afterEnd.verdict, "not_verified");
});

test("accepts no time from a proof without its header, with another header, or of another file", async () => {
  const other = header(new Uint8Array(32), sealedAt);
  const cases: Given[] = [
    { detached: { otsProof } },
    { detached: { otsProof }, headers: [other] },
    { detached: { otsProof: proofOf(new Uint8Array(32)) }, headers: [other] },
    { detached: { otsProof: concatBytes([otsProof, Uint8Array.of(0)]) }, headers: [header(sha256, sealedAt)] },
    { headers: [header(sha256, sealedAt)] },
  ];
  for (const one of cases) {
    const { verdict, time } = await judged(one);
    assert.deepEqual({ verdict, time }, { verdict: "not_verified", time: null });
  }
});

test("accepts no time from a proof in which another attestation contradicts a header", async () => {
  const both = proofOf(sha256, height, height + 1);
  const headers = [header(sha256, sealedAt), header(new Uint8Array(32), sealedAt)];
  const { time, state } = await judged({ detached: { otsProof: both }, headers });
  assert.deepEqual([time, state("anchored_in_block")], [null, "fails"]);
  const later = await judged({
    detached: { otsProof: both },
    headers: [header(sha256, ended), header(sha256, sealedAt)],
  });
  assert.equal(later.time, sealedAt + 2 * HOUR);
});

test("accepts no time from a block that did not exist yet at the instant of verification", async () => {
  const instant = sealedAt + HOUR;
  const given = { detached: { otsProof }, headers: [header(sha256, sealedAt)] };
  assert.equal((await judged({ ...given, at: instant })).time, null);
  assert.equal((await judged({ ...given, at: instant + HOUR })).time, sealedAt + 2 * HOUR);
});

test("uses the earliest of all proven times", async () => {
  const stamped = signPdf(Uint8Array.from(makePdf({ text: "Contract" })), {
    signer: seal,
    stamp: (signature) => tokenOver(signature, tsa, sealedAt + 9 * HOUR),
  });
  const digest = Uint8Array.from(createHash("sha256").update(stamped).digest());
  const timeOf = async (tokenAt: number, blockAt: number) => {
    const detached = { timeStampToken: tokenOver(stamped, tsa, tokenAt), otsProof: proofOf(digest) };
    return (await judged({ detached, headers: [header(digest, blockAt)] }, stamped)).time;
  };
  assert.equal(await timeOf(sealedAt + 8 * HOUR, sealedAt + 8 * HOUR), sealedAt + 8 * HOUR);
  assert.equal(await timeOf(sealedAt + 8 * HOUR, sealedAt + 5 * HOUR), sealedAt + 7 * HOUR);
  assert.equal(await timeOf(sealedAt + 10 * HOUR, sealedAt + 10 * HOUR), sealedAt + 9 * HOUR);
});

test("accepts a seal of a stolen key with a proof from before the theft, and never with a later proof", async () => {
  const t = sealedAt + 12 * HOUR;
  const retired = [{ certificate: seal.certificate, retiredAt: t, reason: "key-compromise" }];
  const trust = { retired };
  const early = Date.UTC(2026, 5, 1);
  const none = await judged({ trust, at: early });
  assert.deepEqual([none.verdict, none.state("seal_certificate_not_retired")], ["not_verified", "fails"]);
  for (const [time, verdict] of [
    [t - 1000, "verified"],
    [t, "not_verified"],
  ] as const) {
    const token = await judged({ trust, at: early, detached: { timeStampToken: tokenOver(bytes, tsa, time) } });
    assert.equal(token.verdict, verdict);
    const headers = [header(sha256, time - 2 * HOUR)];
    assert.equal((await judged({ trust, at: early, detached: { otsProof }, headers })).verdict, verdict);
  }
});

test("accepts a seal with a late detached proof when the key is still with its owner", async () => {
  const retired = [{ certificate: seal.certificate, retiredAt: Date.UTC(2027, 0, 1), reason: "superseded" }];
  const late = Date.UTC(2030, 0, 1);
  const detached = { timeStampToken: tokenOver(bytes, tsa, late) };
  for (const given of [{}, { detached }, { detached: { otsProof }, headers: [header(sha256, late)] }]) {
    const { verdict, state } = await judged({ ...given, trust: { retired }, at: Date.UTC(2031, 0, 1) });
    assert.deepEqual([verdict, state("seal_certificate_not_retired")], ["verified", "unchecked"]);
  }
});
