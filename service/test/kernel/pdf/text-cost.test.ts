import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { before, describe, test } from "node:test";
import { deflateSync } from "node:zlib";
import { zooBytes, zooFiles } from "@signsealship/testing/inputs/zoo";
import { tooMuchText } from "../../../src/kernel/pdf/text-cost.ts";

type Objects = { [num: number]: string };

const fonts = "/Font << /F1 4 0 R >>";
const letter = "/Type /Page /Parent 2 0 R /MediaBox [0 0 612 792]";

/**
 * A document with these objects. By default 1 is the catalog, 2 the page tree, 3 the page, 4 its font, and 6 its
 * content; 5 is free.
 */
function documentOf(objects: Objects, { page = "", resources = fonts, isLost = false } = {}): Buffer {
  const all: Objects = {
    1: "<< /Type /Catalog /Pages 2 0 R >>",
    2: "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
    3: `<< ${letter} /Contents 6 0 R /Resources << ${resources} >> ${page} >>`,
    4: "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    6: streamOf("BT /F1 12 Tf (Lease) Tj ET"),
    ...objects,
  };
  let text = "%PDF-1.7\n";
  const offsets = new Map<number, number>();
  for (const [num, body] of Object.entries(all)) {
    offsets.set(Number(num), text.length);
    text += `${num} 0 obj\n${body}\nendobj\n`;
  }
  const start = text.length + (isLost ? 7 : 0);
  const rows = Array.from({ length: 40 }, (_, num) => {
    const at = offsets.get(num);
    return at === undefined ? "0000000000 65535 f \n" : `${String(at).padStart(10, "0")} 00000 n \n`;
  });
  text += `xref\n0 40\n${rows.join("")}trailer\n<< /Size 40 /Root 1 0 R >>\nstartxref\n${start}\n%%EOF\n`;
  return Buffer.from(text, "latin1");
}

const latin1 = (bytes: Buffer): string => bytes.toString("latin1");
const deflated = (text: string): string => latin1(deflateSync(Buffer.from(text, "latin1")));

/** A stream whose data is already encoded. */
const encoded = (data: string, dictionary: string, length: number | string = data.length): string =>
  `<< /Length ${length} ${dictionary} >>\nstream\n${data}\nendstream`;
const streamOf = (text: string, dictionary = ""): string =>
  encoded(deflated(text), `/Filter /FlateDecode ${dictionary}`);

const strings = `BT /F1 12 Tf ${"() Tj ".repeat(3_500_000)} ET`;
let bomb: string;
let spaces: string;
before(() => {
  bomb = deflated(strings);
  spaces = deflated(" ".repeat(70 * 1024 * 1024));
});

const bombOf = (dictionary = ""): string => encoded(bomb, `/Filter /FlateDecode ${dictionary}`);
const contentOf = (dictionary: string): Buffer => documentOf({ 6: bombOf(dictionary) });

const asImage = "/Type /XObject /Subtype /Image /Width 1 /Height 1";
const ascii85 = (text: string): string =>
  (
    Buffer.from(text, "latin1")
      .toString("hex")
      .match(/.{1,8}/g) ?? []
  )
    .map((group) => {
      let value = Number.parseInt(group.padEnd(8, "0"), 16);
      const digits = Array.from({ length: 5 }, () => {
        const digit = value % 85;
        value = Math.floor(value / 85);
        return String.fromCharCode(33 + digit);
      });
      return digits
        .reverse()
        .join("")
        .slice(0, group.length / 2 + 1);
    })
    .join("");

/** The LZW codes of a text, most significant bits first. A long text fills the code table, which then stays full. */
function lzw(text: string): string {
  const table = new Map<string, number>();
  const bits: string[] = [];
  let [width, next, at] = [9, 258, 0];
  const write = (code: number) => bits.push(code.toString(2).padStart(width, "0"));
  write(256);
  while (at < text.length) {
    let end = at + 1;
    while (end < text.length && table.has(text.slice(at, end + 1))) end++;
    const word = text.slice(at, end);
    write(table.get(word) ?? word.charCodeAt(0));
    if (next < 4095 && end < text.length) table.set(text.slice(at, end + 1), next++);
    width = Math.min(12, Math.max(9, 32 - Math.clz32(next)));
    at = end;
  }
  write(257);
  return latin1(
    Buffer.from((bits.join("").match(/.{1,8}/g) ?? []).map((byte) => Number.parseInt(byte.padEnd(8, "0"), 2))),
  );
}

const form = (rest: string): string => bombOf(`/Subtype /Form /BBox [0 0 9 9] ${rest}`);
const drawn = "/Resources << /XObject << /X 10 0 R >> >>";

/**
 * Documents of a few KB with texts or streams that are far larger when decoded. The name describes how each document
 * hides this.
 */
const bombs: [what: string, made: () => Buffer][] = [
  ["a content", () => contentOf("")],
  ["a content that calls itself an image", () => contentOf(asImage)],
  ["a content with the name of an image in a key of its own", () => contentOf("/X /Image")],
  ["a content that calls itself a font program", () => contentOf("/Length1 9")],
  ["a content that calls itself a compact font", () => contentOf("/Subtype /Type1C")],
  ["a content that calls itself an OpenType font", () => contentOf("/Subtype /OpenType")],
  ["a content that calls itself metadata", () => contentOf("/Type /Metadata /Subtype /XML")],
  ["a content that calls itself a cross-reference", () => contentOf("/Type /XRef")],
  ["a content that calls itself a profile", () => contentOf("/N 3 /Alternate /DeviceRGB")],
  ["a content whose filter is under /F", () => documentOf({ 6: encoded(bomb, "/F /FlateDecode") })],
  ["a content whose filter is abbreviated", () => documentOf({ 6: encoded(bomb, "/Filter /Fl /X /Image") })],
  ["a content whose filter is escaped", () => documentOf({ 6: encoded(bomb, "/Filter /Fl#61teDecode") })],
  ["a content whose filter is an object", () => documentOf({ 6: encoded(bomb, "/Filter 7 0 R"), 7: "/FlateDecode" })],
  [
    "a content whose filters are an object",
    () => documentOf({ 6: encoded(bomb, "/Filter 7 0 R"), 7: "[8 0 R]", 8: "/FlateDecode" }),
  ],
  [
    "a content in ASCII85",
    () => documentOf({ 6: encoded(`${ascii85(bomb)}~>`, "/Filter [/ASCII85Decode /FlateDecode]") }),
  ],
  [
    "a content in hexadecimal digits",
    () => documentOf({ 6: encoded(`${Buffer.from(bomb, "latin1").toString("hex")}>`, "/Filter [/AHx /Fl]") }),
  ],
  [
    "a content that is deflated twice",
    () => documentOf({ 6: streamOf(bomb, "/X /Image").replace("/FlateDecode", "[/Fl /Fl]") }),
  ],
  ["a content in nine filters", () => documentOf({ 6: encoded(bomb, `/Filter [${"/ASCIIHexDecode ".repeat(8)}/Fl]`) })],
  [
    "a content in runs",
    () => documentOf({ 6: streamOf("\x81 ".repeat(200_000)).replace("/FlateDecode", "[/Fl /RL]") }),
  ],
  ["a content in LZW", () => documentOf({ 6: encoded(lzw(`BT ${"() Tj ".repeat(400_000)}`), "/Filter /LZWDecode") })],
  ["a content with a predictor", () => contentOf("/DecodeParms << /Predictor 2 /Columns 1 >>")],
  ["a content with a wrong length", () => documentOf({ 6: encoded(bomb, `/Filter /FlateDecode ${asImage}`, 3) })],
  [
    "a content whose length is an object",
    () => documentOf({ 6: encoded(bomb, "/Filter /Fl /X /Image", "7 0 R"), 7: "3" }),
  ],
  ["a content with a wrong sum", () => documentOf({ 6: encoded(`${bomb.slice(0, -4)}abcd`, "/Filter /FlateDecode") })],
  ["a content that is cut off", () => documentOf({ 6: encoded(bomb.slice(0, -99), "/Filter /FlateDecode /X /Image") })],
  [
    "a content that is damaged at its end",
    () => documentOf({ 6: encoded(`${bomb.slice(0, -40)}${"\xff".repeat(40)}`, "/Filter /FlateDecode") }),
  ],
  ["a content that begins as noise", () => documentOf({ 6: streamOf(`%${"\xff".repeat(9_000)}\n${strings}`) })],
  [
    "a content without a beginning of text",
    () => documentOf({ 6: streamOf(strings.replace("BT ", "").replace(" ET", "")) }),
  ],
  ["an array of numbers", () => documentOf({ 6: streamOf(`BT /F1 12 Tf [${"1 ".repeat(8_000_000)}] TJ ET`) })],
  ["an array of names", () => documentOf({ 6: streamOf(`BT [${"/".repeat(8_000_000)}] TJ ET`) })],
  ["an array of arrays", () => documentOf({ 6: streamOf(`BT ${"[".repeat(8_000_000)} TJ ET`) })],
  [
    "an array of numbers in a content without text",
    () => documentOf({ 6: streamOf(`[${"1 ".repeat(8_000_000)}] 0 d`) }),
  ],
  [
    "an array that a comment seems to end",
    () => documentOf({ 6: streamOf(`BT [%]\n${"1 ".repeat(7_000_000)}] TJ ET`) }),
  ],
  [
    "an array that another bracket seems to end",
    () => documentOf({ 6: streamOf(`BT [>>(])<5d>${"1 ".repeat(7_000_000)}] TJ ET`) }),
  ],
  ["a dictionary", () => documentOf({ 6: streamOf(`BT /A <<]${"/B 1 ".repeat(3_000_000)}>> BDC ET`) })],
  [
    "arrays of a thousand numbers, a thousand times",
    () => documentOf({ 6: streamOf(`BT ${`[${"1 ".repeat(1_000)}] TJ `.repeat(2_000)} ET`) }),
  ],
  ["a content of lines", () => documentOf({ 6: streamOf("()' ".repeat(5_000_000)) })],
  ["a content of spaces", () => documentOf({ 6: encoded(spaces, "/Filter /FlateDecode /X /Image") })],
  ["one of several contents", () => documentOf({ 7: bombOf(asImage) }, { page: "/Contents [8 0 R 7 0 R]" })],
  [
    "a content that a page names a hundred times",
    () =>
      documentOf({
        3: `<< ${letter} /Contents [${"6 0 R ".repeat(100)}] /Resources << ${fonts} >> >>`,
        6: streamOf("() Tj ".repeat(30_000)),
      }),
  ],
  [
    "a form",
    () =>
      documentOf(
        { 10: form(asImage.replace("/Subtype /Image", "/X /Image")) },
        { resources: "/XObject << /X 10 0 R >>" },
      ),
  ],
  [
    "a form in a form",
    () =>
      documentOf(
        { 9: streamOf("/X Do", `/Subtype /Form ${drawn}`), 10: form("/Length1 3") },
        { resources: "/XObject << /Y 9 0 R >>" },
      ),
  ],
  [
    "a form of resources that a page inherits",
    () =>
      documentOf({
        2: `<< /Type /Pages /Kids [3 0 R] /Count 1 ${drawn} >>`,
        3: `<< ${letter} /Contents 6 0 R >>`,
        10: form("/X /Image"),
      }),
  ],
  [
    "a form in an array of resources as an object",
    () =>
      documentOf({
        5: "<< /XObject 8 0 R >>",
        8: "<< /X 10 0 R >>",
        10: form("/X /Image"),
        3: `<< ${letter} /Contents 6 0 R /Resources 5 0 R >>`,
      }),
  ],
  [
    "a pattern",
    () => documentOf({ 10: bombOf("/PatternType 1 /X /Image") }, { resources: "/Pattern << /P 10 0 R >>" }),
  ],
  [
    "a form below a dictionary with a name of the format",
    () =>
      documentOf(
        { 10: form("/X /Image") },
        { resources: "/XObject << /Metadata 10 0 R >> /Properties << /X 10 0 R >>" },
      ),
  ],
  [
    "a glyph",
    () => documentOf({ 4: "<< /Type /Font /Subtype /Type3 /CharProcs << /a 10 0 R >> >>", 10: bombOf("/X /Image") }),
  ],
  [
    "a soft mask",
    () =>
      documentOf(
        { 10: form("/X /Image") },
        { resources: "/ExtGState << /G1 << /SMask << /S /Alpha /G 10 0 R >> >> >>" },
      ),
  ],
  [
    "an annotation's appearance",
    () =>
      documentOf({ 9: "<< /Subtype /Stamp /AP << /N 10 0 R >> >>", 10: bombOf(asImage) }, { page: "/Annots [9 0 R]" }),
  ],
  [
    "an appearance's state",
    () =>
      documentOf(
        { 9: "<< /Subtype /Widget /AP << /N << /Yes 10 0 R >> >> >>", 10: bombOf(asImage) },
        { page: "/Annots [9 0 R]" },
      ),
  ],
  [
    "a form of an appearance",
    () =>
      documentOf(
        {
          8: form("/X /Image"),
          9: "<< /Subtype /Stamp /AP << /N 10 0 R >> >>",
          10: streamOf("/X Do", "/Resources << /XObject << /X 8 0 R >> >>"),
        },
        { page: "/Annots [9 0 R]" },
      ),
  ],
  [
    "a content that is drawn as an image, too",
    () => documentOf({ 6: bombOf(asImage) }, { resources: "/XObject << /X 6 0 R >>" }),
  ],
  [
    "the second page",
    () =>
      documentOf({
        2: "<< /Type /Pages /Kids [3 0 R 8 0 R] /Count 2 >>",
        8: `<< ${letter} /Contents 10 0 R >>`,
        10: bombOf(asImage),
      }),
  ],
  ["a content by another generation", () => documentOf({ 7: bombOf(asImage), 3: `<< ${letter} /Contents 7 1 R >>` })],
  ["a content of a document that lost its cross-reference", () => documentOf({ 6: bombOf(asImage) }, { isLost: true })],
  [
    "resources that can't be read",
    () =>
      documentOf({
        10: bombOf(asImage),
        5: "<< /XObject << /X 10 0 R >> junk >>",
        3: `<< ${letter} /Contents 10 0 R /Resources 5 0 R >>`,
      }),
  ],
  ["a page with two contents", () => documentOf({ 10: bombOf(asImage) }, { page: "/Contents 10 0 R" })],
  [
    "a font's map of characters",
    () =>
      documentOf({
        4: "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /ToUnicode 10 0 R >>",
        10: encoded(spaces, "/Filter /FlateDecode /X /Image"),
      }),
  ],
  [
    "a font's program",
    () =>
      documentOf({
        4: "<< /Type /Font /Subtype /TrueType /FontDescriptor << /FontFile2 10 0 R >> >>",
        10: encoded(spaces, "/Filter /FlateDecode /Length1 9"),
      }),
  ],
];

const draws = (times: number, name = "X") => `/${name} Do `.repeat(times);
const letters = "BT /F1 12 Tf ".concat("(a) Tj ".repeat(10_000), "ET");
const isForm = "/Subtype /Form /BBox [0 0 9 9]";

/** Documents that draw their content over and over. */
const repeated: typeof bombs = [
  [
    "a form a thousand times",
    () =>
      documentOf(
        { 6: streamOf(draws(1_000)), 10: streamOf(letters, isForm) },
        { resources: `${fonts} /XObject << /X 10 0 R >>` },
      ),
  ],
  [
    "a form with an escaped name",
    () =>
      documentOf(
        { 6: streamOf(draws(1_000, "#58")), 10: streamOf(letters, isForm) },
        { resources: `${fonts} /XObject << /X 10 0 R >>` },
      ),
  ],
  [
    "a form with comments before the operator",
    () =>
      documentOf(
        { 6: streamOf("/X%\nDo\n".repeat(1_000)), 10: streamOf(letters, isForm) },
        { resources: `${fonts} /XObject << /X 10 0 R >>` },
      ),
  ],
  [
    "a form by a content in LZW",
    () =>
      documentOf(
        { 6: encoded(lzw(draws(20_000)), "/Filter /LZWDecode"), 10: streamOf(letters, isForm) },
        { resources: `${fonts} /XObject << /X 10 0 R >>` },
      ),
  ],
  [
    "a form in an appearance",
    () =>
      documentOf(
        {
          9: "<< /Subtype /Stamp /AP << /N 8 0 R >> >>",
          8: streamOf(draws(1_000), `${isForm} ${drawn}`),
          10: streamOf(letters, isForm),
        },
        { page: "/Annots [9 0 R]" },
      ),
  ],
  [
    "a soft mask a thousand times",
    () =>
      documentOf(
        { 6: streamOf("/S gs ".repeat(1_000)), 10: streamOf(letters, isForm) },
        { resources: `${fonts} /ExtGState << /S << /SMask << /G 10 0 R >> >> >>` },
      ),
  ],
  [
    "forms without text, ten in ten in ten",
    () => {
      const level = (num: number) => streamOf(draws(10), `${isForm} /Resources << /XObject << /X ${num + 1} 0 R >> >>`);
      const forms = Object.fromEntries(Array.from({ length: 8 }, (_, n) => [10 + n, level(10 + n)]));
      return documentOf(
        { 6: streamOf(draws(1)), ...forms, 18: streamOf("", isForm) },
        { resources: "/XObject << /X 10 0 R >>" },
      );
    },
  ],
  [
    "a form that has the names of what draws it",
    () => {
      const forms = { 10: streamOf(draws(1_000, "Y"), isForm), 11: streamOf(letters, isForm) };
      return documentOf(
        { 6: streamOf(draws(1)), ...forms },
        { resources: `${fonts} /XObject << /X 10 0 R /Y 11 0 R >>` },
      );
    },
  ],
];

describe("refuses to read the text of a document that draws", () => {
  for (const [what, made] of repeated)
    test(what, () => assert.match(tooMuchText(made()) ?? "null", /its text has more than 1,000,000 characters/));
});

/**
 * A document of thirty pages that share one content. @param resources returns the entries of a page's resources, by the
 * page's index
 */
const sharing = (
  content: string,
  { resources = () => "", more = {} }: { resources?: (page: number) => string; more?: Record<number, string> } = {},
): Buffer => {
  const kids = Array.from({ length: 30 }, (_, index) => index + 8);
  const page = (index: number) => `<< ${letter} /Contents 6 0 R /Resources << ${fonts} ${resources(index)} >> >>`;
  return documentOf({
    2: `<< /Type /Pages /Kids [${kids.map((num) => `${num} 0 R`).join(" ")}] /Count 30 >>`,
    ...Object.fromEntries(kids.map((num, index) => [num, page(index)])),
    6: streamOf(content),
    ...more,
  });
};
const moves = (mebibytes: number): string => "1 0 0 1 0 0 cm ".repeat((mebibytes * 1024 * 1024) / 15);

test("refuses to read the text of a document whose pages share a content that is too long for all of them", () => {
  assert.equal(tooMuchText(sharing(moves(10))), "its pages draw more than 256 MiB of contents");
  assert.equal(tooMuchText(sharing(moves(2))), null);
});

test("refuses to read the text of a document whose pages share a content with too many characters for all of them", () => {
  const texts = (count: number) => sharing(`BT /F1 12 Tf ${"(Lease) Tj ".repeat(count)} ET`);
  assert.equal(tooMuchText(texts(10_000)), "its text has more than 1,000,000 characters");
  assert.equal(tooMuchText(texts(2_000)), null);
});

test("refuses to read the text of a document that draws a long form again and again", () => {
  const drawing = (times: number) =>
    documentOf(
      { 6: streamOf("/X Do ".repeat(times)), 10: streamOf(moves(1), "/Subtype /Form") },
      { resources: `${fonts} /XObject << /X 10 0 R >>` },
    );
  assert.equal(tooMuchText(drawing(300)), "its pages draw more than 256 MiB of contents");
  assert.equal(tooMuchText(drawing(30)), null);
});

test("counts the forms that each page names for a content that pages share", () => {
  const forms = { 38: streamOf("", isForm), 39: streamOf(moves(10), isForm) };
  const naming = (first: number, others: number) =>
    sharing(draws(1), { resources: (page) => `/XObject << /X ${page === 0 ? first : others} 0 R >>`, more: forms });
  assert.equal(tooMuchText(naming(38, 39)), "its pages draw more than 256 MiB of contents");
  assert.equal(tooMuchText(naming(39, 38)), null);
});

test("counts a form whose name is also that of a pattern, and ignores resources that a page's content has itself", () => {
  const forms = { 38: streamOf("", isForm), 39: streamOf(moves(10), isForm) };
  const tooMuch = "its pages draw more than 256 MiB of contents";
  const resources = () => "/XObject << /X 39 0 R >> /Pattern << /X 38 0 R >>";
  assert.equal(tooMuchText(sharing(draws(1), { resources, more: forms })), tooMuch);
  const content = streamOf(draws(1), "/Resources << /XObject << /X 38 0 R >> >>");
  const own = { resources: () => "/XObject << /X 39 0 R >>", more: { ...forms, 6: content } };
  assert.equal(tooMuchText(sharing("", own)), tooMuch);
});

describe("refuses to read the text of a small document with far too much content", () => {
  for (const [what, made] of bombs)
    test(what, () => {
      const bytes = made();
      assert.ok(bytes.length < 600_000, `${bytes.length} bytes`);
      const start = performance.now();
      assert.match(tooMuchText(bytes) ?? "null", /its (?:contents|text)/);
      assert.ok(performance.now() - start < 5_000, `${performance.now() - start} ms`);
    });
});

describe("reads the text of", () => {
  const text = "BT /F1 12 Tf (Lease) Tj ET";
  const pixels = () => Buffer.concat([randomBytes(1000), Buffer.alloc(60 * 1024 * 1024, "(a) Tj BT ")]);
  const accepted: [what: string, made: () => Buffer][] = [
    ["a plain document", () => documentOf({})],
    [
      "a document of two large images",
      () =>
        documentOf(
          { 10: streamOf(latin1(pixels()), asImage), 11: streamOf(latin1(pixels()), asImage) },
          { resources: `${fonts} /XObject << /A 10 0 R /B 11 0 R >>` },
        ),
    ],
    ["a document in ASCII85", () => documentOf({ 6: encoded(`${ascii85(deflated(text))}~>`, "/Filter [/A85 /Fl]") })],
    ["a document in LZW", () => documentOf({ 6: encoded(lzw(text.repeat(2_000)), "/Filter /LZWDecode") })],
    ["a large drawing without text", () => documentOf({ 6: streamOf("1 2 m 3 4 l S\n".repeat(2_000_000)) })],
    ["a large drawing with dashes", () => documentOf({ 6: streamOf("[3 2] 0 d 1 2 m 3 4 l S\n".repeat(200_000)) })],
    [
      "a text whose every letter has its place",
      () => documentOf({ 6: streamOf(`BT /F1 12 Tf ${"[(Le) -20.5 (a) 30 (se)] TJ ".repeat(100_000)} ET`) }),
    ],
    [
      "a document that names objects that are not there",
      () => documentOf({}, { page: "/Annots [30 0 R]", resources: `${fonts} /XObject << /X 31 0 R >>` }),
    ],
    [
      "a form that draws itself",
      () =>
        documentOf(
          { 10: streamOf("/X Do", `/Subtype /Form ${drawn}`) },
          { resources: `${fonts} /XObject << /X 10 0 R >>` },
        ),
    ],
    [
      "a damaged document that is small",
      () => documentOf({ 10: "<< /X junk >>" }, { resources: "/XObject << /X 10 0 R >>" }),
    ],
  ];
  for (const [what, made] of accepted) test(what, () => assert.equal(tooMuchText(made()), null));

  for (const { name, expected } of zooFiles())
    if (expected === "sealed") test(name, () => assert.equal(tooMuchText(zooBytes(name)), null));
});
