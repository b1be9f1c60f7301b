import { endOf, type NewObject } from "../../../../../packages/evidence/test/seal/signed-pdf.ts";
import { collection, type Expectation, type Made, notCovered, notVerified, unreadable, verified } from "./case.ts";
import { document, oddSeal, type SealOptions } from "./sealing.ts";

/**
 * The parts of a tail (the incremental update that holds the seal) that a vector writes differently from the sealer.
 */
export type Writing = {
  readonly header?: (number: number) => string;
  readonly behind?: (number: number) => string;
  readonly end?: (number: number) => string;
  readonly rows?: (rows: readonly (readonly [number: number, row: string])[]) => string;
  readonly trailer?: string;
  readonly more?: (entries: string) => string;
  readonly behindTrailer?: string;
  readonly last?: (offset: number) => string;
  readonly beforeTable?: string;
  /** Returns the document with the bytes between it and the seal. */
  readonly document?: (pdf: string) => string;
};

/** Appends a line feed if the document does not end in one, as the sealer does. */
export const endingInLine = (pdf: string): string => (pdf.endsWith("\n") ? pdf : `${pdf}\n`);

const subsections = (rows: readonly (readonly [number, string])[]): string => {
  let text = "";
  rows.forEach(([number, row], index) => {
    if (rows[index - 1]?.[0] !== number - 1) {
      let count = 1;
      while (rows[index + count]?.[0] === number + count) count++;
      text += `${number} ${count}\n`;
    }
    text += row;
  });
  return text;
};

/** A tail as the sealer writes it, with the given deviations. */
export const writing =
  (odd: Writing) =>
  (pdf: string, objects: readonly NewObject[]): string => {
    const { startxref, size } = endOf(pdf);
    let text = (odd.document ?? endingInLine)(pdf);
    const rows: (readonly [number, string])[] = [];
    for (const [number, body] of objects) {
      rows.push([number, `${String(text.length).padStart(10, "0")} 00000 n \n`]);
      text += `${odd.header?.(number) ?? `${number} 0 obj\n`}${body}${odd.end?.(number) ?? "\nendobj\n"}${odd.behind?.(number) ?? ""}`;
    }
    rows.sort(([one], [other]) => one - other);
    const offset = text.length;
    text += `${odd.beforeTable ?? ""}xref\n${(odd.rows ?? subsections)(rows)}`;
    const entries = `/Size ${Math.max(size, ...objects.map(([number]) => number + 1))}/Root 1 0 R/ID[<00><01>]/Prev ${startxref}`;
    text += `${odd.trailer ?? "trailer\n"}<<${odd.more?.(entries) ?? entries}>>${odd.behindTrailer ?? "\n"}`;
    return text + (odd.last?.(offset) ?? `startxref\n${offset}\n%%EOF\n`);
  };

const structure = notVerified({ signature_structure: "fails" });
const written = "From its first byte on the file is what the sealer writes, byte by byte (2.3).";
const replaced =
  (from: string | RegExp, to: string): NonNullable<SealOptions["dictionary"]> =>
  (text) =>
    text.replace(from, to);
const edited =
  (index: number, from: string | RegExp, to: string): NonNullable<SealOptions["objects"]> =>
  (objects) =>
    objects.map(([number, body], at) => [number, at === index ? body.replace(from, to) : body] as const);
const added =
  (...more: readonly NewObject[]): NonNullable<SealOptions["objects"]> =>
  (objects) => [...objects, ...more];

type Row = readonly [name: string, options: SealOptions | object, expect: Expectation, teaches: string];

function dictionaries(): readonly Row[] {
  const row = (name: string, from: string | RegExp, to: string, expect: Expectation = structure): Row => [
    name,
    { dictionary: replaced(from, to) },
    expect,
    written,
  ];
  return [
    row("a key of its own in the seal", "/SSSOriginalLength", "/Location(here)/SSSOriginalLength"),
    row("a /Name in the seal", "/Reason", "/Name(Service)/Reason", verified()),
    row("the seal's keys in another order", "/Type/Sig/Filter/Adobe.PPKLite", "/Filter/Adobe.PPKLite/Type/Sig"),
    row("the seal without /Filter", "/Filter/Adobe.PPKLite", ""),
    row("a key behind /ByteRange", "]>>", "]/Name(x)>>"),
    row("two spaces before /Contents", "/Contents <", "/Contents  <", structure),
    row("a line feed before /Contents", /\/Contents </, "\n/Contents <", structure),
    row("a space before /ByteRange", "/ByteRange[", " /ByteRange[", structure),
    row("a space in /ByteRange[", "/ByteRange[", "/ByteRange[ ", structure),
    row("a comment in /ByteRange", / \]>>/, "%]\n]>>"),
    row("a line feed in /ByteRange's padding", / \]>>/, "\n]>>"),
    row("a space behind /ByteRange", "]>>", "] >>"),
    row("/ByteRange with less padding", /( {8})\]>>/, "]>>", verified()),
    row("/ByteRange with 1,100 spaces of padding", "]>>", `${" ".repeat(1100)}]>>`, verified()),
    row("/SSSOriginalLength with a sign", "/SSSOriginalLength ", "/SSSOriginalLength +"),
    row("startxref in the seal", "/Reason", "/Name(startxref)/Reason"),
  ];
}

const field = (more: string): SealOptions["objects"] => edited(1, "/F 132", `/F 132 ${more}`);
const fieldless: NonNullable<SealOptions["objects"]> = edited(3, /\/AcroForm << .*? >>/, "");

function objects(): readonly Row[] {
  const row = (
    name: string,
    objectsOf: SealOptions["objects"],
    expect: Expectation = structure,
    teaches = written,
  ): Row => [name, { objects: objectsOf }, expect, teaches];
  const way = "It is the value of exactly one form field.";
  const sig = (more: string): NewObject => [41, `<< /Type /Sig /Filter /Adobe.PPKLite ${more}>>`];
  const twoFields =
    (body: string): NonNullable<SealOptions["objects"]> =>
    (list) => [...edited(3, "/Fields [", "/Fields [40 0 R ")(list), [40, body]];
  return [
    row(
      "a field without /FT",
      edited(1, "/FT /Sig ", ""),
      structure,
      "The object behind the seal is its field: /FT/Sig, and /V the seal.",
    ),
    row(
      "a field of another type",
      edited(1, "/FT /Sig", "/FT /Tx"),
      structure,
      "The object behind the seal is its field: /FT/Sig, and /V the seal.",
    ),
    row(
      "the page before the field",
      ([seal, own, ...rest]) => [seal, ...rest.slice(0, 1), own, ...rest.slice(1)] as NewObject[],
    ),
    row("an object more", added([40, "<< >>"]), verified(), "The newest section names 2 to 8 objects."),
    row(
      "eight objects",
      added([40, "[]"], [41, "()"], [42, "1"], [43, "/N"]),
      verified(),
      "The newest section names 2 to 8 objects.",
    ),
    row("nine objects", added([40, "[]"], [41, "()"], [42, "1"], [43, "/N"], [44, "true"])),
    row("an object that is a reference", added([40, "5 0 R"]), structure, "None of these values is a reference."),
    row("an object that is a stream", added([40, "<< /Length 2 >>\nstream\nq \nendstream"])),
    row(
      "the seal alone",
      ([seal]) => [seal] as NewObject[],
      { verdict: "unsigned", claims: { pdf_readable: "holds" } },
      "The document as it is opened holds no signature.",
    ),
    row(
      "two fields of one value",
      (list) => twoFields(`<< /FT /Sig /T (b) /V ${list[0]?.[0]} 0 R >>`)(list),
      structure,
      way,
    ),
    row(
      "no field, and /Perms",
      (list) => edited(3, / >>$/, ` /Perms << /DocMDP ${list[0]?.[0]} 0 R >> >>`)(fieldless(list)),
      structure,
      way,
    ),
    row(
      "no field and no /Perms",
      fieldless,
      { verdict: "unsigned", claims: { pdf_readable: "holds" } },
      "The document as it is opened holds no signature.",
    ),
    row(
      "another signature behind it",
      (list) => [...twoFields("<< /FT /Sig /T (b) /V 41 0 R >>")(list), sig("")],
      {
        verdict: "not_verified",
        claims: { pdf_readable: "holds", whole_file_covered: "holds", signature_structure: "fails" },
      },
      "No other signature dictionary begins after it.",
    ),
    row(
      "a comment in the field",
      field("% comment\n"),
      verified(),
      "What else the objects after the seal hold is not asked.",
    ),
    row("startxref in the field", field("% startxref\n"), structure, "startxref stands exactly once."),
    row("a key twice in the field", field("/F 4 "), unreadable, "The fields are on the way to the signatures."),
    row(
      "a key twice in the page",
      edited(2, / >>$/, " /Rotate 0 /Rotate 0 >>"),
      verified(),
      "In what the way does not reach it is not looked for.",
    ),
  ];
}

function tails(): readonly Row[] {
  const row = (name: string, odd: Writing, expect: Expectation = structure): Row => [
    name,
    { append: writing(odd) },
    expect,
    written,
  ];
  const last = (text: (offset: number) => string): Writing => ({ last: text });
  const rows = (from: RegExp, to: string): Writing => ({ rows: (list) => subsections(list).replace(from, to) });
  return [
    row("the tail as it should be", {}, verified()),
    row("a space behind obj", { header: (number) => `${number} 0 obj \n` }),
    row("a carriage return behind obj", { header: (number) => `${number} 0 obj\r\n` }),
    row("a zero before the objects' numbers", { header: (number) => `0${number} 0 obj\n` }),
    row("a comment behind the field's obj", { header: (number) => `${number} 0 obj\n${number === 8 ? "%\n" : ""}` }),
    row("a space before endobj", { end: () => " \nendobj\n" }),
    row("a carriage return behind endobj", { end: () => "\nendobj\r\n" }),
    row("a line feed behind each object", { behind: () => "\n" }),
    row("a comment behind the last object", { behind: (number) => (number === 1 ? "% end\n" : "") }),
    row("a line feed before xref", { beforeTable: "\n" }),
    row("a subsection for each object", {
      rows: (list) => list.map(([number, row]) => `${number} 1\n${row}`).join(""),
    }),
    row("rows that end in CR LF", rows(/ \n(?=\d{10}|$)/g, "\r\n")),
    row("a free object", { rows: (list) => `0 1\n0000000000 65535 f \n${subsections(list)}` }),
    row("an entry that leads into the gap", rows(/(\d{10}) 00000 n \n$/, "0000001000 00000 n \n"), unreadableOrOdd()),
    row("an object of generation 1 that is of 0", rows(/00000 n \n$/, "00001 n \n"), unreadableOrOdd()),
    row("a carriage return behind trailer", { trailer: "trailer\r\n" }),
    row("a space behind trailer", { trailer: "trailer \n" }),
    row("a key more in the trailer", { more: (entries) => `${entries}/More 1` }),
    row("a key twice in the trailer", { more: (entries) => `${entries}/Root 1 0 R` }, unreadable),
    row("no /ID", { more: (entries) => entries.replace(/\/ID\[.*?\]/, "") }),
    row("the trailer's keys in another order", {
      more: (entries) => entries.replace(/(\/Size \d+)(\/Root 1 0 R)/, "$2$1"),
    }),
    row("white space and a comment in the trailer", { more: (entries) => ` % more\n ${entries} ` }, verified()),
    row("a /Size that is too small", { more: (entries) => entries.replace(/\/Size \d+/, "/Size 2") }, verified()),
    row("a key that is null behind the others", { more: (entries) => `${entries}/Encrypt null` }),
    row("/Encrypt null", { more: (entries) => entries.replace("/ID", "/Encrypt null/ID") }, verified()),
    row("an /Info of none before", { more: (entries) => entries.replace("/ID", "/Info 6 0 R/ID") }, verified()),
    row("no line feed behind the trailer", { behindTrailer: " " }),
    row("two line feeds behind the trailer", { behindTrailer: "\n\n" }),
    row(
      "no %%EOF",
      last((offset) => `startxref\n${offset}\n`),
    ),
    row(
      "no line feed behind %%EOF",
      last((offset) => `startxref\n${offset}\n%%EOF`),
    ),
    row(
      "a carriage return behind %%EOF",
      last((offset) => `startxref\n${offset}\n%%EOF\r\n`),
    ),
    row(
      "a line behind %%EOF",
      last((offset) => `startxref\n${offset}\n%%EOF\n%%EOF\n`),
    ),
    row(
      "a zero before the last offset",
      last((offset) => `startxref\n0${offset}\n%%EOF\n`),
    ),
    row(
      "startxref on one line",
      last((offset) => `startxref ${offset}\n%%EOF\n`),
    ),
    row(
      "startxref twice",
      last((offset) => `startxref\n${offset}\nstartxref\n${offset}\n%%EOF\n`),
    ),
  ];
}

const unreadableOrOdd = (): Expectation => ({ verdict: "not_verified", claims: {} });

/** Seals that each break one rule for /ByteRange or /Contents (docs/evidence-format.md, section 2.3). */
function ranges(): readonly Row[] {
  const row = (name: string, from: string | RegExp, to: string, expect: Expectation = notCovered): Row => [
    name,
    { dictionary: replaced(from, to), reserve: 900 },
    expect,
    "A /ByteRange that breaks a rule of section 2.3 is of no use.",
  ];
  const value = (name: string, change: (hex: Buffer) => Uint8Array): Row => [
    name,
    { contents: () => change(Buffer.from("30030201073003020107", "hex")), reserve: 40 },
    notCovered,
    "The digits begin with one DER SEQUENCE of definite, minimal length that fits (contents-not-der).",
  ];
  return [
    row("a /ByteRange of five numbers", / +\]>>/, " 0]>>"),
    row("a /ByteRange of three numbers", / \d+ +\]>>/, "]>>"),
    row("a /ByteRange of a fraction", "/ByteRange[0 ", "/ByteRange[0.0 "),
    row("a /ByteRange with a negative start", "/ByteRange[0 ", "/ByteRange[-1 "),
    row("a /ByteRange with a name", "/ByteRange[0 ", "/ByteRange[/N "),
    row("a /ByteRange that starts behind byte 0", "/ByteRange[0 ", "/ByteRange[1 "),
    row("a /ByteRange that is a dictionary", /\/ByteRange\[(.*?) *\]/, "/ByteRange<</A[$1]>>"),
    row("a /ByteRange that ends beyond the file", /(\d+) +\]>>/, "9999999]>>"),
    row("a /ByteRange whose gap ends beyond the file", /(\/ByteRange\[0 \d+) \d+ /, "$1 9999999 "),
    row("a /ByteRange whose gap is empty", /\/ByteRange\[0 (\d+) \d+ /, "/ByteRange[0 $1 $1 "),
    row("a /ByteRange whose gap begins a byte later", /\/ByteRange\[0 (\d+)/, "/ByteRange[0 1$1"),
    row("/Contents that is a name", /<0+>/, "/N", { verdict: "not_verified", claims: {} }),
    value("a value of a SET", () => Buffer.from("3103020107", "hex")),
    value("a value of indefinite length", () => Buffer.from("308002010700 00".replace(" ", ""), "hex")),
    value("a value with a length of five octets", () => Buffer.from("308500000000050201070500", "hex")),
    value("a value whose length has a zero before it", () => Buffer.from("30820003020107", "hex")),
    value("a value whose length is not minimal", () => Buffer.from("308103020107", "hex")),
    value("a value that is longer than its room", () => Buffer.from("3082ffff020107", "hex")),
    value("a value that is cut in its length", () =>
      Buffer.alloc(40, 0).fill(Buffer.from("3082", "hex"), 0, 2).subarray(0, 2),
    ),
    value("something behind the value", (hex) => hex),
  ];
}

/** Seals whose tail deviates from the sealer's (docs/evidence-format.md, section 2.3, the last list). */
export function oddTails(): Made {
  const { add, put, made, slug } = collection("tails");
  for (const [name, options, expect, teaches] of [...dictionaries(), ...objects(), ...tails(), ...ranges()]) {
    const bytes = oddSeal(document(), { ...options });
    add({ name, kind: "sealed_pdf", files: { sealed: put(`${slug(name)}.pdf`, bytes) }, expect, teaches });
  }
  const length = document().length;
  const lengths: readonly (readonly [name: string, originalLength: number, teaches: string, expect?: Expectation])[] = [
    ["a length of 0", 0, "1 <= n (2.4)."],
    ["a length of -1", -1, "1 <= n (2.4)."],
    ["a length beyond the seal", length + 30, "n <= s (2.4)."],
    [
      "a length that ends before the line end",
      length - 1,
      "The line feed then is the one that the sealer adds (2.4).",
      verified(),
    ],
    ["a length that is half", Math.floor(length / 2), "The seal begins where the document ends (2.4)."],
  ];
  for (const [name, originalLength, teaches, otherwise] of lengths) {
    const bytes = oddSeal(document(), { originalLength });
    const expect =
      otherwise ?? notVerified({ original_document_hash: "fails", signature_structure: null, seal_place: null });
    add({ name, kind: "sealed_pdf", files: { sealed: put(`${slug(name)}.pdf`, bytes) }, expect, teaches });
  }
  return made();
}
