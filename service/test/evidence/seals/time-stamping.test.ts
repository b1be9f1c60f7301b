import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseSignedData, signatureTimeStampTokens } from "@signsealship/evidence/cms";
import { parseTimeStampToken, verifyTimeStampToken } from "@signsealship/evidence/rfc3161";
import { type Certificate, parseCertificatesPem } from "@signsealship/evidence/x509";
import { startTsa, type TsaDouble, type TsaMode } from "@signsealship/testing/doubles/tsa";
import { testsNeeding } from "@signsealship/testing/tools/tools";
import { createNodeCrypto } from "@signsealship/verifier/node-crypto";
import { createCmsSigner } from "../../../src/evidence/seals/cms/cms.ts";
import {
  createTimeStamping,
  type TimeStampingDeps,
  type TimeStampRefusal,
} from "../../../src/evidence/seals/time-stamping.ts";
import { memoryKey, selfSigned } from "./signers.ts";

const { after, before, test } = testsNeeding("openssl");

let tsa: TsaDouble;
let second: TsaDouble;
let anchors: Certificate[];
before(async () => {
  tsa = await startTsa();
  second = await startTsa();
  anchors = parseCertificatesPem(tsa.caPem);
});
after(async () => {
  await tsa.close();
  await second.close();
});

const crypto = createNodeCrypto();
const message = Buffer.from("a signature value");

/** A client for time stamps, and the list of its rejected responses. */
function client(settings: Partial<TimeStampingDeps> = {}) {
  const refusals: TimeStampRefusal[] = [];
  const stamp = createTimeStamping({
    authorities: [tsa.url],
    anchorsOf: () => anchors,
    fetch,
    clock: () => new Date(),
    randomBytes,
    crypto,
    onRefusal: (refusal) => refusals.push(refusal),
    ...settings,
  });
  return { stamp, refusals, failed: () => refusals.map((refusal) => refusal.failed) };
}

test("returns a token over the message, with its authority and time, for which every check holds", async () => {
  tsa.order("proper");
  const { stamp, refusals } = client();
  const found = await stamp(message);
  assert.ok(found);
  assert.deepEqual(refusals, []);
  assert.equal(found.authority, tsa.url);
  assert.ok(Math.abs(found.genTime.getTime() - Date.now()) < 60_000);
  const verification = await verifyTimeStampToken({ token: found.token, stamped: { message }, anchors, crypto });
  assert.equal(verification.trusted, true);
  assert.equal(verification.genTime, found.genTime.getTime());
});

test("openssl verifies the token of a seal over the seal's signature value", async () => {
  tsa.order("proper");
  const key = memoryKey("p-256");
  const signer = createCmsSigner({ key, chain: [await selfSigned(key)] });
  const seal = await signer.sign({ messageDigest: randomBytes(32), byteRange: [0, 1, 2, 3], originalLength: 1 });
  const found = await client().stamp(seal.signature);
  assert.ok(found);
  const [signerInfo] = parseSignedData(seal.cms(found.token)).signerInfos;
  assert.ok(signerInfo);
  const [token] = signatureTimeStampTokens(signerInfo);
  assert.ok(token);
  const folder = mkdtempSync(join(tmpdir(), "time-stamping-"));
  try {
    const file = (name: string, content: string | Uint8Array) => {
      writeFileSync(join(folder, name), content);
      return join(folder, name);
    };
    const input = ["-token_in", "-in", file("token", token), "-CAfile", file("ca", tsa.caPem)];
    const verify = (data: Uint8Array) =>
      execFileSync("openssl", ["ts", "-verify", ...input, "-data", file("data", data)], { stdio: "pipe" }).toString();
    assert.match(verify(signerInfo.signature), /Verification: OK/);
    assert.throws(() => verify(Buffer.from("other")));
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("sends a different nonce with each request", async () => {
  tsa.order("proper");
  const { stamp } = client();
  const nonces = await Promise.all(
    [1, 2].map(async () => {
      const found = await stamp(message);
      return found && Buffer.from(parseTimeStampToken(found.token).tstInfo?.nonce ?? []).toString("hex");
    }),
  );
  assert.notEqual(nonces[0], nonces[1]);
  assert.ok((nonces[0]?.length ?? 0) >= 28);
});

const refused: readonly [TsaMode, TimeStampRefusal["failed"], RegExp][] = [
  ["rejected", "status", /status 2 .*badAlg/],
  ["status-not-granted", "status", /status 2/],
  ["wrong-nonce", "nonce", /nonce/],
  ["wrong-imprint", "messageImprint", /other bytes/],
  ["wrong-content-type", "contentType", /id-ct-TSTInfo/],
  ["wrong-message-digest", "messageDigest", /./],
  ["wrong-signature", "signature", /./],
  ["no-usage", "signingCertificate", /extended key usage/],
  ["usage-not-critical", "signingCertificate", /not critical/],
  ["more-usages", "signingCertificate", /not time-stamping alone/],
  ["no-signing-certificate", "signingCertificate", /./],
  ["expired", "chain", /expired/],
  ["foreign", "chain", /No valid chain/],
  ["garbage", "format", /can't be read/],
  ["truncated", "format", /can't be read/],
  ["oversize", "transport", /longer than 65536 bytes/],
  ["server-error", "transport", /HTTP status 500/],
  ["redirect", "transport", /HTTP status 307/],
  ["hang-up", "transport", /./],
];

for (const [mode, failed, why] of refused) {
  test(`refuses an answer that is ${mode}: ${failed}`, async () => {
    tsa.order(mode);
    const { stamp, refusals } = client();
    assert.equal(await stamp(message), null);
    assert.equal(refusals.length, 1);
    assert.equal(refusals[0]?.failed, failed);
    assert.match(refusals[0]?.why ?? "", why);
    assert.equal(refusals[0]?.authority, tsa.url);
  });
}

test("refuses a replayed answer, for its nonce", async () => {
  const { stamp, failed } = client();
  tsa.order("proper");
  assert.ok(await stamp(message));
  tsa.order("replay");
  assert.equal(await stamp(message), null);
  assert.deepEqual(failed(), ["nonce"]);
});

test("stops waiting for a slow authority after its time-out", async () => {
  tsa.order("slow");
  const { stamp, refusals } = client({ timeoutMs: 50 });
  assert.equal(await stamp(message), null);
  assert.match(refusals[0]?.why ?? "", /no answer within 50 ms/);
});

test("without anchors it accepts a chain up to the token's topmost certificate, and still refuses an expired certificate", async () => {
  for (const mode of ["proper", "foreign"] as const) {
    tsa.order(mode);
    assert.ok(await client({ anchorsOf: () => [] }).stamp(message));
  }
  for (const [mode, check] of [
    ["expired", "chain"],
    ["no-usage", "signingCertificate"],
  ] as const) {
    tsa.order(mode);
    const { stamp, failed } = client({ anchorsOf: () => [] });
    assert.equal(await stamp(message), null);
    assert.deepEqual(failed(), [check]);
  }
});

test("refuses a token with a wrong time, early or late", async () => {
  tsa.order("proper");
  for (const hours of [-1, 1]) {
    const { stamp, failed } = client({ clock: () => new Date(Date.now() + hours * 3_600_000) });
    assert.equal(await stamp(message), null);
    assert.ok(["clock", "chain"].includes(failed()[0] ?? ""));
  }
});

test("asks the next authority when one fails, and none after a proper answer", async () => {
  tsa.order("garbage");
  second.order("proper");
  const both = client({ authorities: [tsa.url, second.url], anchorsOf: () => [] });
  assert.equal((await both.stamp(message))?.authority, second.url);
  const before = second.requestCount();
  tsa.order("proper");
  assert.equal((await both.stamp(message))?.authority, tsa.url);
  assert.equal(second.requestCount(), before);
});

test("skips an authority that failed three times in a row, and tries it once after the cool-down", async () => {
  let now = Date.now();
  const { stamp, refusals } = client({
    clock: () => new Date(now),
    authorities: [tsa.url, second.url],
    anchorsOf: () => [],
  });
  tsa.order("server-error");
  second.order("proper");
  const before = tsa.requestCount();
  for (let i = 0; i < 5; i++) assert.equal((await stamp(message))?.authority, second.url);
  assert.equal(tsa.requestCount() - before, 3);
  assert.equal(refusals.length, 3);
  now += 60_000;
  tsa.order("proper");
  assert.equal((await stamp(message))?.authority, tsa.url);
});

test("returns null without authorities, and for an unreachable one", async () => {
  assert.equal(await client({ authorities: [] }).stamp(message), null);
  const { stamp, failed } = client({ authorities: ["http://127.0.0.1:1/"] });
  assert.equal(await stamp(message), null);
  assert.deepEqual(failed(), ["transport"]);
});
