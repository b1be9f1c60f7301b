import type { Part } from "./part.ts";
import { CATALOG, part, pdf, placed, swapped } from "./pdf-files.ts";

const DATA = '{"a":1}';
export const attached = (
  name: string,
  expect: Part["expect"],
  edit: (text: string) => string = (text) => text,
  more = "",
  names = "/Names [(record.json) 4 0 R]",
): Part =>
  part(
    "attachment",
    name,
    placed(
      edit(
        pdf(
          [
            [3, `<< ${names} >>`],
            [4, "<< /Type /Filespec /F (record.json) /UF (record.json) /EF << /F 5 0 R /UF 5 0 R >> >>"],
            [5, `<< /Type /EmbeddedFile /Length ${DATA.length} >>\nstream\n${DATA}\nendstream`],
            [6, `<< /Type /EmbeddedFile /Length ${DATA.length} >>\nstream\n${DATA}\nendstream`],
            [7, `${DATA.length}`],
          ],
          more,
          CATALOG.replace(" >>", " /Names << /EmbeddedFiles 3 0 R >> >>"),
        ),
      ),
    ),
    expect,
    "Section 10.5: the attached file is one for every reader.",
  );
/** Writes the attachment's name in UTF-16 or UTF-8, with the byte order mark `mark`. */
const named = (mark: string) => (text: string) => {
  const codes = Buffer.from("record.json", mark === "feff" ? "utf16le" : "utf8");
  const name = `<${mark}${(mark === "feff" ? codes.swap16() : codes).toString("hex")}>`;
  return text.replaceAll("(record.json)", name);
};
const SAME = /\/Length 7/;
/** PDF files with an attachment that all readers find, or that readers may disagree about. */
export const attachments: readonly Part[] = [
  attached("as it should be", "accepted"),
  attached("a length that is elsewhere", "accepted", (text) => swapped(text, SAME, "/Length 7 0 R")),
  attached("no names", "refused", (text) =>
    swapped(text, "/Names << /EmbeddedFiles 3 0 R >>", "/Namex << /EmbeddedFiles 3 0 R >>"),
  ),
  attached("another name", "refused", (text) => text.replaceAll("record.json", "record.jsom")),
  ...["feff", "efbbbf"].map((mark) =>
    attached(`a name that begins with ${mark}`, "accepted", named(mark), "", "/Names [(x) 4 0 R]"),
  ),
  attached("of two files", "refused", undefined, "", "/Names [(record.json) 4 0 R (x) 4 0 R]"),
  attached("of two data", "refused", (text) => swapped(text, "/UF 5 0 R", "/UF 6 0 R")),
  attached("of data that /UF names by another generation", "refused", (text) =>
    swapped(text, "/UF 5 0 R", "/UF 5 1 R"),
  ),
  attached("a tree with a key twice", "refused", undefined, "", "/Names [(record.json) 4 0 R] /Names []"),
  attached("a node with a key twice", "refused", undefined, "", "/Kids [<< /Names [(record.json) 4 0 R] /Names [] >>]"),
  attached("a node", "accepted", undefined, "", "/Kids [<< /Names [(record.json) 4 0 R] >>]"),
  attached("data that are no object of their own", "refused", (text) =>
    swapped(text, "/EF << /F 5 0 R /UF 5 0 R >>", "/EF << /F (x) >>"),
  ),
  attached("no catalog", "refused", (text) => swapped(text, "/Root 1 0 R", "/Root 9 0 R")),
  attached("data beyond the bound", "refused", (text) =>
    swapped(swapped(text, SAME, "/Length 70"), DATA, DATA.padEnd(70)),
  ),
  attached("a specification with a key twice", "refused", (text) =>
    swapped(text, "/Type /Filespec", "/Type /Filespec /Type /Filespec"),
  ),
  attached("data with a key twice", "refused", (text) =>
    swapped(text, "/Type /EmbeddedFile", "/Type /EmbeddedFile /Type /X"),
  ),
  attached("data with a filter", "refused", (text) => swapped(text, SAME, "/Length 7 /Filter /X")),
  attached("data that are in another file", "refused", (text) => swapped(text, SAME, "/Length 7 /F (x)")),
  attached("no data", "refused", (text) => swapped(text, `\nstream\n${DATA}\nendstream`, "")),
  attached("data that are an array", "refused", (text) =>
    swapped(text, /<< \/Type \/EmbeddedFile[\s\S]*?endstream/, "[]"),
  ),
  attached("no length", "refused", (text) => swapped(text, SAME, "/Longth 7")),
  attached("a length with a point", "refused", (text) => swapped(text, SAME, "/Length 7.0")),
  attached("a length below zero", "refused", (text) => swapped(text, SAME, "/Length -7")),
  attached("a length below zero, to the word endstream before the data", "refused", (text) =>
    swapped(text, SAME, "/X (endstream) /Length -33"),
  ),
  attached("a length that is a name", "refused", (text) => swapped(text, SAME, "/Length /X")),
  attached("a shorter length", "refused", (text) => swapped(text, SAME, "/Length 6")),
  attached("a longer length", "refused", (text) => swapped(text, SAME, "/Length 99")),
];
