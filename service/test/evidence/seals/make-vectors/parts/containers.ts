import { deflateRawSync } from "node:zlib";
import { unicodePath } from "@signsealship/testing/inputs/zip-maker";
import { type OddEnd, type OddEntry, oddZip } from "../zip-writer.ts";
import * as edit from "./der-edit.ts";
import { cms } from "./form.ts";
import type { Part, PartKind } from "./part.ts";

type Row = readonly [name: string, hex: string, expect: Part["expect"]];

const rows = (kind: PartKind, teaches: string, list: readonly Row[]): Part[] =>
  list.map(([name, hex, expect]) => ({ name: `${kind}: ${name}`, kind, hex, expect, teaches }));
const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");
const times = (count: number, hex: string): string => hex.repeat(count);

/** Vectors of values in BER, which earlier signatures may use (docs/evidence-format.md, section 7). */
function ber(): Part[] {
  const good = cms({});
  const deep = (levels: number) => `${times(levels, "3080")}0500${times(levels, "0000")}`;
  return rows("ber", "One value in BER that ends where its last byte is, within the bounds of section 3.2 (7).", [
    ["a signature in DER", hexOf(good), "accepted"],
    ["a signature of indefinite length", hexOf(edit.withEdit(good, [], edit.indefinite)), "accepted"],
    ["a length in five octets", "30850000000002" + "0500", "accepted"],
    ["an octet string in pieces", "2480040101040102" + "0000", "accepted"],
    ["an octet string in pieces, of definite length", "2406040101040102", "accepted"],
    ["an octet string of integers", "2480020101" + "0000", "refused"],
    ["an octet string of octet strings in pieces", "2480" + "2480040101" + "0000" + "0000", "accepted"],
    ["an octet string of a list", "2480" + "3000" + "0000", "refused"],
    ["a primitive value of indefinite length", "0480" + "0500" + "0000", "refused"],
    ["a tag of number 31", "30021f00", "refused"],
    ["a tag of 0", "30020000", "refused"],
    ["no byte", "", "refused"],
    ["a tag alone", "30", "refused"],
    ["a tag alone in a list", "300105", "refused"],
    ["a length that is cut", "3082", "refused"],
    ["a length that is cut by its list", "300204820000", "refused"],
    ["a value longer than its list", "3003040201", "refused"],
    ["a value that ends behind its list", "3006" + "3003" + "0402" + "0102", "refused"],
    ["a value longer than the file", "300501", "refused"],
    ["a length of 2^53", "048720000000000000" + "00", "refused"],
    ["no end of an indefinite length", "3080" + "0500", "refused"],
    ["half an end of an indefinite length", "3080" + "0500" + "00", "refused"],
    ["an end behind the list that holds it", "3004" + "3080" + "0500" + "0000", "refused"],
    ["a primitive value longer than the file", "040501", "refused"],
    ["values nested 41 deep", deep(40), "accepted"],
    ["values nested 42 deep", deep(41), "refused"],
    ["200,000 values", `3083061a7e${times(199_999, "0500")}`, "accepted"],
    ["200,001 values", `3083061a80${times(200_000, "0500")}`, "refused"],
  ]);
}

/** Packs numbers of the given bit counts, lowest bits first. Huffman codes must be converted by `code`. */
function deflated(...fields: readonly (readonly [value: number, count: number])[]): string {
  const octets: number[] = [];
  let at = 0;
  for (const [value, count] of fields) {
    for (let bit = 0; bit < count; bit++, at++) {
      octets[at >> 3] = (octets[at >> 3] ?? 0) | (((value >> bit) & 1) << (at & 7));
    }
  }
  return hexOf(Uint8Array.from(octets));
}
/** A Huffman code with reversed bits, because deflate writes the highest bit of a code first. */
const code = (value: number, count: number): readonly [number, number] => {
  let reversed = 0;
  for (let bit = 0; bit < count; bit++) reversed |= ((value >> bit) & 1) << (count - 1 - bit);
  return [reversed, count];
};

/** Vectors of deflated data: RFC 1951, with the restrictions of docs/evidence-format.md, sections 2.6 and 9.1. */
function deflate(): Part[] {
  const fixed = [
    [1, 1],
    [1, 2],
  ] as const;
  const [end, x] = [code(0, 7), code(0x30 + 0x78, 8)];
  type Bits = readonly [value: number, count: number];
  /**
   * A block with dynamic Huffman codes and 258 literal and length symbols. In the code for the code lengths, symbol 18
   * has one bit, and symbols 1 and `other` have two bits each.
   *
   * @param other 2, or 16 for a repetition
   */
  const dynamic = (other: 2 | 16, distances: number, lengths: readonly Bits[], data: readonly Bits[]) => {
    // The lengths of the code for code lengths. RFC 1951 stores them in the order 16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11,
    // 4, 12, 3, 13, 2, 14, 1.
    const otherIndex = other === 16 ? 0 : 15;
    const order = Array.from({ length: 18 }, (_, index): Bits => {
      const bits = index === 2 ? 1 : index === 17 || index === otherIndex ? 2 : 0;
      return [bits, 3];
    });
    return deflated([1, 1], [2, 2], [1, 5], [distances, 5], [14, 4], ...order, ...lengths, ...data);
  };
  const [l1, l2] = [code(2, 2), code(3, 2)];
  const zero = (count: number): readonly Bits[] => [code(0, 1), [count - 11, 7]];
  const zeros = [...zero(138), ...zero(117)];
  /**
   * The code lengths of the 256 literals: two bits for literal 0, and none for the others. Each vector adds the code
   * lengths of the other two symbols: usually two bits for the end of the block, and one for the first match length.
   */
  const most = [l2, ...zeros];
  const [a, end2] = [code(2, 2), code(3, 2)];
  const repeated: readonly Bits[] = [l2, [0, 2], ...zero(138), ...zero(115)];
  return rows("deflate", "RFC 1951: bytes that another program could read otherwise are none.", [
    ["a text", hexOf(deflateRawSync(Buffer.from("What is deflated, is deflated.".repeat(40)))), "accepted"],
    ["nothing", deflated(...fixed, end), "accepted"],
    ["a stored block", "010300fcff616263", "accepted"],
    ["a stored block of another length", "010300fdff616263", "refused"],
    ["a stored block that is cut", "010300fcff6162", "refused"],
    ["a block of type 3", deflated([1, 1], [3, 2]), "refused"],
    ["no end of the block", deflated(...fixed, x), "refused"],
    ["no byte", "", "refused"],
    ["a byte behind its end", `${deflated(...fixed, end)}00`, "refused"],
    ["a copy of what came before", deflated(...fixed, x, code(1, 7), code(0, 5), end), "accepted"],
    ["a copy from before its start", deflated(...fixed, x, code(1, 7), code(1, 5), end), "refused"],
    ["a length that is none", deflated(...fixed, x, code(0xc0 + 6, 8), code(0, 5), end), "refused"],
    ["a distance that is none", deflated(...fixed, x, code(1, 7), code(30, 5), end), "refused"],
    ["codes of its own", dynamic(2, 0, [...most, l2, l1, l1], [a, end2]), "accepted"],
    ["a code with too many words", dynamic(2, 0, [l1, ...zeros, l1, l1, l1], [code(0, 1), code(1, 1)]), "refused"],
    ["a repeat of nothing", dynamic(16, 0, [...repeated, l1, l1, l1], [code(0, 1)]), "refused"],
    ["more lengths than were said", dynamic(2, 0, [...most, l2, l1, ...zero(11)], [a, end2]), "refused"],
    [
      "a distance that is none, of codes of its own",
      dynamic(2, 30, [...most, l2, l1, ...zero(30), l1], [a, code(0, 1), code(0, 1), [0, 14], end2]),
      "refused",
    ],
    ["1 MiB of one letter", hexOf(deflateRawSync(Buffer.alloc(1_048_576, 0x61))), "accepted"],
    ["more than 1 MiB of one letter", hexOf(deflateRawSync(Buffer.alloc(1_048_577, 0x61))), "refused"],
  ]);
}

const zipRow = (name: string, entries: readonly OddEntry[], expect: Part["expect"], end: OddEnd = {}): Row => [
  name,
  hexOf(oddZip(entries, end)),
  expect,
];

/**
 * An extra field of a zip (APPNOTE 6.3.10, section 4.5.1): its ID, the stated length of its data (by default the true
 * one), and the data.
 */
function extraField(id: number, data: Uint8Array, stated = data.length): Uint8Array {
  return Buffer.concat([Uint8Array.of(id & 0xff, id >> 8, stated & 0xff, stated >> 8), data]);
}
/** Info-ZIP's extended time stamp: the file's modification time. */
const modified = extraField(0x5455, Uint8Array.of(1, 0, 0, 0, 0));

/** Vectors of zips with extra fields, which common programs write (docs/evidence-format.md, section 9.1). */
function extraFields(): Row[] {
  const text: OddEntry = { name: "a.txt", bytes: Buffer.from("text") };
  const both = (name: string, expect: Part["expect"], ...fields: readonly Uint8Array[]): Row =>
    zipRow(name, [{ ...text, both: { extra: Buffer.concat(fields) } }], expect);
  const sameName = unicodePath("a.txt", "a.txt");
  const version2 = Uint8Array.from(sameName);
  version2[4] = 2;
  const nothing = new Uint8Array(0);
  return [
    both("an extra field of times", "accepted", modified),
    zipRow(
      "an extra field of times in the directory alone",
      [{ ...text, directory: { extra: modified }, local: { extra: nothing } }],
      "accepted",
    ),
    zipRow("an extra field of times before the data alone", [{ ...text, local: { extra: modified } }], "accepted"),
    ...[0x000a, 0x5855, 0x7855, 0x7875].map((id) =>
      both(`an extra field of ID ${id.toString(16).padStart(4, "0")}`, "accepted", extraField(id, new Uint8Array(8))),
    ),
    both("an extra field of times, and one of owners", "accepted", modified, extraField(0x7875, new Uint8Array(11))),
    both("an extra field twice", "refused", modified, modified),
    both("an extra field of an unknown kind", "refused", extraField(0xcafe, nothing)),
    both("an extra field of an unknown kind behind one of times", "refused", modified, extraField(0xcafe, nothing)),
    zipRow(
      "an extra field of an unknown kind before the data alone",
      [{ ...text, local: { extra: extraField(0xcafe, nothing) } }],
      "refused",
    ),
    both("an extra field that is cut in its length", "refused", Uint8Array.of(0x55, 0x54, 0)),
    both("an extra field that runs over its end", "refused", extraField(0x5455, nothing, 1)),
    both("an extra field of zip64", "refused", extraField(0x0001, new Uint8Array(16))),
    both("a Unicode Path that is the name", "accepted", sameName),
    both("a Unicode Path that is another name", "refused", unicodePath("a.txt", "b.txt")),
    both("a Unicode Path with the checksum of another name", "refused", unicodePath("b.txt", "a.txt")),
    both("a Unicode Path of version 2", "refused", version2),
  ];
}

/** Vectors about the zip format alone, with any files in the zip (docs/evidence-format.md, section 9.1). */
function zips(): Part[] {
  const text: OddEntry = { name: "a.txt", bytes: Buffer.from("text") };
  const bent = (changes: Partial<OddEntry>): OddEntry[] => [{ ...text, ...changes }];
  const named = (name: string): OddEntry => ({ ...text, name });
  const many = (count: number) => Array.from({ length: count }, (_, index) => named(`${index}`));
  const good = oddZip([text]);
  /** Changes bytes of the zip. `at` is the offset from its start or, if negative, from its end. */
  const patched = (name: string, at: number, ...octets: readonly number[]): Row => {
    const bytes = Uint8Array.from(good);
    bytes.set(octets, at < 0 ? bytes.length + at : at);
    return [name, hexOf(bytes), "refused"];
  };
  const end = -22;
  const directory = end - 51;
  const described = oddZip(bent({ descriptor: true }));
  const longer = Uint8Array.from(good);
  longer[longer.length + end + 12] = 51 + 4;
  const MAX = [0xff, 0xff, 0xff, 0xff];
  const size = (value: number) => bent({ both: { size: value } });
  return rows("zip", "What two programs could read in two ways is refused (9.1).", [
    zipRow("one file", [text], "accepted"),
    zipRow("no file", [], "accepted"),
    zipRow("a file of no bytes", bent({ bytes: new Uint8Array(0) }), "accepted"),
    zipRow("sizes behind the data", bent({ descriptor: true }), "accepted"),
    zipRow("64 files", many(64), "accepted"),
    zipRow("65 files", many(65), "refused"),
    zipRow("a name of 255 characters", [named("x".repeat(255))], "accepted"),
    zipRow("a name of 256 characters", [named("x".repeat(256))], "refused"),
    ["no byte", "", "refused"],
    ["an end that is cut", hexOf(good.subarray(1 - 22)), "refused"],
    patched("an end with another mark", end, 0x51),
    patched("a directory on another disk", end + 6, 1),
    zipRow("65,535 files", [text], "refused", { countHere: 0xffff }),
    patched("a directory of 2^32 - 1 bytes", end + 12, ...MAX),
    patched("a directory at 2^32 - 1", end + 16, ...MAX),
    patched("a comment that is said to be there", end + 20, 1),
    patched("a directory that is said to be shorter", end + 12, 50),
    zipRow("a directory that has one file more", [text], "refused", { countHere: 0 }),
    zipRow("a directory that has one file less", [text], "refused", { countHere: 2 }),
    patched("an entry with another mark", directory, 0x51),
    patched("an entry whose name runs over the end", directory + 28, 6),
    patched("an entry that is said to have an extra field", directory + 30, 1),
    patched("an entry that is said to have a comment", directory + 32, 1),
    patched("an entry on another disk", directory + 34, 1),
    zipRow("a compressed size of 2^32 - 1", bent({ both: { compressed: 0xffffffff } }), "refused"),
    zipRow("a size of 2^32 - 1", size(0xffffffff), "refused"),
    zipRow("an offset of 2^32 - 1", bent({ directory: { offset: 0xffffffff } }), "refused"),
    zipRow("an offset at the end", bent({ directory: { offset: good.length - 29 } }), "refused"),
    zipRow("a stored size of another number", size(5), "refused"),
    zipRow("a file that runs over the end", bent({ both: { compressed: 1000, size: 1000 } }), "refused"),
    zipRow("a file that is larger than 256 MiB", size(256 * 1024 * 1024 + 1), "refused"),
    patched("a file's header with another mark", 0, 0x51),
    patched("a file's header that is said to have an extra field", 28, 1),
    zipRow("deflated", bent({ deflated: true }), "accepted"),
    zipRow(
      "deflated, a byte behind its end",
      bent({ bytes: Buffer.from("030000", "hex"), both: { method: 8, size: 0, crc: 0 } }),
      "refused",
    ),
    zipRow("a method that is not read, of deflated data", bent({ deflated: true, both: { method: 9 } }), "refused"),
    [
      "bytes in the directory behind its entries",
      hexOf(Buffer.concat([good.subarray(0, end), Buffer.from("more"), longer.subarray(end)])),
      "refused",
    ],
    ...extraFields(),
    zipRow("flags that state how hard the compressor tried", bent({ deflated: true, both: { flags: 6 } }), "accepted"),
    ...(["crc", "compressed", "size"] as const).flatMap((member) => [
      zipRow(
        `sizes behind the data, and a ${member} of 7 before it`,
        bent({ descriptor: true, local: { [member]: 7 } }),
        "refused",
      ),
    ]),
    zipRow(
      "sizes behind the data, and the same size before it",
      bent({ descriptor: true, local: { size: 4 } }),
      "accepted",
    ),
    ...[39, 43, 47, 51].map((at): Row => {
      const bytes = Uint8Array.from(described);
      bytes[at] = 0xee;
      return [`sizes behind the data that are others: ${at}`, hexOf(bytes), "refused"];
    }),
  ]);
}

/** Vectors of the files that the Finder of macOS adds (docs/evidence-format.md, section 9.4). */
function finders(file: OddEntry, folder: (name: string) => OddEntry): Row[] {
  const double = Buffer.from("0005160700020000", "hex");
  const store = Buffer.from("0000000142756431", "hex");
  const row = (name: string, expect: Part["expect"], ...entries: readonly OddEntry[]): Row =>
    zipRow(`the Finder's files: ${name}`, [file, ...entries], expect);
  const one = (name: string, path: string, bytes: Uint8Array): Row => row(name, "refused", { name: path, bytes });
  return [
    row(
      "all kinds",
      "accepted",
      { name: "a/.DS_Store", bytes: store },
      { name: "a/b/.DS_Store", bytes: store },
      folder("__MACOSX/"),
      folder("__MACOSX/a/"),
      { name: "__MACOSX/._a", bytes: double },
      { name: "__MACOSX/a/._.DS_Store", bytes: double },
      { name: "__MACOSX/a/b/._c.pdf", bytes: double },
    ),
    one("not AppleDouble", "__MACOSX/a/b/._c.pdf", Buffer.from("text")),
    one(
      "AppleDouble that may be opened as a PDF",
      "__MACOSX/a/b/._c.pdf",
      Buffer.concat([double, Buffer.from("%PDF-")]),
    ),
    one("a .DS_Store of other bytes", "a/.DS_Store", double),
    one("of a file in another folder", "__MACOSX/b/._c.pdf", double),
    one("of a name that is not plain", "__MACOSX/a/._b:c", double),
    one("of a file in three folders", "__MACOSX/a/b/c/._d.pdf", double),
    one("without the dot", "__MACOSX/c.pdf", double),
    zipRow(
      "the Finder's files: listed before a file in no folder",
      [
        { name: "__MACOSX/._c.pdf", bytes: double },
        { name: "c.pdf", bytes: file.bytes },
      ],
      "refused",
    ),
  ];
}

/** Vectors of zips with entries for folders, which common programs write (docs/evidence-format.md, section 9.4). */
function folders(): Row[] {
  const file: OddEntry = { name: "a/b/c.pdf", bytes: Buffer.from("text") };
  const folder = (name: string, changes: Partial<OddEntry> = {}): OddEntry => ({
    name,
    bytes: new Uint8Array(0),
    ...changes,
  });
  const typed = (name: string, attributes: number, expect: Part["expect"]): Row =>
    zipRow(name, [folder("a/", { directory: { attributes } }), file], expect);
  return [
    zipRow("folders of their own", [folder("a/"), folder("a/b/"), file, folder("a/empty/")], "accepted"),
    typed("a folder that is marked as one by Unix and MS-DOS", 0x41ed0010, "accepted"),
    typed("a folder that is marked as a file", 0x81a40000, "refused"),
    typed("a folder that is marked as a link", 0xa1ff0010, "refused"),
    typed("a folder that is marked as a volume label", 0x08, "refused"),
    zipRow("a folder with data", [folder("a/", { bytes: Buffer.from("text") }), file], "refused"),
    zipRow("two folders that differ in case alone", [folder("a/b/"), folder("a/B/"), file], "refused"),
    zipRow("a folder with the name of a file", [folder("a/c.pdf/"), { ...file, name: "a/c.pdf" }], "refused"),
    zipRow("a folder in the second of its folders", [folder("a/b/c/"), file], "refused"),
    zipRow("a second folder at the top", [file, folder("b/")], "refused"),
    zipRow("a folder of no name", [file, folder("/")], "refused"),
    ...finders(file, folder),
    zipRow("a folder in a zip without folders", [{ ...file, name: "c.pdf" }, folder("a/")], "refused"),
  ];
}

/** Vectors of the zips in which people receive their documents (docs/evidence-format.md, section 9.4). */
function documentsZips(): Part[] {
  const bytes = Buffer.from("text");
  const utf8 = (name: string): OddEntry =>
    Buffer.byteLength(name) > name.length ? { name, bytes, both: { flags: 0x0800 } } : { name, bytes };
  const row = (name: string, paths: readonly string[], expect: Part["expect"]): Row =>
    zipRow(name, paths.map(utf8), expect);
  const many = (count: number) => Array.from({ length: count }, (_, index) => `a/${index}`);
  const broken = Buffer.from(oddZip([utf8("a/\u00e4")]));
  for (const at of [broken.indexOf("\u00e4"), broken.lastIndexOf("\u00e4")]) broken[at] = 0xff;
  const parts: readonly (readonly [what: string, part: string])[] = [
    ["a part of no character", ""],
    ["a part that is a dot", "."],
    ["a part that is two dots", ".."],
    ["a space at the start of a part", " b"],
    ["a space at the end of a part", "b "],
    ["a dot at the start of a part", ".b"],
    ["a dot at the end of a part", "b."],
    ["a backslash", "b\\c"],
    ["a colon", "b:c"],
    ["a question mark", "b?"],
    ["a control character", "b\tc"],
    ["a space that is not U+0020", "b\u00a0c"],
    ["a character that turns the direction of text", "b\u202ec"],
    ["a letter in two characters (not NFC)", "e\u0301"],
    ["a device of Windows", "NUL"],
    ["a device of Windows with an extension behind a space", "con .b"],
    ["a device of Windows with a digit", "com1"],
    ["a device of Windows with a raised digit", "lpt\u00b2"],
  ];
  const plain: readonly (readonly [what: string, name: string, expect: Part["expect"]])[] = [
    ["a device of Windows, in no folder", "nul.pdf", "refused"],
    ["a device of Windows behind a dot, in no folder", "a.nul", "accepted"],
    ["a name that begins with that of a device, in no folder", "console.pdf", "accepted"],
  ];
  return rows("documents-zip", "A path that two systems could take for two is refused (9.4).", [
    row(
      "folders, spaces and letters",
      ["2026 Mu\u00f1oz/Documents/01 Deed, notarized.pdf", "2026 Mu\u00f1oz/README.txt"],
      "accepted",
    ),
    row("2,048 files", many(2048), "accepted"),
    row("2,049 files", many(2049), "refused"),
    row("a path of 255 bytes", [`a/${"b".repeat(253)}`], "accepted"),
    row("a path of 256 bytes", [`a/${"b".repeat(254)}`], "refused"),
    row("three folders", ["a/b/c/d.pdf"], "refused"),
    row("two folders at the top", ["a/b.pdf", "b/b.pdf"], "refused"),
    row("a file at the top", ["a/b.pdf", "b.pdf"], "refused"),
    row("a file at the top, listed first", ["b.pdf", "a/b.pdf"], "refused"),
    row("two paths that differ in case alone", ["a/b.pdf", "a/B.pdf"], "refused"),
    row("a file with the name of a folder", ["a/b", "a/b/c"], "refused"),
    ...folders(),
    zipRow("a letter that is not marked as UTF-8", [{ name: "a/\u00e4", bytes }], "refused"),
    ["bytes that are not UTF-8", hexOf(broken), "refused"],
    ...parts.map(([what, part]) => row(what, [`a/${part}/b.pdf`], "refused")),
    ...plain.map(([what, name, expect]) => row(what, [name], expect)),
  ]);
}

export const containers = (): Part[] => [...ber(), ...deflate(), ...zips(), ...documentsZips()];
