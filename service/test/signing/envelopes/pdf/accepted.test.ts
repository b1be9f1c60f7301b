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

test(
  "whatever an order accepts can be signed, sealed, notarized and proof-sealed, and every signature of it holds",
  needs("pyhanko"),
  async () => {
    const accepted: string[] = [];
    for (const [number, file] of corpus().entries())
      for (const isNotarized of inTurn([false, true], number)) {
        const { name, bytes } = file;
        const made = await signedBy(file, isNotarized);
        if (!made) continue;
        accepted.push(name);
        const { signed, isCertified, isEncrypted } = made;
        let finished = await seal(signed, {
          reason: sealReasons.signed.test,
          locks: isNotarized ? "fields" : "document",
        });
        // pyHanko's writer does not open an encrypted document: there the second seal follows the first one.
        if (isNotarized && !isEncrypted && !redrawnByNotary.has(name)) {
          const operation: Operation = [isCertified ? "approve" : "approve visibly", "Notary"];
          const [answer] = askPyHanko([{ make: [operation], pdf: finished }]);
          // A file that the writer can't read can't be signed by it: not our fault.
          if (answer?.pdf) finished = Buffer.from(answer.pdf);
        }
        if (isNotarized) finished = await seal(finished, { reason: sealReasons.notarized.test, locks: "document" });
        await requireVerified(name, finished, bytes.length);
        await requireVerified(name, await seal(finished, { reason: sealReasons.proof.test }), bytes.length);
      }
    assert.ok(accepted.length > 60, `${accepted.length} accepted`);
  },
);
