import assert from "node:assert/strict";
import { randomBytes, X509Certificate } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { sealReasons } from "@signsealship/evidence/seal";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { runCli, temporaryFolder } from "@signsealship/testing/service";
import { needs } from "@signsealship/testing/tools/tools";
import { sealChainPem } from "../../../src/evidence/seals/certificate/certificate.ts";
import { openSealIdentity, type SealIdentity } from "../../../src/evidence/seals/identity.ts";
import { openRoot } from "../../../src/evidence/seals/root.ts";
import { createSealer } from "../../../src/evidence/seals/sealer.ts";
import { systemRandom } from "../../../src/kernel/platform/random.ts";
import { inlineWorkers } from "../../../src/kernel/platform/workers/inline.ts";
import {
  issueSignerCertificate,
  makeSignerAuthority,
  oneActKey,
} from "../../../src/signing/envelopes/signer-authority.ts";
import { pdfsigTrusting, run } from "./pdf/oracles.ts";
import { memoryKey } from "./signers.ts";

const folder = temporaryFolder();

const serials = () => randomBytes(16);
const now = new Date();
const settingsOf = (name: string) => {
  const dataDir = join(folder.path, name);
  return {
    dataDir,
    sealKey: `file:${join(dataDir, "keys/seal")}`,
    sealCertificate: null,
    baseUrl: "https://seal.example",
  };
};
type Settings = Omit<ReturnType<typeof settingsOf>, "sealCertificate"> & { sealCertificate: string | null };
const open = async (settings: Settings, environment: "live" | "test") =>
  (await openSealIdentity(settings, now, serials, environment)).identity;

const at = (name: string, bytes: Uint8Array | string) => {
  const path = join(folder.path, name);
  writeFileSync(path, bytes);
  return path;
};
const database = (name: string) => {
  const path = join(folder.path, name);
  mkdirSync(path);
  return path;
};

const own = settingsOf("own");

const sealerOf = (identity: SealIdentity) =>
  createSealer({ workers: inlineWorkers, random: systemRandom, identity, clock: () => new Date(), stamp: null });

const [live, tests] = [await open(own, "live"), await open(own, "test")];
const bytes = makePdf();
const sealed = {
  live: (await sealerOf(live)({ bytes, reason: sealReasons.proof.live })).bytes,
  test: (await sealerOf(tests)({ bytes, reason: sealReasons.proof.test })).bytes,
  // Earlier releases had no test seal and sealed test documents with the live key.
  before: (await sealerOf(live)({ bytes, reason: sealReasons.proof.test })).bytes,
};

test("makes a P-256 file key for tests, certified by a separate root with TEST in its names", async () => {
  const [leaf, root, ...more] = tests.chain.map(({ der }) => new X509Certificate(der));
  assert.ok(leaf && root && more.length === 0);
  assert.equal(leaf.subject, "CN=SignSealShip TEST seal seal.example");
  assert.equal(root.subject, "CN=SignSealShip TEST seal root seal.example");
  assert.ok(leaf.verify(root.publicKey) && root.verify(root.publicKey));
  assert.deepEqual(tests.chain[1]?.basicConstraints, { ca: true, pathLength: 0 });
  assert.deepEqual([tests.key.algorithm, tests.chain[0].isTestSeals], ["ecdsa-p256-sha256", true]);
  assert.equal(live.chain[0].isTestSeals, false);
  assert.match(readFileSync(join(own.dataDir, "keys/test-seal"), "utf8"), /BEGIN PRIVATE KEY/);
  assert.deepEqual((await open(own, "test")).chain, tests.chain);
});

test("creates only one seal of tests, however many nodes start concurrently on the folder of an earlier release", async () => {
  const settings = settingsOf("at-once");
  const before = await open(settings, "live");
  assert.equal(existsSync(join(settings.dataDir, "keys/test-seal")), false);
  const all = await Promise.all(Array.from({ length: 8 }, () => open(settings, "test")));
  for (const { chain } of all) assert.deepEqual(chain, all[0]?.chain);
  assert.deepEqual((await open(settings, "live")).chain, before.chain);
  // Simulates a start that was interrupted between the creation of the key and of the certificate.
  rmSync(join(settings.dataDir, "keys/test-seal-certificate.pem"));
  assert.deepEqual((await open(settings, "test")).key.publicKey, all[0]?.key.publicKey);
});

test("refuses the live seal's certificate for tests, and the test certificate for the live seal", async () => {
  const settings = settingsOf("swapped");
  await open(settings, "live");
  await open(settings, "test");
  const keys = join(settings.dataDir, "keys");
  const swapped = { ...settings, sealKey: `file:${join(keys, "test-seal")}` };
  const certificate = { ...swapped, sealCertificate: join(keys, "test-seal-certificate.pem") };
  await assert.rejects(open(certificate, "live"), /SEAL_CERTIFICATE: .* is a certificate of tests/);
  copyFileSync(join(keys, "seal"), join(keys, "test-seal"));
  copyFileSync(join(keys, "seal-certificate.pem"), join(keys, "test-seal-certificate.pem"));
  await assert.rejects(open(settings, "test"), /The seal of tests: .* is no certificate of tests/);
});

test("the sealer returns no live seal made with the key of tests", async () => {
  await assert.rejects(sealerOf(tests)({ bytes: makePdf(), reason: sealReasons.signed.live }), (error: Error) =>
    /vouches for test documents alone/.test(`${error} ${error.cause}`),
  );
});

test(
  "pdfsig trusts no test seal by the live root, and trusts it by the root of the test seal",
  needs("poppler", "nss"),
  async () => {
    const [liveRoot, testRoot] = [live, tests].map(({ chain }) => sealChainPem(chain.slice(-1)));
    const path = at("test.pdf", sealed.test);
    const outcomes = async (file: string, root: string | undefined, name: string) =>
      (await pdfsigTrusting(file, root ?? "", database(name))).map(({ valid, certificate }) => [valid, certificate]);
    assert.deepEqual(await outcomes(path, liveRoot, "nss-live"), [[true, "Certificate issuer isn't Trusted."]]);
    assert.deepEqual(await outcomes(path, testRoot, "nss-test"), [[true, "Certificate is Trusted."]]);
    assert.deepEqual(await outcomes(at("live.pdf", sealed.live), liveRoot, "nss-own"), [
      [true, "Certificate is Trusted."],
    ]);
  },
);

/** openssl's verdict on a seal with these certificates as its only anchors, without partial chains. */
async function opensslSays(name: string, bytes: Buffer, trusted: string) {
  const text = bytes.toString("latin1");
  const [, a = 0, b = 0, c = 0, d = 0] = /\/ByteRange ?\[ ?(\d+) (\d+) (\d+) (\d+)/.exec(text)?.map(Number) ?? [];
  const cms = at(`${name}.p7s`, Buffer.from(text.slice(b + 1, c - 1), "hex"));
  const content = at(`${name}.bin`, Buffer.concat([bytes.subarray(a, a + b), bytes.subarray(c, c + d)]));
  const args = ["cms", "-verify", "-binary", "-cades", "-inform", "DER", "-in", cms, "-content", content];
  const { output } = await run("openssl", [...args, "-CAfile", at(`${name}.pem`, trusted), "-out", "/dev/null"]);
  return /Verification successful/.test(output);
}

test(
  "openssl verifies both seals with the published file, and the test seal only with its own chain",
  needs("openssl"),
  async () => {
    const published = live.chainPem + tests.chainPem;
    assert.equal(await opensslSays("live-published", sealed.live, published), true);
    assert.equal(await opensslSays("test-published", sealed.test, published), true);
    assert.equal(await opensslSays("test-own", sealed.test, tests.chainPem), true);
    assert.equal(await opensslSays("test-live", sealed.test, live.chainPem), false);
  },
);

test(
  "openssl refuses a signer of tests with the published file: only the seal is below its root",
  needs("openssl"),
  async () => {
    const root = await openRoot(own, now, serials, "test");
    const made = { key: memoryKey("p-256"), host: "seal.example", environment: "test", at: now.getTime() } as const;
    const authority = await makeSignerAuthority(root, { ...made, serialNumber: serials() });
    const [leaf, ...above] = await issueSignerCertificate(authority, {
      name: "Jane Doe",
      environment: "test",
      statement: "https://seal.example/signers",
      crl: "https://seal.example/crl",
      publicKey: oneActKey().publicKey,
      serialNumber: serials(),
      at: now.getTime(),
    });
    const verify = async (trusted: string) => {
      const untrusted = at("above.pem", sealChainPem(above));
      const args = [
        "-CAfile",
        at("trusted.pem", trusted),
        "-untrusted",
        untrusted,
        at("signer.pem", sealChainPem([leaf])),
      ];
      return (await run("openssl", ["verify", ...args])).output;
    };
    assert.match(await verify(live.chainPem + tests.chainPem), /unable to get|self.signed certificate in/);
    assert.match(await verify(sealChainPem(root.chain)), /OK/);
  },
);

test("the command line verifies seals of both keys, and test seals from before the seal of tests", async () => {
  const verdictOf = async (env: Record<string, string>, file: string, ...more: string[]) =>
    (JSON.parse((await runCli(env, "verify", file, ...more, "--json")).stdout) as { verdict: string }).verdict;
  const here = { DATA_DIR: own.dataDir };
  const published = at("published.pem", live.chainPem + tests.chainPem);
  const expected = { live: "verified", test: "verified_test", before: "verified_test" } as const;
  for (const kind of ["live", "test", "before"] as const) {
    const file = at(`cli-${kind}.pdf`, sealed[kind]);
    assert.equal(await verdictOf(here, file), expected[kind], kind);
    assert.equal(await verdictOf({}, file, "--trust", published), expected[kind], kind);
  }
  const liveAlone = at("live-chain.pem", live.chainPem);
  assert.equal(await verdictOf({}, join(folder.path, "cli-test.pdf"), "--trust", liveAlone), "not_verified");
});
