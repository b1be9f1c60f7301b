import { OBJECT, stream } from "../../../../../../packages/evidence/test/pdf/changes/document.ts";
import { appendRows, appendStreams } from "../../../../../../packages/evidence/test/pdf/changes/revisions.ts";
import { bodyOf, endOf } from "../../../../../../packages/evidence/test/seal/signed-pdf.ts";
import { accepted, type ChangeRule, edit, field, refused, sizeOf } from "./change-rules.ts";

const LOCKED_NAME = { signature: { fieldMdp: "/Action /Include /Fields [(Name)]" } };
const fill = edit("amount", "(100)", "(900)");
const lock = (name: string, fieldMdp: string, make = refused, made = fill): ChangeRule =>
  make(`a lock ${name}`, made, { signature: { fieldMdp } });
const computed = edit("name", "(1)", "(2)");
const COMPUTED = {
  prepared: {
    form: "<< /Fields 15 0 R /SigFlags 3 /DR << /Font << /Helv 6 0 R >> >> /DA (/Helv 0 Tf 0 g) /CO [21 0 R] >>",
    name: field("Name", "/Ff 1 /V (1) "),
  },
};
const deep = Array.from({ length: 33 }, (_, index) => `a${index}`).join(".");
const locks: readonly ChangeRule[] = [
  lock("that names another field", "/Action /Include /Fields [(Name)]", accepted),
  lock("that excludes the field", "/Action /Exclude /Fields [(Amount)]", accepted),
  lock("that excludes another field", "/Action /Exclude /Fields [(Name)]"),
  lock("of an action that is not known", "/Action /Odd /Fields [(Name)]"),
  lock("without an action", "/Fields [(Name)]"),
  lock("whose names are no list", "/Action /Include /Fields (Name)"),
  lock("whose names are no texts", "/Action /Include /Fields [/Name]"),
  lock("that excludes by a name that is no text", "/Action /Exclude /Fields [/Amount]"),
  ...[
    ["\\001", "\\002"],
    ["\\200", "\\201"],
  ].map(([own = "", other = ""]) =>
    refused(`a field whose name has ${own}, locked by a name with ${other}`, computed, {
      prepared: { name: field(`Name${own}`, "/V (1) ") },
      signature: { fieldMdp: `/Action /Include /Fields [(Name${other})]` },
    }),
  ),
  lock("that names one that is too deep", `/Action /Include /Fields [(${deep})]`),
  lock(
    "that excludes, and the form's texts changed",
    "/Action /Exclude /Fields [(Amount)]",
    refused,
    edit("form", "0 g", "1 g"),
  ),
  lock(
    "of no field, and the form's texts changed",
    "/Action /Include /Fields []",
    accepted,
    edit("form", "0 g", "1 g"),
  ),
  lock("with /P 1", "/Action /Include /Fields [(Name)] /P 1"),
  lock("with /P 3", "/Action /Include /Fields [(Name)] /P 3", accepted),
  lock("with a /P of 4", "/Action /Include /Fields [(Name)] /P 4"),
  ...[
    "/Reference [(x)]",
    "/Reference [<< /TransformMethod /FieldMDP /TransformParams (x) >>]",
    "/Reference [<< /TransformMethod /FieldMDP >>]",
    "/Reference [<< /TransformMethod (x) >>]",
  ].map((reference) =>
    refused(`a signature with ${reference}`, fill, {
      permission: "approval",
      signature: { subFilter: `ETSI.CAdES.detached ${reference}` },
    }),
  ),
  accepted("a field that /Lock does not name", fill, { signature: { lock: "/Action /Include /Fields [(Name)]" } }),
  refused("a field that /Lock names", fill, { signature: { lock: "/Action /Include /Fields [(Amount)]" } }),
  accepted("a field that is not locked, filled", fill, LOCKED_NAME),
  accepted("a read-only field computed again, behind what is no act", computed, COMPUTED),
  refused("a read-only field computed again, behind an act", computed, {
    ...COMPUTED,
    permission: 2,
    signature: { subFilter: "ETSI.CAdES.detached /SSSActSha256 (x)" },
  }),
];

export const trailer = (pdf: string): string =>
  `/Size ${endOf(pdf).size} /Root 1 0 R /Info 13 0 R /Prev ${endOf(pdf).startxref}`;
export const placeOf = (pdf: string, number: number): number => pdf.lastIndexOf(`\n${number} 0 obj\n`) + 1;
const again =
  (number: number, generation = 0) =>
  (signed: string) =>
    appendRows(signed, "", [{ number, offset: placeOf(signed, number), generation }], trailer(signed));
const rewritten = (number: number, generation: number, body: (old: string) => string) => (signed: string) =>
  appendRows(
    signed,
    `${number} ${generation} obj\n${body(bodyOf(signed, number))}\nendobj\n`,
    [{ number, offset: signed.length, generation }],
    trailer(signed),
  );
const HELD = [
  [OBJECT.contents, "[7 0 R]"],
  [OBJECT.orphan, "(x)"],
] as const;
const CONTENT = { preparedRevision: (pdf: string) => appendStreams(pdf, [], HELD) };
const UNCLOSED = stream("q Q        ").replace(/\/Length \d+/, "/Length 3");
/** Appends a revision that ends in a cross-reference stream of one row. */
function row(
  signed: string,
  number: number,
  [type, second, third]: readonly [number, number, number],
  objects = "",
): string {
  const { size, startxref } = endOf(signed);
  const at = signed.length + objects.length;
  const octets = [type, second >> 16, (second >> 8) & 255, second & 255, third];
  const dictionary = `<< /Type /XRef /Size ${size + 1} /Root 1 0 R /Info 13 0 R /Prev ${startxref} /W [1 3 1] /Index [${number} 1] /Length 5 >>`;
  return `${signed}${objects}${size} 0 obj\n${dictionary}\nstream\n${String.fromCharCode(...octets)}\nendstream\nendobj\nstartxref\n${at}\n%%EOF\n`;
}
const nothing = () => [];

const sections: readonly ChangeRule[] = [
  accepted("an entry again, of a stream that goes on behind its length", nothing, {
    prepared: { orphan: UNCLOSED },
    make: again(OBJECT.orphan),
  }),
  accepted("an entry again, of an object with a key twice", nothing, {
    prepared: { orphan: "<< /A 1 /A 2 >>" },
    make: again(OBJECT.orphan),
  }),
  refused("an entry again, of another generation", nothing, { make: again(OBJECT.orphan, 1) }),
  refused(
    "a stream that goes on behind its length, written again",
    (signed) => [[OBJECT.orphan, bodyOf(signed, OBJECT.orphan)]],
    { prepared: { orphan: UNCLOSED } },
  ),
  refused("a note of another generation", nothing, {
    make: rewritten(OBJECT.note, 1, (old) => old.replace("(Note)", "(Other)")),
  }),
  refused("an object of another generation, as it was", nothing, { make: rewritten(OBJECT.orphan, 1, (old) => old) }),
  refused("a list of contents in an object stream that is elsewhere", nothing, {
    ...CONTENT,
    make: (signed) => appendStreams(signed, [], [[OBJECT.contents, "[44 0 R]"]]),
  }),
  refused("an object stream as it was, with all that it holds", nothing, {
    ...CONTENT,
    make: (signed) => appendStreams(signed, [], HELD, 45),
  }),
  accepted("an entry of an object stream again", nothing, {
    ...CONTENT,
    make: (signed) => row(signed, OBJECT.contents, [2, 45, 0]),
  }),
  refused("an entry of an object stream at another index", nothing, {
    ...CONTENT,
    make: (signed) => row(signed, OBJECT.orphan, [2, 45, 0]),
  }),
  refused("an object of an object stream freed", nothing, {
    ...CONTENT,
    make: (signed) => row(signed, OBJECT.orphan, [0, 0, 0]),
  }),
  refused(
    "an object of an object stream written elsewhere",
    (signed) => [[OBJECT.orphan, `(y${sizeOf(signed)})`]],
    CONTENT,
  ),
  refused("a size of none", nothing, {
    make: (signed) => appendRows(signed, "", [], trailer(signed).replace(/\/Size \d+/, "/Size 0")),
  }),
  refused("a size of 8,388,609", nothing, {
    make: (signed) => appendRows(signed, "", [], trailer(signed).replace(/\/Size \d+/, "/Size 8388609")),
  }),
  refused("another root", (signed) => [[90, bodyOf(signed, 1)]], {
    make: (signed) =>
      appendRows(
        signed,
        `90 0 obj\n${bodyOf(signed, 1)}\nendobj\n`,
        [{ number: 90, offset: signed.length }],
        trailer(signed).replace("/Root 1", "/Root 90"),
      ),
  }),
  refused("information of another generation", nothing, {
    make: (signed) => appendRows(signed, "", [], trailer(signed).replace("/Info 13 0", "/Info 7 0")),
  }),
  refused("a stream whose length is cut off", (signed) => [
    [OBJECT.amountAppearance, bodyOf(signed, OBJECT.amountAppearance).replace(/\/Length \d+/, "/Length 99999999")],
  ]),
  refused("a stream whose length is no integer", (signed) => [
    [OBJECT.amountAppearance, bodyOf(signed, OBJECT.amountAppearance).replace(/\/Length \d+/, "/Length 3.5")],
  ]),
  refused("a stream whose length is below zero", (signed) => [
    [OBJECT.amountAppearance, bodyOf(signed, OBJECT.amountAppearance).replace(/\/Length \d+/, "/Length -3")],
  ]),
  refused("a stream whose length is a name", (signed) => [
    [OBJECT.amountAppearance, bodyOf(signed, OBJECT.amountAppearance).replace(/\/Length \d+/, "/Length /X")],
  ]),
  accepted("a new stream whose length names itself", (signed) => [[sizeOf(signed), "(x)"]], {
    prepared: { orphan: "(x)" },
  }),
];

/** A change of one value in an object that nothing references. Such an object must stay unchanged. */
const differing = (name: string, before: string, after: string, make = refused): ChangeRule =>
  make(`an object that nothing leads to: ${name}`, [[OBJECT.orphan, after]], { prepared: { orphan: before } });
const values: readonly ChangeRule[] = [
  differing("another number of a reference", "[7 0 R]", "[8 0 R]"),
  differing("another generation of a reference", "[7 0 R]", "[7 1 R]"),
  differing("another text", "[(a)]", "[(b)]"),
  differing("a text in hexadecimal", "[(a)]", "[<61>]", accepted),
  differing("another name", "[/A]", "[/B]"),
  differing("another truth", "[true]", "[false]"),
  differing("another number", "[1]", "[2]"),
  differing("a number of another form", "[1]", "[1.0]", accepted),
  differing("an item more", "[1]", "[1 2]"),
  differing("an item less", "[1 2]", "[1]"),
  differing("an entry more", "[<< /A 1 >>]", "[<< /A 1 /B 2 >>]"),
  differing("an entry less", "[<< /A 1 /B 2 >>]", "[<< /A 1 >>]"),
  differing("another entry", "[<< /A 1 >>]", "[<< /A 2 >>]"),
  differing("a key twice, as before", "[<< /A 1 /A 2 >>]", "[<< /A 1 /A 2 >>]"),
  differing("a key twice no more", "[<< /A 1 /A 2 >>]", "[<< /A 1 >>]"),
  ...["true", "1", "/true", "(true)", "[1]", "<< >>", "7 0 R", "null"].flatMap((one, index, all) =>
    all
      .filter((_, other) => other === (index + 1) % all.length || other === (index + 4) % all.length)
      .map((other) => differing(`${one} becomes ${other}`, `[${one}]`, `[${other}]`)),
  ),
  differing("other data of a stream", stream("abc"), stream("abd")),
  differing("a stream no more", stream("abc"), "<< /Length 3 >>"),
  differing("a stream now", "<< /Length 3 >>", stream("abc")),
];

export const sectionRules: readonly ChangeRule[] = [...locks, ...sections, ...values];
