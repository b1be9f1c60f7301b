import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { cursorAt } from "../../../../packages/evidence/src/pdf/cursor.ts";
import { readValue } from "../../../../packages/evidence/src/pdf/lexer.ts";
import { stringBytes } from "../../../../packages/evidence/src/pdf/text.ts";
import { byteString, textString } from "../../../src/kernel/pdf/edit.ts";

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

const readByVerifier = (written: string): Buffer => {
  const value = readValue(cursorAt(Buffer.from(written, "latin1"), 0));
  return value.kind === "string" ? Buffer.from(stringBytes(value)) : assert.fail("it is not a string");
};

test("writes bytes as printable ASCII that the verifier reads as the same bytes", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      const written = byteString(Buffer.from(bytes));
      assert.match(written, /^[ -~]*$/);
      assert.deepEqual(readByVerifier(written), Buffer.from(bytes));
    }),
  );
  assert.equal(byteString(Buffer.from("a (b)\\\n\u2014 7")), "(a \\(b\\)\\\\\\n\\342\\200\\224 7)");
});

test("writes bytes in hexadecimal if they contain a word that readers search for", () => {
  const bytes = Buffer.from("host/endstream/log\n");
  assert.equal(byteString(bytes), `<${bytes.toString("hex")}>`);
  assert.deepEqual(readByVerifier(byteString(bytes)), bytes);
});
