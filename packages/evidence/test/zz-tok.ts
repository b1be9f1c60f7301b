import { readFileSync } from "node:fs";
import { parseTimeStampResp, parseTimeStampToken } from "../src/rfc3161.ts";
import { parseSignedData } from "../src/cms.ts";
import { uncoveredPart } from "../src/cms-coverage.ts";
import { createNodeCrypto } from "/work/main/packages/verifier/src/node-crypto.ts";
const crypto = createNodeCrypto();
for (const f of ["rsa.tsr","p256.tsr","sha512.tsr"]) { const r = parseTimeStampResp(new Uint8Array(readFileSync("packages/evidence/vectors/rfc3161/"+f))); const t = parseTimeStampToken(r.token!); console.log(f, t.signedData.certificates.length, await uncoveredPart(r.token!, t.signedData, t.signedData.signerInfos[0]!, [], crypto)); }
for (const f of ["rsa3072.der","p256.der","p384.der","pss.der","keyid.der"]) { const b = new Uint8Array(readFileSync("packages/evidence/vectors/cms/"+f)); const t = parseSignedData(b); console.log(f, t.certificates.length, await uncoveredPart(b, t, t.signerInfos[0]!, [], crypto)); }
