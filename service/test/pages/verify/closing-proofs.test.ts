import assert from "node:assert/strict";
import { test } from "node:test";
import { createWebCrypto } from "@signsealship/evidence/webcrypto";
import { proofsByPdf } from "@signsealship/verifier/documents";
import { checkClosing } from "../../../src/pages/verify/browser/check-closing.ts";
import { extractProofs } from "../../../src/pages/verify/browser/proofs.ts";
import { trustFrom } from "../../../src/pages/verify/browser/trust.ts";

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
const logProof = (name: string) => ({ name, bytes: bytesOf("c2sp.org/tlog-proof@v1\nindex 0\n") });

test("gives each of two certificates with the same name the proof in its own folder", () => {
  const [first, second] = [{ name: "a/closing.pdf" }, { name: "b/closing.pdf" }];
  const beside = [logProof("b/closing.pdf.tlog-proof"), logProof("a/closing.pdf.tlog-proof")];
  const named = proofsByPdf([first, second], beside);
  const namesFor = (one: { name: string }) =>
    extractProofs(beside, named.get(one) ?? [], false).map(({ name }) => name);
  assert.deepEqual(namesFor(first), ["a/closing.pdf.tlog-proof"]);
  assert.deepEqual(namesFor(second), ["b/closing.pdf.tlog-proof"]);
  assert.deepEqual(beside, []);
});

/** For each proof, the names of the PDFs that it belongs to. */
function owners(pdfs: readonly string[], ...proofs: readonly string[]): string[][] {
  const named = proofsByPdf(
    pdfs.map((name) => ({ name })),
    proofs.map((name) => ({ name })),
  );
  return proofs.map((proof) =>
    [...named].flatMap(([{ name }, own]) => (own.some((one) => one.name === proof) ? [name] : [])),
  );
}

test("a proof in a folder without its PDF belongs to each PDF of that name, and a PDF of two names owns both folders", () => {
  assert.deepEqual(owners(["a/closing.pdf", "b/closing.pdf"], "closing.pdf.ots"), [["a/closing.pdf", "b/closing.pdf"]]);
  const both = "a/closing.pdf = b/closing.pdf";
  assert.deepEqual(owners([both, "c/closing.pdf"], "a/closing.pdf.ots", "b/closing.pdf.ots"), [[both], [both]]);
  assert.deepEqual(owners(["a/closing.pdf"], "a/other.pdf.ots", "a/closing.pdf", ".ots"), [[], [], []]);
  assert.deepEqual(owners(["closing.pdf", "a/closing.pdf"], "closing.pdf.ots"), [["closing.pdf"]]);
});

test("gives the proofs of two zips to the documents of their own zip", () => {
  const pdfs = ["One/Documents/01 Deed.pdf", "Two/Documents/01 Deed.pdf", "Two/Certificates/Closing.pdf"];
  assert.deepEqual(
    owners(pdfs, "Two/Evidence/01 Deed.pdf.tlog-proof", "One/Evidence/01 Deed.pdf.ots", "One/Evidence/Closing.pdf.ots"),
    [["Two/Documents/01 Deed.pdf"], ["One/Documents/01 Deed.pdf"], ["Two/Certificates/Closing.pdf"]],
  );
});

test("checks no certificate's proofs when more versions are given than are verified", async () => {
  const config = { sealCertificates: "", firm: null, proof: null, closing: null };
  const trust = trustFrom(config, { seal: "", timeStamping: "" }, []);
  const given = Array.from({ length: 1_000 }, (_, i) => ({
    name: `${i}.pdf`,
    certificate: bytesOf(`%PDF-1.7 ${i}`),
    proofs: [logProof(`${i}.pdf.tlog-proof`)],
  }));
  const context = { config, trust, at: Date.UTC(2026, 0, 1), crypto: createWebCrypto(crypto.subtle) };
  const { claims, verdict } = await checkClosing(given, [], context);
  assert.equal(verdict, "not_verified");
  assert.deepEqual(
    claims.filter(({ name }) => name.startsWith("certificate.")).map(({ name }) => name),
    [],
  );
  assert.equal(claims.find(({ name }) => name === "chain.versions")?.state, "fails");
});
