import assert from "node:assert/strict";
import { test } from "node:test";
import { fuzzRuns } from "@signsealship/testing/inputs/fuzz";
import { sha256Hex } from "../../src/digest.ts";
import { buildManifest, manifestBytes } from "../../src/manifest/build.ts";
import { sealReasons } from "../../src/seal/purpose.ts";
import { type ClosingVerification, type ClosingVersion, verifyClosing } from "../../src/seal/verify-closing.ts";
import { createWebCrypto } from "../../src/webcrypto.ts";
import { chainOf, hash, snapshot } from "../manifest/manifests.ts";
import { mutate, randomFrom } from "../mutate.ts";
import { testSigner } from "../signer.ts";
import { closingCertificate, sealedFor, withAttachment } from "./closing-pdf.ts";
import { appendRevision, bytesOf, latin1, signPdf } from "./signed-pdf.ts";

const seal = testSigner("seal");
const stranger = testSigner("stranger");
const crypto = createWebCrypto(globalThis.crypto.subtle);
const at = Date.UTC(2026, 5, 1);
const trust = { sealAnchors: [seal.certificate], tsaAnchors: [] };
const noTrust = { sealAnchors: [], tsaAnchors: [] };
const [v1, v2, v3] = await chainOf(3);
assert.ok(v1 && v2 && v3);
const certificate = (manifest: Uint8Array, signer = seal) => closingCertificate(manifest, { signer });
const verify = (versions: readonly ClosingVersion[], trusted = trust) =>
  verifyClosing({ versions, trust: trusted, at, crypto });
const failing = ({ claims }: ClosingVerification) =>
  claims.filter(({ state }) => state === "fails").map(({ name }) => name);
const stateOf = ({ claims }: ClosingVerification, name: string) => claims.find((one) => one.name === name)?.state;

test("verifies a certificate alone by its attached manifest", async () => {
  const result = await verify([{ certificate: certificate(v1.bytes) }]);
  assert.equal(result.verdict, "verified");
  assert.deepEqual(failing(result), []);
  const [only] = result.versions;
  assert.equal(only?.version, 1);
  assert.equal(only?.manifestSha256, v1.manifestSha256);
  assert.deepEqual(only?.purpose, { kind: "closing", environment: "live" });
  assert.equal(stateOf(result, "manifest.v1.link"), "holds");
});

test("verifies a whole chain of certificates and manifests, given in any order, against what a record states", async () => {
  const versions = await Promise.all(
    [v3, v1, v2].map(async ({ bytes, version, manifestSha256 }) => {
      const sealed = certificate(bytes);
      return { manifest: bytes, certificate: sealed, version, manifestSha256, sealedSha256: await sha256Hex(sealed) };
    }),
  );
  const result = await verify(versions);
  assert.equal(result.verdict, "verified");
  assert.ok(result.claims.every(({ state }) => state === "holds"));
});

test("a sealed version vouches for the manifests before it, and for none after it", async () => {
  const sealedLast = [{ manifest: v1.bytes }, { manifest: v2.bytes }, { certificate: certificate(v3.bytes) }];
  assert.equal((await verify(sealedLast)).verdict, "verified");
  const sealedFirst = [{ certificate: certificate(v1.bytes) }, { manifest: v2.bytes }];
  assert.equal((await verify(sealedFirst)).verdict, "unsigned");
  assert.equal((await verify([{ manifest: v1.bytes }])).verdict, "unsigned");
});

test("leaves the link of a later version alone unchecked", async () => {
  const result = await verify([{ certificate: certificate(v2.bytes) }]);
  assert.equal(result.verdict, "verified");
  assert.equal(stateOf(result, "manifest.v2.link"), "unchecked");
  assert.equal(stateOf(result, "chain.versions"), "unchecked");
});

test("without trusted certificates a chain is intact and never verified", async () => {
  const result = await verify([{ certificate: certificate(v1.bytes) }], noTrust);
  assert.equal(result.verdict, "intact");
  assert.equal(stateOf(result, "certificate.v1.trusted"), "unchecked");
  const mixed = [{ certificate: certificate(v1.bytes) }, { certificate: certificate(v2.bytes, stranger) }];
  assert.deepEqual(failing(await verify(mixed)), ["certificate.v2.trusted"]);
});

test("refuses a document that somebody had sealed with a manifest of their own attached", async () => {
  for (const reason of [sealReasons.proof.live, sealReasons.proof.test, "closing passport", "Closing passport "]) {
    const forged = closingCertificate(v1.bytes, { signer: seal }, reason);
    const result = await verify([{ certificate: forged }]);
    assert.equal(result.verdict, "not_verified", reason);
    assert.deepEqual(failing(result), ["certificate.v1.purpose"]);
  }
  const silent = signPdf(withAttachment(v1.bytes), { signer: seal });
  assert.deepEqual(failing(await verify([{ certificate: silent }])), ["certificate.v1.purpose"]);
});

test("reports that a certificate was sealed in a test environment", async () => {
  const result = await verify([
    { certificate: closingCertificate(v1.bytes, { signer: seal }, sealReasons.closing.test) },
  ]);
  assert.equal(result.versions[0]?.purpose?.environment, "test");
});

test("refuses manifests, hashes, versions and rooms that differ from those in the certificates", async () => {
  const sealed = certificate(v1.bytes);
  const cases: readonly (readonly [ClosingVersion[], string])[] = [
    [[{ certificate: sealed, manifest: v2.bytes, version: 2 }], "certificate.v2.manifest"],
    [[{ certificate: sealed, sealedSha256: hash("0") }], "certificate.v1.hash"],
    [[{ certificate: sealed, manifestSha256: hash("0") }], "manifest.v1.hash"],
    [[{ certificate: sealed, version: 2 }], "manifest.v2.version"],
    [[{ certificate: sealed }, { certificate: certificate(v3.bytes) }], "chain.versions"],
    [[{ certificate: sealed }, { certificate: sealed }], "chain.versions"],
    [[{ certificate: certificate(bytesOf("{}")) }], "manifest.v1.schema"],
    [[{ certificate: sealed }, {}], "certificate.v?.seal"],
  ];
  for (const [versions, name] of cases) {
    const result = await verify(versions);
    assert.equal(result.verdict, "not_verified", name);
    assert.ok(failing(result).includes(name), `${name}: ${failing(result)}`);
  }
  const elsewhere = await verifyClosing({
    versions: [{ certificate: sealed }],
    roomCode: "f".repeat(40),
    trust,
    at,
    crypto,
  });
  assert.deepEqual(failing(elsewhere), ["manifest.v1.room"]);
  const rewritten = manifestBytes(
    buildManifest(snapshot({ version: 2, prevManifestSha256: v1.manifestSha256, roomName: "Another" })),
  );
  const broken = await verify(
    [v1.bytes, rewritten, v3.bytes].map((manifest) => ({ certificate: certificate(manifest) })),
  );
  assert.deepEqual(failing(broken), ["manifest.v3.link"]);
});

test("refuses certificates without a seal over the whole file, without a manifest, or that are not a PDF", async () => {
  const sealed = certificate(v1.bytes);
  const appended = bytesOf(appendRevision(latin1(sealed), [[200, "<< /Length 0 >>\nstream\n\nendstream"]]));
  const unsealed = withAttachment(v1.bytes);
  const without = sealedFor(sealReasons.closing.live, { signer: seal }, withAttachment(v1.bytes, { name: "(a.json)" }));
  for (const bytes of [appended, unsealed, without, bytesOf("nothing"), new Uint8Array(0)]) {
    const result = await verify([{ certificate: bytes }]);
    assert.equal(result.verdict, "not_verified");
  }
  assert.ok(failing(await verify([{ certificate: appended }])).includes("certificate.v1.seal"));
  assert.ok(failing(await verify([{ certificate: unsealed }])).includes("certificate.v1.seal"));
  assert.ok(failing(await verify([{ certificate: without }])).includes("certificate.v?.manifest"));
});

test("an empty list of versions, and more versions than a room can have, are not verified", async () => {
  assert.equal((await verify([])).verdict, "not_verified");
  const many = await verify(Array.from({ length: 41 }, () => ({ manifest: v1.bytes })));
  assert.equal(many.verdict, "not_verified");
  assert.deepEqual(
    many.claims.map(({ why }) => why),
    ["More than 40 versions were given."],
  );
});

test("a damaged certificate is never verified, and never causes an exception", async () => {
  const sealed = certificate(v1.bytes);
  const random = randomFrom(11);
  for (let run = 0; run < fuzzRuns(1500); run++) {
    const mutated = mutate(sealed, random);
    if (Buffer.compare(mutated, sealed) === 0) continue;
    assert.notEqual((await verify([{ certificate: mutated }])).verdict, "verified");
  }
});
