import assert from "node:assert/strict";
import { test } from "node:test";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { sealReasons } from "../../src/seal/purpose.ts";
import { type ProofTrust, verifyProof } from "../../src/seal/verify-proof.ts";
import { memoizedCrypto } from "../node-crypto.ts";
import { testSigner, tokenOver } from "../signer.ts";
import { appendRevision, bodyOf, bytesOf, latin1, type SignOptions, signPdf } from "./signed-pdf.ts";

const seal = testSigner("seal");
const tsa = testSigner("tsa");
const stranger = testSigner("stranger");
const crypto = memoizedCrypto();
const at = Date.UTC(2026, 5, 1);
const trust: ProofTrust = { sealAnchors: [seal.certificate], tsaAnchors: [tsa.certificate] };
const original: Uint8Array = Uint8Array.from(makePdf({ text: "Contract" }));

type Step = (pdf: Uint8Array) => Uint8Array;

const sealedAs =
  (kind: keyof typeof sealReasons, environment: "live" | "test" = "live", more: Partial<SignOptions> = {}): Step =>
  (pdf) =>
    signPdf(pdf, { signer: seal, reason: sealReasons[kind][environment], ...more });
const visibly: Step = (pdf) => signPdf(pdf, { signer: stranger, originalLength: "absent", visible: true });
const invisibly: Step = (pdf) => signPdf(pdf, { signer: stranger, originalLength: "absent" });
const stamped: Step = (pdf) =>
  signPdf(pdf, {
    signer: stranger,
    originalLength: "absent",
    subFilter: "ETSI.RFC3161",
    dictionary: (text) => text.replace("/Type /Sig ", "/Type /DocTimeStamp "),
    contents: (signed) => tokenOver(signed, tsa, Date.UTC(2026, 0, 3)),
  });
const emptyField: Step = (pdf) => {
  const text = latin1(pdf);
  const field = "<< /Type /Annot /Subtype /Widget /FT /Sig /T (Later) /F 132 /Rect [0 0 0 0] /P 5 0 R >>";
  const catalog = bodyOf(text, 1).replace(/\/Fields \[/, "/Fields [90 0 R ");
  return bytesOf(
    appendRevision(text, [
      [90, field],
      [1, catalog],
    ]),
  );
};

const made = (steps: readonly Step[]): Uint8Array => steps.reduce((pdf, step) => step(pdf), original);

async function judged(steps: readonly Step[], given: ProofTrust = trust) {
  const { verdict, claims, earlierSignatures } = await verifyProof(made(steps), given, at, { crypto });
  const [first] = earlierSignatures;
  const later = first?.claims.find(({ name }) => name === "later_changes_permitted")?.state;
  return { verdict, later, respected: claims.filter(({ name }) => name === "certification_respected") };
}

const PERMITTED: Readonly<Record<string, readonly Step[]>> = {
  "a proof seal": [sealedAs("signed"), sealedAs("proof")],
  "two proof seals": [sealedAs("closing"), sealedAs("proof"), sealedAs("proof", "test")],
  "a document time stamp, then a proof seal": [sealedAs("notarized"), stamped, sealedAs("proof")],
  "a notary's visible signature that the notary's seal ends": [sealedAs("signed"), visibly, sealedAs("notarized")],
  "a notary's signature that was taken in": [sealedAs("signed"), visibly, sealedAs("notarized_elsewhere")],
  "a notary's signature on a document that was taken in": [
    sealedAs("signed_elsewhere"),
    visibly,
    sealedAs("notarized"),
  ],
  "a notarization, then a proof seal": [sealedAs("signed"), visibly, sealedAs("notarized"), sealedAs("proof")],
};

for (const [name, steps] of Object.entries(PERMITTED)) {
  test(`permits after a seal of the service: ${name}`, async () => {
    const { verdict, later, respected } = await judged(steps);
    assert.deepEqual([verdict, later], ["verified", "holds"]);
    assert.ok(respected.length > 0 && respected.every(({ state }) => state === "holds"));
  });
}

const REFUSED: Readonly<Record<string, readonly Step[]>> = {
  "a visible signature, then a proof seal": [sealedAs("signed"), visibly, sealedAs("proof")],
  "a stranger's invisible signature": [sealedAs("signed"), invisibly, sealedAs("proof")],
  "an empty signature field": [sealedAs("proof"), emptyField, sealedAs("proof")],
  "a visible seal": [sealedAs("proof"), sealedAs("proof", "live", { visible: true })],
  "a notarization of the test environment": [sealedAs("signed"), visibly, sealedAs("notarized", "test")],
  "a visible signature behind the notary's seal": [sealedAs("notarized"), visibly, sealedAs("proof")],
  "a visible signature behind a notarization": [
    sealedAs("signed"),
    visibly,
    sealedAs("notarized"),
    visibly,
    sealedAs("proof"),
  ],
  "a visible signature behind a proof seal, though a notary's seal follows": [
    sealedAs("proof"),
    visibly,
    sealedAs("notarized"),
  ],
  "a note behind a seal of signers, though a notary's seal follows": [
    sealedAs("signed"),
    (pdf) => {
      const text = latin1(pdf);
      const page = bodyOf(text, 5).replace("/Annots [", "/Annots [91 0 R ");
      return bytesOf(
        appendRevision(text, [
          [91, "<< /Type /Annot /Subtype /Text /Rect [9 9 30 30] /Contents (Void) >>"],
          [5, page],
        ]),
      );
    },
    sealedAs("notarized"),
  ],
};

for (const [name, steps] of Object.entries(REFUSED)) {
  test(`refuses after a seal of the service: ${name}`, async () => {
    const { verdict, later, respected } = await judged(steps);
    assert.deepEqual([verdict, later], ["not_verified", "fails"]);
    assert.ok(respected.some(({ state }) => state === "fails"));
  });
}

test("treats a seal by an untrusted certificate like any other signature", async () => {
  const forged = sealedAs("signed", "live", { signer: stranger });
  const { verdict, later, respected } = await judged([forged, visibly, sealedAs("proof")]);
  assert.deepEqual([verdict, later, respected], ["verified", "holds", []]);
});

test("refuses an invisible seal of a stranger after one of the service", async () => {
  const forged = sealedAs("proof", "live", { signer: stranger });
  const { verdict, later } = await judged([sealedAs("signed"), forged, sealedAs("proof")]);
  assert.deepEqual([verdict, later], ["not_verified", "fails"]);
});

test("judges a seal like any other signature when no seal certificate is trusted", async () => {
  const { later } = await judged([sealedAs("signed"), visibly, sealedAs("proof")], { ...trust, sealAnchors: [] });
  assert.equal(later, "holds");
});

test("reports a visible addition after a signature only for that signature", async () => {
  for (const [later, told] of [
    [visibly, true],
    [invisibly, false],
  ] as const) {
    const { earlierSignatures } = await verifyProof(made([invisibly, later, sealedAs("proof")]), trust, at, { crypto });
    const why = earlierSignatures[0]?.claims.find(({ name }) => name === "later_changes_permitted")?.why ?? "";
    assert.equal(why.includes("Something that shows was added after this signature."), told, why);
  }
});
