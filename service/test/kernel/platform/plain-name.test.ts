import assert from "node:assert/strict";
import { test } from "node:test";
import { isPlainName, isPlainTitle } from "../../../src/kernel/platform/mail/plain-name.ts";

test("mails contain a firm's names for people and documents, but no address", () => {
  for (const name of ["Jane Doe", "王小明", "O’Neil & Sons (Trust)"]) assert.ok(isPlainName(name), name);
  for (const name of ["evil.example", "www.x", "a".repeat(81), "Jane\nBcc: x", "<b>"])
    assert.ok(!isPlainName(name), name);
  for (const title of ["Deed, 12 Elm St. #4", "Loan 2026/11: addendum"]) assert.ok(isPlainTitle(title), title);
  for (const title of ["http://x", "see evil.example", "a".repeat(121)]) assert.ok(!isPlainTitle(title), title);
});
