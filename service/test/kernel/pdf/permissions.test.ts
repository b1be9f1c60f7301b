import assert from "node:assert/strict";
import { test } from "node:test";
import {
  edited,
  type FormSignature,
  formDocument,
  OBJECT,
  signForm,
} from "../../../../packages/evidence/test/pdf/changes/document.ts";
import { appendRevision } from "../../../../packages/evidence/test/seal/signed-pdf.ts";
import { testSigner } from "../../../../packages/evidence/test/signer.ts";
import { lookUpPdf } from "../../../src/kernel/pdf/xref/lookup.ts";

const signer = testSigner("stranger");
const signed = (options: Partial<FormSignature>): string => signForm(formDocument(), { signer, ...options });
const allowed = (pdf: string) => lookUpPdf(Buffer.from(pdf, "latin1")).docMdp;
const forbidden = (pdf: string): void =>
  assert.throws(() => allowed(pdf), { name: "PdfRefusal", reason: "docmdp_forbids_changes" });
/** Replaces a text in the file. Spaces after the new text keep the file's length. */
const rewritten = (pdf: string, from: string, to: string): string => {
  assert.ok(pdf.includes(from));
  return pdf.replace(from, to.padEnd(from.length));
};

test("reads the permissions of a certification or a lock", () => {
  assert.equal(allowed(signed({})), null);
  assert.equal(allowed(signed({ certify: 2 })), 2);
  assert.equal(allowed(signed({ certify: 3 })), 3);
  assert.equal(allowed(signed({ fieldMdp: "/Action /Include /Fields [(Name)]" })), null);
  assert.equal(allowed(signed({ fieldMdp: "/Action /Include /Fields [(Name)] /P 3" })), 3);
  assert.equal(allowed(signed({ lock: "/Action /All /P 3", fieldMdp: "/Action /All /P 2" })), 2);
});

test("reads a certification without /P as one that permits forms and signatures", () => {
  assert.equal(allowed(rewritten(signed({ certify: 3 }), "/V /1.2 /P 3", "/V /1.2")), 2);
});

test("refuses a document that a signature or its lock closed", () => {
  forbidden(signed({ certify: 1 }));
  forbidden(signed({ lock: "/Action /All /P 1" }));
  forbidden(signed({ fieldMdp: "/Action /Include /Fields [(Name)] /P 1" }));
});

test("refuses a document that a signature under a field of another type closed", () => {
  forbidden(rewritten(signed({ lock: "/Action /All /P 1" }), "/FT /Sig", "/FT /Tx"));
  forbidden(rewritten(signed({ fieldMdp: "/Action /Include /Fields [(Name)] /P 1" }), "/FT /Sig", "/#T /Sig"));
});

test("treats a /P that readers read differently as the strictest", () => {
  for (const level of ["4", "null", "(3)", "3.0", "44 0 R"]) {
    forbidden(signed({ fieldMdp: `/Action /Include /Fields [(Name)] /P ${level}` }));
    forbidden(signed({ lock: `/Action /All /P ${level}` }));
  }
});

test("treats unreadable references as the strictest", () => {
  const kinds = [
    "/Reference (x)",
    "/Reference [(x)]",
    "/Reference [<< >>]",
    "/Reference [<< /TransformMethod /FieldMDP >>]",
  ];
  for (const kind of kinds) forbidden(signed({ subFilter: `ETSI.CAdES.detached ${kind}` }));
});

test("applies a certification even when a later revision removed it from the catalog", () => {
  const pdf = signed({ certify: 1 });
  forbidden(appendRevision(pdf, [edited(pdf, OBJECT.catalog, /\/Perms << .*? >> /, "")], " /Info 13 0 R"));
});
