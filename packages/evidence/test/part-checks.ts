import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { derFromBer } from "../src/asn1/ber.ts";
import { OID } from "../src/asn1/oid.ts";
import type { Claim } from "../src/claim.ts";
import { parseSignedData } from "../src/cms/signed-data.ts";
import { verifySignerInfo } from "../src/cms/verify.ts";
import type { EvidenceCrypto, HashName } from "../src/crypto-port.ts";
import { verifyEnvelope } from "../src/envelope/verify-envelope.ts";
import { EvidenceError } from "../src/errors.ts";
import { inflateRaw } from "../src/inflate.ts";
import { parseManifest } from "../src/manifest/validate.ts";
import { parseDetached } from "../src/ots/parse.ts";
import { attachedFile } from "../src/pdf/attachment.ts";
import { openUnlocked } from "../src/pdf/encryption/unlock.ts";
import { parseTimeStampResp, parseTstInfo } from "../src/rfc3161/token.ts";
import { verifyTimeStampToken } from "../src/rfc3161/verify.ts";
import { readTrust } from "../src/seal/trust-list.ts";
import { verifyProof } from "../src/seal/verify-proof.ts";
import { parseCertificate } from "../src/x509/certificate.ts";
import { verifyChain } from "../src/x509/chain.ts";
import { parseCertificatesPem } from "../src/x509/pem.ts";
import { openZip, readZip } from "../src/zip/zip.ts";
import index from "../vectors/parts/index.json" with { type: "json" };
import type { VectorCheck } from "./vector-cases.ts";

type Part = {
  readonly name: string;
  readonly kind: string;
  readonly hex?: string;
  readonly text?: string;
  readonly again?: { readonly at: number; readonly times: number; readonly of: string };
  readonly content?: string;
  readonly others?: readonly string[];
  readonly anchors?: readonly string[];
  readonly at?: string;
  readonly purpose?: string;
  readonly notHolding?: readonly string[];
  readonly expect: string;
};

const utf8 = (text: string) => new TextEncoder().encode(text);
const latin1 = (text: string) => Uint8Array.from(Buffer.from(text, "latin1"));
const readers: Readonly<Record<string, (bytes: Uint8Array) => unknown>> = {
  certificate: parseCertificate,
  cms: parseSignedData,
  "time-stamp-response": parseTimeStampResp,
  "tst-info": parseTstInfo,
  pem: (bytes) => parseCertificatesPem(new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes)),
  "trust-list": (bytes) => readTrust(new TextDecoder().decode(bytes)),
  manifest: parseManifest,
  proof: parseDetached,
  ber: (bytes) => assert.equal(derFromBer(bytes).end, bytes.length),
  deflate: (bytes) => inflateRaw(bytes, 1024 * 1024, "zip"),
  zip: readZip,
  "documents-zip": (bytes) => openZip(bytes),
};

function whole(value: string, { again }: Part): string {
  if (again === undefined) return value;
  return value.slice(0, again.at) + again.of.repeat(again.times) + value.slice(again.at);
}

const bytesOf = (hex: string) => Uint8Array.from(Buffer.from(hex, "hex"));
const certificates = (list: readonly string[] | undefined) => (list ?? []).map((hex) => parseCertificate(bytesOf(hex)));
const undecided = (claims: readonly Claim[]) => claims.filter(({ state }) => state !== "holds").map(({ name }) => name);

async function runPath(part: Part, leaf: Uint8Array, crypto: EvidenceCrypto): Promise<void> {
  const { valid } = await verifyChain({
    leaf: parseCertificate(leaf),
    intermediates: certificates(part.others),
    anchors: certificates(part.anchors),
    at: Date.parse(part.at ?? ""),
    purpose: part.purpose === "timeStamping" ? "timeStamping" : "documentSigning",
    crypto,
  });
  assert.equal(valid, part.expect === "accepted");
}

async function runSignature(part: Part, cms: Uint8Array, crypto: EvidenceCrypto): Promise<void> {
  const signedData = parseSignedData(cms);
  const [signerInfo] = signedData.signerInfos;
  assert.ok(signerInfo);
  const contentDigest = (hash: HashName) => crypto.digest(hash, [utf8(part.content ?? "")]);
  const { valid, claims } = await verifySignerInfo({
    signedData,
    signerInfo,
    contentType: OID.idData,
    contentDigest,
    crypto,
  });
  assert.deepEqual(undecided(claims).toSorted(), part.notHolding?.toSorted());
  assert.equal(valid, part.expect === "accepted");
}

async function runToken(part: Part, token: Uint8Array, crypto: EvidenceCrypto): Promise<void> {
  const { trusted, claims } = await verifyTimeStampToken({
    token,
    stamped: { message: utf8(part.content ?? "") },
    anchors: certificates(part.anchors),
    at: Date.parse(part.at ?? ""),
    crypto,
  });
  assert.deepEqual(undecided(claims).toSorted(), part.notHolding?.toSorted());
  assert.equal(trusted, part.expect === "accepted");
}

async function runEnvelope(part: Part, bytes: Uint8Array): Promise<void> {
  const { claims } = await verifyEnvelope(bytes);
  assert.deepEqual(undecided(claims).toSorted(), part.notHolding?.toSorted());
}

/** Verifies a whole PDF without any trusted certificates. */
const proofOf = (pdf: Uint8Array, crypto: EvidenceCrypto) =>
  verifyProof(pdf, { sealAnchors: [], tsaAnchors: [] }, Date.UTC(2026, 5, 1), { crypto });
const holds = (claims: readonly Claim[], name: string) =>
  claims.some((claim) => claim.name === name && claim.state === "holds");

async function runPdf(part: Part, pdf: Uint8Array, crypto: EvidenceCrypto): Promise<void> {
  const { claims } = await proofOf(pdf, crypto);
  assert.equal(holds(claims, "pdf_readable"), part.expect === "accepted");
}

/**
 * Asserts the vector's expectation. An accepted PDF has one attached file `record.json` of at most 64 bytes, which
 * every reader reads alike.
 */
async function runAttachment(part: Part, pdf: Uint8Array): Promise<void> {
  const read = async () => attachedFile(await openUnlocked(pdf), "record.json", 64);
  const found = await read().catch((error: unknown) => {
    if (error instanceof EvidenceError) return null;
    throw error;
  });
  assert.equal(found !== null, part.expect === "accepted");
}

const form = readFileSync(new URL("../vectors/parts/form.pdf", import.meta.url));

async function runChanges(part: Part, later: Uint8Array, crypto: EvidenceCrypto): Promise<void> {
  const { earlierSignatures: all } = await proofOf(Uint8Array.from([...form, ...later]), crypto);
  const claims = (all.find(({ pades }) => pades !== null) ?? all[0])?.claims ?? [];
  const isPermitted = holds(claims, "revision_covered") && holds(claims, "later_changes_permitted");
  assert.equal(isPermitted, part.expect === "accepted");
}

const judges: Readonly<Record<string, (part: Part, bytes: Uint8Array, crypto: EvidenceCrypto) => Promise<void>>> = {
  path: runPath,
  pdf: runPdf,
  attachment: runAttachment,
  changes: runChanges,
  signature: runSignature,
  token: runToken,
  envelope: runEnvelope,
};

async function run(part: Part, crypto: EvidenceCrypto): Promise<void> {
  const { kind, hex, text, expect } = part;
  const encode = ["pdf", "attachment", "changes"].includes(kind) ? latin1 : utf8;
  const bytes = hex === undefined ? encode(whole(text ?? "", part)) : bytesOf(whole(hex, part));
  const judge = judges[kind];
  if (judge !== undefined) return judge(part, bytes, crypto);
  const read = readers[kind];
  assert.ok(read, kind);
  if (expect === "accepted") read(bytes);
  else assert.throws(() => read(bytes), EvidenceError);
}

/** The vectors of single structures, verified with the given crypto port. */
export const partChecks = (crypto: EvidenceCrypto): VectorCheck[] =>
  (index as readonly Part[]).map((one) => ({ name: `${one.name}: ${one.expect}`, run: () => run(one, crypto) }));
