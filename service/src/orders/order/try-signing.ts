import type { DocumentNotice } from "../../kernel/pdf/unseen/notice.ts";
import type { RequestedField } from "./form/requested-field.ts";

/** A document to be signed or notarized. */
export type ToSign = {
  /** The document's owner. The workers take the documents of different owners in turn. */
  readonly holder: string;
  readonly bytes: Buffer;
  /** The document's SHA-256 in hex. */
  readonly sha256: string;
  /** The names of the people who sign before the notary's act. Empty if people sign only in the notary's presence. */
  readonly signers: readonly string[];
  /** If `signers` is empty: the number of people who sign in the notary's presence, for an electronic act. */
  readonly beforeNotary?: number;
  /** The requested fields. Null to use the fields and tags in the document itself or, without any, an added page. */
  readonly fields: readonly RequestedField[] | null;
  /** True if a notary signs after the signers; false by default. */
  readonly isNotarized?: boolean;
  /**
   * Other texts to try, each with the index in `fields` of the field that it may fill. The trial reports those that
   * don't fit. None by default.
   */
  readonly texts?: readonly { readonly field: number; readonly text: string }[];
};

/**
 * Performs all steps of signing in memory, as a trial.
 * @throws ServiceError `validation` naming the obstacle
 */
export type TrySigning = (document: ToSign) => Promise<TriedDocument>;

/**
 * A text that doesn't fit. `text` is its index in `texts`. `why` is the end of a sentence that begins with the field's
 * name.
 */
type UnfitText = { readonly text: number; readonly why: string };

export type TriedDocument = {
  /** The number of pages; null when it can't be determined. */
  readonly pages: number | null;
  readonly notices: readonly DocumentNotice[];
  /** The numbers of the signers for whom the document has no place, so that a page would be added for them. */
  readonly withoutPlace: readonly number[];
  /** The members of `texts` that are too long for their fields. */
  readonly unfit: readonly UnfitText[];
};
