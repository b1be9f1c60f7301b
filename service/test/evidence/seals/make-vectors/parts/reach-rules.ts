import {
  formXObject,
  metadata,
  OBJECT,
  stream,
} from "../../../../../../packages/evidence/test/pdf/changes/document.ts";
import { appendRows } from "../../../../../../packages/evidence/test/pdf/changes/revisions.ts";
import { appendRevision, bodyOf } from "../../../../../../packages/evidence/test/seal/signed-pdf.ts";
import { accepted, type ChangeRule, edit, field, grown, refused, sizeOf } from "./change-rules.ts";
import { placeOf, trailer } from "./section-rules.ts";

const catalog = (more: string): string =>
  `<< /Type /Catalog /Pages 2 0 R /AcroForm 3 0 R /Metadata 4 0 R /StructTreeRoot 40 0 R ${more} >>`;
const page = (more: string): string =>
  `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 8 0 R ${more} >>`;
const NOTE = "<< /Type /Annot /Subtype /Text /Rect [300 700 320 720] /Contents (Note) >>";
const named = (by: string, what: number) => ({ prepared: { catalog: catalog(`/Odd << /${by} ${what} 0 R >>`) } });
const drawnAnew = grown("form", "/NeedAppearances true");
const noteAnew = edit("note", "(Note)", "(Other)");

const reached: readonly ChangeRule[] = [
  refused("the order of tabs of a page that another page names in a list", grown("secondPage", "/Tabs /S"), {
    prepared: { orphan: page("/Odd [7 11 0 R]"), kids: "[10 0 R 11 0 R 44 0 R]" },
  }),
  accepted(
    "a number in a node of the parent tree",
    edit("orphan", "[41 0 R]]", "[41 0 R] 6 << /Type /OBJR /Obj 24 0 R >>]"),
    {
      permission: 3,
      prepared: { parentTree: "<< /Kids [44 0 R] >>", orphan: "<< /Nums [1 42 0 R 5 [41 0 R]] /Limits [1 5] >>" },
    },
  ),
  refused("the appearance of a widget that no form knows", [[OBJECT.orphan, formXObject("0 0 9 9 re f")]], {
    prepared: { orphan: formXObject("q Q") },
    preparedRevision: (pdf) =>
      appendRevision(
        pdf,
        [
          [45, field("Other", "/AP << /N 44 0 R >> ")],
          [OBJECT.annots, bodyOf(pdf, OBJECT.annots).replace("]", " 45 0 R]")],
        ],
        " /Info 13 0 R",
      ),
  }),
  refused("what an appearance draws by", [[OBJECT.orphan, "[2]"]], {
    prepared: { orphan: "[1]", amountAppearance: formXObject("q Q", " /Odd 44 0 R") },
  }),
  refused("the appearance of a field that is a stream", [[OBJECT.orphan, formXObject("0 0 9 9 re f")]], {
    prepared: {
      orphan: formXObject("q Q"),
      name: `${field("Name", "/AP << /N 44 0 R >> /Length 0 ")}\nstream\n\nendstream`,
    },
  }),
  refused("the appearance of a note that is a stream", [[OBJECT.noteAppearance, formXObject("0 0 9 9 re f")]], {
    prepared: {
      note: "<< /Type /Annot /Subtype /Text /Rect [300 700 320 720] /AP << /N 33 0 R >> /Length 0 >>\nstream\n\nendstream",
    },
  }),
  refused("a note that was not there and that something names as its parent", () => [[70, NOTE]], {
    prepared: {
      annots: "[20 0 R 21 0 R 22 0 R 23 0 R 24 0 R 26 0 R 27 0 R 70 0 R]",
      catalog: catalog("/Odd << /P 70 0 R >>"),
    },
  }),
  accepted("a note that was not there", () => [[70, NOTE]], {
    permission: 3,
    prepared: { annots: "[20 0 R 21 0 R 22 0 R 23 0 R 24 0 R 26 0 R 27 0 R 70 0 R]" },
  }),
  refused("a length of what is no stream", [[OBJECT.orphan, "[2]"]], {
    prepared: { orphan: "[1]", amountAppearance: "<< /Length 44 0 R >>" },
  }),
  refused("a signature that a text field holds", (signed) => [[sizeOf(signed), "null"]], {
    permission: "approval",
    signature: { field: OBJECT.name },
  }),
  refused("a form that something names as its parent", drawnAnew, named("P", OBJECT.form)),
  refused("a form that something names as its data", drawnAnew, named("Data", OBJECT.form)),
  refused("a note that something names by another key", noteAnew, named("X", OBJECT.note)),
  accepted("a note that something names as its parent", noteAnew, { ...named("P", OBJECT.note), permission: 3 }),
  refused(
    "a catalog that something names by another key",
    grown("catalog", "/Version /2.0"),
    named("X", OBJECT.catalog),
  ),
  accepted(
    "a catalog that something names as its data",
    grown("catalog", "/Version /2.0"),
    named("Data", OBJECT.catalog),
  ),
  refused("a form that a note names", drawnAnew, {
    permission: "approval",
    prepared: { note: "<< /Type /Annot /Subtype /Text /Rect [300 700 320 720] /Odd 3 0 R >>" },
  }),
  refused("an appearance below one that two fields share", [[OBJECT.amountAppearance, formXObject("q Q")]], {
    prepared: { orphan: "<< /N 30 0 R >>", amount: field("Amount", "/AP 44 0 R "), name: field("Name", "/AP 44 0 R ") },
  }),
  accepted("the order of tabs of a page that its node lists twice", grown("page", "/Tabs /S"), {
    prepared: { kids: "[10 0 R 10 0 R 11 0 R]" },
  }),
  accepted("a field that the form lists twice, filled", edit("amount", "(100)", "(900)"), {
    prepared: { fields: "[20 0 R 20 0 R 21 0 R 22 0 R 23 0 R 25 0 R]" },
  }),
  refused("the last field of the form listed twice", edit("fields", /(\d+ 0 R)\]$/, "$1 $1]")),
  refused("annotations beside a direct one in another order", edit("annots", "24 0 R 26 0 R", "26 0 R 24 0 R"), {
    prepared: { annots: "[20 0 R 21 0 R 22 0 R 23 0 R 24 0 R 26 0 R 27 0 R null]" },
  }),
];

const closed = stream("q Q");
const unclosed = stream("q Q        ").replace(/\/Length \d+/, "/Length 3");
const fresh = (name: string, length: (number: number) => string): ChangeRule =>
  refused(`a new stream ${name}`, (signed) => [
    [sizeOf(signed), `<< /Length ${length(sizeOf(signed))} >>\nstream\nq Q\nendstream`],
  ]);
const HOLDER = "/Type /Annot /Subtype /Widget /FT /Sig /T (Countersign) /F 4 /P 10 0 R /Rect [0 0 0 0]";

const stored: readonly ChangeRule[] = [
  refused("a stream that now goes on behind its length", [[OBJECT.orphan, unclosed]], { prepared: { orphan: closed } }),
  refused("a stream that goes on behind its length no more", [[OBJECT.orphan, closed]], {
    prepared: { orphan: unclosed },
  }),
  refused("an appearance whose data ends in another word", [
    [OBJECT.amountAppearance, formXObject("q Q").replace("endstream", "endstreams")],
  ]),
  fresh("of 3.5 bytes", () => "3.5"),
  fresh("of -3 bytes", () => "-3"),
  fresh("of more bytes than the file", () => "99999999"),
  fresh("that is its own length", (number) => `${number} 0 R`),
  refused("an entry that leads to another object of the same text", [], {
    prepared: { orphan: "(x)" },
    preparedRevision: (pdf) => appendRevision(pdf, [[45, "(x)"]], " /Info 13 0 R"),
    make: (signed) => appendRows(signed, "", [{ number: OBJECT.orphan, offset: placeOf(signed, 45) }], trailer(signed)),
  }),
  refused(
    "a field that becomes a stream of the same keys",
    (signed) => [[OBJECT.name, `${bodyOf(signed, OBJECT.name)}\nstream\n\nendstream`]],
    { prepared: { name: field("Name", "/Length 0 ") } },
  ),
  refused("an appearance of another generation", edit("amount", "/N 30 0 R", "/N 30 1 R")),
  accepted("metadata in place of null", edit("catalog", "/Metadata null", "/Metadata 4 0 R"), {
    permission: 1,
    prepared: { catalog: catalog("").replace("4 0 R", "null"), metadata: metadata() },
  }),
  accepted(
    "an empty field with a kid that is none, stamped",
    (signed) => [
      [OBJECT.empty, `<< ${HOLDER} /Kids [44 0 R] /V ${sizeOf(signed)} 0 R >>`],
      [sizeOf(signed), "<< /Type /DocTimeStamp /Filter /X /SubFilter /ETSI.RFC3161 >>"],
    ],
    { permission: 1, prepared: { empty: `<< ${HOLDER} /Kids [44 0 R] >>`, orphan: "[]" } },
  ),
];

/** A signature whose /ByteRange is replaced after signing. */
const range = (
  name: string,
  change: (numbers: readonly number[]) => readonly (number | string)[],
  make = refused,
): ChangeRule =>
  make(`a signature with ${name}`, [], {
    signature: { reserve: 10 },
    permission: "approval",
    make: (signed) =>
      signed.replace(
        /\/ByteRange \[([^\]]*)\]/,
        (found, list: string) =>
          `/ByteRange [${change(list.trim().split(" ").map(Number))
            .join(" ")
            .padEnd(found.length - 13)}]`,
      ),
  });
const value = (name: string, change: (hex: string) => string, make = refused, reserve = 10): ChangeRule =>
  make(`a signature with ${name}`, [], {
    signature: { reserve, contents: () => Uint8Array.of(0x30, 0x04, 0x04, 0x02, 0x0a, 0xbc) },
    permission: "approval",
    make: (signed) => signed.replace("300404020abc", change),
  });
const ranges: readonly ChangeRule[] = [
  range("its range", (numbers) => numbers, accepted),
  range("a range of three numbers", ([a = 0, b = 0, c = 0]) => [a, b, c]),
  range("a range of five numbers", (numbers) => [...numbers, 0]),
  range("a range with a name", ([, b = 0, c = 0, d = 0]) => ["/X", b, c, d]),
  range("a range that begins at 1", ([, b = 0, c = 0, d = 0]) => [1, b, c, d]),
  range("a range whose gap begins later", ([a = 0, b = 0, c = 0, d = 0]) => [a, b + 2, c, d]),
  range("a range whose gap begins earlier", ([a = 0, b = 0, c = 0, d = 0]) => [a, b - 2, c, d]),
  range("a range whose gap ends earlier", ([a = 0, b = 0, c = 0, d = 0]) => [a, b, c - 2, d + 2]),
  range("a range whose gap ends later", ([a = 0, b = 0, c = 0, d = 0]) => [a, b, c + 2, d - 2]),
  range("a range that ends behind the file", ([a = 0, b = 0, c = 0]) => [a, b, c, 99_999]),
  range("a range that ends earlier", ([a = 0, b = 0, c = 0]) => [a, b, c, 2]),
  value("a value in letters of one case", (hex) => hex.toUpperCase(), accepted),
  value("a value in letters of both cases", (hex) => hex.replace("b", "B")),
  value("a value of another digit", (hex) => hex.replace("b", "g")),
  value("a value that is no BER", () => "ffffffffffff"),
  value("a value and what is behind it", (hex) => hex.replace("3004", "3003")),
  value("a value of odd digits", (hex) => hex, refused, 10.5),
];

export const reachRules: readonly ChangeRule[] = [...reached, ...stored, ...ranges];
