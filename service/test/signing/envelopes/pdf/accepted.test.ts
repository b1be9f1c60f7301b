import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { fillsOwnFields } from "@signsealship/evidence/envelope";
import { openUnlocked } from "@signsealship/evidence/pdf";
import { sealReasons, verifyProof } from "@signsealship/evidence/seal";
import { inTurn } from "@signsealship/testing/inputs/fuzz";
import { zooBytes, zooFiles } from "@signsealship/testing/inputs/zoo";
import { needs } from "@signsealship/testing/tools/tools";
import { createNodeCrypto } from "@signsealship/verifier/node-crypto";
import {
  askPyHanko,
  type Operation,
} from "../../../../../packages/evidence/test/pdf/changes/oracles/pyhanko-oracle.ts";
import { createSealer, type SealInput } from "../../../../src/evidence/seals/sealer.ts";
import { lookUpPdf } from "../../../../src/kernel/pdf/xref/lookup.ts";
import { ServiceError } from "../../../../src/kernel/platform/errors.ts";
import { inlineWorkers } from "../../../../src/kernel/platform/workers/inline.ts";
import { ownFields } from "../../../../src/signing/envelopes/pdf/fields.ts";
import { plan } from "../../../../src/signing/envelopes/pdf/placement/plan.ts";
import { createPreflight } from "../../../../src/signing/envelopes/preflight/preflight.ts";
import { memoryKey, randomBelow, selfSigned } from "../../../evidence/seals/signers.ts";
import { openForm } from "./made-forms.ts";
import { openSigning } from "./signing.ts";

const key = memoryKey("p-256");
const certificate = await selfSigned(key, Date.now());
const sealDocument = createSealer({
  workers: inlineWorkers,
  randomBelow,
  identity: { key, chain: [certificate], chainPem: "" },
  clock: () => new Date(),
  stamp: null,
});
const seal = async (bytes: Buffer, more: Pick<SealInput, "reason" | "locks">) =>
  (await sealDocument({ bytes, ...more })).bytes;

const signing = await openSigning();

/** The zoo, and whatever packages have brought along: different files that end in `.pdf`. */
function corpus(): { name: string; bytes: Buffer }[] {
  const modules = fileURLToPath(new URL("../../../../../node_modules", import.meta.url));
  const shipped = readdirSync(modules, { recursive: true, encoding: "utf8" }).filter(
    (name) => name.endsWith(".pdf") && !name.startsWith("@signsealship"),
  );
  const zoo = zooFiles().map(({ name }) => ({ name, bytes: zooBytes(name) }));
  const all = [...zoo, ...shipped.map((name) => ({ name, bytes: readFileSync(join(modules, name)) }))];
  return [{ name: "a form", bytes: openForm() }, ...all];
}

/** pyHanko's writer takes /NeedAppearances out of these forms, which changes how locked fields are drawn: such an upload is refused. */
const redrawnByNotary = new Set(["form-indirect.pdf"]);

const people = ["Jane Doe", "Juan Smith"];

/** The document with the acts of two signers, as their order would make it; null where the order is refused by name. */
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

/** Each accepted document signed and sealed, and how a notary is to sign it; null where pyHanko can't. */
async function signedAndSealed(): Promise<Made[]> {
  const made: Made[] = [];
  for (const [number, file] of corpus().entries())
    for (const isNotarized of inTurn([false, true], number)) {
      const order = await signedBy(file, isNotarized);
      if (!order) continue;
      const { signed, isCertified, isEncrypted } = order;
      const locks = isNotarized ? "fields" : "document";
      const finished = await seal(signed, { reason: sealReasons.signed.test, locks });
      // pyHanko's writer does not open an encrypted document: there the second seal follows the first one.
      const canSign = isNotarized && !isEncrypted && !redrawnByNotary.has(file.name);
      const notary: Operation | null = canSign ? [isCertified ? "approve" : "approve visibly", "Notary"] : null;
      made.push({ name: file.name, original: file.bytes.length, finished, isNotarized, notary });
    }
  return made;
}

/** The documents as notaries signed them, by one process of pyHanko. A file that its writer can't read stays unchanged. */
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
  "whatever an order accepts can be signed, sealed, notarized and proof-sealed, and every signature of it holds",
  needs("pyhanko"),
  async () => {
    const made = await signedAndSealed();
    const byNotaries = notarized(made);
    for (const one of made) {
      const { name, original, isNotarized } = one;
      const signed = byNotaries.get(one) ?? one.finished;
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
