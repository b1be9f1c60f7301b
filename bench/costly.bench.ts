import { verifyProof } from "@signsealship/evidence/seal";
import { createNodeCrypto } from "@signsealship/verifier/node-crypto";
import { appendRevision, latin1, signRevision } from "../packages/evidence/test/seal/signed-pdf.ts";
import { testSigner } from "../packages/evidence/test/signer.ts";
import { atMost, type Result } from "./result.ts";

/** CPU time of verifying deliberately expensive files, compared with the CPU limit of one file. */
export async function run(): Promise<Result[]> {
  const crypto = createNodeCrypto();
  const results: Result[] = [];
  const forms = { "fields of text": "/V(x)", "fields of one appearance": "/AP 5 0 R" };
  for (const [name, entries] of Object.entries(forms)) {
    const form = manyFields(entries);
    const cost: number[] = [];
    for (let round = 0; round < 9; round++) {
      const before = process.cpuUsage();
      await verifyProof(form, { sealAnchors: [], tsaAnchors: [] }, Date.UTC(2026, 0, 15), { crypto });
      const { user, system } = process.cpuUsage(before);
      cost.push((user + system) / 1000);
    }
    results.push(atMost(`verify ${FIELDS.toLocaleString("en-US")} signed ${name}, CPU`, cost, [MAX_CPU], "ms", 1));
  }
  return results;
}

/** The most CPU time that verifying one file may take, in milliseconds. */
const MAX_CPU = 500;
const FIELDS = 90_000;

/** A signed form with `FIELDS` fields, each with these entries, and a revision after the signature. */
function manyFields(entries: string): Uint8Array {
  const numbers = Array.from({ length: FIELDS }, (_, index) => index + 7);
  const shared = Array.from({ length: 400 }, (_, index) => `/K${index}<<>>`).join("");
  const bodies = [
    "<</Type/Catalog/Pages 2 0 R/AcroForm 4 0 R>>",
    "<</Type/Pages/Count 1/Kids[3 0 R]>>",
    "<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]>>",
    `<</Fields[6 0 R ${numbers.map((number) => `${number} 0 R`).join(" ")}]>>`,
    `<<${shared}>>`,
    "<</FT/Sig/T(Signature)>>",
    ...numbers.map((number) => `<</FT/Tx/T(${number})${entries}>>`),
  ];
  const objects = bodies.map((body, index) => `${index + 1} 0 obj\n${body}\nendobj\n`);
  let offset = "%PDF-1.7\n".length;
  const rows = objects.map((text) => {
    const row = `${String(offset).padStart(10, "0")} 00000 n \n`;
    offset += text.length;
    return row;
  });
  const size = objects.length + 1;
  const table = `xref\n0 ${size}\n0000000000 65535 f \n${rows.join("")}`;
  const pdf = `%PDF-1.7\n${objects.join("")}${table}trailer\n<</Size ${size}/Root 1 0 R>>\nstartxref\n${offset}\n%%EOF\n`;
  const value = `<${"0".repeat(3000)}>`;
  const signed = signRevision(
    pdf,
    value,
    (ranges) => [
      [size, `<</Type/Sig/Filter/X/SubFilter/ETSI.CAdES.detached/Contents ${value}/ByteRange[${ranges.padEnd(40)}]>>`],
      [6, `<</FT/Sig/T(Signature)/V ${size} 0 R>>`],
    ],
    { signer: testSigner("stranger") },
  );
  return Uint8Array.from(Buffer.from(appendRevision(latin1(signed), [[size + 1, "<<>>"]]), "latin1"));
}
