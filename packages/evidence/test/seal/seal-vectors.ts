import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import type { EvidenceCrypto } from "../../src/crypto-port.ts";
import { verifyProof } from "../../src/seal/verify-proof.ts";
import { parseCertificatesPem } from "../../src/x509/pem.ts";
import cases from "../../vectors/seals/index.json" with { type: "json" };
import type { VectorCheck } from "../vector-cases.ts";

const bytesOf = (name: string) =>
  Uint8Array.from(readFileSync(new URL(`../../vectors/seals/${name}`, import.meta.url)));

/** The test vectors of older seals, which do not sign their own position. */
export const sealChecks = (crypto: EvidenceCrypto): VectorCheck[] =>
  cases.map((one) => ({ name: `${one.file}, ${one.name}: ${one.expect}`, run: () => run(one, crypto) }));

async function run({ file, anchor, at, expect }: (typeof cases)[number], crypto: EvidenceCrypto): Promise<void> {
  const sealAnchors = parseCertificatesPem(new TextDecoder().decode(bytesOf(anchor)));
  const result = await verifyProof(bytesOf(file), { sealAnchors, tsaAnchors: [] }, Date.parse(at), { crypto });
  assert.equal(result.verdict, expect, JSON.stringify(result.claims));
  if (expect === "verified") return;
  // The seal's key and signed bytes are right. Only the claim about its position fails and, for a forged file, the
  // claim about its structure.
  const state = (claim: string) => result.claims.find((one) => one.name === claim)?.state;
  assert.equal(state("document_unchanged_since_seal"), "holds");
  assert.equal(state("seal_signature_valid"), "holds");
  assert.equal(state("seal_place"), "fails");
  if (file.endsWith("-forged.pdf")) assert.equal(state("signature_structure"), "fails");
}
