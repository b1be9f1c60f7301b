import assert from "node:assert/strict";
import { test } from "node:test";
import { documentName, openDocumentNames } from "../../../src/kernel/platform/document-name.ts";
import { openLog } from "../../../src/kernel/platform/logs.ts";
import { secretBytes } from "../../../src/kernel/platform/secrets.ts";

test("a document has the name of its file, without folders and extension", () => {
  const names = {
    "Deed of trust.pdf": "Deed of trust",
    "C:\\Users\\dana\\Payoff.PDF": "Payoff",
    "a/b/契約書 2026.pdf": "契約書 2026",
    "  two \t  spaces.pdf": "two spaces",
    "report.final.v2": "report.final.v2",
  };
  for (const [file, name] of Object.entries(names)) assert.equal(documentName(file), name);
});

test("a file without a name gives the document no name", () => {
  for (const file of [undefined, "", ".pdf", "document.pdf", "Blob", "file", "upload.pdf", "\u200b.pdf", "///", "  "])
    assert.equal(documentName(file), null, String(file));
});

test("a name can't change the direction of words around it, or be longer than a line or two", () => {
  assert.equal(documentName("invoice\u202Efdp.exe.pdf"), "invoice fdp.exe");
  assert.equal(documentName("a\u0000b\r\nc.pdf"), "a b c");
  assert.equal([...(documentName("𝒳".repeat(500)) ?? "")].length, 200);
});

test("only the document's owner can decrypt a stored name, and an altered one counts as none", () => {
  const [log, secrets] = [openLog("silent"), secretBytes(Buffer.alloc(32, 7))];
  const { seal, open } = openDocumentNames({ secrets, log });
  const sealed = seal("Deed of trust", "order-1");
  assert.ok(sealed && !sealed.includes("Deed"));
  assert.equal(open(sealed, "order-1"), "Deed of trust");
  assert.equal(open(sealed, "order-2"), null);
  sealed[sealed.length - 1] = (sealed.at(-1) ?? 0) ^ 1;
  assert.equal(open(sealed, "order-1"), null);
  assert.equal(seal(null, "order-1"), null);
  assert.equal(open(null, "order-1"), null);
});
