import assert from "node:assert/strict";
import { test } from "node:test";
import { childrenOf, type DerNode, rawOf, readDer } from "../../src/asn1/der.ts";
import { OID } from "../../src/asn1/oid.ts";
import {
  type DerValue,
  encode,
  explicit,
  implicit,
  integer,
  oid,
  raw,
  sequence,
  set,
  setOf,
} from "../../src/asn1/writer.ts";
import { uncoveredPart } from "../../src/cms/coverage.ts";
import { parseSignedData } from "../../src/cms/signed-data.ts";
import { parseTimeStampResp } from "../../src/rfc3161/token.ts";
import { createWebCrypto } from "../../src/webcrypto.ts";
import { cmsOver, testSigner } from "../signer.ts";
import { vector } from "../vector-cases.ts";

const crypto = createWebCrypto(globalThis.crypto.subtle);
const signer = testSigner("seal");
const stranger = testSigner("stranger");
const plain = cmsOver(new Uint8Array(32), signer);

function looseIn(der: Uint8Array): Promise<string | null> {
  const signedData = parseSignedData(der);
  const [signerInfo] = signedData.signerInfos;
  assert.ok(signerInfo);
  return uncoveredPart(der, signedData, signerInfo, [], crypto);
}

/** The parts of the SignedData of `plain`: version, digests, content, certificates, signers. */
function parts(): DerNode[] {
  const content = childrenOf(readDer(plain))[1];
  const signedData = content && childrenOf(content)[0];
  return signedData === undefined ? assert.fail() : childrenOf(signedData);
}

/**
 * A copy of `plain` with some parts of its SignedData replaced, by index. The index 3.5 inserts a part between the
 * certificates and the signers.
 */
function withParts(changes: Readonly<Record<string, DerValue>>): Uint8Array {
  const all = parts().map((node, index) => changes[index] ?? raw(rawOf(node)));
  if (changes["3.5"] !== undefined) all.splice(4, 0, changes["3.5"]);
  return encode(sequence(oid(OID.idSignedData), explicit(0, sequence(...all))));
}

test("finds no unprotected part in a plain signature, nor in tokens and signatures of openssl", async () => {
  assert.equal(await looseIn(plain), null);
  assert.equal(await looseIn(withParts({})), null);
  for (const name of ["p256.tsr", "rsa.tsr"]) {
    const { token } = parseTimeStampResp(vector(`rfc3161/${name}`));
    assert.ok(token);
    assert.equal(await looseIn(token), null, name);
  }
  assert.equal(await looseIn(vector("cms/p256.der")), null);
});

test("finds the parts that could be changed unnoticed", async () => {
  const digest = (type: string) => sequence(oid(type));
  const certificates = (...ders: readonly Uint8Array[]) => implicit(0, setOf(ders.map(raw)));
  const own = signer.certificate.der;
  const cases: readonly (readonly [string, Uint8Array])[] = [
    ["digest algorithms that it does not use", withParts({ 1: set(digest(OID.sha384)) })],
    ["digest algorithms that it does not use", withParts({ 1: setOf([digest(OID.sha256), digest(OID.sha384)]) })],
    ["odd digest parameters", withParts({ 1: set(sequence(oid(OID.sha256), integer(1))) })],
    ["a version that is not its own", withParts({ 0: integer(3) })],
    ["certificates that it does not use", withParts({ 3: certificates(own, stranger.certificate.der) })],
    ["revocation lists", withParts({ "3.5": implicit(1, set(sequence())) })],
    ["certificates that it does not use", withParts({ 3: implicit(0, set(raw(own), raw(own))) })],
    ["certificates of another kind", withParts({ 3: implicit(0, set(raw(own), implicit(1, sequence()))) })],
    ["unsigned attributes other than time stamps", unsigned(sequence(oid("1.2.3"), set(integer(1))))],
    ["unsigned attributes other than time stamps", unsigned(sequence(oid(OID.idAaTimeStampToken), set()))],
  ];
  for (const [expected, der] of cases) assert.equal(await looseIn(der), expected);
});

function unsigned(attribute: DerValue): Uint8Array {
  const signers = parts()[4];
  const signerInfo = signers && childrenOf(signers)[0];
  if (signerInfo === undefined) return assert.fail();
  return withParts({
    4: set(sequence(...childrenOf(signerInfo).map((node) => raw(rawOf(node))), implicit(1, set(attribute)))),
  });
}
