import {
  type EnvelopeEvidence,
  type EnvelopeRevision,
  envelopeFormat,
  envelopeVersion,
  validateEnvelope,
} from "@signsealship/evidence/envelope";
import type { Envelope, Signer } from "../records/envelope.ts";
import type { Revision } from "../records/revisions.ts";
import type { TrailRecord } from "../records/trail.ts";

type Recorded = {
  envelope: Pick<Envelope, "verifyCode" | "orderCode" | "environment">;
  original: { bytes: number; sha256: string };
  sealed: { bytes: number; sha256: string };
  revisions: readonly Revision[];
  signers: readonly Signer[];
  trail: readonly TrailRecord[];
};

/**
 * Builds the evidence from the stored records of an envelope. Checks its form, but not whether records were altered.
 * @throws EvidenceError for records that don't have the form of evidence; SyntaxError for a record that is not JSON
 */
export function evidenceOf({ envelope, original, sealed, revisions, signers, trail }: Recorded): EnvelopeEvidence {
  const last = { number: revisions.length + 1, signer: null } as const;
  return validateEnvelope({
    format: envelopeFormat,
    version: envelopeVersion,
    verifyCode: envelope.verifyCode,
    orderCode: envelope.orderCode,
    environment: envelope.environment,
    document: { originalSha256: original.sha256, sealedSha256: sealed.sha256, bytes: sealed.bytes },
    revisions: [
      { number: 0, kind: "original", signer: null, ...original },
      ...revisions.map(revisionLine),
      { ...last, kind: "sealed", ...sealed },
    ],
    signers: signers.map(({ n, name, email, language, consent, routing, auth, signedAt }) => ({
      n,
      name,
      email,
      // The language of the consent, because the signer may switch the language of the pages later.
      language: consent?.language ?? language,
      routing,
      auth,
      signedAt: signedAt?.toISOString(),
    })),
    trail: trail.map(({ record }) => JSON.parse(record)),
  });
}

const revisionLine = ({ number, signer, bytes, sha256 }: Revision): EnvelopeRevision => ({
  number,
  kind: signer === null ? "prepared" : "signed",
  signer,
  bytes,
  sha256,
});
