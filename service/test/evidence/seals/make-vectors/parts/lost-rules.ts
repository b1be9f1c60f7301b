import { OBJECT, stream } from "../../../../../../packages/evidence/test/pdf/changes/document.ts";
import { appendRows } from "../../../../../../packages/evidence/test/pdf/changes/revisions.ts";
import {
  appendRevision,
  bodyOf,
  endOf,
  type NewObject,
} from "../../../../../../packages/evidence/test/seal/signed-pdf.ts";
import { accepted, type ChangeRule, refused } from "./change-rules.ts";
import { trailer } from "./section-rules.ts";

const LOST = `${OBJECT.content} 0 obj\n${stream("1 0 0 rg 0 0 612 792 re f")}\nendobj\n`;
const nothing: readonly NewObject[] = [[90, "null"]];
const later = (name: string, make: ChangeRule["make"], rule = refused): ChangeRule => rule(name, nothing, { make });
/** Changes the document before it is signed. The revision after the signature adds only a null. */
const before = (name: string, preparedRevision: (pdf: string) => string, rule = refused): ChangeRule =>
  rule(name, nothing, { preparedRevision });

/** A hybrid revision, whose cross-reference stream names a new object and states this /Prev. */
function hybrid(signed: string, prev: number): string {
  const { size, startxref } = endOf(signed);
  const section = stream("\0\0\0\0\0\0\0", `/Type /XRef /Size ${size + 1} /W [1 4 2] /Index [90 1] /Prev ${prev}`);
  const end = `/Size ${size + 1} /Root 1 0 R /Prev ${startxref} /XRefStm ${signed.length}`;
  const rows = [{ number: size, offset: signed.length }];
  return appendRows(signed, `${size} 0 obj\n${section}\nendobj\n`, rows, end);
}

/**
 * Objects that no section lists, and that readers find when they scan the file (docs/evidence-format.md, section 7.1).
 */
export const lostRules: readonly ChangeRule[] = [
  before(
    "an object that was signed, of a number that no section names",
    (pdf) => appendRevision(`${pdf}70 0 obj\n(x)\nendobj\n`, nothing, " /Info 13 0 R"),
    accepted,
  ),
  before(
    "an object that was signed, before the one of its number",
    (pdf) => appendRevision(pdf + LOST, [[OBJECT.content, bodyOf(pdf, OBJECT.content)]], " /Info 13 0 R"),
    accepted,
  ),
  before("an object that was signed, to which another number leads", (pdf) =>
    appendRows(pdf, LOST, [{ number: 70, offset: pdf.length }], trailer(pdf)),
  ),
  later("an object with a comment that a carriage return ends before its number", (signed) =>
    appendRevision(`${signed}q\n${LOST.replace(/^(\d+) 0 obj/, "% a\r$1\n0 obj")}`, nothing),
  ),
  later(
    "a trailer that is no section's and leads to two roots",
    (signed) => `${appendRevision(signed, nothing)}trailer\n<< /Root 1 0 R /Root 90 0 R >>\n`,
  ),
  later(
    "a trailer that is no section's and can't be read",
    (signed) => `${appendRevision(signed, nothing)}trailer\n<< /Root 1 0 R /X 7x >>\n`,
  ),
  later(
    "a trailer that is no section's and leads where the document's does",
    (signed) => `${appendRevision(signed, nothing)}trailer\n<< /Root 1 0 R >>\n`,
    accepted,
  ),
  later(
    "a hybrid whose stream and table have one /Prev",
    (signed) => hybrid(signed, endOf(signed).startxref),
    accepted,
  ),
  later("a hybrid whose stream has another /Prev", (signed, original) => hybrid(signed, endOf(original).startxref)),
  refused("a new stream whose type is elsewhere", [
    [94, stream("9 0 [44 0 R] ", "/Type 95 0 R /N 1 /First 4")],
    [95, "/ObjStm"],
  ]),
];
