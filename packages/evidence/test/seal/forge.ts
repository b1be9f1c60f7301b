import { appendRevision, bodyOf, bytesOf, endOf, latin1, type NewObject } from "./signed-pdf.ts";

/** A forgery: its class of attack, the manipulation, and the file. */
export type Forgery = { readonly attack: string; readonly name: string; readonly bytes: Uint8Array };

/** A file that `signPdf` made, and the offsets of its parts. */
type Anatomy = {
  readonly pdf: string;
  /** The object number of the last signature dictionary. */
  readonly signature: number;
  readonly gapStart: number;
  readonly gapEnd: number;
  readonly length: number;
};

/**
 * Forges one signed file by every published class of attack. No attack needs the signing key.
 *
 * @param signed a file of `signPdf`
 * @param other another file signed with the same key
 */
export function forgeries(signed: Uint8Array, other: Uint8Array): Forgery[] {
  const file = anatomy(signed);
  const families: Readonly<Record<string, Readonly<Record<string, string>>>> = {
    "incremental saving": incrementalSaving(file),
    "signature wrapping": signatureWrapping(file),
    "universal forgery: /ByteRange": byteRanges(file),
    "universal forgery: /Contents": contents(file),
    shadow: shadows(file),
    "certified document": annotations(file),
    "cross-references": crossReferences(file),
    "swapped signature": swaps(file, anatomy(other)),
    "odd bytes": oddBytes(file),
  };
  return Object.entries(families).flatMap(([attack, files]) =>
    Object.entries(files).map(([name, text]) => ({ attack, name, bytes: bytesOf(text) })),
  );
}

function anatomy(signed: Uint8Array): Anatomy {
  const pdf = latin1(signed);
  const range = [...pdf.matchAll(/\/ByteRange ?\[0 (\d+) (\d+) (\d+)/g)].at(-1) ?? [];
  const [, gapStart, gapEnd] = range.map(Number);
  const signature = Number([...pdf.matchAll(/\/V (\d+) 0 R/g)].at(-1)?.[1]);
  return { pdf, signature, gapStart: gapStart ?? 0, gapEnd: gapEnd ?? 0, length: pdf.length };
}

const CONTENT = "BT /F1 18 Tf 72 720 Td (Pay the forger) Tj ET";
const forgedContent: NewObject = [6, `<< /Length ${CONTENT.length} >>\nstream\n${CONTENT}\nendstream`];

function incrementalSaving({ pdf, signature }: Anatomy) {
  const rows = appendRevision(pdf, [forgedContent]);
  return {
    "a revision that changes the page": rows,
    "objects without a cross-reference section": `${pdf}6 0 obj\n${forgedContent[1]}\nendobj\n`,
    "objects and the old startxref again": `${pdf}6 0 obj\n${forgedContent[1]}\nendobj\nstartxref\n${endOf(pdf).startxref}\n%%EOF\n`,
    "objects and a trailer without a table": `${pdf}6 0 obj\n${forgedContent[1]}\nendobj\ntrailer\n<< /Root 1 0 R >>\n`,
    "a copy of the signature in a new revision": appendRevision(pdf, [
      forgedContent,
      [signature, bodyOf(pdf, signature)],
    ]),
    "a copy of the catalog in a new revision": appendRevision(pdf, [forgedContent, [1, bodyOf(pdf, 1)]]),
    "a revision that changes nothing": appendRevision(pdf, []),
    "a comment at the end": `${pdf}% nothing to see\n`,
    "one line feed at the end": `${pdf}\n`,
    "one zero byte at the end": `${pdf}\0`,
  };
}

/**
 * Replaces the last match of a pattern. If nothing matches, appends a space, so the result differs from the file in
 * every case.
 */
function inPlace(pdf: string, pattern: RegExp, replacement: (found: string) => string): string {
  const found = [...pdf.matchAll(pattern)].at(-1);
  if (found === undefined) return `${pdf} `;
  return pdf.slice(0, found.index) + replacement(found[0]) + pdf.slice(found.index + found[0].length);
}

const BYTE_RANGE = /\/ByteRange ?\[[^\]]*\]/g;

function withByteRange(pdf: string, ranges: string): string {
  return inPlace(pdf, BYTE_RANGE, (found) => `/ByteRange[${ranges}]`.padEnd(found.length));
}

function signatureWrapping({ pdf, gapStart, gapEnd, length }: Anatomy) {
  const evil = `\n6 0 obj\n${forgedContent[1]}\nendobj\n`;
  const rest = pdf.slice(gapEnd);
  const moved = `${pdf.slice(0, gapEnd)}${evil}${rest}`;
  const wider = gapEnd + evil.length;
  return {
    "the second range moved back, an object in the gap": withByteRange(moved, `0 ${gapStart} ${wider} ${rest.length}`),
    "the second range moved back, the old /ByteRange": moved,
    "the signed rest repeated at the end": withByteRange(
      `${pdf}${evil}${rest}`,
      `0 ${gapStart} ${length + evil.length} ${rest.length}`,
    ),
    "an object before the value in the gap": `${pdf.slice(0, gapStart)}${evil}${pdf.slice(gapStart)}`,
    "a second string in the gap": `${pdf.slice(0, gapEnd)}<41>${rest}`,
    "the gap moved to the front": pdf.slice(0, 20) + pdf.slice(gapStart, gapEnd) + pdf.slice(20, gapStart) + rest,
    "the gap moved to the end": pdf.slice(0, gapStart) + rest + pdf.slice(gapStart, gapEnd),
  };
}

function byteRanges({ pdf, gapStart, gapEnd, length }: Anatomy) {
  const rest = length - gapEnd;
  const all: Record<string, string> = {
    "empty /ByteRange": "",
    "/ByteRange of zeros": "0 0 0 0",
    "two numbers": `0 ${length}`,
    "one range for everything": `0 ${length} ${length} 0`,
    "negative start": `-1 ${gapStart} ${gapEnd} ${rest}`,
    "negative length": `0 ${gapStart} ${gapEnd} -${rest}`,
    "a null": `null ${gapStart} ${gapEnd} ${rest}`,
    "a real number": `0. ${gapStart} ${gapEnd} ${rest}`,
    "a start that is not zero": `1 ${gapStart - 1} ${gapEnd} ${rest}`,
    "a first range that is too short": `0 ${gapStart - 1} ${gapEnd} ${rest}`,
    "a first range that is too long": `0 ${gapStart + 1} ${gapEnd} ${rest}`,
    "a second range that starts too early": `0 ${gapStart} ${gapEnd - 1} ${rest + 1}`,
    "a second range that starts too late": `0 ${gapStart} ${gapEnd + 1} ${rest - 1}`,
    "ranges that overlap": `0 ${gapEnd} ${gapStart} ${length - gapStart}`,
    "a second range past the end": `0 ${gapStart} ${gapEnd} ${rest + 1}`,
    "a second range that ends early": `0 ${gapStart} ${gapEnd} ${rest - 1}`,
    "enormous numbers": `0 ${gapStart} 99999999999999 9`,
    "a third range": `0 ${gapStart} ${gapEnd} ${rest} 0 0`,
    "names for numbers": "/0 /1 /2 /3",
    "a nested array": `[0 ${gapStart} ${gapEnd} ${rest}]`,
  };
  const forged = Object.entries(all).map(([name, ranges]) => [name, withByteRange(pdf, ranges)] as const);
  const renamed = (text: string) => inPlace(pdf, BYTE_RANGE, (found) => found.replace("/ByteRange", text));
  return {
    ...Object.fromEntries(forged),
    "no /ByteRange": renamed("/ByteRangf"),
    "a reference for /ByteRange": inPlace(pdf, BYTE_RANGE, (found) => "/ByteRange 6 0 R".padEnd(found.length)),
    "null for /ByteRange": inPlace(pdf, BYTE_RANGE, (found) => "/ByteRange null".padEnd(found.length)),
    "/ByteRange twice": inPlace(pdf, BYTE_RANGE, (found) => `${found.trimEnd()} ${found}`),
  };
}

function contents({ pdf, gapStart, gapEnd }: Anatomy) {
  const put = (text: string) => pdf.slice(0, gapStart) + text.padEnd(gapEnd - gapStart) + pdf.slice(gapEnd);
  const width = gapEnd - gapStart - 2;
  const hex = pdf.slice(gapStart + 1, gapEnd - 1);
  return {
    "no /Contents": inPlace(pdf, /\/Contents </g, () => "/Contentt <"),
    "null for /Contents": put("null"),
    "an empty string": put("<>"),
    "an empty literal string": put("()"),
    "a zero byte": put("<00>"),
    "zeros only": put(`<${"0".repeat(width)}>`),
    "a reference": put("6 0 R"),
    "a literal string of the value": put(`(${hex})`.slice(0, width + 2)),
    "an odd number of digits": put(`<${hex.slice(0, -1)} >`),
    "a digit that is none": put(`<g${hex.slice(1)}>`),
    "white space among the digits": put(`<${hex.slice(0, 10)} ${hex.slice(11)}>`),
    "something in the padding": put(`<${hex.slice(0, -2)}01>`),
    "an object of indefinite length": put(`<3080${hex.slice(4)}>`),
    "a length past the end": put(`<3084${"f".repeat(8)}${hex.slice(12)}>`),
    "upper-case digits": put(`<${hex.toUpperCase()}>`),
    "upper-case and lower-case digits": put(`<${hex.replace(/[a-f]/, (digit) => digit.toUpperCase())}>`),
    "/Contents twice": inPlace(pdf, /\/M ?\(D:20260101000000Z\)/g, (found) => "/Contents <00>".padEnd(found.length)),
  };
}

function shadows({ pdf, signature }: Anatomy) {
  const { startxref } = endOf(pdf);
  const previous = Number(/.*\/Prev (\d+)/s.exec(pdf)?.[1]);
  const bypass = appendRevision(pdf, [forgedContent]).replace(
    new RegExp(`(.*)/Prev ${startxref}`, "s"),
    `$1/Prev ${previous}`,
  );
  return {
    "hide: an overlay freed": `${pdf}xref\n6 1\n0000000000 00001 f \ntrailer\n<< /Size 20 /Root 1 0 R /Prev ${startxref} >>\nstartxref\n${pdf.length}\n%%EOF\n`,
    "replace: a font's characters": appendRevision(pdf, [
      [3, "<< /Type /Font /Subtype /Type3 /BaseFont /Helvetica >>"],
    ]),
    "replace: the page tree": appendRevision(pdf, [[2, bodyOf(pdf, 2).replace("/Count 1", "/Count 0")]]),
    "hide and replace: the sections before bypassed": bypass,
    "hide and replace: another root": appendRevision(pdf, [[90, bodyOf(pdf, 1)]]).replace(
      /(.*)\/Root 1 0 R/s,
      "$1/Root 90 0 R",
    ),
    "the signature freed": appendRevision(pdf, [[signature, "null"]]),
    "the startxref of the revision before": inPlace(pdf, /startxref\n\d+/g, (found) =>
      `startxref\n${previous}`.padEnd(found.length),
    ),
  };
}

function annotations({ pdf }: Anatomy) {
  const page = bodyOf(pdf, 5);
  const { size } = endOf(pdf);
  const withAnnotation = page.replace(/\/Annots \[/, `/Annots [${size} 0 R `);
  const annotation = (subtype: string, more = ""): NewObject[] => [
    [size, `<< /Type /Annot /Subtype /${subtype} /Rect [0 0 600 700] /Contents (No longer valid) ${more}>>`],
    [5, withAnnotation],
  ];
  return {
    "a text box over the page": appendRevision(pdf, annotation("FreeText")),
    "a stamp over the page": appendRevision(pdf, annotation("Stamp")),
    "a redaction": appendRevision(pdf, annotation("Redact")),
    "a visible signature field without a signature": appendRevision(pdf, annotation("Widget", "/FT /Sig /T (Sneaky) ")),
    "a form field over the page": appendRevision(pdf, annotation("Widget", "/FT /Tx /T (Amount) /V (1000000) ")),
  };
}

function crossReferences({ pdf, signature, gapStart, gapEnd }: Anatomy) {
  const { startxref } = endOf(pdf);
  const section = pdf.slice(startxref);
  const entry = new RegExp(`\\n${signature} [12]\\n\\d{10}`, "g");
  const field = bodyOf(pdf, signature + 1);
  return {
    "the last section twice": pdf + section.replace(/startxref\n\d+/, `startxref\n${pdf.length}`),
    "the last section twice, one startxref":
      pdf.slice(0, startxref) + section.slice(0, section.indexOf("startxref")) + section,
    "an entry that points into the gap": inPlace(
      pdf,
      entry,
      (found) => found.slice(0, -10) + String(gapStart + 100).padStart(10, "0"),
    ),
    "an entry that points to the end of the gap": inPlace(
      pdf,
      entry,
      (found) => found.slice(0, -10) + String(gapEnd).padStart(10, "0"),
    ),
    "a /Prev that points to itself": inPlace(pdf, /\/Prev \d+/g, (found) => `/Prev ${startxref}`.padEnd(found.length)),
    "two fields of one signature": appendRevision(pdf, [
      [80, field],
      [1, bodyOf(pdf, 1).replace("/Fields [", "/Fields [80 0 R ")],
    ]),
    "an object in the gap": `${pdf.slice(0, gapStart + 2)}1 0 obj<</Type/Catalog>>endobj${pdf.slice(gapStart + 34)}`,
  };
}

function swaps({ pdf, gapStart, gapEnd }: Anatomy, other: Anatomy) {
  const value = other.pdf.slice(other.gapStart, other.gapEnd);
  const tail = other.pdf.slice(other.pdf.lastIndexOf("\n", other.pdf.lastIndexOf(" obj\n", other.gapStart)) + 1);
  const head = pdf.slice(0, pdf.indexOf("%%EOF") + 6);
  return {
    "the value of another document": pdf.slice(0, gapStart) + value.padEnd(gapEnd - gapStart) + pdf.slice(gapEnd),
    "the tail of another document": head + tail,
    "another document in front": other.pdf + pdf,
    "the page of another document": inPlace(pdf, /\(Contract 1 of 1\)/g, () => "(Contrast 1 of 1)"),
  };
}

function oddBytes({ pdf, gapStart, gapEnd }: Anatomy) {
  return {
    "the last byte cut off": pdf.slice(0, -1),
    "the last revision cut in half": pdf.slice(0, gapEnd + 40),
    "cut in the middle of the value": pdf.slice(0, gapStart + 600),
    "junk in front": `junk\n${pdf}`,
    "a byte order mark in front": `\u00ef\u00bb\u00bf${pdf}`,
    "another version in the header": pdf.replace("%PDF-1.7", "%PDF-1.4"),
    "another claimed time": inPlace(pdf, /D:20260101/g, () => "D:20250101"),
    "another original length": inPlace(pdf, /\/SSSOriginalLength \d/g, (found) => `${found.slice(0, -1)}1`),
    "another format": inPlace(pdf, /\/ETSI\.CAdES\.detached/g, () => "/adbe.pkcs7.detached ".slice(0, 20)),
    "line ends turned": pdf.replaceAll("\r\n", "\n").replaceAll("\n", "\r\n"),
  };
}
