import assert from "node:assert/strict";
import { test } from "node:test";
import { type Deliverable, namedFiles } from "../../../src/closing/deliveries/contents.ts";
import { fileName, fitsChecker, namePart, readme, uniqueNames } from "../../../src/closing/deliveries/names.ts";

test("gives a file the name that a person would choose", () => {
  for (const [named, expected] of [
    [{ reference: "2026-1187", title: "Warranty deed", kind: "notarized" }, "2026-1187 Warranty deed, notarized"],
    [{ reference: "2026-1187", title: "Warranty deed.PDF", kind: "sealed" }, "2026-1187 Warranty deed, signed"],
    [{ reference: null, title: "Deed", kind: "original" }, "Deed, original"],
    [{ reference: "2026-1187", title: "2026-1187 Deed", kind: "sealed" }, "2026-1187 Deed, signed"],
    [{ reference: null, title: null, kind: "fax_report" }, "Document, fax report"],
    [{ reference: null, title: "...", kind: "sealed" }, "Document, signed"],
  ] as const)
    assert.equal(fileName(named), expected);
});

test("numbers delivered documents of one title, so that each certificate's name tells its document", () => {
  const sealed = { sha256: "a", kind: "sealed" };
  const certificate = { sha256: "b", kind: "custody_certificate" };
  const orders = ["Deed.pdf", "Note", "Deed", "Deed"].map((title, id) => ({
    id,
    code: String(id),
    status: "Completed",
    isNotarySimulated: false,
    replacesSigned: false,
    title,
    reference: null,
    documents: [sealed, certificate],
    final: null,
  })) as unknown as Deliverable[];
  const files = [0, 1, 3].flatMap((orderId) => [sealed, certificate].map((file) => ({ ...file, orderId })));
  assert.deepEqual(
    namedFiles(orders, files).map(({ path }) => path),
    [
      "Documents/01 Deed (1), signed.pdf",
      "Certificates/Deed (1), custody certificate.pdf",
      "Documents/02 Note, signed.pdf",
      "Certificates/Note, custody certificate.pdf",
      "Documents/03 Deed (2), signed.pdf",
      "Certificates/Deed (2), custody certificate.pdf",
    ],
  );
});

test("makes hostile names harmless", () => {
  for (const [text, expected] of [
    ["../../etc/passwd", "etc passwd"],
    ['a\\b:c*d?e"f<g>h|i', "a b c d e f g h i"],
    ["deed\u202Efdp.exe", "deed fdp.exe"],
    ["line\nbreak\u0000", "line break"],
    ["CON", "_CON"],
    ["nul.pdf", "_nul.pdf"],
    ["  . deed . ", "deed"],
    ["Ame\u0301lie", "Amélie"],
    ["\ud800", "�"],
  ] as const)
    assert.equal(namePart(text), expected);
  for (const text of ["x".repeat(500), "é".repeat(500), "👩‍⚖️".repeat(100)]) {
    const name = fileName({ reference: text, title: text, kind: "custody_certificate" });
    assert.ok(Buffer.byteLength(`${name} (99).pdf`) <= 120, name);
    assert.ok(name.isWellFormed());
  }
});

test("the explanation names the kinds of files that are in the zip, and no other", () => {
  const about = {
    title: "Ortega",
    reference: null,
    firmName: "Harbor",
    documents: [],
    unsigned: new Set<string>(),
    simulated: new Set<string>(),
    hasSigned: false,
    isCertificateLost: false,
    files: [],
    fitsChecker: true,
  };
  const facts = { ...about, waiting: { "tlog-proof": [], ots: [] }, baseUrl: "https://service.example" };
  const textOf = (environment: "live" | "test", ...kinds: string[]) =>
    readme({ ...facts, environment, kinds: new Set(kinds) });
  const all = textOf("live", "sealed", "custody_certificate", "closing_certificate", "mail_receipt");
  for (const words of [
    "- Certificates: A custody",
    "The closing certificate lists",
    "so go by the name.",
    "- Receipts:",
    "open it to read how\r\n   each signer was identified",
  ])
    assert.ok(all.includes(words), words);
  const bare = textOf("live", "original");
  assert.doesNotMatch(bare, /Certificates:|Receipts:|custody certificate|Not here/);
  assert.match(textOf("test", "sealed", "custody_certificate"), /Not here: receipts\. In a test/);
  assert.doesNotMatch(textOf("test", "custody_certificate", "fax_report"), /Not here/);
});

test("the explanation says of a document that nobody signed here that it has no such signature", () => {
  const documents = ["Documents/01 Deed.pdf", "Documents/02 Note.pdf"].map((path) => ({
    path,
    kind: "sealed",
    sha256: "",
  }));
  const text = readme({
    title: "Ortega",
    reference: null,
    firmName: "Harbor",
    environment: "test",
    documents,
    hasSigned: false,
    isCertificateLost: false,
    fitsChecker: true,
    files: [],
    kinds: new Set(["sealed"]),
    unsigned: new Set(["Documents/02 Note.pdf"]),
    simulated: new Set<string>(),
    waiting: { "tlog-proof": [], ots: [] },
    baseUrl: "https://service.example",
  });
  assert.match(text, /01 Deed\.pdf\s+The signed document, sealed after the last signature/);
  assert.match(text, /02 Note\.pdf\s+The document as it was sealed\. No signature that was made here is in it/);
});

test("the explanation tells the reader to drop the whole zip only if the page takes it", () => {
  const facts = {
    title: "Ortega",
    reference: null,
    firmName: "Harbor",
    documents: [],
    hasSigned: false,
    isCertificateLost: false,
    files: [],
    kinds: new Set(["sealed"]),
    unsigned: new Set<string>(),
    simulated: new Set<string>(),
    waiting: { "tlog-proof": [], ots: [] },
    baseUrl: "https://service.example",
  };
  const textFor = (bytes: number) => readme({ ...facts, environment: "live", fitsChecker: fitsChecker(bytes) });
  const whole = /Drop the whole zip on it/;
  const parts = /Unpack this zip, because the page takes at most 256 MB and 64 files at once\./;
  const [small, large] = [textFor(254 * 1024 ** 2), textFor(256 * 1024 ** 2)];
  assert.match(small, whole);
  assert.doesNotMatch(small, parts);
  assert.match(large, parts);
  assert.doesNotMatch(large, whole);
});

test("numbers equal names, whatever their case", () => {
  const unique = uniqueNames();
  assert.deepEqual(
    ["Deed", "deed", "Deed"].map((name) => unique(name, ".pdf")),
    ["Deed.pdf", "deed (2).pdf", "Deed (3).pdf"],
  );
});
