import assert from "node:assert/strict";
import { test } from "node:test";
import { fuzzRuns } from "@signsealship/testing/inputs/fuzz";
import { childrenOf, type DerNode, readDer } from "../../src/asn1/der.ts";
import { equalBytes } from "../../src/bytes.ts";
import { parseSignedData } from "../../src/cms/signed-data.ts";
import { verifySignerInfo } from "../../src/cms/verify.ts";
import type { HashName } from "../../src/crypto-port.ts";
import { EvidenceError } from "../../src/errors.ts";
import { parseTimeStampResp, parseTimeStampToken, parseTstInfo } from "../../src/rfc3161/token.ts";
import { verifyTimeStampToken } from "../../src/rfc3161/verify.ts";
import { createWebCrypto } from "../../src/webcrypto.ts";
import { parseCertificate } from "../../src/x509/certificate.ts";
import { nameText } from "../../src/x509/name.ts";
import { mutate, randomFrom } from "../mutate.ts";
import { vector, vectorCertificate } from "../vector-cases.ts";

const port = createWebCrypto(crypto.subtle);
const token = parseTimeStampResp(vector("rfc3161/p256.tsr")).token;
assert.ok(token);
const tstInfo = parseTimeStampToken(token).signedData.eContent;
assert.ok(tstInfo);

const PARSERS: readonly (readonly [
  name: string,
  parse: (bytes: Uint8Array) => unknown,
  seeds: readonly Uint8Array[],
])[] = [
  ["DER", walk, [vector("x509/root.der"), vector("cms/rsa3072.der")]],
  ["certificate", parseNamed, ["rsa", "sub", "pss", "unknown", "tsa"].map((name) => vector(`x509/${name}.der`))],
  ["SignedData", parseSignedData, ["p256", "pss", "keyid", "embedded", "ber"].map((name) => vector(`cms/${name}.der`))],
  ["padded SignedData", (bytes) => parseSignedData(bytes, { trailing: "zeros" }), [vector("cms/p256.der")]],
  ["TimeStampResp", parseTimeStampResp, [vector("rfc3161/p256.tsr"), vector("rfc3161/rejected.tsr")]],
  ["TimeStampToken", parseTimeStampToken, [token, vector("rfc3161/rebuilt.tst")]],
  ["TSTInfo", parseTstInfo, [tstInfo]],
];

const mutations = fuzzRuns(100_000);
for (const [name, parse, seeds] of PARSERS) {
  test(`${mutations} mutations of a ${name} give a value or an EvidenceError`, () => {
    const random = randomFrom(20_260_101);
    for (let i = 0; i < mutations; i++) {
      const seed = seeds[i % seeds.length] ?? new Uint8Array();
      // Half of the mutations change no length in the encoding, so that the parser reaches deeply nested parts.
      onlyEvidenceErrors(() => parse(i % 2 === 0 ? mutate(seed, random) : overwrite(seed, random)));
    }
  });
}

test("no mutation of a token gives a trusted time other than the signed one", async () => {
  const random = randomFrom(7);
  const anchors = [vectorCertificate("root")];
  const rounds = fuzzRuns(3000);
  let trusted = 0;
  for (let i = 0; i < rounds; i++) {
    const bytes = overwrite(token, random);
    const read = onlyEvidenceErrors(() => parseTimeStampToken(bytes));
    if (read === null) continue;
    const stamped = { message: vector("cms/message.txt") };
    const result = await verifyTimeStampToken({ token: read, stamped, anchors, crypto: port });
    if (!result.trusted) continue;
    trusted++;
    assert.ok(equalBytes(read.signedData.eContent ?? new Uint8Array(), tstInfo), `mutation ${i}`);
  }
  assert.ok(trusted < rounds / 5, "most mutations touch something that is signed");
});

test("no mutation of a signature is valid with other signed attributes", async () => {
  const random = randomFrom(11);
  const source = vector("cms/p384.der");
  const message = vector("cms/message.txt");
  const original = parseSignedData(source).signerInfos[0]?.signedAttrsDer;
  assert.ok(original);
  for (let i = 0; i < fuzzRuns(2000); i++) {
    const signedData = onlyEvidenceErrors(() => parseSignedData(overwrite(source, random)));
    const signerInfo = signedData?.signerInfos[0];
    if (!signedData || !signerInfo) continue;
    const contentDigest = (hash: HashName) => port.digest(hash, [message]);
    const result = await verifySignerInfo({ signedData, signerInfo, contentDigest, crypto: port });
    if (result.valid) assert.deepEqual(signerInfo.signedAttrsDer, original, `mutation ${i}`);
  }
});

function onlyEvidenceErrors<Value>(run: () => Value): Value | null {
  try {
    return run();
  } catch (error) {
    if (error instanceof EvidenceError) return null;
    throw error;
  }
}

function overwrite(source: Uint8Array, random: (below: number) => number): Uint8Array {
  const copy = source.slice();
  for (let times = 1 + random(2); times > 0; times--) {
    const at = random(copy.length);
    copy[at] = random(3) === 0 ? random(256) : (copy[at] ?? 0) ^ (1 << random(8));
  }
  return copy;
}

function walk(bytes: Uint8Array): void {
  const visit = (node: DerNode): void => {
    if ((node.tag & 0x20) !== 0) childrenOf(node).forEach(visit);
  };
  visit(readDer(bytes));
}

function parseNamed(bytes: Uint8Array): string {
  return nameText(parseCertificate(bytes).subject);
}
