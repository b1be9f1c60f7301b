import type { DocumentNotice } from "../../kernel/pdf/unseen/notice.ts";
import type { RequestedField } from "./form/requested-field.ts";

/** A document to be signed or notarized. */
export type ToSign = {
  /** The document's owner: the workers serve owners round-robin. */
  readonly holder: string;
  readonly bytes: Buffer;
  /** In hex. */
  readonly sha256: string;
  /** Their names; empty where only a notary signs. */
  readonly signers: readonly string[];
  /** Null: the document decides. */
  readonly fields: readonly RequestedField[] | null;
  /** Whether a notary signs after the signers; false by default. */
  readonly isNotarized?: boolean;
};

/**
 * Performs all steps of signing in memory, as a trial.
 * @throws ServiceError `validation` naming the obstacle
 */
export type TrySigning = (document: ToSign) => Promise<TriedDocument>;

export type TriedDocument = {
  /** Null when they can't be counted. */
  readonly pages: number | null;
  readonly notices: readonly DocumentNotice[];
  /** The numbers of the signers who sign on a page that would be added. */
  readonly withoutPlace: readonly number[];
};
