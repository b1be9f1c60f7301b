import assert from "node:assert/strict";
import { randomBytes, X509Certificate } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { newPartner, runCli, type Service, startService, temporaryFolder } from "@signsealship/testing/service";
import { needs } from "@signsealship/testing/tools/tools";
import { readSealChain, sealChainPem } from "../../../src/evidence/seals/certificate/certificate.ts";
import { fingerprintOf } from "../../../src/evidence/seals/chains.ts";
import { openSealIdentity } from "../../../src/evidence/seals/identity.ts";
import { openSealKey } from "../../../src/evidence/seals/keys/open-seal-key.ts";
import { bytesOf, seal } from "../proof-passports/seal-document.ts";
import { memoryKey, selfSigned } from "./signers.ts";

const folder = temporaryFolder();
after(() => folder.remove());

/** A data folder of a release without a root: a key and its self-signed certificate. */
async function oldInstallation(name: string) {
  const dataDir = join(folder.path, name);
  const sealKey = `file:${join(dataDir, "keys/seal")}`;
  const certificate = await selfSigned(await openSealKey(sealKey), Date.now());
  const path = join(dataDir, "keys/seal-certificate.pem");
  writeFileSync(path, sealChainPem([certificate]));
  return { dataDir, sealKey, certificate, path, baseUrl: "https://other.example", sealCertificate: null };
}

const open = (settings: Awaited<ReturnType<typeof oldInstallation>>) =>
  openSealIdentity(settings, new Date(), () => randomBytes(16));

test("a self-signed certificate is reissued once under the root: same key, same name, and the old one is kept", async () => {
  const old = await oldInstallation("once");
  const { identity, replaced } = await open(old);
  assert.deepEqual(replaced, old.certificate);
  const [leaf, root, ...more] = identity.chain;
  assert.ok(root);
  assert.equal(more.length, 0);
  assert.deepEqual([leaf.spki, leaf.subject], [old.certificate.spki, old.certificate.subject]);
  assert.ok(new X509Certificate(leaf.der).verify(new X509Certificate(root.der).publicKey));
  assert.equal(readFileSync(old.path, "utf8"), identity.chainPem);
  const beside = `${old.path}.${fingerprintOf(old.certificate).slice(0, 16)}`;
  assert.equal(readFileSync(beside, "utf8"), sealChainPem([old.certificate]));
  const again = await open(old);
  assert.deepEqual([again.identity.chain, again.replaced], [identity.chain, null]);
});

test("after any interruption, and with any number of concurrent starts, there is one certificate", async () => {
  const old = await oldInstallation("cut");
  const keys = join(old.dataDir, "keys");
  const all = await Promise.all(Array.from({ length: 6 }, () => open(old)));
  const [{ identity } = await open(old)] = all;
  for (const one of all) assert.deepEqual(one.identity.chain, identity.chain);
  const whole = new Map(readdirSync(keys).map((name) => [name, readFileSync(join(keys, name), "utf8")]));
  const fingerprint = fingerprintOf(old.certificate).slice(0, 16);
  // The files in the order in which they are written. The old certificate stays in place until the last step.
  const written = [
    "root",
    "root-certificate.pem",
    `seal-certificate.pem.${fingerprint}`,
    `seal-certificate.pem.${fingerprint}.next`,
  ];
  assert.deepEqual([...whole.keys()].sort(), [...written, "seal", "seal-certificate.pem"].sort());
  for (let steps = 0; steps <= written.length; steps++) {
    rmSync(keys, { recursive: true });
    mkdirSync(keys);
    for (const name of ["seal", ...written.slice(0, steps)]) writeFileSync(join(keys, name), whole.get(name) ?? "");
    writeFileSync(old.path, sealChainPem([old.certificate]));
    const { identity: after, replaced } = await open(old);
    assert.deepEqual(replaced, old.certificate, String(steps));
    assert.deepEqual(after.chain[0].spki, old.certificate.spki);
    assert.equal(after.chain.length, 2);
    if (steps >= 2) assert.deepEqual(after.chain[1], identity.chain[1], "the root stays");
    if (steps >= 4) assert.deepEqual(after.chain, identity.chain, "what was issued stays");
    assert.deepEqual(readdirSync(keys).sort(), [...whole.keys()].sort());
  }
});

test("the certificate of another key is refused unchanged, and one that the operator names stays unchanged", async () => {
  const old = await oldInstallation("other");
  const other = sealChainPem([await selfSigned(memoryKey("p-256"), Date.now())]);
  writeFileSync(old.path, other);
  await assert.rejects(open(old), /is not for the key of SEAL_KEY/);
  assert.equal(readFileSync(old.path, "utf8"), other);
  const own = join(folder.path, "operators.pem");
  writeFileSync(own, sealChainPem([old.certificate]));
  const { identity, replaced } = await openSealIdentity({ ...old, sealCertificate: own }, new Date(), () =>
    randomBytes(16),
  );
  assert.deepEqual([identity.chain, replaced], [[old.certificate], null]);
});

type Certificates = {
  certificates: { sha256: string; inUse: boolean; retiredAt: string | null }[];
  root: { sha256: string; subject: string };
};
type Report = { verdict: string; checks: { claim: string; result: string }[] };

test("earlier seals still verify everywhere, and later ones chain to the root", needs("openssl", "unzip"), async () => {
  const old = await oldInstallation("service");
  const env = { DATA_DIR: old.dataDir, RATE_LIMITS: "off" };
  let service: Service = await startService({ ...env, SEAL_CERTIFICATE: old.path });
  try {
    const caller = { ...(await newPartner(service, { live: true })), baseUrl: service.baseUrl };
    const before = await seal(caller, makePdf());
    const fileOf = async (code: string) => {
      const path = join(folder.path, `${code}.pdf`);
      writeFileSync(path, await bytesOf(await fetch(`${service.baseUrl}/api/passport/verify/${code}/document`)));
      return path;
    };
    const oldFile = await fileOf(before.verifyCode);
    const verdictOf = async (target: string) => {
      const { stdout } = await runCli({ DATA_DIR: old.dataDir }, "verify", target, "--json");
      return JSON.parse(stdout) as Report;
    };
    const asBefore = await verdictOf(oldFile);
    assert.equal(asBefore.verdict, "verified");
    await service.stop();

    service = await startService({ ...env, LOG_LEVEL: "info" });
    const news = service
      .stderr()
      .split("\n")
      .filter((line) => line.includes("now issued by the service's root"));
    assert.equal(news.length, 1);
    const urlOf = (code: string) => `${service.baseUrl}/api/passport/verify/${code}`;
    const after = await seal({ ...caller, baseUrl: service.baseUrl }, makePdf());
    const [leaf, root, ofTests] = readSealChain(await (await fetch(`${service.baseUrl}/seal/certificate.pem`)).text());
    assert.ok(leaf && root && ofTests);
    const oldSha256 = fingerprintOf(old.certificate);

    const trusted = (await (await fetch(`${service.baseUrl}/seal/trust.json`)).json()) as {
      sealCertificates: { sha256: string; retiredAt: string | null; reason: string | null }[];
    };
    assert.deepEqual(
      new Map(trusted.sealCertificates.map(({ sha256, retiredAt, reason }) => [sha256, [retiredAt, reason]])),
      new Map([
        [fingerprintOf(leaf), [null, null]],
        [oldSha256, [null, null]],
        [fingerprintOf(ofTests), [null, null]],
      ]),
    );
    const listed = await service.cli<Certificates>("seal", "list");
    assert.deepEqual(
      listed.certificates.map(({ sha256, inUse }) => [sha256, inUse]),
      [
        [oldSha256, false],
        [fingerprintOf(ofTests), true],
        [fingerprintOf(leaf), true],
      ],
    );
    assert.equal(listed.root.sha256, fingerprintOf(root));
    const page = await (await fetch(`${service.baseUrl}/verify`)).text();
    for (const certificate of [leaf, old.certificate]) {
      const [, line = ""] = sealChainPem([certificate]).split("\n");
      assert.ok(page.includes(line));
    }

    assert.deepEqual(
      (await verdictOf(oldFile)).checks.map(({ claim, result }) => [claim, result]),
      asBefore.checks.map(({ claim, result }) => [claim, result]),
    );
    for (const target of [await fileOf(after.verifyCode), urlOf(before.verifyCode), urlOf(after.verifyCode)])
      assert.equal((await verdictOf(target)).verdict, "verified", target);
    const rootFile = join(old.dataDir, "keys/root-certificate.pem");
    const under = async (file: string) =>
      (JSON.parse((await runCli({}, "verify", file, "--trust", rootFile, "--json")).stdout) as Report).verdict;
    assert.equal(await under(await fileOf(after.verifyCode)), "verified");
    assert.equal(await under(oldFile), "not_verified");

    const stolen = await runCli(env, "seal", "retire", oldSha256, "--reason", "key-compromise");
    assert.match(stolen.stderr, /in use is for the same key/);
    const rootKey = join(old.dataDir, "keys/root");
    renameSync(rootKey, `${rootKey}.away`);
    const names = readdirSync(join(old.dataDir, "keys"));
    const without = await runCli(env, "seal", "rotate");
    assert.match(without.stderr, /keys\/root, the key of .*root-certificate.pem, is needed to issue a certificate/);
    assert.deepEqual(readdirSync(join(old.dataDir, "keys")), names, "nothing was put aside");
    renameSync(`${rootKey}.away`, rootKey);
    await service.cli("seal", "rotate");
    await service.stop();
    service = await service.restart();
    const [next, sameRoot] = readSealChain(await (await fetch(`${service.baseUrl}/seal/certificate.pem`)).text());
    assert.deepEqual(sameRoot, root);
    assert.notDeepEqual(next?.spki, leaf.spki);
    assert.equal((await verdictOf(urlOf(before.verifyCode))).verdict, "verified");
    assert.equal(
      (await verdictOf(oldFile)).verdict,
      "not_verified",
      "a key that was replaced is trusted by name alone",
    );
    const done = await runCli(env, "seal", "retire", oldSha256, "--reason", "key-compromise");
    assert.equal(done.code, 0, done.stderr);
  } finally {
    await service.stop();
  }
});
