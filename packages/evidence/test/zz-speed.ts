import { createHash, hash } from "node:crypto";
import { makePdf } from "@signsealship/testing/pdf-maker";
import { createNodeCrypto } from "/work/main/packages/verifier/src/node-crypto.ts";
import { testSigner } from "./signer.ts";
import { signPdf } from "./signed-pdf.ts";
import { verifyProof } from "../src/verify-proof.ts";
import { openDocument } from "../src/pdf-document.ts";
import { findSignatures } from "../src/pdf-signatures.ts";
import { withRanges, originalBoundary, structureProblem } from "../src/pdf-structure.ts";
const seal = testSigner("seal");
const crypto = createNodeCrypto();
for (const size of [100_000, 1_000_000]) {
  const pdf = new Uint8Array(signPdf(new Uint8Array(makePdf({ bytes: size })), { signer: seal, reserve: 8192 }));
  const t = { sealAnchors: [seal.certificate], tsaAnchors: [] };
  const run = async (f: () => unknown, n: number) => { const s = process.hrtime.bigint(); for (let i = 0; i < n; i++) await f(); return Number(process.hrtime.bigint() - s) / n / 1000; };
  const n = size > 500_000 ? 200 : 1500;
  const sync = (f: () => unknown) => () => f();
  const A = () => hash("sha256", pdf, "buffer");
  const B = () => verifyProof(pdf, t, Date.UTC(2026,5,1), { crypto });
  const C = () => { const d = openDocument(pdf); const s = withRanges(pdf, findSignatures(d)); const r = s[0]!; originalBoundary(d, r); if (r.byteRange.ok) structureProblem(d, r, r.byteRange.range, s); };
  for (const f of [A, B, C]) await run(f, n);
  const res: number[][] = [[],[],[]];
  for (let k = 0; k < 7; k++) { res[0]!.push(await run(A, n)); res[1]!.push(await run(B, n)); res[2]!.push(await run(C, n)); }
  const med = (a: number[]) => a.sort((x, y) => x - y)[3]!;
  const [a, b, c] = res.map(med);
  console.log(size, "hash us", a!.toFixed(1), "verify us", b!.toFixed(1), "structure us", c!.toFixed(1), "ratio", (a! / b!).toFixed(2));
}
import { readByteRange } from "../src/byte-range.ts";
import { parseSignedData } from "../src/cms.ts";
import { generateKeyPairSync, sign } from "node:crypto";
{
const pdf = new Uint8Array(signPdf(new Uint8Array(makePdf({ bytes: 100000 })), { signer: seal, reserve: 8192 }));
const bench = (name: string, f: () => unknown, n = 3000) => { for (let i=0;i<n;i++) f(); const s = process.hrtime.bigint(); for (let i=0;i<n;i++) f(); console.log(name, (Number(process.hrtime.bigint()-s)/n/1000).toFixed(2)); };
const d = openDocument(pdf); const s = findSignatures(d); const w = withRanges(pdf, s)[0]!;
bench("open", () => openDocument(pdf));
bench("open+find", () => findSignatures(openDocument(pdf)));
bench("range", () => readByteRange(pdf, s[0]!.dictionary, true));
bench("boundary", () => originalBoundary(d, w));
bench("structure", () => w.byteRange.ok && structureProblem(d, w, w.byteRange.range, [w]));
if (w.byteRange.ok) { const c = w.byteRange.range.contents; bench("cms parse", () => parseSignedData(c)); }
const { publicKey, privateKey } = generateKeyPairSync("rsa", { modulusLength: 3072 });
const spki = new Uint8Array(publicKey.export({ type: "spki", format: "der" })); const data = new Uint8Array(200);
const sig = new Uint8Array(sign("sha256", data, privateKey));
bench("rsa verify", () => crypto.verify({ spki, algorithm: { scheme: "rsa-pkcs1", hash: "SHA-256" }, signature: sig, data }));
const sig2 = new Uint8Array(sign("sha256", data, seal.key));
bench("ec verify", () => crypto.verify({ spki: seal.certificate.spki, algorithm: { scheme: "ecdsa", hash: "SHA-256" }, signature: sig2, data }));
if (w.byteRange.ok) { const r = w.byteRange.range; bench("digests3", () => crypto.digests("SHA-256", [[pdf], [...r.signedBytes], [pdf.subarray(0, 100000)]])); bench("digest1", () => hash("sha256", pdf, "buffer")); }
}
