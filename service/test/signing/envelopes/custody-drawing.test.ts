import assert from "node:assert/strict";
import { test } from "node:test";
import { createTypeset, openFaces } from "@signsealship/certificate";
import type { EnvelopeEvidence } from "@signsealship/evidence/envelope";
import { drawCustody, writtenTexts } from "../../../src/signing/envelopes/custody/certificate.ts";
import type { CustodyContent } from "../../../src/signing/envelopes/custody/content.ts";

const at = "2026-11-30T10:00:00.000Z";
const hash = "a".repeat(64);
const mark = "田中花子";
const host = "김민수";
const act = { at, signer: { n: 1, name: "Hanako", email: "h@example.com" }, mark: { kind: "typed", text: mark } };
const consent = { at, language: "en", version: "4", textSha256: hash };
const envelope = {
  format: "signsealship-envelope",
  version: 1,
  verifyCode: "VERIFY",
  orderCode: "order",
  environment: "test",
  document: { originalSha256: hash, sealedSha256: hash, bytes: 1 },
  revisions: [{ number: 1, kind: "signed", signer: 1, bytes: 1, sha256: hash }],
  signers: [{ n: 1, name: "Hanako", email: "h@example.com" }],
  trail: [
    { position: 1, at, event: "in_person", signer: 1, host },
    { position: 2, at, event: "signed", signer: 1, act: { ...act, consent } },
  ],
} as unknown as EnvelopeEvidence;
const content: CustodyContent = {
  envelope,
  envelopeBytes: Buffer.from("{}"),
  envelopeSha256: hash,
  title: "Lease",
  reference: null,
  firm: { name: "Acme Title", accentColor: null, logo: null },
  consents: [],
  issuer: { url: "https://example.com", certificate: "CN=Seal", fingerprint: hash },
  verifyUrl: "https://example.com/verify/VERIFY",
};

/** Draws the certificate like a worker that has already drawn the texts `earlier`. */
async function drawn(earlier: readonly string[], of = content): Promise<Buffer> {
  const faces = await openFaces();
  for (const text of [...earlier, ...writtenTexts(of)]) await faces.prepare(text);
  return drawCustody(createTypeset(faces), of);
}

const changed = (change: Partial<EnvelopeEvidence>): CustodyContent => ({
  ...content,
  envelope: { ...envelope, ...change },
});

test("a typed mark and a host in another script are drawn alike, whatever fonts the worker has loaded", async () => {
  assert.ok((await drawn([])).equals(await drawn([mark, host])));
});

test("refuses an envelope without a signed revision: its commands would name no number of bytes", async () => {
  await assert.rejects(drawn([], changed({ revisions: [] })), /the envelope VERIFY has no signed revision/);
});

test("refuses an empty trail: the certificate would state an invented time", async () => {
  await assert.rejects(drawn([], changed({ trail: [] })), /the trail of the envelope VERIFY has no records/);
});
