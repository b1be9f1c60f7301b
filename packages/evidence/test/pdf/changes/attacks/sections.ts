import { appendRevision, bodyOf, endOf } from "../../../seal/signed-pdf.ts";
import { OBJECT, stream } from "../document.ts";
import { appendRows, appendStreams, freeing, hidden } from "../revisions.ts";
import { ALL, type Attack, BUT_3, evil } from "./attack.ts";

export const sections: readonly Attack[] = [
  {
    name: "content hidden in the stream of a hybrid section",
    forbidden: ALL,
    make: (signed) => hidden(signed, [OBJECT.content, evil], false),
  },
  {
    name: "content freed in the table and hidden in the stream of a hybrid section",
    forbidden: ALL,
    make: (signed) => hidden(signed, [OBJECT.content, evil], true),
  },
  {
    name: "content by a cross-reference stream",
    forbidden: ALL,
    make: (signed) => appendStreams(signed, [[OBJECT.content, evil]], []),
  },
  {
    name: "resources by an object stream",
    forbidden: ALL,
    make: (signed) => appendStreams(signed, [], [[OBJECT.resources, "<< /Font << /Helv 44 0 R >> >>"]]),
  },
  {
    name: "an object stream replaced",
    forbidden: ALL,
    preparedRevision: (pdf) =>
      appendStreams(pdf, [], [[OBJECT.font, "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"]]),
    make: (signed) =>
      appendRevision(signed, [
        [45, stream("6 0 << /Type /Font /Subtype /Type1 /BaseFont /Courier >> ", "/Type /ObjStm /N 1 /First 4")],
      ]),
  },
  { name: "content freed", forbidden: ALL, make: (signed) => freeing(signed, [OBJECT.content]) },
  { name: "a page freed", forbidden: ALL, make: (signed) => freeing(signed, [OBJECT.secondPage]) },
  { name: "an object freed that nothing leads to", forbidden: ALL, make: (signed) => freeing(signed, [OBJECT.orphan]) },
  { name: "a note freed that is still listed", forbidden: BUT_3, make: (signed) => freeing(signed, [OBJECT.note]) },
  {
    name: "content of another generation",
    forbidden: ALL,
    make: (signed) => {
      const body = `7 1 obj\n${evil}\nendobj\n`;
      const { startxref, size } = endOf(signed);
      return appendRows(
        signed,
        body,
        [{ number: 7, offset: signed.length, generation: 1 }],
        `/Size ${size} /Root 1 0 R /Prev ${startxref}`,
      );
    },
  },
  {
    name: "an entry that leads to no object",
    forbidden: ALL,
    make: (signed) => {
      const { startxref, size } = endOf(signed);
      return appendRows(signed, "", [{ number: 7, offset: 15 }], `/Size ${size} /Root 1 0 R /Prev ${startxref}`);
    },
  },
  ...["", "/Size 8388609", "/Size -1", "/Size 7 0 R", "/Size 90.5"].map((size) => ({
    name: `content that no section names, and ${size || "no /Size"}`,
    forbidden: ALL,
    make: (signed: string) =>
      appendRevision(`${signed}${OBJECT.content} 0 obj\n${evil}\nendobj\n`, [[90, "null"]]).replace(
        /(.*)\/Size \d+/s,
        `$1${size}`,
      ),
  })),
  {
    name: "another root",
    forbidden: ALL,
    make: (signed) => appendRevision(signed, [[90, bodyOf(signed, 1)]]).replace(/(.*)\/Root 1 0 R/s, "$1/Root 90 0 R"),
  },
  {
    name: "a root of another generation",
    forbidden: ALL,
    make: (signed) => appendRevision(signed, [[90, "null"]]).replace(/(.*)\/Root 1 0 R/s, "$1/Root 1 1 R"),
  },
  {
    name: "information that is a page's content",
    forbidden: ALL,
    make: (signed) => appendRevision(signed, [[90, "null"]], " /Info 7 0 R"),
  },
  {
    name: "an encryption dictionary",
    forbidden: ALL,
    make: (signed) => appendRevision(signed, [[90, "<< /Filter /Standard /V 1 >>"]], " /Encrypt 90 0 R"),
  },
  {
    name: "content changed and restored",
    forbidden: ALL,
    make: (signed) =>
      appendRevision(appendRevision(signed, [[OBJECT.content, evil]]), [
        [OBJECT.content, bodyOf(signed, OBJECT.content)],
      ]),
  },
  {
    name: "a dangling reference that is filled",
    forbidden: ALL,
    prepared: { contents: "[7 0 R 70 0 R]" },
    make: (signed) => appendRevision(signed, [[70, evil]]),
  },
  {
    name: "a free number that is referred to, filled",
    forbidden: ALL,
    prepared: { contents: "[7 0 R 35 0 R]" },
    make: (signed) => appendRevision(signed, [[35, evil]]),
  },
  {
    name: "an object that lies after the end of what was signed",
    forbidden: ALL,
    unsound: true,
    prepared: { contents: "[7 0 R 39 0 R]" },
    preparedRevision: (pdf) => {
      const { startxref, size } = endOf(pdf);
      return appendRows(pdf, "", [{ number: 39, offset: 60_000 }], `/Size ${size} /Root 1 0 R /Prev ${startxref}`);
    },
    make: (signed) => {
      const at = `${signed}%${" ".repeat(60_000 - signed.length - 2)}\n39 0 obj\n${evil}\nendobj\n`;
      return appendRevision(at, [[90, "null"]]);
    },
  },
  {
    name: "an object whose stream reaches past the end of what was signed",
    forbidden: ALL,
    unsound: true,
    prepared: { contents: "[7 0 R 39 0 R]" },
    preparedRevision: (pdf) => appendRevision(pdf, [[39, "<< /Length 60000 >>\nstream\nq Q\nendstream"]]),
    make: (signed) => appendRevision(`${signed}% ${" ".repeat(70_000)}\n`, [[90, "null"]]),
  },
];
