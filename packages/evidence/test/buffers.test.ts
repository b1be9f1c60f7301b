import assert from "node:assert/strict";
import { test } from "node:test";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { parseTimeStampToken } from "../src/rfc3161/token.ts";
import { verifyProof } from "../src/seal/verify-proof.ts";
import { createWebCrypto } from "../src/webcrypto.ts";
import { encodePem, parseCertificatesPem } from "../src/x509/pem.ts";
import { signPdf } from "./seal/signed-pdf.ts";
import { testSigner, tokenOver } from "./signer.ts";

// Node's Buffer is a Uint8Array, but its slice() shares the memory.
test("reads a Buffer like any bytes, and leaves it unchanged", async () => {
  const [seal, tsa] = [testSigner("seal"), testSigner("tsa")];
  const token = Buffer.from(tokenOver(Uint8Array.of(1), tsa, Date.UTC(2026, 0, 2)));
  const before = token.toString("hex");
  const { signedData } = parseTimeStampToken(token);
  assert.equal(signedData.signerInfos.length, 1);
  parseTimeStampToken(token);
  assert.equal(token.toString("hex"), before);

  const crypto = createWebCrypto(globalThis.crypto.subtle);
  const trust = { sealAnchors: [seal.certificate], tsaAnchors: [tsa.certificate] };
  const stamp = (signature: Uint8Array) => Buffer.from(tokenOver(signature, tsa, Date.UTC(2026, 0, 2)));
  const sealed = Buffer.from(signPdf(Uint8Array.from(makePdf()), { signer: seal, stamp }));
  const copy = Buffer.from(sealed);
  const beside = { timeStampToken: Buffer.from(tokenOver(sealed, tsa, Date.UTC(2026, 0, 2))) };
  const result = await verifyProof(sealed, trust, Date.UTC(2026, 5, 1), { crypto, detached: beside });
  assert.equal(result.verdict, "verified");
  assert.equal(result.claims.at(-1)?.state, "holds");
  assert.ok(sealed.equals(copy));
  const [certificate] = parseCertificatesPem(encodePem(Buffer.from(seal.certificate.der), "CERTIFICATE"));
  assert.deepEqual(certificate?.der, seal.certificate.der);
});
