import { createHash } from "node:crypto";
import { type CmsOptions, cmsOver, type TestSigner } from "../signer.ts";

/** How the signature is put into the file; by default as a seal of the service is. */
export type SignOptions = CmsOptions & {
  readonly signer: TestSigner;
  readonly subFilter?: string;
  /** /P of a certification. */
  readonly certify?: 1 | 2 | 3;
  /** Without /SSSOriginalLength, as foreign signers sign; or with a wrong one. */
  readonly originalLength?: "absent" | number;
  readonly visible?: boolean;
  /** Changes the dictionary's text before signing. Must keep its length. */
  readonly dictionary?: (text: string) => string;
  /** Further objects for the new revision: number and body. */
  readonly objects?: readonly (readonly [number, string])[];
  /** Makes the DER to put into /Contents from the signed bytes, instead of a CMS. */
  readonly contents?: (signed: Uint8Array) => Uint8Array;
  /** Uppercase hex digits. */
  readonly upperCase?: boolean;
  /** Bytes that /Contents has room for. */
  readonly reserve?: number;
};

export const latin1 = (bytes: Uint8Array): string => Buffer.from(bytes).toString("latin1");
export const bytesOf = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, "latin1"));

/** An object that a revision defines: its number and its text. */
export type NewObject = readonly [number: number, body: string];

/** The body of the newest version of an object of a PDF made by our own maker and signers. */
export function bodyOf(pdf: string, number: number): string {
  const header = `\n${number} 0 obj\n`;
  const at = pdf.lastIndexOf(header);
  return pdf.slice(at + header.length, pdf.indexOf("\nendobj", at));
}

/** The last startxref's value and the last /Size. */
export function endOf(pdf: string): { readonly startxref: number; readonly size: number } {
  const size = Number(/.*\/Size (\d+)/s.exec(pdf)?.[1]);
  return { startxref: Number(/.*startxref\s+(\d+)/s.exec(pdf)?.[1]), size };
}

/** Appends a revision with the objects given, as an incremental update by any program would. */
export function appendRevision(pdf: string, objects: readonly NewObject[], trailer = ""): string {
  const { startxref, size } = endOf(pdf);
  let text = pdf.endsWith("\n") ? pdf : `${pdf}\n`;
  const rows: string[] = [];
  for (const [number, body] of objects) {
    rows.push(`${number} 1\n${String(text.length).padStart(10, "0")} 00000 n \n`);
    text += `${number} 0 obj\n${body}\nendobj\n`;
  }
  const newSize = Math.max(size, ...objects.map(([number]) => number + 1));
  return `${text}xref\n${rows.join("")}trailer\n<< /Size ${newSize} /Root 1 0 R /Prev ${startxref}${trailer} >>\nstartxref\n${text.length}\n%%EOF\n`;
}

/** Signs by a further revision: signature, invisible field, page and catalog. Works on files of our own maker. */
export function signPdf(original: Uint8Array, options: SignOptions): Uint8Array {
  const pdf = latin1(original);
  const { size } = endOf(pdf);
  const [signature, field] = [size, size + 1];
  const reserve = options.reserve ?? 4096;
  const { certify, originalLength } = options;
  const reference =
    certify === undefined
      ? ""
      : `/Reference [<< /Type /SigRef /TransformMethod /DocMDP /TransformParams << /Type /TransformParams /V /1.2 /P ${certify} >> >>] `;
  const length = originalLength === "absent" ? "" : `/SSSOriginalLength ${originalLength ?? original.length} `;
  const placeholder = `<${"0".repeat(2 * reserve)}>`;
  const dictionary = (ranges: string) =>
    `<< /Type /Sig /Filter /Adobe.PPKLite /SubFilter /${options.subFilter ?? "ETSI.CAdES.detached"} /M (D:20260101000000Z) ` +
    `${length}${reference}/Contents ${placeholder} /ByteRange [${ranges.padEnd(40)}] >>`;
  const catalog = bodyOf(pdf, 1);
  const oldFields = /\/AcroForm << \/SigFlags 3 \/Fields \[([^\]]*)\] >>/.exec(catalog)?.[1];
  const form = `/AcroForm << /SigFlags 3 /Fields [${oldFields === undefined ? "" : `${oldFields} `}${field} 0 R] >>`;
  const bare = catalog.replace(/ ?\/AcroForm << .*? >>/, "");
  const permissions = certify === undefined ? "" : ` /Perms << /DocMDP ${signature} 0 R >>`;
  const page = bodyOf(pdf, 5);
  const oldAnnots = /\/Annots \[([^\]]*)\]/.exec(page)?.[1];
  const annots = ` /Annots [${oldAnnots === undefined ? "" : `${oldAnnots} `}${field} 0 R] >>`;
  const rectangle = options.visible ? "[10 10 200 60]" : "[0 0 0 0]";
  const objects = (ranges: string): NewObject[] => [
    [signature, (options.dictionary ?? ((text) => text))(dictionary(ranges))],
    [
      field,
      `<< /Type /Annot /Subtype /Widget /FT /Sig /T (Signature${field}) /F 132 /Rect ${rectangle} /P 5 0 R /V ${signature} 0 R >>`,
    ],
    [5, page.replace(/ ?\/Annots \[[^\]]*\]/, "").replace(/ >>$/, annots)],
    [1, bare.replace(/ >>$/, ` ${form}${permissions} >>`)],
    ...(options.objects ?? []),
  ];
  return signRevision(pdf, placeholder, objects, options);
}

/**
 * Appends a revision and fills the one signature in it.
 *
 * @param placeholder the value of /Contents until it is signed: `<00...>`
 * @param objects the revision's objects, given the numbers for /ByteRange
 */
export function signRevision(
  pdf: string,
  placeholder: string,
  objects: (ranges: string) => readonly NewObject[],
  options: Pick<SignOptions, "signer" | "contents" | "upperCase"> & CmsOptions,
  trailer = "",
): Uint8Array {
  const draft = appendRevision(pdf, objects("0 0 0 0"), trailer);
  const gapStart = draft.indexOf(placeholder, pdf.length);
  const gapEnd = gapStart + placeholder.length;
  const text = appendRevision(pdf, objects(`0 ${gapStart} ${gapEnd} ${draft.length - gapEnd}`), trailer);
  const signed = bytesOf(text.slice(0, gapStart) + text.slice(gapEnd));
  const digest = () => Uint8Array.from(createHash("sha256").update(signed).digest());
  const der = options.contents?.(signed) ?? cmsOver(digest(), options.signer, options);
  const hex = Buffer.from(der)
    .toString("hex")
    .padEnd(placeholder.length - 2, "0");
  return bytesOf(`${text.slice(0, gapStart)}<${options.upperCase ? hex.toUpperCase() : hex}>${text.slice(gapEnd)}`);
}
