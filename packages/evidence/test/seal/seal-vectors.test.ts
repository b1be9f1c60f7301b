import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { verifyProof } from "../../src/seal/verify-proof.ts";
import { createWebCrypto } from "../../src/webcrypto.ts";
import { parseCertificatesPem } from "../../src/x509/pem.ts";
import cases from "../../vectors/seals/index.json" with { type: "json" };

const bytesOf = (name: string) =>
  Uint8Array.from(readFileSync(new URL(`../../vectors/seals/${name}`, import.meta.url)));
const crypto = createWebCrypto(globalThis.crypto.subtle);

for (const { file, anchor, name, at, expect } of cases) {
  test(`${file}, ${name}: ${expect}`, async () => {
    const sealAnchors = parseCertificatesPem(new TextDecoder().decode(bytesOf(anchor)));
    const result = await verifyProof(bytesOf(file), { sealAnchors, tsaAnchors: [] }, Date.parse(at), { crypto });
    assert.equal(result.verdict, expect, JSON.stringify(result.claims));
    if (expect === "verified") return;
    // The key is the seal's, and the bytes are what it signed: only the place is wrong.
    const state = (claim: string) => result.claims.find((one) => one.name === claim)?.state;
    assert.equal(state("document_unchanged_since_seal"), "holds");
    assert.equal(state("seal_signature_valid"), "holds");
    assert.equal(state("seal_place"), "fails");
    if (file.endsWith("-forged.pdf")) assert.equal(state("signature_structure"), "fails");
  });
}
