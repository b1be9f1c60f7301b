import { endOf } from "../../../../../packages/evidence/test/seal/signed-pdf.ts";
import { unreadable, verified } from "./case.ts";
import { plain, readStrictly, tolerated, type Way, withField } from "./way.ts";

const row = (offset: number, kind = "n", end = " \n") => `${String(offset).padStart(10, "0")} 00000 ${kind}${end}`;
/** The plain document, with one more subsection at the end of its cross-reference table. */
const extra = (subsection: string): string => plain.replace("trailer", `${subsection}trailer`);
const trailed = (entries: string): string => plain.replace(/ ?>>\s*startxref/, (end) => ` ${entries}${end}`);

/** Cross-reference tables and their trailers. */
export function tables(): readonly Way[] {
  const bad = (name: string, pdf: string): Way => [name, pdf, unreadable, readStrictly];
  const good = (name: string, pdf: string): Way => [name, pdf, verified(), tolerated];
  const inTheMiddle = (middle: string) => {
    const field = plain.length;
    const text = `${plain}90 0 obj\n<< /FT /Tx /T (a) >>\nendobj\n`;
    const at = text.length;
    const { size, startxref } = endOf(plain);
    const catalog = `1 0 obj\n${withField[1]}\nendobj\n`;
    const table = at + catalog.length;
    const rows = `1 1\n${row(at)}89 3\n${row(0, "f")}${middle.replace("OFFSET", String(field).padStart(10, "0"))}${row(0, "f")}`;
    return `${text}${catalog}xref\n${rows}trailer\n<< /Size ${Math.max(size, 92)} /Root 1 0 R /Prev ${startxref} >>\nstartxref\n${table}\n%%EOF\n`;
  };
  return [
    good("a table with another subsection", extra(`50 1\n${row(0, "f")}`)),
    good("the greatest number of an object", extra(`8388607 1\n${row(0, "f")}`)),
    bad("a number of an object beyond the bound", extra(`8388608 1\n${row(0, "f")}`)),
    bad("a subsection beyond the bound", extra(`8388607 2\n${row(0, "f")}${row(0, "f")}`)),
    bad("a subsection without numbers", extra("x\n")),
    bad("a subsection of one number", extra("50 x\n")),
    bad("rows without white space between", extra(`50 2\n${row(0, "f", "")}${row(0, "f", "")}\n`)),
    bad("rows 22 bytes apart", extra(`50 2\n${row(0, "f", "   \n")}${row(0, "f", "   \n")}`)),
    bad("rows of uneven distance", extra(`50 3\n${row(0, "f")}${row(0, "f", "\n")}${row(0, "f", "  \n")}`)),
    bad("a row with a letter", extra(`50 1\n${row(0, "f").replace("0000000000", "000000000x")}`)),
    bad("a row with a letter in its generation", extra(`50 1\n${row(0, "f").replace(" 00000", " 0000x")}`)),
    bad("a row without its first space", extra(`50 1\n${row(0, "f").replace(" 00000", "-00000")}`)),
    bad("a row without its second space", extra(`50 1\n${row(0, "f").replace(" f", "-f")}`)),
    bad("a row of another kind", extra(`50 1\n${row(0, "x")}`)),
    bad("the last row of another kind", extra(`50 2\n${row(0, "f")}${row(0, "x")}`)),
    bad("a row that begins at once", extra(`50 1${row(0, "f")}`)),
    bad("more rows than the file has", extra(`50 200000\n${row(0, "f")}`)),
    good("rows around one that is in use", inTheMiddle("OFFSET 00000 n \n")),
    bad("a row in the middle that is broken", inTheMiddle("OFFSET 00000 x \n")),
    good("a row in the middle of another generation, which is not asked", inTheMiddle("OFFSET 00001 n \n")),
    bad(
      "a trailer that is no dictionary",
      plain.replace(/trailer\s*<<([\s\S]*)>>\s*startxref/, "trailer\n[<<$1>>]\nstartxref"),
    ),
    good("a /Prev that is null", trailed("/Prev null")),
    good("a /Prev of 0", trailed("/Prev 0")),
    bad("a /Prev that is a name", trailed("/Prev /N")),
    bad("a /Prev that is a reference", trailed("/Prev 1 0 R")),
    bad("a /Prev of a fraction", trailed("/Prev 0.5")),
    bad("a negative /Prev", trailed("/Prev -1")),
    bad("a /Prev behind the file", trailed("/Prev 99999999")),
    bad("a /Prev to where no section is", trailed("/Prev 9")),
    bad("an /XRefStm to where no section is", trailed("/XRefStm 9")),
    bad("an /XRefStm to a table", trailed(`/XRefStm ${endOf(plain).startxref}`)),
    bad(
      "an object twice, the subsections unsorted",
      extra(`60 1\n${row(0, "f")}50 1\n${row(0, "f")}60 1\n${row(0, "f")}`),
    ),
    good("subsections that are not sorted", extra(`60 1\n${row(0, "f")}50 1\n${row(0, "f")}`)),
  ];
}
