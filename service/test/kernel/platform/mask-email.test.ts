import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { maskEmail, maskEmails } from "../../../src/kernel/platform/mail/mask-email.ts";

test("shows the first character and the domain", () => {
  assert.equal(maskEmail("dora@example.com"), "d***@example.com");
  assert.equal(maskEmail("d@example.com"), "d***@example.com");
  assert.equal(maskEmail("éva@example.com"), "é***@example.com");
  assert.equal(maskEmail("\u{1f3e0}x@example.com"), "\u{1f3e0}***@example.com");
});

test("shows nothing else, for any address", () => {
  assert.equal(maskEmail("no address"), "***");
  assert.equal(maskEmail("@example.com"), "***");
  fc.assert(
    fc.property(fc.string({ minLength: 1 }), (local) => {
      const [first] = `${local}@example.com`.slice(0, local.length);
      assert.equal(maskEmail(`${local}@example.com`), `${first}***@example.com`);
    }),
  );
});

test("masks each mailbox in an external text, and nothing more", () => {
  const refusal = "550 5.1.1 <Dora.Roe+x@mail.example.com>: no such user; try postmaster@example.com.";
  assert.equal(maskEmails(refusal), "550 5.1.1 <D***@mail.example.com>: no such user; try p***@example.com.");
  for (const text of ["no address", "a @ b.example", "x@localhost", "at 10:30 @home"])
    assert.equal(maskEmails(text), text);
});
