import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { needs } from "@signsealship/testing/tools/tools";
import { OID } from "../../src/asn1/oid.ts";
import * as der from "../../src/asn1/writer.ts";
import { buildTimeStampReq, parseTimeStampResp, parseTimeStampToken, parseTstInfo } from "../../src/rfc3161/token.ts";
import { type TimeStampInput, verifyTimeStampToken } from "../../src/rfc3161/verify.ts";
import { createWebCrypto } from "../../src/webcrypto.ts";
import { forgedCertificate, forgedCms } from "../cms/forge.ts";
import { vector, vectorCertificate } from "../vector-cases.ts";

const port = createWebCrypto(crypto.subtle);
const message = vector("cms/message.txt");
const sha256 = Uint8Array.from(createHash("sha256").update(message).digest());
const anchors = [vectorCertificate("root")];
const response = parseTimeStampResp(vector("rfc3161/p256.tsr"));
assert.ok(response.token);
const token = parseTimeStampToken(response.token);

async function notHolding(input: Partial<TimeStampInput>): Promise<string[]> {
  const base = { token, stamped: { sha256 }, status: 0, nonce: token.tstInfo?.nonce ?? new Uint8Array(), anchors };
  const result = await verifyTimeStampToken({ ...base, crypto: port, ...input });
  const names = result.claims.filter((claim) => claim.state !== "holds").map((claim) => `${claim.name} ${claim.state}`);
  assert.equal(result.trusted, names.length === 0);
  assert.equal(result.claims.length, 8);
  return names;
}

test(
  "builds a request that openssl reads: hash, imprint, nonce, and the request for a certificate",
  needs("openssl"),
  (context) => {
    const request = buildTimeStampReq({
      imprint: sha256,
      nonce: Uint8Array.of(0, 0xff, 1, 2, 3, 4, 5, 6),
      policy: "1.2.3",
    });
    const folder = mkdtempSync(join(tmpdir(), "tsq-"));
    context.after(() => rmSync(folder, { recursive: true }));
    writeFileSync(join(folder, "request.tsq"), request);
    const command = ["ts", "-query", "-in", join(folder, "request.tsq"), "-text"];
    const text = execFileSync("openssl", command, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
    assert.match(text, /Version: 1\nHash Algorithm: sha256/);
    assert.match(text, /Nonce: 0xFF010203040506/);
    assert.match(text, /Policy OID: 1\.2\.3/);
    assert.match(text, /Certificate required: yes/);
    const shown = [...text.matchAll(/^ {4}[0-9a-f]{4} - (.{47})/gm)]
      .map(([, row]) => row?.replaceAll(/[ -]/g, ""))
      .join("");
    assert.equal(shown, Buffer.from(sha256).toString("hex"));
  },
);

test("builds no request for another digest length or without a nonce", () => {
  const nonce = Uint8Array.of(1);
  assert.throws(() => buildTimeStampReq({ imprint: new Uint8Array(20), nonce }), { code: "rfc3161" });
  assert.throws(() => buildTimeStampReq({ imprint: sha256, nonce: new Uint8Array() }), { code: "rfc3161" });
  assert.throws(() => buildTimeStampReq({ imprint: sha256, nonce, policy: "x" }), { code: "der" });
});

test("reads the facts of the TSTInfo", () => {
  const { tstInfo } = token;
  assert.ok(tstInfo);
  assert.equal(tstInfo.policy, "1.3.6.1.4.1.55555.2");
  assert.equal(tstInfo.hashAlgorithm, "SHA-256");
  assert.deepEqual(tstInfo.hashedMessage, sha256);
  assert.equal(tstInfo.accuracyMicros, 1_500_100);
  assert.equal(tstInfo.ordering, true);
  assert.ok(tstInfo.genTime > Date.UTC(2024, 0, 1) && tstInfo.genTime < Date.UTC(2044, 0, 1));
});

test("a trusted token makes all eight claims hold", async () => {
  assert.deepEqual(await notHolding({}), []);
  assert.deepEqual(await notHolding({ token: token.der }), []);
});

test("missing inputs make a claim unchecked, not held", async () => {
  assert.deepEqual(await notHolding({ anchors: [] }), ["chain unchecked"]);
  const { status, nonce, ...rest } = { token, stamped: { sha256 }, anchors, crypto: port, status: 0, nonce: 0 };
  const alone = await verifyTimeStampToken(rest);
  assert.deepEqual(
    alone.claims.filter((claim) => claim.state === "unchecked").map((claim) => claim.name),
    ["status", "nonce"],
  );
  assert.deepEqual([alone.intact, alone.trusted, status, nonce], [true, true, 0, 0]);
});

test("refuses a status that is not granted", async () => {
  for (const status of [2, 3, 4, 5, 6, -1]) assert.deepEqual(await notHolding({ status }), ["status fails"]);
  assert.deepEqual(await notHolding({ status: 1 }), []);
});

test("compares nonces as numbers", async () => {
  const nonce = token.tstInfo?.nonce ?? new Uint8Array();
  assert.deepEqual(await notHolding({ nonce: Uint8Array.of(0, 0, ...nonce) }), []);
  assert.deepEqual(await notHolding({ nonce: nonce.subarray(1) }), ["nonce fails"]);
  assert.deepEqual(await notHolding({ nonce: new Uint8Array() }), ["nonce fails"]);
});

test("refuses another imprint, and a SHA-256 against a token over SHA-512", async () => {
  assert.deepEqual(await notHolding({ stamped: { sha256: new Uint8Array(32) } }), ["messageImprint fails"]);
  assert.deepEqual(await notHolding({ stamped: { message: sha256 } }), ["messageImprint fails"]);
  const other = parseTimeStampResp(vector("rfc3161/sha512.tsr")).token;
  assert.ok(other);
  assert.ok((await notHolding({ token: other })).includes("messageImprint fails"));
});

test("refuses a chain to an authority that is not trusted", async () => {
  assert.deepEqual(await notHolding({ anchors: [vectorCertificate("other")] }), ["chain fails"]);
  assert.deepEqual(await notHolding({ anchors: [vectorCertificate("rsaroot")] }), ["chain fails"]);
});

test("refuses a time that is later than the instant of the verification", async () => {
  const genTime = token.tstInfo?.genTime ?? 0;
  assert.deepEqual(await notHolding({ at: genTime - 300_001 }), ["chain fails"]);
  assert.deepEqual(await notHolding({ at: genTime - 300_001, anchors: [] }), ["chain fails"]);
  assert.deepEqual(await notHolding({ at: genTime - 300_000 }), []);
  assert.deepEqual(await notHolding({ at: genTime + 1e12 }), []);
});

const imprint = der.sequence(der.sequence(der.oid(OID.sha256)), der.octetString(sha256));
const when = der.generalizedTime(Date.UTC(2030, 0, 1));
const info = (...rest: der.DerValue[]) => [der.integer(1), der.oid("1.2.3"), imprint, der.integer(9), when, ...rest];
const tstInfo = (...rest: der.DerValue[]) => der.encode(der.sequence(...info(...rest)));

async function forged(content: Uint8Array, signers = 1) {
  const certificate = forgedCertificate({ extendedKeyUsage: OID.kpTimeStamping });
  const bytes = forgedCms({ content, eContent: content, eContentType: OID.idCtTSTInfo, certificate, signers });
  const leaf = parseTimeStampToken(bytes).signedData.certificates;
  return verifyTimeStampToken({ token: bytes, stamped: { sha256 }, anchors: leaf, crypto: port });
}

test("refuses a token with two signers", async () => {
  assert.equal((await forged(tstInfo())).trusted, true);
  assert.equal((await forged(tstInfo(), 2)).intact, false);
  assert.equal((await forged(tstInfo(), 0)).intact, false);
});

test("refuses a TSTInfo that breaks its definition", () => {
  const extension = (critical: boolean) =>
    der.implicit(
      1,
      der.sequence(der.sequence(der.oid("1.2.3"), der.boolean(critical), der.octetString(Uint8Array.of(5, 0)))),
    );
  assert.equal(parseTstInfo(tstInfo(extension(false))).nonce, null);
  assert.throws(() => parseTstInfo(tstInfo(extension(true))), { code: "unsupported" });
  assert.throws(() => parseTstInfo(tstInfo(der.nullValue)), { code: "rfc3161" });
  assert.throws(() => parseTstInfo(tstInfo(der.integer(1), der.boolean(true))), { code: "rfc3161" });
  assert.throws(() => parseTstInfo(tstInfo(der.integer(-1))), { code: "der" });
  assert.throws(() => parseTstInfo(der.encode(der.sequence(der.integer(2), ...info().slice(1)))), { code: "rfc3161" });
  const utc = der.utcTime(Date.UTC(2030, 0, 1));
  assert.throws(() => parseTstInfo(der.encode(der.sequence(...info().slice(0, 4), utc))), { code: "rfc3161" });
});

test("relies on no token without its TSTInfo, and refuses a token whose content is not a TSTInfo", async () => {
  const certificate = forgedCertificate();
  const content = new Uint8Array([1, 2, 3]);
  const cms = (eContent?: Uint8Array) =>
    forgedCms({ content, certificate, eContentType: OID.idCtTSTInfo, ...(eContent ? { eContent } : {}) });
  const { intact, genTime, claims } = await verifyTimeStampToken({
    token: cms(),
    stamped: { message: content },
    anchors: [],
    crypto: port,
  });
  assert.deepEqual([intact, genTime], [false, null]);
  assert.equal(claims.find(({ name }) => name === "contentType")?.state, "fails");
  assert.throws(() => parseTimeStampToken(cms(content)), { name: "EvidenceError" });
});

test("reads a refusal with its texts, and refuses responses that break their definition", () => {
  const status = (...parts: der.DerValue[]) => der.sequence(der.sequence(...parts));
  const refusal = der.encode(
    status(der.integer(2), der.sequence(der.utf8String("no time")), der.bitString(Uint8Array.of(0x24))),
  );
  assert.deepEqual(parseTimeStampResp(refusal), {
    status: 2,
    statusString: ["no time"],
    failInfo: ["badRequest", "badDataFormat"],
    token: null,
  });
  assert.throws(() => parseTimeStampResp(der.encode(status())), { code: "rfc3161" });
  assert.throws(() => parseTimeStampResp(der.encode(status(der.integer(-1)))), { code: "der" });
  assert.throws(() => parseTimeStampResp(der.encode(status(der.integer(0), der.nullValue))), { code: "rfc3161" });
  assert.throws(() => parseTimeStampResp(new TextEncoder().encode("<html>busy</html>")), { name: "EvidenceError" });
});
