import { endOf, type NewObject } from "../../../../../packages/evidence/test/seal/signed-pdf.ts";
import { collection, type Expectation, type Made, notVerified, unreadable, verified } from "./case.ts";
import { oddSeal, sealed, zooFile } from "./sealing.ts";

type Row = { readonly number: number; readonly generation: number; readonly offset: number };
type Odd = {
  readonly head?: string;
  readonly rows?: (rows: Row[]) => Row[];
  readonly trailer?: (entries: string) => string;
};

const digits = (value: number, width: number): string => String(value).padStart(width, "0");
const row = ({ offset, generation }: Row): string => `${digits(offset, 10)} ${digits(generation, 5)} n \n`;

/** A tail like the sealer's, with the given deviations. It lists every object of the document. */
const listingAll =
  ({ head = "0 1\n0000000000 65535 f \n", rows: change = (rows) => rows, trailer = (entries) => entries }: Odd) =>
  (pdf: string, objects: readonly NewObject[]): string => {
    let text = pdf.endsWith("\n") ? pdf : `${pdf}\n`;
    const places = new Map<number, number>();
    for (const found of pdf.matchAll(/^(\d+) 0 obj/gm)) places.set(Number(found[1]), found.index);
    for (const [number, body] of objects) {
      places.set(number, text.length);
      text += `${number} 0 obj\n${body}\nendobj\n`;
    }
    const sorted = [...places].sort(([one], [other]) => one - other);
    const rows = change(sorted.map(([number, offset]) => ({ number, generation: 0, offset })));
    let table = `xref\n${head}`;
    rows.forEach((one, index) => {
      if (rows[index - 1]?.number !== one.number - 1) {
        let count = 1;
        while (rows[index + count]?.number === one.number + count) count++;
        table += `${one.number} ${count}\n`;
      }
      table += row(one);
    });
    const size = Math.max(endOf(pdf).size, ...rows.map(({ number }) => number + 1));
    const entries = trailer(`/Size ${size}/Root 1 0 R/ID[<00><01>]`);
    return `${text}${table}trailer\n<<${entries}>>\nstartxref\n${text.length}\n%%EOF\n`;
  };

const changed = (number: number, change: Partial<Row>) => (rows: Row[]) =>
  rows.map((one) => (one.number === number ? { ...one, ...change } : one));
const wrong = notVerified({ signature_structure: "fails" });
const broken = zooFile("broken-wrong-startxref");

const CASES: readonly (readonly [name: string, odd: Odd, expect: Expectation, teaches: string])[] = [
  ["as the sealer writes it", {}, verified(), "Every reader finds the objects by the tail's table."],
  ["an object's place is off by one", { rows: changed(3, { offset: 1 }) }, wrong, "Each entry leads to N G obj."],
  ["an object of another generation", { rows: changed(3, { generation: 1 }) }, wrong, "Each entry leads to N G obj."],
  [
    "an entry that leads to another object",
    { rows: (rows) => changed(3, { offset: rows.find(({ number }) => number === 4)?.offset ?? 0 })(rows) },
    wrong,
    "Each entry leads to N G obj.",
  ],
  ["no head of free objects", { head: "" }, wrong, "The first section of a file begins with the row of object 0."],
  [
    "with a /Prev that leads nowhere",
    { trailer: (entries) => `${entries}/Prev 15` },
    unreadable,
    "Sections are all read.",
  ],
  ["a key of no tail", { trailer: (entries) => `${entries}/Extra 1` }, wrong, "The trailer has no other keys."],
];

/**
 * Documents with an unreadable cross-reference, so that the tail lists all their objects (docs/evidence-format.md,
 * section 2.1).
 */
export async function restated(): Promise<Made> {
  const { add, put, made, slug } = collection("restated");
  for (const [name, odd, expect, teaches] of CASES) {
    const bytes = oddSeal(broken, { append: listingAll(odd) });
    const files = { sealed: put(`${slug(name)}.pdf`, bytes) };
    add({ name: `a restated cross-reference: ${name}`, kind: "sealed_pdf", files, expect, teaches });
  }
  add({
    name: "a restated cross-reference: by the service",
    kind: "sealed_pdf",
    files: { sealed: put("by-the-service.pdf", await sealed(broken)) },
    expect: verified(),
    teaches: "Not a byte of the document is changed, and nothing needs repair.",
  });
  const bytes = oddSeal(new Uint8Array(0), {
    originalLength: 0,
    dictionary: (text) => text.replace("/Reason", "/Name(%PDF-1.7)/Reason"),
    objects: ([seal]) => [[1, seal?.[1] ?? ""], ...WHOLE],
    append: listingAll({ trailer: () => "/Size 6/Root 3 0 R/ID[<00><01>]" }),
  });
  add({
    name: "a restated cross-reference: of a document of no bytes",
    kind: "sealed_pdf",
    files: { sealed: put("of-a-document-of-no-bytes.pdf", bytes) },
    expect: { verdict: "not_verified", claims: { original_document_hash: "fails" } },
    teaches: "1 <= n (2.4): the whole document would be what the sealer added.",
  });
  return made();
}

/** A document whose objects are all in the tail, after the seal. */
const WHOLE: readonly NewObject[] = [
  [2, "<< /Type /Annot /Subtype /Widget /FT /Sig /T (Seal) /F 132 /Rect [0 0 0 0] /P 5 0 R /V 1 0 R >>"],
  [3, "<< /Type /Catalog /Pages 4 0 R /AcroForm << /SigFlags 3 /Fields [2 0 R] >> >>"],
  [4, "<< /Type /Pages /Count 1 /Kids [5 0 R] >>"],
  [5, "<< /Type /Page /Parent 4 0 R /MediaBox [0 0 612 792] /Annots [2 0 R] >>"],
];
