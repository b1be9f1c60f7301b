import type { Typeset } from "@signsealship/certificate";
import { dateString, textString } from "../../../kernel/pdf/edit.ts";
import { fieldLockReference } from "../../../kernel/pdf/named-fields.ts";
import { resolveDict } from "../../../kernel/pdf/objects.ts";
import { PdfRefusal } from "../../../kernel/pdf/refusal.ts";
import { buildSignedRevision, type Tail } from "../../../kernel/pdf/revision/revision.ts";
import { createRevisionWriter } from "../../../kernel/pdf/revision/writer.ts";
import { type Dict, entry } from "../../../kernel/pdf/values.ts";
import { lookUpPdf, type PdfLookup } from "../../../kernel/pdf/xref/lookup.ts";
import { createAppearances } from "./appearance.ts";
import { isButton, OFF, type PreparedField, type SignatureMark } from "./fields.ts";

/** One signer's act: the values to fill in, and the contents of the signature. */
export type Act = {
  /** The signer's own fields, as prepared in the document. */
  readonly fields: readonly PreparedField[];
  /** The values of all fields but signatures, by field name: texts, and the states of checkboxes and options. */
  readonly values: ReadonlyMap<string, string>;
  readonly mark: SignatureMark;
  /**
   * The line of text below the mark (the visible signature). It begins with the time, not with a name, because the
   * first letter of a line determines its text direction.
   */
  readonly caption: string;
  readonly signerName: string;
  readonly reason: string;
  /** The signing time as claimed, in UTC and whole seconds. */
  readonly at: Date;
  /** Hex SHA-256 of the act's record. */
  readonly actSha256: string;
  /** The length of the CMS placeholder in bytes. */
  readonly reserve: number;
  readonly padding?: number;
};

/**
 * Builds the revision of one act. It fills in the signer's fields and adds one signature that covers the whole file,
 * still without its CMS. Only the signer's first signature field is signed; the signer's other signature fields show
 * the same mark.
 * @param document the prepared document with all earlier acts; neither changed nor copied
 * @param docSha256 hex SHA-256 of the document
 * @throws PdfRefusal when it is not the prepared document
 */
export function buildAct(document: Buffer, docSha256: string, act: Act, typeset: Typeset): Tail {
  const look = lookUpPdf(document);
  const writer = createRevisionWriter(look, docSha256);
  const appearances = createAppearances(typeset);
  const signature = writer.number();
  for (const field of act.fields.filter(isButton)) {
    const { ref, dict } = fieldIn(look, field);
    const state = `/${act.values.get(field.name) ?? OFF}`;
    writer.set(ref, dict, { V: state, AS: state });
  }
  // Redraws every text, even unchanged and empty ones. This act's signature locks the fields. If a locked field kept an
  // older drawing, pyHanko would wrongly report that the field was changed after the lock.
  const texts = act.fields.filter((field) => !isButton(field));
  const filled = texts.map((field) => {
    const { ref, dict } = fieldIn(look, field);
    const isMark = field.kind === "signature" || field.kind === "mark";
    const value = isMark ? act.signerName : (act.values.get(field.name) ?? "");
    const drawing = field.invisible
      ? null
      : isMark
        ? appearances.signature(field, act.mark, act.caption)
        : appearances.text(field, value);
    return { field, ref, dict, value, drawing };
  });
  const formOf = appearances.addTo(writer);
  for (const { field, ref, dict, value, drawing } of filled) {
    const V = field.kind === "signature" ? `${signature.num} 0 R` : writer.text(ref, dict, value);
    writer.set(ref, dict, { V, ...(drawing && { AP: `<</N ${formOf(drawing)}>>` }) });
  }
  const { reserve, padding } = act;
  const open = { ref: signature, ...signatureParts(act, look), reserve, ...(padding !== undefined && { padding }) };
  return buildSignedRevision(look, open, writer.objects(), docSha256);
}

/**
 * The object and the dictionary of a field that the act fills in.
 * @throws PdfRefusal `needs_repair` when the field is missing. Also when a field has a value that the sender did not
 * set, unless the field is a checkbox or an option
 */
function fieldIn(look: PdfLookup, field: PreparedField): { ref: { num: number; gen: 0 }; dict: Dict } {
  const { object, name } = field;
  const ref = { num: object, gen: 0 } as const;
  const bytes = Buffer.from(`${object} 0 R`);
  const found = resolveDict(look.file, { bytes, start: 0, end: bytes.length }, "a prepared field");
  if (!found) throw new PdfRefusal("needs_repair", `the field ${name} is missing`);
  const isPrefilled = isButton(field) || field.value !== undefined;
  if (!isPrefilled && entry(found.dict, "V"))
    throw new PdfRefusal("needs_repair", `the field ${name} is filled already`);
  return { ref, dict: found.dict };
}

/**
 * The signature dictionary in two parts. The first ends where the value of /Contents begins, and the second follows
 * /ByteRange (ISO 32000-1 12.8.1 and 12.8.2.4).
 */
function signatureParts({ fields, signerName, reason, at, actSha256 }: Act, look: PdfLookup) {
  const own = fields.map(({ name }) => name);
  const head =
    `<</Type/Sig/Filter/Adobe.PPKLite/SubFilter/ETSI.CAdES.detached/M${dateString(at)}` +
    `/Name${textString(signerName)}/Reason${textString(reason)}${fieldLockReference(own, look)}` +
    `/SSSActSha256<${actSha256}>/SSSOriginalLength ${look.file.bytes.length}/Contents `;
  return { head, end: ">>" };
}
