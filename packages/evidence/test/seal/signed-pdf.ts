import { createHash } from "node:crypto";
import { type CmsOptions, cmsOver, type TestSigner } from "../signer.ts";

/** Options for signing a PDF. By default, the bytes are arranged as the service's sealer arranges those of a seal. */
export type SignOptions = CmsOptions & {
  readonly signer: TestSigner;
  readonly subFilter?: string;
  /** The permission (/P) that a certification grants. */
  readonly certify?: 1 | 2 | 3;
  /** Omits /SSSOriginalLength, as other signing programs do, or states a wrong length. */
  readonly originalLength?: "absent" | number;
  readonly visible?: boolean;
  /** Changes the dictionary's text before signing. Must keep its length. */
  readonly dictionary?: (text: string) => string;
  /** The purpose that the seal states; null for none. */
  readonly reason?: string | null;
  /** Omits the seal's statement of its own position, as older seals did. */
  readonly unstated?: boolean;
  /** Returns the DER for /Contents, given the signed bytes. It replaces the usual CMS. */
  readonly contents?: (signed: Uint8Array) => Uint8Array;
  /** Uses uppercase hex digits. */
  readonly upperCase?: boolean;
  /** Capacity of /Contents in bytes. */
  readonly reserve?: number;
  /**
   * Given the objects of the revision (the seal, its field, the page and the catalog, in this order), returns the
   * objects to write.
   */
  readonly objects?: (objects: readonly NewObject[]) => readonly NewObject[];
  /** Writes the seal's objects in another form than the sealer. */
  readonly append?: (pdf: string, objects: readonly NewObject[]) => string;
};

export const latin1 = (bytes: Uint8Array): string => Buffer.from(bytes).toString("latin1");
export const bytesOf = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, "latin1"));

/** An object in a revision: its number and its text. */
export type NewObject = readonly [number: number, body: string];

/**
 * The body of the newest version of an object. Works only on PDFs that the test code of this repository made and
 * signed.
 */
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

/** Appends a revision with the given objects, like an incremental update by any program. */
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

/** Appends the objects of a seal, byte for byte as the sealer writes them. */
function appendTail(pdf: string, objects: readonly NewObject[]): string {
  const { startxref, size } = endOf(pdf);
  let text = pdf.endsWith("\n") ? pdf : `${pdf}\n`;
  const places: (readonly [number, number])[] = [];
  for (const [number, body] of objects) {
    places.push([number, text.length]);
    text += `${number} 0 obj\n${body}\nendobj\n`;
  }
  places.sort(([one], [other]) => one - other);
  let table = "xref\n";
  places.forEach(([number, offset], index) => {
    const next = places.findIndex(([other], position) => position > index && other !== number + position - index);
    if (places[index - 1]?.[0] !== number - 1) table += `${number} ${(next < 0 ? places.length : next) - index}\n`;
    table += `${String(offset).padStart(10, "0")} 00000 n \n`;
  });
  const newSize = Math.max(size, ...objects.map(([number]) => number + 1));
  const trailer = `trailer\n<</Size ${newSize}/Root 1 0 R/ID[<00><01>]/Prev ${startxref}>>\n`;
  return `${text}${table}${trailer}startxref\n${text.length}\n%%EOF\n`;
}

const escaped = (text: string): string => text.replace(/[\\()]/g, "\\$&");

/**
 * The text of the signature dictionary before and after the signature value. It is written as by another program if
 * `originalLength` is `absent`, and otherwise as by the sealer.
 */
function dictionaryParts(options: SignOptions, length: number): readonly [string, (ranges: string) => string] {
  const { certify, originalLength } = options;
  const subFilter = options.subFilter ?? "ETSI.CAdES.detached";
  if (originalLength !== "absent") {
    const head = `<</Type/Sig/Filter/Adobe.PPKLite/SubFilter/${subFilter}/M(D:20260101000000Z)`;
    const reason = options.reason === null ? "" : `/Reason(${escaped(options.reason ?? "Proof passport")})`;
    return [
      `${head}${reason}/SSSOriginalLength ${originalLength ?? length}/Contents `,
      (ranges) => `/ByteRange[${ranges.padEnd(40)}]>>`,
    ];
  }
  const reference =
    certify === undefined
      ? ""
      : `/Reference [<< /Type /SigRef /TransformMethod /DocMDP /TransformParams << /Type /TransformParams /V /1.2 /P ${certify} >> >>] `;
  const head = `<< /Type /Sig /Filter /Adobe.PPKLite /SubFilter /${subFilter} /M (D:20260101000000Z) `;
  return [`${head}${reference}/Contents `, (ranges) => ` /ByteRange [${ranges.padEnd(40)}] >>`];
}

/**
 * Signs a PDF by appending a revision: signature, field, page and catalog. The field is invisible by default. Works
 * only on files that the test code of this repository made.
 */
export function signPdf(original: Uint8Array, options: SignOptions): Uint8Array {
  const pdf = latin1(original);
  const { size } = endOf(pdf);
  const [signature, field] = [size, size + 1];
  const reserve = options.reserve ?? 4096;
  const { certify, originalLength } = options;
  const placeholder = `<${"0".repeat(2 * reserve)}>`;
  const [before, behind] = dictionaryParts(options, original.length);
  const dictionary = (ranges: string) => `${before}${placeholder}${behind(ranges)}`;
  const catalog = bodyOf(pdf, 1);
  // Matches the /AcroForm as this test code writes it, or as the sealer does.
  const oldFields = /\/AcroForm ? <<(?: \/SigFlags 3 )?\/Fields ?\[([^\]]*)\](?: |\/SigFlags 3)>>/.exec(catalog)?.[1];
  const form = `/AcroForm << /SigFlags 3 /Fields [${oldFields === undefined ? "" : `${oldFields} `}${field} 0 R] >>`;
  const bare = catalog.replace(/ ?\/AcroForm ? <<.*?>>/, "").replace(/(?<! )>>$/, " >>");
  const permissions = certify === undefined ? "" : ` /Perms << /DocMDP ${signature} 0 R >>`;
  const page = bodyOf(pdf, 5);
  const oldAnnots = /\/Annots ?\[([^\]]*)\]/.exec(page)?.[1];
  const annots = ` /Annots [${oldAnnots === undefined ? "" : `${oldAnnots} `}${field} 0 R] >>`;
  const rectangle = options.visible ? "[10 10 200 60]" : "[0 0 0 0]";
  const objects = (ranges: string): NewObject[] => [
    [signature, (options.dictionary ?? ((text) => text))(dictionary(ranges))],
    [
      field,
      `<< /Type /Annot /Subtype /Widget /FT /Sig /T (Signature${field}) /F 132 /Rect ${rectangle} /P 5 0 R /V ${signature} 0 R >>`,
    ],
    [5, page.replace(/ ?\/Annots ?\[[^\]]*\]/, "").replace(/ ?>>$/, annots)],
    [1, bare.replace(/ >>$/, ` ${form}${permissions} >>`)],
  ];
  const odd = (ranges: string) => options.objects?.(objects(ranges)) ?? objects(ranges);
  if (originalLength === "absent") return signRevision(pdf, placeholder, odd, options);
  const length = originalLength ?? original.length;
  const append = options.append ?? appendTail;
  return fillSignature(pdf, placeholder, odd, options, append, options.unstated ? null : length);
}

/**
 * Appends a revision and fills in its only signature.
 *
 * @param placeholder the value of /Contents until it is signed: `<00...>`
 * @param objects returns the revision's objects, given the four numbers of /ByteRange as text
 */
export function signRevision(
  pdf: string,
  placeholder: string,
  objects: (ranges: string) => readonly NewObject[],
  options: Pick<SignOptions, "signer" | "contents" | "upperCase"> & CmsOptions,
  trailer = "",
): Uint8Array {
  return fillSignature(pdf, placeholder, objects, options, (text, added) => appendRevision(text, added, trailer), null);
}

/**
 * Appends a revision as the sealer does, and fills in its seal.
 * @param objects the seal first, then its field
 */
export function sealRevision(
  pdf: string,
  placeholder: string,
  objects: (ranges: string) => readonly NewObject[],
  options: Pick<SignOptions, "signer"> & CmsOptions,
): Uint8Array {
  return fillSignature(pdf, placeholder, objects, options, appendTail, pdf.length);
}

function fillSignature(
  pdf: string,
  placeholder: string,
  objects: (ranges: string) => readonly NewObject[],
  options: Pick<SignOptions, "signer" | "contents" | "upperCase"> & CmsOptions,
  append: (pdf: string, objects: readonly NewObject[]) => string,
  originalLength: number | null,
): Uint8Array {
  const draft = append(pdf, objects("0 0 0 0"));
  const gapStart = draft.indexOf(placeholder, pdf.length);
  const gapEnd = gapStart + placeholder.length;
  const byteRange = [0, gapStart, gapEnd, draft.length - gapEnd];
  const text = append(pdf, objects(byteRange.join(" ")));
  const signed = bytesOf(text.slice(0, gapStart) + text.slice(gapEnd));
  const digest = () => Uint8Array.from(createHash("sha256").update(signed).digest());
  const stated = originalLength === null ? {} : { place: { byteRange, originalLength } };
  const der = options.contents?.(signed) ?? cmsOver(digest(), options.signer, { ...stated, ...options });
  const hex = Buffer.from(der)
    .toString("hex")
    .padEnd(placeholder.length - 2, "0");
  return bytesOf(`${text.slice(0, gapStart)}<${options.upperCase ? hex.toUpperCase() : hex}>${text.slice(gapEnd)}`);
}
