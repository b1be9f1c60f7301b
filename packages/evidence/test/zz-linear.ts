
import { createNodeCrypto } from "/tmp/w/seal/packages/verifier/src/node-crypto.ts";
import { verifyProof } from "/tmp/w/seal/packages/evidence/src/seal/verify-proof.ts";
import { makePdf } from "@signsealship/testing/pdf-maker";
import { testSigner } from "/tmp/w/seal/packages/evidence/test/signer.ts";
import { signPdf } from "/tmp/w/seal/packages/evidence/test/seal/signed-pdf.ts";
const stranger = testSigner("stranger"), seal = testSigner("seal");
let once: Uint8Array = Uint8Array.from(makePdf({ text: "Contract", bytes: 32_000_000 }));
const n = Number(process.argv[2] ?? 60);
for (let i = 0; i < n; i++) once = signPdf(once, { signer: stranger, originalLength: "absent", reserve: 1024 });
const sealed = signPdf(once, { signer: seal });
const t = performance.now();
const r = await verifyProof(sealed, { sealAnchors: [seal.certificate], tsaAnchors: [] }, Date.UTC(2026,5,1), { crypto: createNodeCrypto() });
console.log(n, sealed.length, r.verdict, r.earlierSignatures.length, Math.round(performance.now() - t), "ms", r.claims.filter(c => c.state === "fails").map(c => c.why));
