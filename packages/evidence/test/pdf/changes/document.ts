import { bodyOf, bytesOf, endOf, latin1, type NewObject, signRevision } from "../../seal/signed-pdf.ts";
import type { TestSigner } from "../../signer.ts";

/** The object numbers in a PDF that `formDocument` made. */
export const OBJECT = {
  catalog: 1,
  pages: 2,
  form: 3,
  metadata: 4,
  outlines: 5,
  font: 6,
  content: 7,
  secondContent: 8,
  contents: 9,
  page: 10,
  secondPage: 11,
  outlineItem: 12,
  info: 13,
  kids: 14,
  fields: 15,
  annots: 16,
  resources: 17,
  amount: 20,
  name: 21,
  agree: 22,
  empty: 23,
  note: 24,
  group: 25,
  first: 26,
  second: 27,
  amountAppearance: 30,
  agreeYes: 31,
  agreeOff: 32,
  noteAppearance: 33,
  structure: 40,
  elements: 41,
  amountElement: 42,
  parentTree: 43,
  orphan: 44,
} as const;

export const stream = (data: string, entries = ""): string =>
  `<< ${entries}${entries === "" ? "" : " "}/Length ${data.length} >>\nstream\n${data}\nendstream`;

const XMP = '<?xpacket begin="" id="x"?><x:xmpmeta xmlns:x="adobe:ns:meta/"><a>1</a></x:xmpmeta><?xpacket end="w"?>';
export const metadata = (data = XMP): string => stream(data, "/Type /Metadata /Subtype /XML");
export const formXObject = (data: string, more = ""): string =>
  stream(data, `/Type /XObject /Subtype /Form /BBox [0 0 200 20]${more}`);

const widget = (name: string, type: string, rect: string, more: string) =>
  `<< /Type /Annot /Subtype /Widget /FT /${type} /T (${name}) /F 4 /Rect [${rect}] /P 10 0 R ${more}>>`;

const BODIES: Readonly<Record<keyof typeof OBJECT, string>> = {
  catalog:
    "<< /Type /Catalog /Pages 2 0 R /AcroForm 3 0 R /Metadata 4 0 R /Outlines 5 0 R /StructTreeRoot 40 0 R /MarkInfo << /Marked true >> >>",
  pages: "<< /Type /Pages /Count 2 /Kids 14 0 R >>",
  form: "<< /Fields 15 0 R /SigFlags 3 /DR << /Font << /Helv 6 0 R >> >> /DA (/Helv 0 Tf 0 g) >>",
  metadata: metadata(),
  outlines: "<< /Type /Outlines /First 12 0 R /Last 12 0 R /Count 1 >>",
  font: "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
  content: stream("BT /Helv 18 Tf 72 720 Td (Pay 100 to Alice) Tj ET"),
  secondContent: stream("BT /Helv 18 Tf 72 720 Td (Second page) Tj ET"),
  contents: "[7 0 R]",
  page: "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources 17 0 R /Contents 9 0 R /Annots 16 0 R /StructParents 5 >>",
  secondPage: "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources 17 0 R /Contents 8 0 R >>",
  outlineItem: "<< /Title (First) /Parent 5 0 R /Dest [10 0 R /Fit] >>",
  info: "<< /Title (Contract) /Producer (Test) >>",
  kids: "[10 0 R 11 0 R]",
  fields: "[20 0 R 21 0 R 22 0 R 23 0 R 25 0 R]",
  annots: "[20 0 R 21 0 R 22 0 R 23 0 R 24 0 R 26 0 R 27 0 R]",
  resources: "<< /Font << /Helv 6 0 R >> >>",
  amount: widget("Amount", "Tx", "72 600 272 620", "/V (100) /StructParent 1 /AP << /N 30 0 R >> "),
  name: widget("Name", "Tx", "72 560 272 580", ""),
  agree: widget("Agree", "Btn", "72 520 92 540", "/V /Off /AS /Off /AP << /N << /Yes 31 0 R /Off 32 0 R >> >> "),
  empty: widget("Countersign", "Sig", "72 440 272 480", ""),
  note: "<< /Type /Annot /Subtype /Text /Rect [300 700 320 720] /Contents (Note) /P 10 0 R /AP << /N 33 0 R >> >>",
  group: "<< /T (Group) /FT /Btn /Ff 49152 /V /Off /Kids [26 0 R 27 0 R] >>",
  first:
    "<< /Subtype /Widget /Parent 25 0 R /Rect [72 400 92 420] /AS /Off /AP << /N << /One 31 0 R /Off 32 0 R >> >> >>",
  second:
    "<< /Subtype /Widget /Parent 25 0 R /Rect [102 400 122 420] /AS /Off /AP << /N << /Two 31 0 R /Off 32 0 R >> >> >>",
  amountAppearance: formXObject("/Tx BMC BT /Helv 12 Tf 2 5 Td (100) Tj ET EMC", " /Resources 17 0 R"),
  agreeYes: formXObject("0 0 10 10 re f"),
  agreeOff: formXObject(""),
  noteAppearance: formXObject("0 0 20 20 re S"),
  structure: "<< /Type /StructTreeRoot /K 41 0 R /ParentTree 43 0 R /ParentTreeNextKey 6 >>",
  elements: "<< /Type /StructElem /S /Document /P 40 0 R /K [42 0 R] >>",
  amountElement: "<< /Type /StructElem /S /Form /P 41 0 R /Pg 10 0 R /K << /Type /OBJR /Obj 20 0 R >> >>",
  parentTree: "<< /Nums [1 42 0 R 5 [41 0 R]] >>",
  orphan: stream("1 0 0 rg 0 0 612 792 re f"),
};

/**
 * Makes a PDF with a form, a note, metadata, outlines and tags.
 * @param changed the new bodies of some objects, in place of the usual ones
 */
export function formDocument(changed: Partial<Record<keyof typeof OBJECT, string>> = {}): string {
  const bodies = new Map(Object.entries({ ...BODIES, ...changed }).map(([key, body]) => [numberOf(key), body]));
  const size = Math.max(...bodies.keys()) + 1;
  let text = "%PDF-1.7\n%\xe2\xe3\xcf\xd3\n";
  let rows = "0000000000 65535 f \n";
  for (let number = 1; number < size; number++) {
    const body = bodies.get(number);
    rows += body === undefined ? "0000000000 00001 f \n" : `${String(text.length).padStart(10, "0")} 00000 n \n`;
    if (body !== undefined) text += `${number} 0 obj\n${body}\nendobj\n`;
  }
  return `${text}xref\n0 ${size}\n${rows}trailer\n<< /Size ${size} /Root 1 0 R /Info 13 0 R /ID [<01> <01>] >>\nstartxref\n${text.length}\n%%EOF\n`;
}

function numberOf(key: string): number {
  const entry = Object.entries(OBJECT).find(([name]) => name === key);
  if (entry === undefined) throw new Error(`no object ${key}`);
  return entry[1];
}

/** Options for signing a form document. */
export type FormSignature = {
  readonly signer: TestSigner;
  /** /P of a certification; without it, the signature is an approval signature. */
  readonly certify?: 1 | 2 | 3;
  /** The TransformParams of a FieldMDP, without the brackets. */
  readonly fieldMdp?: string;
  /** The signature field's /Lock. */
  readonly lock?: string;
  /** Puts the signature into the field with this object number instead of a new field. */
  readonly field?: number;
  readonly rect?: string;
  readonly documentTimeStamp?: boolean;
  readonly subFilter?: string;
  readonly contents?: (signed: Uint8Array) => Uint8Array;
  /** More objects in the signature's revision. */
  readonly objects?: readonly NewObject[];
  /** Leaves the widget out of the page's /Annots. */
  readonly offPage?: boolean;
  readonly fieldEntries?: string;
  /** Capacity of /Contents in bytes. */
  readonly reserve?: number;
};

const insert = (body: string, item: string) => body.replace(/\]$/, ` ${item}]`);

/** Signs a `formDocument`, or a later revision of it, in a new field or in an existing empty one. */
export function signForm(pdf: string, options: FormSignature): string {
  const { size } = endOf(pdf);
  const field = options.field ?? size + 1;
  const placeholder = `<${"0".repeat(2 * (options.reserve ?? 3000))}>`;
  const methods = [
    ...(options.certify === undefined ? [] : [transform("DocMDP", `/V /1.2 /P ${options.certify}`)]),
    ...(options.fieldMdp === undefined ? [] : [transform("FieldMDP", `/V /1.2 ${options.fieldMdp}`)]),
  ];
  const subFilter = options.subFilter ?? (options.documentTimeStamp ? "ETSI.RFC3161" : "ETSI.CAdES.detached");
  const dictionary = (ranges: string) =>
    `<< /Type /${options.documentTimeStamp ? "DocTimeStamp" : "Sig"} /Filter /Adobe.PPKLite /SubFilter /${subFilter} ` +
    `${methods.length === 0 ? "" : `/Reference [${methods.join(" ")}] `}/Contents ${placeholder} /ByteRange [${ranges.padEnd(40)}] >>`;
  const lock = options.lock === undefined ? "" : ` /Lock << /Type /SigFieldLock ${options.lock} >>`;
  const fresh = `<< /Type /Annot /Subtype /Widget /FT /Sig /T (Signature${field}) /F 132 /Rect [${options.rect ?? "0 0 0 0"}] /P 10 0 R /V ${size} 0 R${lock}${options.fieldEntries ?? ""} >>`;
  const catalog = bodyOf(pdf, 1);
  const revised = (ranges: string): NewObject[] => [
    [size, dictionary(ranges)],
    [field, options.field === undefined ? fresh : bodyOf(pdf, field).replace(/ >>$/, ` /V ${size} 0 R${lock} >>`)],
    ...(options.field === undefined ? [added(pdf, OBJECT.fields, `${field} 0 R`)] : []),
    ...(options.field === undefined && !options.offPage ? [added(pdf, OBJECT.annots, `${field} 0 R`)] : []),
    ...(options.certify === undefined
      ? []
      : [[1, catalog.replace(/ >>$/, ` /Perms << /DocMDP ${size} 0 R >> >>`)] as const]),
    ...(options.objects ?? []),
  ];
  // A cross-reference section lists an object only once, so the given objects replace the usual ones with the same
  // number.
  const objects = (ranges: string) => [...new Map(revised(ranges))];
  return latin1(signRevision(pdf, placeholder, objects, options, " /Info 13 0 R"));
}

/** Appends an item to the list with this object number. Returns the list's new version, for a new revision. */
export function added(pdf: string, list: number, item: string): NewObject {
  return [list, insert(bodyOf(pdf, list), item)];
}

/** Replaces a text in the object with this number. Returns the object's new version, for a new revision. */
export function edited(pdf: string, number: number, from: string | RegExp, to: string): NewObject {
  const body = bodyOf(pdf, number);
  const result = body.replace(from, to);
  if (result === body) throw new Error(`nothing to change in object ${number}: ${body}`);
  return [number, result];
}

const transform = (method: string, parameters: string) =>
  `<< /Type /SigRef /TransformMethod /${method} /TransformParams << /Type /TransformParams ${parameters} >> /Data 1 0 R >>`;

export const asBytes = bytesOf;
