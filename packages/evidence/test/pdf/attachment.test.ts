import assert from "node:assert/strict";
import { test } from "node:test";
import { deflateSync } from "node:zlib";
import { EvidenceError } from "../../src/errors.ts";
import { attachedFile } from "../../src/pdf/attachment.ts";
import { cursorAt } from "../../src/pdf/cursor.ts";
import { openDocument } from "../../src/pdf/document.ts";
import { readValue } from "../../src/pdf/lexer.ts";
import { stringText } from "../../src/pdf/text.ts";
import { mutate, randomFrom } from "../mutate.ts";
import { type Attachment, withAttachment } from "../seal/closing-pdf.ts";
import { bytesOf, latin1 } from "../seal/signed-pdf.ts";

const data = bytesOf('{"a":1}');
const attached = (attachment: Attachment = {}, limit = 1000) =>
  attachedFile(openDocument(withAttachment(data, attachment)), "manifest.json", limit);
const refused = (attachment: Attachment, limit?: number) =>
  assert.throws(() => attached(attachment, limit), EvidenceError);

test("reads a file that is attached plain, under a literal, hexadecimal or UTF-16 name, and refuses one that is encoded", () => {
  assert.deepEqual(attached(), data);
  const compressed = latin1(deflateSync(data));
  for (const [filter, written] of [
    ["/Filter /FlateDecode", compressed],
    ["/Filter []", latin1(data)],
    ["/F (elsewhere)", latin1(data)],
  ] as const) {
    refused({ file: `<< /Type /EmbeddedFile ${filter} /Length ${written.length} >>\nstream\n${written}\nendstream` });
  }
  const utf16 = Buffer.from("manifest.json", "utf16le").swap16().toString("hex");
  for (const name of ["<6d616e69666573742e6a736f6e>", "(mani\\146est\\056json)", `<FEFF${utf16}>`]) {
    assert.deepEqual(attached({ name }), data, name);
  }
});

test("finds a file below the kids of the name tree and through a length that is an object of its own", () => {
  const names = "<< /EmbeddedFiles << /Kids [102 0 R] >> >>";
  const kids = [[102, "<< /Limits [(a) (z)] /Names [(other) null (manifest.json) 101 0 R] >>"]] as const;
  assert.deepEqual(attached({ names, objects: kids }), data);
  const file = `<< /Type /EmbeddedFile /Length 103 0 R >>\nstream\n${latin1(data)}\nendstream`;
  assert.deepEqual(attached({ file, objects: [[103, `${data.length}`]] }), data);
});

test("refuses a file that some readers find elsewhere: /UF alone or with other data, a repeated key", () => {
  const spec = (ef: string) => `<< /F (manifest.json) /EF ${ef} >>`;
  const other = [103, "<< /Length 1 >>\nstream\nx\nendstream"] as const;
  const names = "<< /EmbeddedFiles << /Names [(manifest.json) 102 0 R] >> >>";
  assert.deepEqual(attached({ names, objects: [[102, spec("<< /F 100 0 R /UF 100 0 R >>")]] }), data);
  for (const ef of ["<< /UF 100 0 R >>", "<< /F 100 0 R /UF 103 0 R >>", "<< /F 103 0 R /F 100 0 R >>"]) {
    refused({ names, objects: [[102, spec(ef)], other] });
  }
  refused({ names, objects: [[102, `${spec("<< /F 103 0 R >>").slice(0, -2)} /EF << /F 100 0 R >> >>`], other] });
  refused({ names: `<< /EmbeddedFiles << /Names [] >> ${names.slice(2)}` });
  refused({ names: `${names} /Names << >>` });
});

test("finds nothing when no file has the name", () => {
  assert.equal(attached({ name: "(Manifest.json)" }), null);
  assert.equal(attached({ names: "<< /Dests 102 0 R >>" }), null);
  assert.equal(attached({ names: "<< /EmbeddedFiles << /Names [] >> >>" }), null);
});

test("refuses two files with the same name, a file beyond the limit, cycles and broken streams", () => {
  refused({ names: "<< /EmbeddedFiles << /Names [(manifest.json) 101 0 R (manifest.json) 101 0 R] >> >>" });
  refused({}, data.length - 1);
  refused({ names: "<< /EmbeddedFiles 102 0 R >>", objects: [[102, "<< /Kids [102 0 R 102 0 R] >>"]] });
  refused({ file: "<< /Length 7 >>" });
  refused({ file: `<< /Length 6 >>\nstream\n${latin1(data)}\nendstream` });
  refused({ file: `<< /Length 99999 >>\nstream\n${latin1(data)}\nendstream` });
  refused({ file: `<< /Length 7 /Filter /LZWDecode >>\nstream\n${latin1(data)}\nendstream` });
  const bomb = latin1(deflateSync(new Uint8Array(100_000)));
  refused({ file: `<< /Filter /FlateDecode /Length ${bomb.length} >>\nstream\n${bomb}\nendstream` });
  const many = Array.from({ length: 2000 }, (_, i) => `(f${i}) null`).join(" ");
  refused({ names: `<< /EmbeddedFiles << /Names [${many}] >> >>` });
});

test("names a repeated key on the way to the file", () => {
  const tree = "/Names [(manifest.json) 102 0 R]";
  const specified = (specification: string, names = `<< /EmbeddedFiles << ${tree} >> >>`): Attachment => ({
    names,
    objects: [[102, specification]],
  });
  const specification = "<< /F (manifest.json) /EF << /F 100 0 R >> >>";
  assert.deepEqual(attached(specified(specification)), data);
  for (const attachment of [
    specified(specification, `<< /EmbeddedFiles << ${tree} >> /EmbeddedFiles << /Names [] >> >>`),
    specified(specification, `<< /EmbeddedFiles << ${tree} /Names [] >> >>`),
    specified("<< /F (manifest.json) /EF << /F 100 0 R >> /EF << /F 101 0 R >> >>"),
    specified("<< /F (manifest.json) /EF << /F 100 0 R /F 101 0 R >> >>"),
    { file: `<< /Length 7 /Length 8 >>\nstream\n${latin1(data)}\nendstream` },
  ]) {
    assert.throws(() => attached(attachment), { code: "pdf", message: /stands twice/ });
  }
});

test("reads a damaged file, or refuses it with the package's own error", () => {
  const bytes = withAttachment(data);
  const random = randomFrom(7);
  for (let run = 0; run < 3000; run++) {
    const mutated = mutate(bytes, random);
    try {
      attachedFile(openDocument(mutated), "manifest.json", 1000);
    } catch (error) {
      assert.ok(error instanceof EvidenceError, String(error));
    }
  }
});

test("reads text strings with escapes, line ends, octal codes and marks", () => {
  const text = (source: string) => {
    const value = readValue(cursorAt(bytesOf(source), 0));
    assert.equal(value.kind, "string");
    return value.kind === "string" ? stringText(value) : "";
  };
  assert.equal(text("(a\\(b\\)\\\\)"), "a(b)\\");
  assert.equal(text("(a\\\r\nb\\\nc)"), "abc");
  assert.equal(text("(\\101\\1012)"), "AA2");
  assert.equal(text("(\\1018\\78\\601)"), "A8\ufffd8\ufffd");
  assert.equal(text("(\\101\\50\\8\\q\\7)"), "A(8q\ufffd");
  assert.equal(text("(caf\xe9)"), "café");
  assert.equal(text("<4 1 4>"), "A@");
  assert.equal(text("<EFBBBFC3A9>"), "é");
  assert.equal(text("(a\\nb)"), "a\ufffdb");
});
