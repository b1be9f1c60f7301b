import assert from "node:assert/strict";
import { test } from "node:test";
import { fuzzRuns, inTurn } from "@signsealship/testing/inputs/fuzz";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { equalBytes } from "../../src/bytes.ts";
import { type ProofVerification, verifyProof } from "../../src/seal/verify-proof.ts";
import { mutate, randomFrom } from "../mutate.ts";
import { memoizedCrypto } from "../node-crypto.ts";
import { testSigner, tokenOver } from "../signer.ts";
import { forgeries } from "./forge.ts";
import { latin1, signPdf } from "./signed-pdf.ts";

const seal = testSigner("seal");
const tsa = testSigner("tsa");
const stranger = testSigner("stranger");
const at = Date.UTC(2026, 5, 1);
const crypto = memoizedCrypto();
const trust = { sealAnchors: [seal.certificate], tsaAnchors: [tsa.certificate] };
const stamp = (signature: Uint8Array) => tokenOver(signature, tsa, Date.UTC(2026, 0, 2));
const pdf = (text: string) => Uint8Array.from(makePdf({ text }));
const verify = (bytes: Uint8Array) => verifyProof(bytes, trust, at, { crypto });
const passes = ({ verdict }: ProofVerification) => verdict === "verified" || verdict === "intact";
const sealed = signPdf(pdf("Contract"), { signer: seal, stamp, reserve: 2400 });
const other = signPdf(pdf("Contrast"), { signer: seal, stamp, reserve: 2400 });

test("the file from which the forgeries are made is verified", async () => {
  assert.equal((await verify(sealed)).verdict, "verified");
  assert.equal((await verify(other)).verdict, "verified");
});

for (const { attack, name, bytes } of forgeries(sealed, other)) {
  test(`refuses ${attack}: ${name}`, async () => {
    assert.ok(!equalBytes(bytes, sealed), "the forgery changed nothing");
    const result = await verify(bytes);
    assert.ok(!passes(result), result.verdict);
  });
}

test("finds a fault in the structure of a file whose section has an entry that points to the gap, even to its first byte", async () => {
  const text = latin1(sealed);
  const gapStart = text.lastIndexOf("/Contents <") + "/Contents ".length;
  const table = text.lastIndexOf("\nxref\n");
  for (const { 0: row, index } of text.slice(table).matchAll(/^\d{10}(?= \d{5} n)/gm)) {
    for (const offset of [gapStart - 1, gapStart, gapStart + 1]) {
      const bytes = sealed.slice();
      bytes.set(Buffer.from(String(offset).padStart(row.length, "0")), table + index);
      const { claims } = await verify(bytes);
      const broken: readonly string[] = claims.filter(({ state }) => state === "fails").map(({ name }) => name);
      assert.ok(["pdf_readable", "whole_file_covered", "signature_structure"].some((name) => broken.includes(name)));
    }
  }
});

test("refuses every forgery of a certified file, signed again by a stranger", async () => {
  const certified = signPdf(pdf("Contract"), { signer: seal, certify: 2, originalLength: "absent" });
  const another = signPdf(pdf("Contrast"), { signer: seal, certify: 2, originalLength: "absent" });
  for (const { attack, name, bytes } of forgeries(certified, another)) {
    const resigned = resign(bytes);
    if (resigned !== undefined) assert.ok(!passes(await verify(resigned)), `${attack}: ${name}`);
  }
});

/** Adds a signature by an untrusted signer. Undefined when the forged file is too broken to be signed. */
function resign(bytes: Uint8Array): Uint8Array | undefined {
  try {
    return signPdf(bytes, { signer: stranger, visible: true });
  } catch {
    return undefined;
  }
}

test("refuses a value that was made for other bytes and put into another signature", async () => {
  const gap = /\/Contents <([0-9a-f]+)>/.exec(latin1(sealed))?.[1] ?? "";
  const contents = Uint8Array.from(Buffer.from(gap.replace(/(00)+$/, ""), "hex"));
  const result = await verify(signPdf(pdf("Contract!"), { signer: seal, contents: () => contents }));
  assert.equal(result.verdict, "not_verified");
  assert.equal(result.claims.find(({ name }) => name === "document_unchanged_since_seal")?.state, "fails");
});

test("refuses the file with any one of its bytes changed", async () => {
  for (let index = 0; index < sealed.length; index++) {
    const bytes = sealed.slice();
    for (const bit of inTurn([0x01, 0x20], index)) {
      bytes[index] = (sealed[index] ?? 0) ^ bit;
      if (passes(await verify(bytes))) assert.fail(`byte ${index}: ${latin1(sealed.subarray(index - 20, index + 20))}`);
    }
  }
});

const rounds = fuzzRuns(100_000);
test(`never verifies ${rounds} damaged files, and never throws`, async () => {
  const random = randomFrom(20_260_101);
  const text = latin1(sealed);
  const gapStart = text.lastIndexOf("/Contents <") + "/Contents <".length;
  const gapEnd = text.indexOf(">", gapStart);
  const der = Uint8Array.from(Buffer.from(text.slice(gapStart, gapEnd).replace(/(00)+$/, ""), "hex"));
  for (let round = 0; round < rounds; round++) {
    const bytes =
      round % 4 === 0 ? withValue(mutate(der, random)) : round % 4 === 1 ? inTail(random) : mutate(sealed, random);
    if (equalBytes(bytes, sealed)) continue;
    const result = await verify(bytes);
    if (passes(result)) assert.fail(`round ${round}: ${result.verdict}: ${firstDifference(bytes)}`);
  }

  function withValue(value: Uint8Array): Uint8Array {
    const digits = Buffer.from(value)
      .toString("hex")
      .padEnd(gapEnd - gapStart, "0")
      .slice(0, gapEnd - gapStart);
    const bytes = sealed.slice();
    bytes.set(Buffer.from(digits, "latin1"), gapStart);
    return bytes;
  }
  function inTail(below: (below: number) => number): Uint8Array {
    const from = below(2) === 0 ? text.lastIndexOf(" obj", gapStart) : gapEnd;
    const damaged = mutate(sealed.subarray(from, from === gapEnd ? sealed.length : gapStart), below);
    return Uint8Array.from(
      Buffer.concat([sealed.subarray(0, from), damaged, sealed.subarray(from === gapEnd ? sealed.length : gapStart)]),
    );
  }
  function firstDifference(bytes: Uint8Array): string {
    const index = bytes.findIndex((byte, position) => byte !== sealed[position]);
    return `byte ${index}, ${latin1(bytes.subarray(Math.max(0, index - 30), index + 30))}`;
  }
});
