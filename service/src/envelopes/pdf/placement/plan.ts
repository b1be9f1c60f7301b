import type { RequestedField } from "../../../orders/orders.ts";
import type { PlannedField } from "../fields.ts";

export type PlanRequest = {
  /** How many there are. */
  readonly signers: number;
  /** Null: the document says where. */
  readonly fields: readonly RequestedField[] | null;
};

/** Where the signers of a document sign: the first that says it of the order, the document's own fields and its tags. */
export async function plan(_original: Buffer, { fields }: PlanRequest): Promise<PlannedField[]> {
  return fields ? fields.map(asked) : [];
}

/** Both count from the upper left corner of the page as it is shown. */
const asked = ({ kind, signer, page, label, required, ...place }: RequestedField): PlannedField => ({
  kind,
  signer,
  page: page - 1,
  place,
  label,
  required,
});
