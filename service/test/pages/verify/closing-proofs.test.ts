import assert from "node:assert/strict";
import { test } from "node:test";
import { createWebCrypto } from "@signsealship/evidence/webcrypto";
import { checkClosing } from "../../../src/pages/verify/browser/check-closing.ts";
import { belongsTo } from "../../../src/pages/verify/browser/files.ts";
import { takeProofs } from "../../../src/pages/verify/browser/proofs.ts";
import { trustFrom } from "../../../src/pages/verify/browser/trust.ts";

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
const logProof = (name: string) => ({ name, bytes: bytesOf("c2sp.org/tlog-proof@v1\nindex 0\n") });

test("gives each of two certificates with the same name the proof in its own folder", () => {
  const [first, second] = [{ name: "a/closing.pdf" }, { name: "b/closing.pdf" }];
  const beside = [logProof("b/closing.pdf.tlog-proof"), logProof("a/closing.pdf.tlog-proof")];
  const namesFor = (one: { name: string }) => takeProofs(beside, one, [first, second]).map(({ name }) => name);
  assert.deepEqual(namesFor(first), ["a/closing.pdf.tlog-proof"]);
  assert.deepEqual(namesFor(second), ["b/closing.pdf.tlog-proof"]);
  assert.deepEqual(beside, []);
});

test("a proof in a folder without its PDF belongs to each PDF of that name, and a PDF of two names owns both folders", () => {
  const [first, second] = [{ name: "a/closing.pdf" }, { name: "b/closing.pdf" }];
  const proof = { name: "closing.pdf.ots" };
  assert.deepEqual(
    [first, second].map((one) => belongsTo(proof, one, [first, second])),
    [true, true],
  );
  const both = { name: "a/closing.pdf = b/closing.pdf" };
  for (const folder of ["a", "b"])
    assert.equal(belongsTo({ name: `${folder}/closing.pdf.ots` }, both, [both, { name: "c/closing.pdf" }]), true);
  assert.equal(belongsTo({ name: "a/other.pdf.ots" }, first, [first, second]), false);
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
