import assert from "node:assert/strict";
import { test } from "node:test";
import { fileName, namePart, uniqueNames } from "../../../src/closing/deliveries/names.ts";

test("names a file as people would", () => {
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

test("numbers equal names, whatever their case", () => {
  const unique = uniqueNames();
  assert.deepEqual(
    ["Deed", "deed", "Deed"].map((name) => unique(name, ".pdf")),
    ["Deed.pdf", "deed (2).pdf", "Deed (3).pdf"],
  );
});
