import type { Claim } from "@signsealship/evidence/claim";
import type { EnvelopeRevision } from "@signsealship/evidence/envelope";
import {
  type LineProgress,
  lineState,
  type Retraction,
  retractionOf,
} from "../../../evidence/transparency-log/transparency-log.ts";
import { type Branding, readBranding, shownBranding } from "../../../firms/partners/partners.ts";
import type { Environment } from "../../../kernel/identity/identity.ts";
import { maskEmail, maskName } from "../../../kernel/platform/mail/mask-email.ts";
import { isVerifyCode } from "../../../kernel/platform/text.ts";
import { findEnvelopeByCode, findSigners, type Signer } from "../records/envelope.ts";
import type { DocumentDeps } from "../records/revisions.ts";
import { evidenceNow } from "./evidence-now.ts";

export const envelopeStatuses = ["Open", "Completed", "Declined", "Expired", "Voided"] as const;

/** An envelope, as shown to any holder of its verify code. */
export type EnvelopeRecord = {
  verifyCode: string;
  environment: Environment;
  status: (typeof envelopeStatuses)[number];
  partnerName: string;
  branding: Branding | null;
  createdAt: Date;
  endedAt: Date | null;
  signers: readonly ShownSigner[];
  /**
   * Null until the envelope is completed. Also null if it was signed in a notary's presence, or its records are
   * unreadable.
   */
  document: { originalSha256: string; sealedSha256: string; bytes: number } | null;
  revisions: readonly EnvelopeRevision[];
  custodyCertSha256: string | null;
  /**
   * The hash of the document that a notary completed after the signers. Null if there is none, if its row was altered,
   * or if the envelope was signed in a notary's presence.
   */
  notarizedSha256: string | null;
  certificateDeletedAt: Date | null;
  trail: { records: number; lastSha256: string | null };
  /** The record in the transparency log by which the operator retracted the sealed document; null without one. */
  retraction: Retraction | null;
  /** How far the transparency log has published the document's seal; null when `document` is null. */
  log: LineProgress | null;
  claims: readonly Claim[];
  /** True if none of `claims` fails. Some may be unchecked. */
  chainOk: boolean;
};

type ShownSigner = { n: number; name: string; email: string; routingOrder: number; signedAt: Date | null };

const shownSigner = ({ n, name, email, routing, signedAt }: Signer): ShownSigner => ({
  n,
  name: maskName(name),
  email: maskEmail(email),
  routingOrder: routing,
  signedAt,
});

/** The public facts of an envelope. All checks are repeated on the stored data. Null for an unknown code. */
export async function envelopeRecord(deps: DocumentDeps, verifyCode: string): Promise<EnvelopeRecord | null> {
  const envelope = isVerifyCode(verifyCode) ? await findEnvelopeByCode(deps.db, verifyCode) : undefined;
  if (!envelope) return null;
  const { environment, partnerId, partnerName, createdAt, endedAt, outcome } = envelope;
  const { evidence, trail, claims, certificate, notarized } = await evidenceNow(deps, envelope);
  const sealedSha256 = evidence?.document?.sealedSha256;
  return {
    verifyCode,
    environment,
    status: outcome ?? "Open",
    partnerName,
    branding: shownBranding(await readBranding(deps, { partnerId })),
    createdAt,
    endedAt,
    signers: (await findSigners(deps.db, envelope.id)).map(shownSigner),
    document: evidence?.document ?? null,
    revisions: evidence?.revisions ?? [],
    custodyCertSha256: certificate?.sha256 ?? null,
    notarizedSha256: notarized?.sha256 ?? null,
    certificateDeletedAt: certificate?.deletedAt ?? null,
    trail: { records: trail.length, lastSha256: trail.at(-1)?.sha256 ?? null },
    retraction: sealedSha256 ? await retractionOf(deps.db, { environment, sealedSha256 }) : null,
    log: sealedSha256 ? await lineState(deps.db, environment, { kind: "seal/v1", sealedSha256 }) : null,
    claims,
    chainOk: claims.every(({ state }) => state !== "fails"),
  };
}
