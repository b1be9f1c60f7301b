import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { parseSignedData } from "../src/cms/signed-data.ts";
import { verifySignerInfo } from "../src/cms/verify.ts";
import type { EvidenceCrypto } from "../src/crypto-port.ts";
import { parseTimeStampResp } from "../src/rfc3161/token.ts";
import { verifyTimeStampToken } from "../src/rfc3161/verify.ts";
import { parseCertificate } from "../src/x509/certificate.ts";
import { type ChainPurpose, verifyChain } from "../src/x509/chain.ts";

interface ChainCase {
  readonly name: string;
  readonly leaf: string;
  readonly intermediates: readonly string[];
  readonly anchors: readonly string[];
  readonly at: string;
  readonly purpose: ChainPurpose;
  readonly expect: string;
}

interface CmsCase {
  readonly name: string;
  readonly file: string;
  readonly content: string;
  readonly notHolding?: readonly string[];
  readonly error?: string;
}

interface StampCase {
  readonly name: string;
  readonly file: string;
  readonly message: string;
  readonly nonce: string;
  readonly anchors: readonly string[];
  readonly trusted: boolean;
  readonly notHolding: readonly string[];
  readonly status?: number;
  readonly failInfo?: readonly string[];
}

/** Reads a file of the vectors folder as a plain Uint8Array. */
export function vector(path: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(readFileSync(new URL(`../vectors/${path}`, import.meta.url)));
}

export const vectorCertificate = (name: string) => parseCertificate(vector(`x509/${name}.der`));

/** A test vector. `run` throws unless the verifier gives the expected result. */
export type VectorCheck = { readonly name: string; readonly run: () => void | Promise<void> };

/** Registers one test for each vector. */
export function testEach(checks: readonly VectorCheck[]): void {
  for (const { name, run } of checks) test(name, run);
}

/** The test vectors of x509, cms and rfc3161, verified with the given crypto port. */
export const structureChecks = (crypto: EvidenceCrypto): VectorCheck[] => [
  ...index<ChainCase>("x509").map((one) => ({
    name: `chain: ${one.name}: ${one.expect}`,
    run: () => runChain(one, crypto),
  })),
  ...index<CmsCase>("cms").map((one) => ({ name: `CMS: ${one.name}`, run: () => runCms(one, crypto) })),
  ...index<StampCase>("rfc3161").map((one) => ({ name: `time stamp: ${one.name}`, run: () => runStamp(one, crypto) })),
];

async function runChain(one: ChainCase, crypto: EvidenceCrypto): Promise<void> {
  const read = (file: string) => parseCertificate(vector(`x509/${file}`));
  const { purpose, expect } = one;
  const [leaf, intermediates, anchors] = [read(one.leaf), one.intermediates.map(read), one.anchors.map(read)];
  const result = await verifyChain({ leaf, intermediates, anchors, at: Date.parse(one.at), purpose, crypto });
  assert.equal(result.valid ? "valid" : result.reason, expect, JSON.stringify(result.valid ? "" : result.why));
}

async function runCms(one: CmsCase, crypto: EvidenceCrypto): Promise<void> {
  const bytes = vector(`cms/${one.file}`);
  if (one.error !== undefined) return assert.throws(() => parseSignedData(bytes), { code: one.error });
  const signedData = parseSignedData(bytes);
  const [signerInfo] = signedData.signerInfos;
  assert.ok(signerInfo);
  const content = vector(`cms/${one.content}`);
  const contentDigest = (hash: Parameters<EvidenceCrypto["digest"]>[0]) => crypto.digest(hash, [content]);
  const result = await verifySignerInfo({ signedData, signerInfo, contentDigest, crypto });
  const notHolding = result.claims.filter((claim) => claim.state !== "holds").map((claim) => claim.name);
  assert.deepEqual(notHolding, one.notHolding);
  assert.equal(result.valid, notHolding.length === 0);
}

async function runStamp(one: StampCase, crypto: EvidenceCrypto): Promise<void> {
  const bytes = vector(`rfc3161/${one.file}`);
  const response = one.file.endsWith(".tsr") ? parseTimeStampResp(bytes) : null;
  if (one.failInfo !== undefined) {
    assert.deepEqual(response && { status: response.status, failInfo: response.failInfo, token: response.token }, {
      status: one.status,
      failInfo: one.failInfo,
      token: null,
    });
    return;
  }
  const token = response === null ? bytes : response.token;
  assert.ok(token);
  const result = await verifyTimeStampToken({
    token,
    stamped: { message: vector(`rfc3161/${one.message}`) },
    ...(response === null ? {} : { status: response.status }),
    nonce: Uint8Array.from(Buffer.from(one.nonce, "hex")),
    anchors: one.anchors.map((file) => parseCertificate(vector(`rfc3161/${file}`))),
    crypto,
  });
  const notHolding = result.claims.filter((claim) => claim.state !== "holds").map((claim) => claim.name);
  assert.deepEqual(notHolding, one.notHolding, JSON.stringify(result.claims, null, 1));
  assert.equal(result.trusted, one.trusted);
}

function index<Case>(folder: string): Case[] {
  return JSON.parse(readFileSync(new URL(`../vectors/${folder}/index.json`, import.meta.url), "utf8"));
}
