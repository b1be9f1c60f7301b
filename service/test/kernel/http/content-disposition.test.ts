import assert from "node:assert/strict";
import { test } from "node:test";
import { contentDisposition } from "../../../src/kernel/http/content-disposition.ts";

test("a plain name is written unchanged", () => {
  assert.equal(contentDisposition("inline", "contract12 - signed.pdf"), 'inline; filename="contract12 - signed.pdf"');
});

test("a name in another script is written twice: plainly, and complete in UTF-8", () => {
  assert.equal(
    contentDisposition("attachment", "Escritura N\u00fa\u00f1ez (1).pdf"),
    "attachment; filename=\"Escritura Nunez (1).pdf\"; filename*=UTF-8''Escritura%20N%C3%BA%C3%B1ez%20%281%29.pdf",
  );
  assert.match(
    contentDisposition("attachment", "\u5951\u7d04.pdf"),
    /filename="__\.pdf"; filename\*=UTF-8''%E5%A5%91%E7%B4%84\.pdf$/,
  );
});

test("a name can't end its own value, lead into a folder, or hide its ending", () => {
  for (const bad of [
    'a"; x="b.pdf',
    "a\r\nSet-Cookie: x.pdf",
    "../../a.pdf",
    "a\\b.pdf",
    "a\u202efdp.exe",
    "\ud800.pdf",
    "a\u0000.pdf",
  ]) {
    const value = contentDisposition("attachment", bad);
    assert.match(
      value,
      /^attachment; filename="[ !#-.0-;=?-[\]-~]+"(?:; filename\*=UTF-8''[\w.%~-]+)?$/,
      JSON.stringify(bad),
    );
    assert.doesNotMatch(decodeURIComponent(value), /[\p{Cc}\u202e/\\]/u);
  }
});
