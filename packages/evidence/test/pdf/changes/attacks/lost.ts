import { appendRevision, endOf, type NewObject } from "../../../seal/signed-pdf.ts";
import { edited, OBJECT, stream } from "../document.ts";
import { appendRows, type XrefRow } from "../revisions.ts";
import { ALL, type Attack, evil, update } from "./attack.ts";

const LOST = `${OBJECT.content} 0 obj\n${evil}\nendobj\n`;
/**
 * A long comment for the end of a file. Some readers look for `startxref` only near the end, and do not find it before
 * this comment.
 */
const FAR = `%${" ".repeat(3000)}\n`;
const FREE = "0000000000 00001 f \n";
const nothing: readonly NewObject[] = [[90, "null"]];

/**
 * Appends a revision with a given table. The objects in `unnamed` are written before the table, which does not name
 * them.
 */
function tabled(pdf: string, table: string, startxref = "startxref\n", unnamed = LOST): string {
  const { startxref: previous, size } = endOf(pdf);
  const text = pdf + unnamed;
  return `${text}${table}trailer\n<< /Size ${size + 9} /Root 1 0 R /Prev ${previous} >>\n${startxref}${text.length}\n%%EOF\n`;
}

/** A revision whose cross-reference stream has a row of an undefined type. */
function unknownRow(pdf: string): string {
  const { startxref, size } = endOf(pdf);
  const text = pdf + LOST;
  const section = size + 1;
  const row = `\x01${String.fromCharCode(text.length >> 8, text.length & 0xff)}`;
  const entries = `/Size ${size + 2} /Root 1 0 R /Prev ${startxref} /W [1 2 0] /Index [${size} 2]`;
  return `${text}${section} 0 obj\n${stream(`\x03\0\0${row}`, `/Type /XRef ${entries}`)}\nendobj\nstartxref\n${text.length}\n%%EOF\n`;
}

const made = (name: string, make: Attack["make"], more: Partial<Attack> = {}): Attack => ({
  name,
  forbidden: ALL,
  make,
  ...more,
});

/** Another document in new objects that nothing references. */
const OTHER: readonly NewObject[] = [
  [90, "<< /Type /Catalog /Pages 91 0 R >>"],
  [91, "<< /Type /Pages /Count 1 /Kids [92 0 R] >>"],
  [92, "<< /Type /Page /Parent 91 0 R /MediaBox [0 0 612 792] /Resources 17 0 R /Contents 93 0 R >>"],
  [93, evil],
];
const TRAILER = "trailer\n<< /Root 90 0 R /Size 100 /ID [<01> <01>] >>\n";

/**
 * Attacks that add objects which nothing references. Each file also has a defect or an oddity that makes some readers
 * search the whole file for objects. Those readers then find the added objects.
 */
const searched: readonly Attack[] = [
  made("content that no section names", (signed) => appendRevision(signed + LOST, nothing)),
  made("content in a file that goes on for long", (signed) => signed + LOST + FAR),
  made("content, and a row of an unknown kind", unknownRow),
  made("content, and a comment in the table", (signed) => tabled(signed, `xref\n%\n90 1\n${FREE}`)),
  made("content, and a comment behind the word xref", (signed) => tabled(signed, `xref%\n90 1\n${FREE}`)),
  made("content, and a comment behind startxref", (signed) => tabled(signed, `xref\n90 1\n${FREE}`, "startxref%\n")),
  made("content, and a row without its end", (signed) => tabled(signed, `xref\n90 1\n${FREE.trimEnd()}`)),
  made("content, and a value that is not there", (signed) =>
    appendRevision(signed + LOST, [edited(signed, OBJECT.name, / >>$/, " /V 99 0 R >>")]),
  ),
  made("content, and information that is not there", (signed) => appendRevision(signed + LOST, [], " /Info 99 0 R")),
  made("content with a comment in its header", (signed) =>
    appendRevision(signed + LOST.replace(" 0 obj", "%\n0 % \nobj"), nothing),
  ),
  made("content in a comment", (signed) => appendRevision(`${signed}% ${LOST}`, nothing)),
  update("content in the data of a new stream", [[90, stream(`\n${LOST}`)]]),
  made("a trailer that is no section's", (signed) => appendRevision(signed, OTHER) + TRAILER),
  update("a stream that passes for a section", [...OTHER, [94, stream("", "/Type /XRef /Root 90 0 R /W [1 2 1]")]]),
  update("a stream of objects that no section places in it", [
    [94, stream("9 0 [44 0 R] ", "/Type /ObjStm /N 1 /First 4")],
  ]),
  made("nothing but many bytes at the end", (signed) => signed + FAR),
  made("a list head for the catalog", (signed) =>
    tabled(signed, "xref\n1 1\n0000000000 65535 f \n", "startxref\n", ""),
  ),
];

/** Attacks with objects that nothing references and that the forger added before the document was signed. */
const signedWith: readonly Attack[] = [
  made("content that was signed", (signed) => appendRevision(signed, nothing), {
    preparedRevision: (pdf) => appendRevision(pdf + LOST, nothing),
    unsound: true,
  }),
  made("a trailer that was signed", (signed) => appendRevision(signed, [[95, "null"]]), {
    preparedRevision: (pdf) => appendRevision(pdf + TRAILER, OTHER),
    unsound: true,
  }),
];

/** Appends a hybrid revision. Some readers use its table, some its stream, and some the stream's /Prev. */
function hybrid(pdf: string, body: string, rows: readonly XrefRow[], stated: string, row: string): string {
  const { startxref, size } = endOf(pdf);
  const at = pdf.length + body.length;
  const section = stream(row, `/Type /XRef /Size ${size + 1} /W [1 4 2] ${stated}`);
  const all = [...rows, { number: size, offset: at }];
  const trailer = `/Size ${size + 1} /Root 1 0 R /Prev ${startxref} /XRefStm ${at}`;
  return appendRows(pdf, `${body}${size} 0 obj\n${section}\nendobj\n`, all, trailer);
}

function rowTo(offset: number): string {
  return `\x01\0\0${String.fromCharCode(offset >> 8, offset & 0xff)}\0\0`;
}

const hybrids: readonly Attack[] = [
  made("content freed by the table and kept by the stream", (signed) => {
    const at = signed.indexOf(`\n${OBJECT.content} 0 obj`) + 1;
    const freed = { number: OBJECT.content, offset: 0, generation: 1, free: true };
    return hybrid(signed, "", [freed], `/Index [${OBJECT.content} 1]`, rowTo(at));
  }),
  made("content of a section that only the stream names", (signed) => {
    const at = String(signed.length).padStart(10, "0");
    const table = `xref\n${OBJECT.content} 1\n${at} 00000 n \ntrailer\n<< /Size 99 /Root 1 0 R >>\n`;
    const prev = signed.length + LOST.length;
    return hybrid(signed, LOST + table, [], `/Index [90 1] /Prev ${prev}`, "\0".repeat(7));
  }),
];

export const lost = { "lost objects": searched, "lost objects that were signed": signedWith, hybrids };
