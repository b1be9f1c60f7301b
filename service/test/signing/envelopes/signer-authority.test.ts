import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
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
import { boolean, integer, OID, oid, primitive, sequence, set, utf8String } from "@signsealship/evidence/asn1";
import { type Certificate, nameText } from "@signsealship/evidence/x509";
import { prepareSealKey } from "@signsealship/testing/seal-keys";
import { startSoftHsm } from "@signsealship/testing/tools/softhsm";
import { needs } from "@signsealship/testing/tools/tools";
import { createNodeCrypto } from "@signsealship/verifier/node-crypto";
import { verifyChain } from "../../../../packages/evidence/src/x509/chain.ts";
import { type Authority, issue, signingUses, validFor } from "../../../src/evidence/seals/certificate/authority.ts";
import { sealChainPem } from "../../../src/evidence/seals/certificate/certificate.ts";
import { commonNameOf, extension, keyUsage } from "../../../src/evidence/seals/certificate/write.ts";
import { openSealIdentity } from "../../../src/evidence/seals/identity.ts";
import { openSealKey } from "../../../src/evidence/seals/keys/open-seal-key.ts";
import { openRoot } from "../../../src/evidence/seals/root.ts";
import { StartupError } from "../../../src/kernel/platform/errors.ts";
import {
  issueSignerCertificate,
  listedCertificates,
  oneActKey,
  openSignerAuthorities,
  probeSignerAuthorities,
  type SignerAuthoritySettings,
} from "../../../src/signing/envelopes/envelopes.ts";
import { makeSignerAuthority } from "../../../src/signing/envelopes/signer-authority.ts";
import { memoryKey, memoryRoot, selfSigned, someInstant } from "../../evidence/seals/signers.ts";

const folder = mkdtempSync(join(tmpdir(), "signer-authority-"));
const closing: (() => unknown)[] = [() => rmSync(folder, { recursive: true, force: true })];
after(async () => {
  for (const close of closing.reverse()) await close();
});

const at = new Date(someInstant);
const serials = () => randomBytes(16);
let folders = 0;

/** The settings of a separate installation that has sealed before. */
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

async function openedAll(settings: SignerAuthoritySettings) {
  const { authorities, warnings, close } = await openSignerAuthorities(settings, at, serials);
  closing.push(close);
  assert.deepEqual(warnings, []);
  return authorities;
}

async function opened(settings: SignerAuthoritySettings) {
  return (await openedAll(settings)).live;
}

const signer = {
  name: "Jane Doe",
  environment: "live",
  statement: "https://sign.example/signers",
  crl: "https://sign.example/seal/crl/0.crl",
  serialNumber: Buffer.alloc(16, 3),
  at: someInstant,
} as const;

/** Asserts that openssl finds a path from the first certificate to the last. */
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
  assert.equal(own?.subject, "CN=SignSealShip signer authority sign.example");
  assert.equal(root?.subject, "CN=SignSealShip root sign.example");
  assert.deepEqual(authority.chain[0].basicConstraints, { ca: true, pathLength: 0 });
  for (const name of ["root", "signer-ca"])
    assert.equal(statSync(join(settings.dataDir, "keys", name)).mode & 0o777, 0o600);
  await probeSignerAuthorities(await openedAll(settings), at);
});

test(
  "a signer's certificate chains to the root for openssl, and ends with the authority's",
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

test("after an interrupted first run the next one makes the missing files, and keeps the others", async () => {
  const whole = await installation();
  await opened(whole);
  const made = [
    "root",
    "root-certificate.pem",
    "seal",
    "seal-certificate.pem",
    "signer-ca",
    "signer-ca-certificate.pem",
    "test-root",
    "test-root-certificate.pem",
    "test-signer-ca",
    "test-signer-ca-certificate.pem",
  ];
  const keys = join(whole.dataDir, "keys");
  assert.deepEqual(readdirSync(keys).sort(), made);
  // The files of the keys folder, in the reverse order of their creation.
  const order = [
    "test-signer-ca-certificate.pem",
    "test-root-certificate.pem",
    "test-root",
    "test-signer-ca",
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

test("several concurrent starts all get the same authority", async () => {
  const settings = await installation();
  const all = await Promise.all(Array.from({ length: 8 }, () => opened(settings)));
  for (const { chain } of all) assert.deepEqual(chain, all[0]?.chain);
});

test("makes only the root of tests when the operator has their own chains", async () => {
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
  // Only files for test orders are created, because the settings name the live certificates.
  const names = readdirSync(join(settings.dataDir, "keys"));
  assert.ok(
    names.every((name) => name.startsWith("test-")),
    names.join(),
  );
});

test("the root's key may be moved away once the certificates exist, and is named when a certificate is missing", async () => {
  const settings = await installation();
  const { chain } = await opened(settings);
  unlinkSync(join(settings.dataDir, "keys/root"));
  assert.deepEqual((await opened(settings)).chain, chain);
  unlinkSync(join(settings.dataDir, "keys/signer-ca-certificate.pem"));
  await assert.rejects(openSignerAuthorities(settings, at, serials), refused(/keys\/root, the key of .* is needed/));
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

test("an authority that could issue no valid certificate is refused in one line", async () => {
  const settings = await installation();
  const file = join(folder, "refused.pem");
  const withChain = (changes: Partial<SignerAuthoritySettings>) =>
    openSignerAuthorities({ ...settings, signerCaCertificate: file, ...changes }, at, serials);
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
  await assert.rejects(withChain({}), refused(/did not issue .*CN=SignSealShip signer authority/));
  const between = await makeSignerAuthority(await memoryRoot(), { ...made, key: memoryKey("p-256") });
  writeFileSync(file, sealChainPem((await makeSignerAuthority(between, made)).chain));
  await assert.rejects(
    withChain({}),
    refused(/CN=SignSealShip signer authority sign.example allows no authority below it/),
  );
  const old = await makeSignerAuthority(await memoryRoot(), { ...made, at: someInstant - 21 * 366 * 86_400_000 });
  writeFileSync(file, sealChainPem(old.chain));
  await assert.rejects(withChain({}), refused(/expired on/));
  await assert.rejects(
    openSignerAuthorities({ ...settings, signerCaKey: settings.sealKey }, at, serials),
    refused(/^SIGNER_CA_KEY: it is the key of SEAL_KEY/),
  );
  await assert.rejects(
    openSignerAuthorities({ ...settings, signerCaKey: "file:" }, at, serials),
    refused(/^SIGNER_CA_KEY: file: needs a path/),
  );
});

test("a key that answers with another key's signature is reported as not ready", async () => {
  const authorities = await openedAll(await installation());
  for (const environment of ["live", "test"] as const) {
    const key = { ...authorities[environment].key, sign: memoryKey("p-256").sign };
    const broken = { ...authorities, [environment]: { ...authorities[environment], key } };
    await assert.rejects(probeSignerAuthorities(broken, at), /does not verify/);
  }
  await assert.rejects(probeSignerAuthorities(authorities, new Date(Date.UTC(2050, 0))), /expired on/);
});

test("keeps tests below their own root, with TEST in its names", async () => {
  const { live, test: tests } = await openedAll(await installation());
  const names = tests.chain.map(({ subject }) => nameText(subject));
  assert.deepEqual(names, [
    "CN=SignSealShip TEST signer authority sign.example",
    "CN=SignSealShip TEST root sign.example",
  ]);
  assert.notDeepEqual(tests.chain.at(-1)?.spki, live.chain.at(-1)?.spki);
  assert.notDeepEqual(tests.chain[0].spki, live.chain[0].spki);
  const { publicKey } = oneActKey();
  const [leaf] = await issueSignerCertificate(tests, { ...signer, environment: "test", publicKey });
  assert.equal(nameText(leaf.subject), "CN=Jane Doe, OU=TEST\\, worth nothing");
  const verify = (anchor: Authority) =>
    verifyChain({
      leaf,
      intermediates: tests.chain,
      anchors: anchor.chain.slice(-1),
      at: someInstant,
      purpose: "documentSigning",
      crypto: createNodeCrypto(),
    });
  assert.equal((await verify(tests)).valid, true);
  assert.equal((await verify(live)).valid, false);
});

/** A certificate that the authority issued with a forbidden email address: as subjectAltName, or in the subject. */
const addressed = (authority: Authority, where: "subjectAltName" | "subject") =>
  issue(authority, {
    subject:
      where === "subject"
        ? sequence(set(sequence(oid(OID.emailAddress), utf8String("ceo@first-national.example"))))
        : commonNameOf("Angela Chief"),
    publicKey: oneActKey().publicKey,
    serialNumber: serials(),
    notBefore: someInstant,
    notAfter: authority.chain[0].notAfter,
    extensions: [
      keyUsage.signing,
      signingUses,
      ...(where === "subjectAltName"
        ? [extension(OID.subjectAltName, false, sequence(primitive(0x81, Buffer.from("ceo@first-national.example"))))]
        : []),
    ],
  });

test("has no email address in a signer's certificate, and no valid chain above one that has", async () => {
  const authority = await opened(await installation());
  const verify = async (chain: readonly [Certificate, ...Certificate[]]) =>
    verifyChain({
      leaf: chain[0],
      intermediates: chain.slice(1),
      anchors: chain.slice(-1),
      at: someInstant,
      purpose: "documentSigning",
      crypto: createNodeCrypto(),
    });
  const own = await issueSignerCertificate(authority, { ...signer, publicKey: oneActKey().publicKey });
  assert.equal((await verify(own)).valid, true);
  assert.equal(new X509Certificate(own[0].der).subjectAltName, undefined);
  for (const where of ["subjectAltName", "subject"] as const) {
    const result = await verify(await addressed(authority, where));
    assert.match(result.valid ? "valid" : result.why, /excludes email addresses/);
  }
});

test("openssl and NSS refuse an email address below the authority", needs("openssl", "nss"), async () => {
  const authority = await opened(await installation());
  const own = await issueSignerCertificate(authority, { ...signer, publicKey: oneActKey().publicKey });
  const rogue = await addressed(authority, "subjectAltName");
  const nss = mkdtempSync(join(folder, "nss-"));
  const file = (name: string, certificates: readonly Certificate[]) => {
    const path = join(nss, `${name}.pem`);
    writeFileSync(path, sealChainPem(certificates));
    return path;
  };
  const [above, root] = [file("above", own.slice(1, 2)), file("root", own.slice(2))];
  const time = ["-attime", String(someInstant / 1000), "-purpose", "smimesign"];
  const openssl = (leaf: string, ...more: string[]) =>
    spawnSync("openssl", ["verify", ...time, ...more, "-CAfile", root, "-untrusted", above, leaf], {
      encoding: "utf8",
    });
  const certutil = (...args: string[]) => spawnSync("certutil", [...args, "-d", nss], { encoding: "utf8" });
  certutil("-N", "--empty-password");
  certutil("-A", "-n", "root", "-t", ",C,", "-i", root);
  certutil("-A", "-n", "above", "-t", ",,", "-i", above);
  const outcomes = [own, rogue].map(([leaf], index) => {
    const path = file(`leaf${index}`, [leaf]);
    certutil("-A", "-n", `leaf${index}`, "-t", ",,", "-i", path);
    const mail = certutil("-V", "-n", `leaf${index}`, "-u", "S", "-b", "260115120000Z");
    return [
      openssl(path).status,
      openssl(path, "-verify_email", "ceo@first-national.example").stderr,
      mail.stdout + mail.stderr,
    ];
  });
  assert.equal(outcomes[0]?.[0], 0);
  assert.match(String(outcomes[0]?.[1]), /email address mismatch/);
  assert.match(String(outcomes[0]?.[2]), /certificate is valid/);
  assert.equal(outcomes[1]?.[0], 2);
  assert.match(String(outcomes[1]?.[1]), /permitted subtree violation/);
  assert.match(String(outcomes[1]?.[2]), /not permitted to issue a certificate with this name/);
});

/**
 * The files of an installation of an earlier release: one authority for live and test orders, which permits
 * certificates with email addresses.
 */
async function earlier() {
  const settings = await installation();
  const key = await openSealKey(settings.signerCaKey, { setting: "SIGNER_CA_KEY" });
  const root = await openRoot(settings, at, serials);
  const extensions = [
    extension(OID.basicConstraints, true, sequence(boolean(true), integer(0))),
    keyUsage.issuing,
    signingUses,
  ];
  const fields = { subject: commonNameOf("SignSealShip signers sign.example"), publicKey: key.publicKey, extensions };
  const chain = await issue(root, { ...fields, serialNumber: serials(), ...validFor(20, someInstant - 1000) });
  const path = join(settings.dataDir, "keys/signer-ca-certificate.pem");
  writeFileSync(path, sealChainPem(chain));
  return { settings, old: chain[0], path };
}

test("replaces the authority of an earlier release, once, however many nodes start, and retires it a day later", async () => {
  const { settings, old } = await earlier();
  const all = await Promise.all(Array.from({ length: 6 }, () => openSignerAuthorities(settings, at, serials)));
  closing.push(...all.map(({ close }) => close));
  all.push(await openSignerAuthorities(settings, new Date(someInstant + 86_400_000), serials));
  for (const opened of all) {
    const { authorities, retired, warnings } = opened;
    assert.deepEqual(authorities.live.chain, all[0]?.authorities.live.chain);
    assert.equal(nameText(authorities.live.chain[0].subject), "CN=SignSealShip signer authority sign.example");
    assert.deepEqual(authorities.live.chain[0].spki, old.spki);
    assert.deepEqual(warnings, []);
    assert.deepEqual(
      retired.map(({ certificate }) => certificate),
      [old],
    );
    assert.equal(retired[0]?.retiredAt.getTime(), someInstant - 300_000 + 86_400_000);
    const roots = [authorities.live, authorities.test].map(({ chain }) => ({ certificate: chain[1], retiredAt: null }));
    assert.deepEqual(listedCertificates(opened), [...roots, ...retired]);
  }
});

test("continues with the authority of an earlier release, and warns, while the root's key is elsewhere", async () => {
  const { settings, old, path } = await earlier();
  const rootKey = join(settings.dataDir, "keys/root");
  const kept = readFileSync(rootKey);
  unlinkSync(rootKey);
  const without = await openSignerAuthorities(settings, at, serials);
  closing.push(without.close);
  assert.deepEqual(without.authorities.live.chain[0], old);
  assert.match(
    without.warnings[0]?.detail ?? "",
    /does not exclude email addresses; it can't be replaced: .*keys\/root/,
  );
  assert.equal(readFileSync(path, "utf8"), sealChainPem(without.authorities.live.chain));
  writeFileSync(rootKey, kept, { mode: 0o600 });
  assert.notDeepEqual((await opened(settings)).chain[0], old);
});
