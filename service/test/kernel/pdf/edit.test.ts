import assert from "node:assert/strict";
import { test } from "node:test";
import { textString } from "../../../src/kernel/pdf/edit.ts";

test("writes a signer's text so that no reader that searches the file mistakes it for an object", () => {
  for (const typed of ["7 0 obj", "trailer << /Root 9 0 R >>", "startxref 15", "endstream"]) {
    const written = textString(typed);
    assert.doesNotMatch(written, /obj|trailer|xref|stream/);
    const utf16 = Buffer.from(written.slice(1, -1), "hex").subarray(2);
    assert.equal(utf16.swap16().toString("utf16le"), typed);
  }
});

test("writes other printable text unchanged, with brackets escaped", () => {
  assert.equal(textString("Jane (Doe)"), "(Jane \\(Doe\\))");
});
