import { readFileSync } from "node:fs";
import { zooFiles } from "@signsealship/testing/zoo";
import { createNodeCrypto } from "/work/main/packages/verifier/src/node-crypto.ts";
import { testSigner } from "./signer.ts";
import { cmsOver } from "./signer.ts";
import { verifyProof } from "../src/verify-proof.ts";
import { sealPdf } from "/work/main/service/src/passports/pdf/seal-pdf.ts";
const seal = testSigner("seal");
const crypto = createNodeCrypto();
let n=0, good=0;
for (const { name, path, expected } of zooFiles()) {
  let original; try { original = readFileSync(path); } catch { console.log("missing", name); continue; }
  let bytes: Uint8Array;
  try {
    const s = await sealPdf({ original, at: new Date(), reserve: 4096, sign: (d) => cmsOver(Uint8Array.from(d), seal) } as never);
    bytes = new Uint8Array(Buffer.concat([original, s.tail]));
  } catch (e) { if (expected === "sealed") console.log("sealer", name, String(e)); 
    const r = await verifyProof(new Uint8Array(original), { sealAnchors: [seal.certificate], tsaAnchors: [] }, Date.UTC(2026,5,1), { crypto });
    if (r.verdict==="verified"||r.verdict==="intact") console.log("??", name, r.verdict);
    continue; }
  n++;
  const r = await verifyProof(bytes, { sealAnchors: [seal.certificate], tsaAnchors: [] }, Date.UTC(2026,5,1), { crypto });
  if (r.verdict === "verified" && r.docSha256) good++; else console.log(name, r.verdict, r.claims.filter(c=>c.state!=="holds"));
  if (r.earlierSignatures.length) console.log("  earlier", name, r.earlierSignatures.map(e=>[e.laterChanges,e.docMdp,e.claims.map(c=>c.state+":"+c.why).join(" | ")]));
}
console.log(n, good);
