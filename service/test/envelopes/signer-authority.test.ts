import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { randomBytes, X509Certificate } from "node:crypto";
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { prepareSealKey } from "@signsealship/testing/seal-keys";
import { startSoftHsm } from "@signsealship/testing/tools/softhsm";
import { needs } from "@signsealship/testing/tools/tools";
import {
  issueSignerCertificate,
  oneActKey,
  openSignerAuthority,
  probeSignerAuthority,
  type SignerAuthoritySettings,
} from "../../src/envelopes/envelopes.ts";
import { makeSignerAuthority } from "../../src/envelopes/signer-authority.ts";
import { StartupError } from "../../src/platform/errors.ts";
import { sealChainPem } from "../../src/seals/certificate/certificate.ts";
import { openSealIdentity } from "../../src/seals/identity.ts";
import { openSealKey } from "../../src/seals/keys/open-seal-key.ts";
import { memoryKey, memoryRoot, selfSigned, someInstant } from "../seals/signers.ts";

const folder = mkdtempSync(join(tmpdir(), "signer-authority-"));
const closing: (() => unknown)[] = [() => rmSync(folder, { recursive: true, force: true })];
after(async () => {
  for (const close of closing.reverse()) await close();
});

const at = new Date(someInstant);
const serials = () => randomBytes(16);
let folders = 0;

/** The settings of an installation of its own that has sealed. */
async function installation(changes: Partial<SignerAuthoritySettings> = {}): Promise<SignerAuthoritySettings> {
  const dataDir = join(folder, `data-${folders++}`);
  const settings = {
    dataDir,
    baseUrl: "https://sign.example",
    sealKey: `file:${join(dataDir, "keys/seal")}`,
    sealCertificate: null,
    signerCaKey: `file:${join(dataDir, "keys/signer-ca")}`,
    signerCaCertificate: null,
    ...changes,
  };
  if (changes.sealKey === undefined) prepareSealKey(dataDir);
  await openSealIdentity(settings, at, serials);
  return settings;
}

async function opened(settings: SignerAuthoritySettings) {
  const { authority, warnings, close } = await openSignerAuthority(settings, at, serials);
  closing.push(close);
  assert.deepEqual(warnings, []);
  return authority;
}

const signer = {
  name: "Jane Doe",
  email: "jane@example.com",
  statement: "https://sign.example/signers",
  serialNumber: Buffer.alloc(16, 3),
  at: someInstant,
};

/** Whether openssl finds a way from the first certificate to the last. */
function opensslVerifies(chain: readonly { der: Uint8Array }[]): void {
  const pem = (certificates: typeof chain) =>
    certificates.map(({ der }) => new X509Certificate(der).toString()).join("");
  const [leaf, between, root] = [chain.slice(0, 1), chain.slice(1, -1), chain.slice(-1)].map(pem);
  for (const [name, text] of Object.entries({ leaf, between, root })) writeFileSync(join(folder, name), text ?? "");
  const time = ["-attime", String(someInstant / 1000)];
  execFileSync("openssl", ["verify", "-x509_strict", ...time, "-CAfile", "root", "-untrusted", "between", "leaf"], {
    cwd: folder,
    stdio: "pipe",
  });
}

test("the first run makes an authority under the root that issued the seal's certificate, and the next finds it again", async () => {
  const settings = await installation();
  const authority = await opened(settings);
  const { identity } = await openSealIdentity(settings, at, serials);
  assert.deepEqual(authority.chain.at(-1), identity.chain.at(-1));
  assert.equal(authority.chain.length, 2);
  assert.deepEqual((await opened(settings)).chain, authority.chain);
  const [own, root] = authority.chain.map(({ der }) => new X509Certificate(der));
  assert.equal(own?.subject, "CN=SignSealShip signers sign.example");
  assert.equal(root?.subject, "CN=SignSealShip root sign.example");
  assert.deepEqual(authority.chain[0].basicConstraints, { ca: true, pathLength: 0 });
  for (const name of ["root", "signer-ca"])
    assert.equal(statSync(join(settings.dataDir, "keys", name)).mode & 0o777, 0o600);
  await probeSignerAuthority(authority, at);
});

test(
  "a signer's certificate leads to the root for openssl, and ends with the authority's",
  needs("openssl"),
  async () => {
    const authority = await opened(await installation());
    const { publicKey } = oneActKey();
    const chain = await issueSignerCertificate(authority, { ...signer, publicKey });
    opensslVerifies(chain);
    assert.equal(chain[0].notAfter, authority.chain[0].notAfter);
    assert.equal(chain[0].notBefore, someInstant - 300_000);
  },
);

test("wherever a first run is cut off, the next one makes what is missing, and keeps what is there", async () => {
  const whole = await installation();
  await opened(whole);
  const made = [
    "root",
    "root-certificate.pem",
    "seal",
    "seal-certificate.pem",
    "signer-ca",
    "signer-ca-certificate.pem",
  ];
  const keys = join(whole.dataDir, "keys");
  assert.deepEqual(readdirSync(keys).sort(), made);
  // In the order in which they are made, the last first.
  const order = [
    "signer-ca-certificate.pem",
    "signer-ca",
    "seal-certificate.pem",
    "root-certificate.pem",
    "root",
    "seal",
  ];
  for (const [index] of order.entries()) {
    for (const name of order.slice(0, index + 1)) unlinkSync(join(keys, name));
    const kept = order.slice(index + 1).map((name) => [name, readFileSync(join(keys, name), "utf8")] as const);
    const { identity } = await openSealIdentity(whole, at, serials);
    const authority = await opened(whole);
    assert.deepEqual(authority.chain.at(-1), identity.chain.at(-1));
    assert.deepEqual(readdirSync(keys).sort(), made);
    for (const [name, text] of kept) assert.equal(readFileSync(join(keys, name), "utf8"), text, name);
  }
});

test("of several that start at once all come to the same authority", async () => {
  const settings = await installation();
  const all = await Promise.all(Array.from({ length: 8 }, () => opened(settings)));
  for (const { chain } of all) assert.deepEqual(chain, all[0]?.chain);
});

test("with chains of the operator's own there is no root, and nothing is made", async () => {
  const root = await memoryRoot();
  const [sealFile, sealPem, caFile, caPem] = ["own-seal", "own-seal.pem", "own-ca", "own-ca.pem"].map((name) =>
    join(folder, name),
  ) as [string, string, string, string];
  const sealKey = await openSealKey(`file:${sealFile}`);
  writeFileSync(sealPem, sealChainPem([await selfSigned(sealKey)]));
  const key = await openSealKey(`file:${caFile}`, { setting: "SIGNER_CA_KEY" });
  const made = await makeSignerAuthority(root, { key, host: "sign.example", serialNumber: serials(), at: someInstant });
  writeFileSync(caPem, sealChainPem(made.chain));
  const settings = await installation({
    sealKey: `file:${sealFile}`,
    sealCertificate: sealPem,
    signerCaKey: `file:${caFile}`,
    signerCaCertificate: caPem,
  });
  assert.deepEqual((await opened(settings)).chain, made.chain);
  assert.equal(existsSync(settings.dataDir), false);
});

test("the root's key may be kept elsewhere once the certificates are there, and is asked for by name when one is missing", async () => {
  const settings = await installation();
  const { chain } = await opened(settings);
  unlinkSync(join(settings.dataDir, "keys/root"));
  assert.deepEqual((await opened(settings)).chain, chain);
  unlinkSync(join(settings.dataDir, "keys/signer-ca-certificate.pem"));
  await assert.rejects(openSignerAuthority(settings, at, serials), refused(/keys\/root, the key of .* is needed/));
});

test("a key in a token issues certificates of signers, too", needs("softhsm", "openssl"), async () => {
  const hsm = startSoftHsm();
  process.env.SOFTHSM2_CONF = hsm.configPath;
  hsm.addKey("signers", "01", "p-256");
  const signerCaKey = `pkcs11:object=signers?module-path=${hsm.modulePath}&pin-value=${hsm.pin}`;
  const settings = await installation({ signerCaKey });
  const authority = await opened(settings);
  closing.push(hsm.close);
  opensslVerifies(await issueSignerCertificate(authority, { ...signer, publicKey: oneActKey().publicKey }));
  assert.equal(existsSync(join(settings.dataDir, "keys/signer-ca")), false);
});

const refused = (text: RegExp) => (error: unknown) =>
  error instanceof StartupError && text.test(error.message) && !error.message.includes("\n");

test("an authority that could issue nothing that holds is refused in one line", async () => {
  const settings = await installation();
  const file = join(folder, "refused.pem");
  const withChain = (changes: Partial<SignerAuthoritySettings>) =>
    openSignerAuthority({ ...settings, signerCaCertificate: file, ...changes }, at, serials);
  await assert.rejects(withChain({}), refused(/^SIGNER_CA_CERTIFICATE: .*refused.pem can't be read/));
  const key = await openSealKey(settings.signerCaKey, { setting: "SIGNER_CA_KEY" });
  for (const [chain, why] of [
    [[await selfSigned(key)], /is not an authority's$/],
    [(await memoryRoot()).chain, /CN=SignSealShip root seal.example is not for the key of SIGNER_CA_KEY/],
    [(await memoryRoot(someInstant - 40 * 365 * 86_400_000)).chain, /not for the key/],
  ] as const) {
    writeFileSync(file, sealChainPem(chain));
    await assert.rejects(withChain({}), refused(why));
  }
  const made = { key, host: "sign.example", serialNumber: serials(), at: someInstant };
  const { chain } = await makeSignerAuthority(await memoryRoot(), made);
  writeFileSync(file, sealChainPem([chain[0], (await memoryRoot()).chain[0]]));
  await assert.rejects(withChain({}), refused(/did not issue .*CN=SignSealShip signers/));
  const between = await makeSignerAuthority(await memoryRoot(), { ...made, key: memoryKey("p-256") });
  writeFileSync(file, sealChainPem((await makeSignerAuthority(between, made)).chain));
  await assert.rejects(withChain({}), refused(/CN=SignSealShip signers sign.example allows no authority below it/));
  const old = await makeSignerAuthority(await memoryRoot(), { ...made, at: someInstant - 21 * 366 * 86_400_000 });
  writeFileSync(file, sealChainPem(old.chain));
  await assert.rejects(withChain({}), refused(/expired on/));
  await assert.rejects(
    openSignerAuthority({ ...settings, signerCaKey: settings.sealKey }, at, serials),
    refused(/^SIGNER_CA_KEY: it is the key of SEAL_KEY/),
  );
  await assert.rejects(
    openSignerAuthority({ ...settings, signerCaKey: "file:" }, at, serials),
    refused(/^SIGNER_CA_KEY: file: needs a path/),
  );
});

test("a key that answers with another key's signature is not ready", async () => {
  const authority = await opened(await installation());
  const key = { ...authority.key, sign: memoryKey("p-256").sign };
  await assert.rejects(probeSignerAuthority({ ...authority, key }, at), /does not verify/);
  await assert.rejects(probeSignerAuthority(authority, new Date(Date.UTC(2050, 0))), /expired on/);
});
