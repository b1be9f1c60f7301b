import { hash } from "node:crypto";
import { canonicalJson, type JsonObject } from "@signsealship/evidence/manifest";
import type { Environment } from "../../../kernel/identity/identity.ts";
import { certificateFacts } from "../commissions/certificate.ts";
import type { Commission } from "../commissions/commission.ts";
import type { Act } from "./act.ts";

export const journalFormat = "signsealship notary journal 1";

/** The note that the PDF copy of a journal prints, and that the notary's desk shows above the journal. */
export const journalNotice =
  "This service keeps this copy for you. It does not replace the journal that the law requires you to keep.";

/** The reasons for which a notary did not act. */
export const refusalReasons = {
  no_show: "Somebody did not appear",
  incomplete: "The document was incomplete",
  doubts: "Doubts about will or understanding",
  jurisdiction: "Outside of the notary’s jurisdiction",
  technical: "A technical fault",
  identity: "Identity could not be established; no further attempt",
} as const;
export type RefusalReason = keyof typeof refusalReasons;

/** The hashes (hex) of an act's document: as the notary received it, as the notary uploaded it, and as sealed. */
type EntryDocument = {
  givenSha256: string;
  uploadedSha256: string;
  notarizedSha256: string;
  /** True if the document is a scan of paper. */
  isPaper: boolean;
  /** The names of those upload checks whose warnings the notary confirmed. */
  confirmed: string[];
};

/**
 * A complete recording, identified by its id and its manifest's hash. This service stores it until `keptUntil`; null
 * means permanently.
 */
export type EntryRecording = { id: string; sha256: string; keptAt: string; keptUntil: string | null };

/** The subject of a journal entry: an act, a refusal or a correction. */
export type EntrySubject =
  | { kind: "act"; act: Act; document: EntryDocument; recording?: EntryRecording }
  | { kind: "refusal"; reason: RefusalReason; words: string; act: Act | null; recording?: EntryRecording }
  | { kind: "correction"; corrects: number; words: string };

/** The members that all entries have. */
export type EntryFrame = {
  /** Identifies the journal. It is the id of the notary. */
  journal: string;
  notary: Commission;
  orderCode: string;
  environment: Environment;
  at: Date;
};

/**
 * A record of a journal and its hash. The record is canonical JSON with the hash of the previous record; the hash is
 * hex SHA-256.
 */
export type JournalRecord = { readonly position: number; readonly record: string; readonly sha256: string };

/** Builds the journal record that follows the record `before`, or the first record if there is none. */
export function nextEntry(
  before: Pick<JournalRecord, "position" | "sha256"> | undefined,
  { journal, notary, orderCode, environment, at }: EntryFrame,
  subject: EntrySubject,
): JournalRecord {
  const position = (before?.position ?? 0) + 1;
  const { commissionName, state, county, commissionNumber, commissionExpires, ronRegistration, certificate } = notary;
  const record = canonicalJson({
    // The cast is needed because types with fixed members have no index signature.
    ...(subject as unknown as JsonObject),
    format: journalFormat,
    journal,
    position,
    previousSha256: before?.sha256 ?? null,
    at: at.toISOString(),
    environment,
    orderCode,
    notary: {
      name: commissionName,
      state,
      county,
      commissionNumber,
      commissionExpires,
      registration: ronRegistration,
      certificateSha256: certificate === null ? null : certificateFacts(certificate).fingerprintSha256,
    },
  });
  return { position, record, sha256: hash("sha256", record) };
}
