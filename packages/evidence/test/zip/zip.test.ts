import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { crc32 } from "node:zlib";
import { makeZip, unicodePath } from "@signsealship/testing/inputs/zip-maker";
import { python } from "@signsealship/testing/tools/python";
import { needs } from "@signsealship/testing/tools/tools";
import fc from "fast-check";
import { EvidenceError } from "../../src/errors.ts";
import { openZip, readZip, zipLimits } from "../../src/zip/zip.ts";
import { mutate, randomFrom } from "../mutate.ts";

const text = (value: string) => Uint8Array.from(Buffer.from(value));
const refuses = (bytes: Uint8Array, message: RegExp) =>
  assert.throws(
    () => readZip(bytes),
    (error) => error instanceof EvidenceError && message.test(error.message),
  );
const documents = (...names: readonly string[]) => makeZip(names.map((name) => ({ name, bytes: text("x") })));
const refusesDocuments = (zip: Uint8Array, message: RegExp) =>
  assert.throws(
    () => openZip(zip),
    (error) => error instanceof EvidenceError && message.test(error.message),
  );
const bent = (bend: (zip: Buffer) => void, files = [{ name: "a.txt", bytes: text("hello") }]) => {
  const zip = makeZip(files);
  bend(zip);
  return zip;
};

test("reads back any files, stored and deflated", () => {
  const name = fc.stringMatching(/^[a-z]{1,12}\.[a-z]{3}$/);
  const file = fc.record({ name, bytes: fc.uint8Array({ maxLength: 500 }), deflated: fc.boolean() });
  fc.assert(
    fc.property(fc.uniqueArray(file, { selector: ({ name: key }) => key, maxLength: 8 }), (files) => {
      const read = readZip(makeZip(files));
      assert.equal(read.size, files.length);
      for (const { name: key, bytes } of files) assert.deepEqual(Uint8Array.from(read.get(key) ?? []), bytes);
    }),
  );
});

test("reads files of the zip program", needs("zip"), (t) => {
  const folder = mkdtempSync(join(tmpdir(), "zip-"));
  t.after(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, "a.txt"), "hello".repeat(100));
  writeFileSync(join(folder, "b.bin"), Buffer.from([1, 2, 3]));
  execFileSync("zip", ["-q", "-X", "made.zip", "a.txt", "b.bin"], { cwd: folder });
  const read = readZip(readFileSync(join(folder, "made.zip")));
  assert.deepEqual([...read.keys()], ["a.txt", "b.bin"]);
  assert.equal(Buffer.from(read.get("a.txt") ?? []).toString(), "hello".repeat(100));
});

/** A folder that contains a document in another folder, as after unpacking one of the service's zips. */
function unpackedFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "zip-"));
  t.after(() => rmSync(folder, { recursive: true }));
  mkdirSync(join(folder, "2026 Ortega/Documents"), { recursive: true });
  writeFileSync(join(folder, "2026 Ortega/README.txt"), "hello");
  writeFileSync(join(folder, "2026 Ortega/Documents/01 Deed.pdf"), "deed ".repeat(100));
  return folder;
}
function isRead(zip: Uint8Array): void {
  const { form, files } = openZip(zip);
  assert.equal(form, "documents");
  assert.deepEqual([...files.keys()].sort(), ["2026 Ortega/Documents/01 Deed.pdf", "2026 Ortega/README.txt"]);
  assert.equal(Buffer.from(files.get("2026 Ortega/README.txt") ?? []).toString(), "hello");
}

test("reads a folder that people packed again with the zip program", needs("zip"), (t) => {
  const cwd = unpackedFolder(t);
  for (const options of [["-r"], ["-r", "-9"], ["-r", "-0"], ["-r", "-D"]]) {
    const name = `made${options.join("")}.zip`;
    execFileSync("zip", ["-q", ...options, name, "2026 Ortega"], { cwd });
    isRead(readFileSync(join(cwd, name)));
  }
  // When zip writes to a pipe, it puts checksums and sizes after the data.
  isRead(execFileSync("zip", ["-q", "-r", "-", "2026 Ortega"], { cwd }));
});

test("reads a folder that people packed again with Python", needs("python"), (t) => {
  const cwd = unpackedFolder(t);
  execFileSync(python, ["-c", "import shutil; shutil.make_archive('made', 'zip', '.', '2026 Ortega')"], { cwd });
  isRead(readFileSync(join(cwd, "made.zip")));
});

test("reads folders that people packed again with 7-Zip and bsdtar", () => {
  for (const name of ["7-zip", "bsdtar"]) isRead(readFileSync(join(import.meta.dirname, `packed-by/${name}.zip`)));
});

const central = 40;
const centralOf = (zip: Buffer) => zip.indexOf("PK\x01\x02");

test("refuses files that readers could read differently, each by its name", () => {
  const twice = [
    { name: "a.txt", bytes: text("one") },
    { name: "a.txt", bytes: text("two") },
  ];
  refuses(makeZip(twice), /two files of one name \(same-name\)/);
  refuses(makeZip([twice[0] ?? { name: "", bytes: text("") }, { name: "A.TXT", bytes: text("two") }]), /same-name/);
  refuses(Buffer.concat([text("%PDF-1.7 junk"), makeZip([])]), /directory/);
  refuses(Buffer.concat([makeZip([]), text("junk")]), /after its end/);
  refuses(text("not a zip"), /no-end/);
  const bends: readonly (readonly [RegExp, (zip: Buffer) => void])[] = [
    [/headers-differ/, (zip) => zip.write("b", 30)],
    [/headers-differ/, (zip) => zip.writeUInt16LE(8, 8)],
    [/headers-differ/, (zip) => zip.writeUInt16LE(0x0800, 6)],
    [/headers-differ/, (zip) => zip.writeUInt32LE(0, 14)],
    [/headers-differ/, (zip) => zip.writeUInt32LE(6, 18)],
    [/headers-differ/, (zip) => zip.writeUInt16LE(45, 4)],
    [/data/, (zip) => zip.write("J", 35)],
    [
      /flags/,
      (zip) => {
        for (const flags of [6, central + 8]) zip.writeUInt16LE(0x20, flags);
      },
    ],
    [/extra-field/, (zip) => zip.writeUInt16LE(5, 28)],
    [/parts/, (zip) => zip.writeUInt16LE(1, central + 34)],
    [/comment/, (zip) => zip.writeUInt16LE(1, zip.length - 2)],
    [/comment/, (zip) => zip.writeUInt16LE(1, central + 32)],
    // A symbolic link and a folder as Unix programs mark them, and a folder as MS-DOS programs mark it.
    [/attributes/, (zip) => zip.writeUInt32LE(0xa1ff0000, central + 38)],
    [/attributes/, (zip) => zip.writeUInt32LE(0x41ed0000, central + 38)],
    [/attributes/, (zip) => zip.writeUInt32LE(0x10, central + 38)],
  ];
  for (const [fault, bend] of bends) refuses(bent(bend), fault);
  assert.equal(readZip(bent((zip) => zip.writeUInt32LE(0x81a40000, central + 38))).size, 1);
});

test("refuses an extra field that names another file, because unzip goes by that name", needs("unzip"), (t) => {
  const zip = makeZip([
    { name: "sealed.pdf", bytes: text("genuine"), extra: unicodePath("sealed.pdf", "README.txt") },
    { name: "README.txt", bytes: text("forged"), extra: unicodePath("README.txt", "sealed.pdf") },
  ]);
  const folder = mkdtempSync(join(tmpdir(), "zip-"));
  t.after(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, "a.zip"), zip);
  execFileSync("unzip", ["-q", "-o", "a.zip"], { cwd: folder });
  assert.equal(readFileSync(join(folder, "sealed.pdf"), "utf8"), "forged");
  refuses(zip, /extra-field/);
});

/**
 * An extra field (APPNOTE 6.3.10, section 4.5.1): an ID, a length, and data. `stated` is the length that the field
 * states.
 */
const field = (id: number, length: number, stated = length) => {
  const bytes = Buffer.alloc(4 + length);
  bytes.writeUInt16LE(id, 0);
  bytes.writeUInt16LE(stated, 2);
  return bytes;
};

test("reads extra fields that state times, owners and the name itself, and refuses all others", () => {
  const zipWith = (...extra: Buffer[]) => makeZip([{ name: "a.txt", bytes: text("x"), extra: Buffer.concat(extra) }]);
  const times = field(0x5455, 5);
  for (const id of [0x000a, 0x5455, 0x5855, 0x7855, 0x7875]) assert.equal(readZip(zipWith(field(id, 7))).size, 1);
  assert.equal(readZip(zipWith(times, field(0x7875, 11), unicodePath("a.txt", "a.txt"))).size, 1);
  refuses(zipWith(times, unicodePath("a.txt", "b.txt")), /extra-field/);
  refuses(zipWith(times, unicodePath("b.txt", "a.txt")), /extra-field/);
  const version2 = unicodePath("a.txt", "a.txt");
  version2.writeUInt8(2, 4);
  refuses(zipWith(version2), /extra-field/);
  refuses(zipWith(times, times), /extra-field/);
  refuses(zipWith(times, Buffer.alloc(3)), /extra-field/);
  refuses(zipWith(field(0x5455, 5, 6)), /extra-field/);
  refuses(zipWith(times, field(0x0001, 16)), /zip64/);
  // The Unix fields of PKWARE and ASi (000d, 756e) may name the target of a link. The other fields are for encryption
  // (0017, 9901), for a comment (6375), and for Java archives (cafe).
  for (const id of [0x000d, 0x756e, 0x0017, 0x9901, 0x6375, 0xcafe])
    refuses(zipWith(times, field(id, 8)), /extra-field/);
});

test("reads the entries of folders, and refuses those that are not folders or repeat a name", () => {
  const file = { name: "top/in/a.pdf", bytes: text("x") };
  const folder = (name: string, bytes = text("")) => ({ name, bytes });
  const { files } = openZip(makeZip([folder("top/"), folder("top/in/"), file, folder("top/empty/")]));
  assert.deepEqual([...files.keys()], ["top/in/a.pdf"]);
  refusesDocuments(makeZip([folder("top/", text("x")), file]), /\(data\)/);
  refusesDocuments(makeZip([folder("top/in/"), folder("top/IN/"), file]), /same-name/);
  refusesDocuments(makeZip([folder("top/a.pdf/"), { ...file, name: "top/a.pdf" }]), /same-name/);
  refusesDocuments(makeZip([folder("other/"), file]), /\(name\)/);
  refusesDocuments(makeZip([folder("top/in/deep/"), file]), /\(name\)/);
  refuses(makeZip([folder("top/")]), /\(name\)/);
  const typed = (attributes: number) => {
    const zip = makeZip([folder("top/"), file]);
    zip.writeUInt32LE(attributes, centralOf(zip) + 38);
    return zip;
  };
  for (const attributes of [0x10, 0x41ed0010]) assert.equal(openZip(typed(attributes)).files.size, 1);
  for (const attributes of [0x08, 0x81a40000, 0xa1ff0010]) refusesDocuments(typed(attributes), /attributes/);
});

test("leaves out the files that the Finder of macOS adds, and refuses others by their names", () => {
  const double = Buffer.from("00051607000200004d6163204f532058", "hex");
  const store = Buffer.from("0000000142756431", "hex");
  const file = { name: "top/in/a.pdf", bytes: text("x") };
  const packed = (...more: readonly { name: string; bytes: Uint8Array }[]) => makeZip([file, ...more]);
  const finders = [
    { name: "top/.DS_Store", bytes: store },
    { name: "top/in/.DS_Store", bytes: store },
    { name: "__MACOSX/", bytes: text("") },
    { name: "__MACOSX/top/", bytes: text("") },
    { name: "__MACOSX/._top", bytes: double },
    { name: "__MACOSX/top/._.DS_Store", bytes: double },
    { name: "__MACOSX/top/in/._a.pdf", bytes: double },
  ];
  assert.deepEqual([...openZip(packed(...finders)).files.keys()], ["top/in/a.pdf"]);
  assert.deepEqual([...openZip(makeZip([...finders, file])).files.keys()], ["top/in/a.pdf"]);
  const pdf = Buffer.concat([double, Buffer.from("%PDF-1.7")]);
  for (const [name, bytes] of [
    ["__MACOSX/top/in/._a.pdf", text("x")],
    ["__MACOSX/top/in/._a.pdf", store],
    ["__MACOSX/top/in/._a.pdf", pdf],
    ["top/.DS_Store", double],
    ["top/.DS_Store", text("")],
    ["__MACOSX/other/._a.pdf", double],
    ["__MACOSX/._other", double],
    ["__MACOSX/top/in/._a:b", double],
    ["__MACOSX/top/in/deep/._a.pdf", double],
    ["__MACOSX/a.pdf", double],
    [".DS_Store", store],
    ["top/in/deep/.DS_Store", store],
  ] as const)
    refusesDocuments(packed({ name, bytes }), /\(name\)/);
  refusesDocuments(packed({ name: "__MACOSX/top/", bytes: text("x") }), /\(data\)/);
  const flat = { name: "a.pdf", bytes: text("x") };
  refusesDocuments(makeZip([{ name: "__MACOSX/._a.pdf", bytes: double }, flat]), /\(name\)/);
  refuses(makeZip([{ name: "._a.pdf", bytes: double }]), /\(name\)/);
});

test("refuses every name that is not the plain name of a file", () => {
  const bad = [
    "",
    "a b",
    "\u00e4",
    "a\0",
    "x/a.txt",
    "./a.txt",
    "../a.txt",
    "/a.txt",
    "x\\a",
    "a.txt.",
    "a:b",
    ".",
    "x/",
  ];
  for (const name of [...bad, "a".repeat(256)]) refuses(makeZip([{ name, bytes: text("") }]), /name/);
  for (const name of ["sealed.pdf.ots", "README", "a-b_C.7", "a".repeat(255)]) {
    assert.deepEqual([...readZip(makeZip([{ name, bytes: text("") }])).keys()], [name]);
  }
});

test("refuses names that Windows opens as devices, in each part of a path", () => {
  for (const name of ["NUL", "con.pdf", "aux", "Com1.tar.gz", "lpt9"]) {
    refuses(makeZip([{ name, bytes: text("") }]), /\(name\)/);
    for (const path of [`top/${name}`, `${name}/x.pdf`, `top/${name}/x.pdf`])
      refusesDocuments(documents(path), /\(name\)/);
  }
  for (const name of ["nul .pdf", "com\u00b9.pdf", "CONIN$"]) refusesDocuments(documents(`top/${name}`), /\(name\)/);
  for (const name of ["console.pdf", "com", "com10", "x.nul", "_con.pdf"])
    assert.deepEqual([...readZip(makeZip([{ name, bytes: text("") }])).keys()], [name]);
});

test("reads the paths of a zip of documents, and tells its form by its first entry", () => {
  const names = ["2026 Mu\u00f1oz/Documents/01 Deed, notarized.pdf", "2026 Mu\u00f1oz/README.txt"];
  const { form, files } = openZip(documents(...names));
  assert.deepEqual([form, [...files.keys()]], ["documents", names]);
  assert.equal(openZip(documents("sealed.pdf")).form, "evidence");
  assert.equal(openZip(makeZip([])).form, "evidence");
  refuses(documents(...names), /\(name\)/);
  for (const mixed of [
    ["a/b.pdf", "b.pdf"],
    ["b.pdf", "a/b.pdf"],
    ["a/b.pdf", "b/b.pdf"],
    ["a/b.pdf", "A/c.pdf"],
  ])
    refusesDocuments(documents(...mixed), /\(name\)/);
});

test("refuses every path that some system would take for another one, or for one outside of the folder", () => {
  const parts = [".", "..", " a", "a ", "a.", ".a", "a\\b", "a:b", "a*", "a?", "a<", "a|", '"', "a\u00a0b", "a\tb"];
  const others = ["a\u202eb", "a\u200db", "a\u2028b", "e\u0301", "a\u0000"];
  for (const part of [...parts, ...others])
    for (const name of [`top/${part}`, `top/${part}/x.pdf`, `top/in/${part}`, `${part}/x.pdf`])
      refusesDocuments(documents(name), /\(name\)/);
  for (const name of ["/a/b", "a//b", "a//", "a/b//", "a/b/c/d.pdf", `a/${"b".repeat(254)}`])
    refusesDocuments(documents(name), /\(name\)/);
  assert.equal(openZip(documents(`a/${"b".repeat(253)}`)).files.size, 1);
  refusesDocuments(documents("a/b", "a/B"), /same-name/);
  refusesDocuments(documents("a/\u00c4", "a/\u00e4"), /same-name/);
  refusesDocuments(documents("a/b", "a/b/c"), /same-name/);
});

test("refuses a name beyond ASCII that is not marked as UTF-8, and bytes that are not UTF-8", () => {
  const unmarked = documents("a/\u00e4");
  for (const at of [6, centralOf(unmarked) + 8]) unmarked.writeUInt16LE(0, at);
  refusesDocuments(unmarked, /\(name\)/);
  const broken = documents("a/\u00e4");
  for (const at of [32, centralOf(broken) + 48]) broken.writeUInt8(0xff, at);
  refusesDocuments(broken, /\(name\)/);
});

test("bounds the files of a zip of documents, and their bytes before it unpacks one", () => {
  const many = (count: number) => documents(...Array.from({ length: count }, (_, i) => `a/${i}`));
  assert.equal(openZip(many(zipLimits.documentEntries)).files.size, zipLimits.documentEntries);
  refusesDocuments(many(zipLimits.documentEntries + 1), /more than 2048 files/);
  const zeros = makeZip(["a/1", "a/2"].map((name) => ({ name, bytes: new Uint8Array(1_000_000), deflated: true })));
  assert.ok(zeros.length < 3_000);
  assert.equal(openZip(zeros, 2_000_000).files.size, 2);
  assert.throws(() => openZip(zeros, 1_999_999), /too large/);
  // The sizes in the directory limit the data: a file that unpacks to more is refused.
  for (const at of [22, centralOf(zeros) + 24]) zeros.writeUInt32LE(10, at);
  refusesDocuments(zeros, /\(data\)/);
});

test("reads sizes after the data only if they equal those of the directory", () => {
  const streamed = (crc: number, size: number, local: { crc?: number; compressed?: number; size?: number } = {}) => {
    const zip = makeZip([{ name: "a.txt", bytes: text("hello") }]);
    const descriptor = Buffer.from("504b0708000000000500000005000000", "hex");
    descriptor.writeUInt32LE(crc, 4);
    descriptor.writeUInt32LE(size, 12);
    const at = centralOf(zip);
    for (const flags of [6, at + 8]) zip.writeUInt16LE(8, flags);
    zip.writeUInt32LE(local.crc ?? 0, 14);
    zip.writeUInt32LE(local.compressed ?? 0, 18);
    zip.writeUInt32LE(local.size ?? 0, 22);
    zip.writeUInt32LE(at + descriptor.length, zip.length - 6);
    return Buffer.concat([zip.subarray(0, at), descriptor, zip.subarray(at)]);
  };
  const crc = crc32("hello");
  const read = (zip: Uint8Array) => Buffer.from(readZip(zip).get("a.txt") ?? []).toString();
  assert.equal(read(streamed(crc, 5)), "hello");
  assert.equal(read(streamed(crc, 5, { size: 5 })), "hello");
  assert.equal(read(streamed(crc, 5, { crc, compressed: 5, size: 5 })), "hello");
  refuses(streamed(crc ^ 1, 5), /headers-differ/);
  refuses(streamed(crc, 6), /headers-differ/);
  for (const local of [{ crc: crc ^ 1 }, { compressed: 6 }, { size: 6 }])
    refuses(streamed(crc, 5, local), /headers-differ/);
});

test("refuses zip64, several parts, encryption and other methods by name", () => {
  refuses(
    bent((zip) => zip.writeUInt16LE(0xffff, zip.length - 12)),
    /zip64/,
  );
  refuses(
    bent((zip) => zip.writeUInt16LE(1, zip.length - 18)),
    /several parts/,
  );
  refuses(
    bent((zip) => zip.writeUInt16LE(1, central + 8)),
    /encrypted/,
  );
  const lzma = bent((zip) => {
    zip.writeUInt16LE(14, central + 10);
    zip.writeUInt16LE(14, 8);
  });
  refuses(lzma, /method/);
});

test("a bomb is refused before it is decompressed beyond the stated size, and only a limited amount is read", () => {
  const bomb = makeZip([{ name: "a.pdf", bytes: new Uint8Array(5_000_000), deflated: true }]);
  for (const at of [22, centralOf(bomb) + 24]) bomb.writeUInt32LE(10, at);
  refuses(bomb, /not what the directory says/);
  const huge = makeZip([{ name: "a.pdf", bytes: new Uint8Array(10) }]);
  huge.writeUInt32LE(0xfffffff0, centralOf(huge) + 24);
  refuses(huge, /too large/);
  refuses(makeZip(Array.from({ length: 65 }, (_, i) => ({ name: `f${i}`, bytes: text("") }))), /more than 64/);
});

test("reads a damaged zip, or refuses it with the package's own error", () => {
  const zip = makeZip([
    { name: "a.txt", bytes: text("hello"), deflated: true },
    { name: "b.txt", bytes: text("world") },
  ]);
  const random = randomFrom(3);
  for (let run = 0; run < 20_000; run++) {
    try {
      readZip(mutate(zip, random));
    } catch (error) {
      assert.ok(error instanceof EvidenceError, String(error));
    }
  }
});
