import type { DocumentNotice } from "../pdf/unseen/notice.ts";
import type { RequestedField } from "./form/requested-fields.ts";

/** A document to be signed or notarized. */
export type ToSign = {
  /** Whose document it is: holders take turns. */
  readonly holder: string;
  readonly bytes: Buffer;
  /** In hex. */
  readonly sha256: string;
  /** Their names; none where only a notary signs. */
  readonly signers: readonly string[];
  /** Null: the document says where. */
  readonly fields: readonly RequestedField[] | null;
  /** Whether a notary signs after them; false by default. */
  readonly isNotarized?: boolean;
};

/**
 * Goes through all that signing will take, in memory.
 * @throws ServiceError `validation` naming what stands against it
 */
export type TrySigning = (document: ToSign) => Promise<TriedDocument>;

/** A document that can be signed. */
export type TriedDocument = {
  /** Null when their number can't be found. */
  readonly pages: number | null;
  readonly notices: readonly DocumentNotice[];
};
