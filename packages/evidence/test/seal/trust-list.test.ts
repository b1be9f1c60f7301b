import assert from "node:assert/strict";
import { test } from "node:test";
import { EvidenceError } from "../../src/errors.ts";
import { parseTrustList, readTrust } from "../../src/seal/trust-list.ts";
import { encodePem } from "../../src/x509/pem.ts";
import { testSigner } from "../signer.ts";

const pem = encodePem(testSigner("seal").certificate.der, "CERTIFICATE");
const stamper = encodePem(testSigner("tsa").certificate.der, "CERTIFICATE");
const retired = { pem, retiredAt: "2026-03-01T00:00:00.000Z", reason: "key-compromise" };
const list = (changes: object) => Buffer.from(JSON.stringify({ format: 1, sealCertificates: [{ pem }], ...changes }));

test("a trust list names certificates, including retired ones, and authorities' roots", () => {
  const {
    sealAnchors,
    retired: out,
    tsaAnchors,
  } = parseTrustList(
    list({ sealCertificates: [retired, { pem, other: 1 }], timeStampCertificates: [stamper], later: true }),
  );
  assert.deepEqual([sealAnchors.length, tsaAnchors.length], [2, 1]);
  assert.deepEqual(
    out.map(({ retiredAt, reason }) => [retiredAt, reason]),
    [[Date.UTC(2026, 2, 1), "key-compromise"]],
  );
  const bare = parseTrustList(list({ sealCertificates: [{ ...retired, reason: null }] }));
  assert.equal(bare.retired[0]?.reason, "unspecified");
});

test("the authorities of signers are anchors for signers only, and may be retired", () => {
  const {
    sealAnchors,
    signerAnchors,
    retired: out,
  } = parseTrustList(list({ signerCertificates: [{ ...retired, pem: stamper }] }));
  assert.deepEqual([sealAnchors.length, signerAnchors.length, out.length], [1, 1, 1]);
  assert.deepEqual(parseTrustList(list({})).signerAnchors, []);
});

test("PEM is accepted as trust, too", () => {
  assert.deepEqual([readTrust(pem + stamper).sealAnchors.length, readTrust(pem).retired.length], [2, 0]);
  assert.equal(readTrust(` ${list({})}`).sealAnchors.length, 1);
});

test("a log may have ended, and an end that is not understood makes the list unreadable", () => {
  const key = "example.com/log/live+00000000+AAAA";
  const end = { size: 7, root: "0f".repeat(32), reason: "key-compromise" };
  const ofEnd = (changes: object) => list({ logs: [{ environment: "live", key, end: { ...end, ...changes } }] });
  assert.deepEqual(parseTrustList(ofEnd({ more: 1 })).logs, [{ environment: "live", key, end }]);
  assert.deepEqual(parseTrustList(list({ logs: [{ environment: "live", key }] })).logs, [{ environment: "live", key }]);
  for (const wrong of [
    { size: -1 },
    { size: 1.5 },
    { size: "7" },
    { root: "0F".repeat(32) },
    { root: 1 },
    { reason: "sold" },
  ])
    assert.throws(() => parseTrustList(ofEnd(wrong)), EvidenceError);
  for (const none of [null, 7, {}])
    assert.throws(() => parseTrustList(list({ logs: [{ environment: "live", key, end: none }] })), EvidenceError);
});

test("a list with any part that is not understood is refused as a whole", () => {
  const wrong: object[] = [
    { format: 2 },
    { format: undefined },
    { sealCertificates: undefined },
    { sealCertificates: {} },
    { sealCertificates: [pem] },
    { sealCertificates: [{}] },
    { sealCertificates: [{ pem: "" }] },
    { sealCertificates: [{ pem: pem + pem }] },
    { sealCertificates: [{ ...retired, retiredAt: "yesterday" }] },
    { sealCertificates: [{ ...retired, retiredAt: "2026-13-01T00:00:00Z" }] },
    { sealCertificates: [{ ...retired, retiredAt: 1 }] },
    { sealCertificates: [{ ...retired, retiredAt: null }] },
    { sealCertificates: [{ ...retired, reason: 7 }] },
    { sealCertificates: [{ ...retired, reason: "x".repeat(101) }] },
    { signerCertificates: {} },
    { signerCertificates: [pem] },
    { signerCertificates: [{ ...retired, retiredAt: "yesterday" }] },
    { timeStampCertificates: pem },
    { timeStampCertificates: [1] },
  ];
  for (const changes of wrong)
    assert.throws(() => parseTrustList(list(changes)), EvidenceError, JSON.stringify(changes));
  const twice = Buffer.from(list({}).toString().replace('"format":1', '"format":1,"format":1'));
  assert.throws(() => parseTrustList(twice), /two members/);
});

test("a seal certificate's environment is the one in its policy; any other makes the list unreadable", () => {
  const entry = (certificate: string, environment: unknown) =>
    list({ sealCertificates: [{ pem: certificate, environment }] });
  const tests = encodePem(testSigner("tests").certificate.der, "CERTIFICATE");
  for (const accepted of [entry(pem, "live"), entry(tests, "test"), list({ sealCertificates: [{ pem: tests }] })])
    assert.equal(parseTrustList(accepted).sealAnchors.length, 1);
  for (const refused of [entry(tests, "live"), entry(pem, "test"), entry(pem, "other"), entry(tests, null)])
    assert.throws(() => parseTrustList(refused), /environment/);
});
