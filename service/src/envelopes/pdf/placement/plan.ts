import type { RequestedField } from "../../../orders/orders.ts";
import { lookUpPdf } from "../../../pdf/xref/lookup.ts";
import { type PlannedField, signersWithout } from "../fields.ts";
import { formSignatures } from "./form-signatures.ts";
import { matchSigners } from "./match-signers.ts";
import { tagFields } from "./tags/tag-fields.ts";

export type PlanRequest = {
  /** How many there are. */
  readonly signers: number;
  /** Null: the document says where. */
  readonly fields: readonly RequestedField[] | null;
};

/**
 * Where the signers of a document sign: the first that says it of the order, the document's own signature fields and its tags. A list of the
 * order's is whole; a document may have been made for fewer people, and the others then sign on a page that is added.
 * @throws PdfRefusal, UnmatchedTag
 */
export async function plan(original: Buffer, { signers, fields }: PlanRequest): Promise<PlannedField[]> {
  if (fields) return fields.map(asked);
  const look = lookUpPdf(original);
  const untouched = look.signatures === 0 && look.docMdp === null;
  const own = matchSigners(formSignatures(look), signers, untouched);
  if (look.docMdp !== null) return [...own, ...invisibleFor(signersWithout(own, signers))];
  return own.length > 0 || !untouched ? own : tagFields(look, signers);
}

/** What readers let a signature add to a certified document, whatever it allows: a field that shows nothing. */
const invisibleFor = (signers: readonly number[]): PlannedField[] =>
  signers.map((signer) => ({
    kind: "signature",
    signer,
    page: 0,
    place: { x: 0, y: 0, width: 0, height: 0 },
    label: "Signature (not shown on the page)",
    invisible: true,
  }));

/** Both count from the upper left corner of the page as it is shown. */
const asked = ({ kind, signer, page, label, required, ...place }: RequestedField): PlannedField => ({
  kind,
  signer,
  page: page - 1,
  place,
  label,
  required,
});
