import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { fillsOwnFields } from "@signsealship/evidence/envelope";
import { changesSince, openUnlocked } from "@signsealship/evidence/pdf";
import { sealReasons, verifyProof } from "@signsealship/evidence/seal";
import { inTurn } from "@signsealship/testing/inputs/fuzz";
import { zooBytes, zooFiles } from "@signsealship/testing/inputs/zoo";
import { needs } from "@signsealship/testing/tools/tools";
import { createNodeCrypto } from "@signsealship/verifier/node-crypto";
import {
  askPyHanko,
  type Operation,
} from "../../../../../packages/evidence/test/pdf/changes/oracles/pyhanko-oracle.ts";
import { assembleCms, maxCmsLength, signedAttributesOf } from "../../../../src/evidence/seals/cms/cms.ts";
import { completeSeal, hashTail } from "../../../../src/evidence/seals/pdf/seal-pdf.ts";
import { createSealer, type SealInput } from "../../../../src/evidence/seals/sealer.ts";
import { lookUpPdf } from "../../../../src/kernel/pdf/xref/lookup.ts";
import { ServiceError } from "../../../../src/kernel/platform/errors.ts";
import { systemRandom } from "../../../../src/kernel/platform/random.ts";
import { inlineWorkers } from "../../../../src/kernel/platform/workers/inline.ts";
import { createPreflight } from "../../../../src/signing/envelopes/open-envelopes.ts";
import { ownFields } from "../../../../src/signing/envelopes/pdf/fields.ts";
import { plan } from "../../../../src/signing/envelopes/pdf/placement/plan.ts";
import { run as buildNotarySignature } from "../../../../src/signing/notaries/signing/build-task.ts";
import { placeProblem } from "../../../../src/signing/notaries/uploads/visible-place.ts";
import { memoryKey, selfSigned, someInstant } from "../../../evidence/seals/signers.ts";
import { openForm } from "./made-forms.ts";
import { openSigning } from "./signing.ts";

const key = memoryKey("p-256");
const certificate = await selfSigned(key, Date.now());
const sealDocument = createSealer({
  workers: inlineWorkers,
  random: systemRandom,
  identity: { key, chain: [certificate], chainPem: "" },
  clock: () => new Date(),
  stamp: null,
});
const seal = async (bytes: Buffer, more: Pick<SealInput, "reason" | "locks">) =>
  (await sealDocument({ bytes, ...more })).bytes;

const signing = await openSigning();

/** The unusual PDFs of testing/inputs/zoo, and a form without restrictions. */
function corpus(): { name: string; bytes: Buffer }[] {
  const zoo = zooFiles().map(({ name }) => ({ name, bytes: zooBytes(name) }));
  return [{ name: "a form", bytes: openForm() }, ...zoo];
}

const notary = { key: memoryKey("p-256"), name: "Nora Ames" };
const notaryChain = [await selfSigned(notary.key)] as const;

/** The document with a notary's signature, as the console adds it. */
async function signedByNotary(name: string, document: Buffer): Promise<Buffer> {
  const hash = createHash("sha256").update(document);
  const output = await buildNotarySignature(document, {
    name: notary.name,
    lines: ["Nora Ames, Notary Public", "Commission 2024-RE-1"],
    reason: "Notarization",
    location: "Franklin, OH",
    docSha256: hash.copy().digest("hex"),
    actSha256: "ab".repeat(32),
    at: new Date(someInstant),
    seal: null,
    block: null,
    draws: [
      { reserve: maxCmsLength(notaryChain), padding: 60 },
      { reserve: maxCmsLength(notaryChain), padding: 70 },
    ],
  });
  assert.ok("tail" in output, `${name}: ${JSON.stringify(output)}`);
  const place = hashTail(output.tail, hash, document.length);
  const signedAttrs = signedAttributesOf({ chain: notaryChain, place });
  const signature = await notary.key.sign(signedAttrs);
  const { tail } = completeSeal(place, assembleCms({ chain: notaryChain, signedAttrs, signature }));
  return Buffer.concat([document, tail]);
}

/**
 * pyHanko's writer removes /NeedAppearances from these forms, which changes how locked fields are drawn. So the service
 * rejects such an upload, but accepts the console's own signature.
 */
const redrawnByNotary = new Set(["form-indirect.pdf"]);

const people = ["Jane Doe", "Juan Smith"];

/** The document with the acts of two signers, as in an order; null when the order is rejected with a reason. */
async function signedBy({ name, bytes }: { name: string; bytes: Buffer }, isNotarized: boolean) {
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  const order = { holder: "firm", bytes, sha256, signers: people, fields: null, isNotarized };
  try {
    await createPreflight(inlineWorkers)(order);
  } catch (error) {
    assert.ok(error instanceof ServiceError && error.code === "validation", `${name}: ${error}`);
    return null;
  }
  const planned = await plan(bytes, { signers: people.length, fields: null });
  const prepared = await signing.prepare(bytes, planned, people, { isNotarized });
  let signed: Buffer = prepared.bytes;
  for (const [index, person] of people.entries()) {
    const { length } = signed;
    signed = await signing.act(signed, prepared.fields, index + 1, { name: person });
    const own = ownFields(prepared.fields, index + 1).map((field) => [field.name, field.kind] as const);
    assert.ok(fillsOwnFields(await openUnlocked(signed), length, new Map(own)), `${name}: act of ${person}`);
  }
  return { signed, isCertified: lookUpPdf(bytes).docMdp !== null, isEncrypted: lookUpPdf(bytes).encrypt !== null };
}

async function requireVerified(name: string, bytes: Buffer, original: number): Promise<void> {
  const trust = { sealAnchors: [certificate], tsaAnchors: [] };
  const { verdict, claims, earlierSignatures } = await verifyProof(bytes, trust, Date.now(), {
    crypto: createNodeCrypto(),
  });
  assert.equal(verdict, "verified", `${name}: ${JSON.stringify(claims.filter(({ state }) => state === "fails"))}`);
  for (const { claims: each, revisionEnd } of earlierSignatures)
    if (revisionEnd !== null && revisionEnd > original)
      assert.ok(
        each.every(({ state }) => state === "holds"),
        `${name}: ${JSON.stringify(each)}`,
      );
}

type Made = { name: string; original: number; finished: Buffer; isNotarized: boolean; notary: Operation | null };

/**
 * Each accepted document, signed and sealed. `notary` is the way in which pyHanko will sign the document for a notary.
 * It is null if the document needs no notary, if pyHanko can't sign it, or if pyHanko would redraw its form.
 */
async function signedAndSealed(): Promise<Made[]> {
  const made: Made[] = [];
  for (const [number, file] of corpus().entries())
    for (const isNotarized of inTurn([false, true], number)) {
      const order = await signedBy(file, isNotarized);
      if (!order) continue;
      const { signed, isCertified, isEncrypted } = order;
      const locks = isNotarized ? "fields" : "document";
      const finished = await seal(signed, { reason: sealReasons.signed.test, locks });
      // pyHanko's writer can't open an encrypted document.
      const canSign = isNotarized && !isEncrypted && !redrawnByNotary.has(file.name);
      const notary: Operation | null = canSign ? [isCertified ? "approve" : "approve visibly", "Notary"] : null;
      made.push({ name: file.name, original: file.bytes.length, finished, isNotarized, notary });
    }
  return made;
}

/**
 * The documents with notaries' signatures. One process of pyHanko signs all of them. Skips the files that pyHanko can't
 * read.
 */
function notarized(all: readonly Made[]): Map<Made, Buffer> {
  const requests = all.flatMap((one) => (one.notary === null ? [] : [{ one, make: [one.notary] }]));
  const answers = askPyHanko(requests.map(({ one, make }) => ({ make, pdf: one.finished })));
  return new Map(
    requests.flatMap(({ one }, i) => {
      const pdf = answers[i]?.pdf;
      return pdf ? [[one, Buffer.from(pdf)] as const] : [];
    }),
  );
}

test(
  "every document that an order accepts can be signed, sealed, notarized and proof-sealed, with valid signatures",
  needs("pyhanko"),
  async () => {
    const made = await signedAndSealed();
    const byNotaries = notarized(made);
    for (const one of made) {
      const { name, original, isNotarized } = one;
      const signed = isNotarized ? (byNotaries.get(one) ?? (await signedByNotary(name, one.finished))) : one.finished;
      const finished = isNotarized
        ? await seal(signed, { reason: sealReasons.notarized.test, locks: "document" })
        : signed;
      await requireVerified(name, finished, original);
      await requireVerified(name, await seal(finished, { reason: sealReasons.proof.test }), original);
    }
    assert.ok(made.length > 60, `${made.length} accepted`);
    assert.ok(byNotaries.size > 20, `${byNotaries.size} notarized`);
  },
);

test("every document that an order for a notary only accepts can be signed by the notary, sealed and proof-sealed", async () => {
  let [signed, inInk, encrypted] = [0, 0, 0];
  for (const { name, bytes } of corpus()) {
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    const order = { holder: "firm", bytes, sha256, signers: [], fields: null, isNotarized: true };
    const tried = await createPreflight(inlineWorkers)(order).catch((error: unknown) => {
      assert.ok(error instanceof ServiceError && error.code === "validation", `${name}: ${error}`);
    });
    if (!tried) continue;
    if (tried.notices.some(({ code }) => code === "ink_only")) {
      inInk++;
      continue;
    }
    const notarized = await signedByNotary(name, bytes);
    const level = changesSince(await openUnlocked(notarized), bytes.length);
    assert.ok(level !== null && level !== "other", `${name}: ${level}`);
    assert.equal(await placeProblem(bytes, notarized), null, name);
    const finished = await seal(notarized, { reason: sealReasons.notarized.test, locks: "document" });
    await requireVerified(name, finished, bytes.length);
    await requireVerified(name, await seal(finished, { reason: sealReasons.proof.test }), bytes.length);
    signed++;
    if (lookUpPdf(bytes).encrypt !== null) encrypted++;
  }
  assert.ok(signed > 70 && inInk > 3 && encrypted > 3, JSON.stringify({ signed, inInk, encrypted }));
});
