import type { Environment, Owner } from "../../kernel/identity/identity.ts";
import { type LineProgress, lineState, type Retraction, retractionOf } from "../transparency-log/transparency-log.ts";
import { findOwnPassport, findPassport, type NamedDeps } from "./lookup.ts";
import { type AnchorStatus, isDocumentStored, type PassportRow } from "./store.ts";

/** The record of a proof passport for anyone with its verify code. A missing time is null. */
export type ProofRecord = {
  verifyCode: string;
  /** The document's name; null when it is unknown, or when the caller is not allowed to see it. */
  name: string | null;
  environment: Environment;
  /** Lowercase hex SHA-256 of the document as uploaded, and of the sealed PDF. */
  docSha256: string;
  sealedSha256: string;
  sealedAt: Date;
  /** True if the sealed PDF was stored and not deleted. A missing or altered blob doesn't change this. */
  documentKept: boolean;
  /** The time when the retention plan deleted the sealed PDF; null when it did not. */
  deletedAt: Date | null;
  timeStamp: { authority: string; at: Date } | null;
  /** The retirement of the seal's X.509 certificate. Null when it was not retired; absent in the owner's view. */
  sealRetirement?: { at: Date; reason: string } | null;
  /** The operator's retraction of the seal in the transparency log; null without one, absent in the owner's view. */
  retraction?: Retraction | null;
  /**
   * The progress of the seal's entry in the transparency log, and the number of witnesses that cosigned the entry;
   * absent in the owner's view.
   */
  log?: LineProgress;
  anchor: { calendar: string; submittedAt: Date; status: AnchorStatus } | null;
};

/**
 * The record of the passport with a verify code; null when no passport has this code.
 * @param verifyCode as received; may be invalid
 */
export async function proofRecord(deps: NamedDeps, verifyCode: string): Promise<ProofRecord | null> {
  const passport = await findPassport(deps, verifyCode);
  if (!passport) return null;
  const { retiredAt: at, retirementReason: reason } = passport;
  const name = isDocumentStored(passport) ? deps.names.open(passport.name, passport.id) : null;
  return {
    ...recordOf(passport, name),
    log: await lineState(deps.db, passport.environment, { kind: "seal/v1", sealedSha256: passport.sealedSha256 }),
    sealRetirement: at && reason !== null ? { at, reason } : null,
    retraction: await retractionOf(deps.db, passport),
  };
}

/**
 * The record of the owner's passport; null when there is none.
 * @param id as received; may be invalid
 */
export async function ownProofRecord(deps: NamedDeps, id: string, owner: Owner): Promise<ProofRecord | null> {
  const passport = await findOwnPassport(deps, id, owner);
  return passport ? recordOf(passport, deps.names.open(passport.name, passport.id)) : null;
}

function recordOf(passport: PassportRow, name: string | null): ProofRecord {
  const { environment, docSha256, sealedSha256, createdAt, deletedAt } = passport;
  const { authority, stampedAt, calendar, submittedAt, anchorStatus } = passport;
  return {
    verifyCode: passport.verifyCode,
    name,
    environment,
    docSha256,
    sealedSha256,
    sealedAt: createdAt,
    documentKept: isDocumentStored(passport),
    deletedAt,
    timeStamp: authority && stampedAt ? { authority, at: stampedAt } : null,
    anchor: calendar && submittedAt && anchorStatus ? { calendar, submittedAt, status: anchorStatus } : null,
  };
}
