import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { X509Certificate } from "node:crypto";
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { freePort } from "@signsealship/testing/free-port";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { newPartner, runCli, startService, temporaryFolder } from "@signsealship/testing/service";
import { needs } from "@signsealship/testing/tools/tools";
import { readSealChain, sealChainPem } from "../../../src/evidence/seals/certificate/certificate.ts";
import { openSealKey } from "../../../src/evidence/seals/keys/open-seal-key.ts";
import { ed25519KeyAt } from "../../../src/evidence/transparency-log/transparency-log.ts";
import { StartupError } from "../../../src/kernel/platform/errors.ts";
import { seal } from "../proof-passports/seal-document.ts";
import { selfSigned } from "./signers.ts";

const folder = temporaryFolder();
const data = join(folder.path, "data");
const path = (name: string) => join(folder.path, name);

let service = await startService({ DATA_DIR: data });
after(() => service?.stop());

/** A key and a self-signed certificate, created with openssl. */
function identity(name: string, validity: readonly string[]): { SEAL_KEY: string; SEAL_CERTIFICATE: string } {
  const [key, certificate] = [path(`${name}.key`), path(`${name}.pem`)];
  execFileSync("openssl", ["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", key], {
    stdio: "pipe",
  });
  const about = [
    "-subj",
    `/CN=${name}`,
    "-addext",
    "keyUsage=critical,digitalSignature",
    "-addext",
    "basicConstraints=critical,CA:FALSE",
  ];
  execFileSync("openssl", ["req", "-x509", "-new", "-key", key, "-out", certificate, ...about, ...validity], {
    stdio: "pipe",
  });
  return { SEAL_KEY: `file:${key}`, SEAL_CERTIFICATE: certificate };
}

async function startRefused(env: Record<string, string>): Promise<string> {
  const { code, stderr } = await runCli({ DATA_DIR: data, PORT: String(await freePort()), ...env }, "serve");
  assert.equal(code, 1, stderr);
  assert.equal(stderr.trim().split("\n").length, 1, stderr);
  return stderr;
}

type Checks = { ok: boolean; checks: { name: string; result: string; detail: string }[] };
async function doctor(env: Record<string, string>, part = "seal"): Promise<Checks["checks"]> {
  const { stdout } = await runCli({ DATA_DIR: data, ...env }, "doctor", "--json");
  return (JSON.parse(stdout) as Checks).checks.filter(({ name }) => name.startsWith(part));
}

test("the first run makes a key, a root and a certificate under it, which the next start finds again", async () => {
  const pem = readFileSync(join(data, "keys/seal-certificate.pem"), "utf8");
  const published = pem + readFileSync(join(data, "keys/test-seal-certificate.pem"), "utf8");
  assert.match(readFileSync(join(data, "keys/seal"), "utf8"), /BEGIN PRIVATE KEY/);
  assert.equal(await (await fetch(`${service.baseUrl}/seal/certificate.pem`)).text(), published);
  await service.stop();
  service = await service.restart();
  assert.equal(await (await fetch(`${service.baseUrl}/seal/certificate.pem`)).text(), published);
  const ready = (await (await fetch(`${service.baseUrl}/readyz`)).json()) as { checks: Record<string, string> };
  assert.deepEqual([ready.checks["seal key"], ready.checks["signer authority"]], ["ok", "ok"]);
  const [leaf, root, ...more] = readSealChain(pem).map(({ der }) => new X509Certificate(der));
  assert.ok(leaf && root && more.length === 0);
  assert.ok(leaf.verify(root.publicKey) && root.ca);
  assert.ok(pem.endsWith(readFileSync(join(data, "keys/root-certificate.pem"), "utf8")));
});

test("doctor reports key, certificate and its end", async () => {
  const [found, ...more] = await doctor({});
  assert.deepEqual([found?.name, found?.result, more.length], ["seal key", "ok", 0]);
  assert.match(
    found?.detail ?? "",
    /^RSA-3072 key, certificate of CN=SignSealShip seal localhost until 20\d\d-\d\d-\d\d$/,
  );
});

test("doctor reports the signers' authority, the root by its fingerprint, and key files that others can read", async () => {
  const checks = new Map((await doctor({}, "")).map(({ name, result, detail }) => [name, { result, detail }]));
  assert.match(
    checks.get("signer authority key")?.detail ?? "",
    /^P-256 key, certificate of CN=SignSealShip signer authority localhost until 20\d\d-\d\d-\d\d; for tests P-256 key, certificate of CN=SignSealShip TEST signer authority localhost until 20\d\d-\d\d-\d\d$/,
  );
  const root = new X509Certificate(readFileSync(join(data, "keys/root-certificate.pem")));
  const fingerprint = root.fingerprint256.replaceAll(":", "").toLowerCase();
  assert.match(
    checks.get("root")?.detail ?? "",
    new RegExp(`CN=SignSealShip root localhost until .* SHA-256 ${fingerprint}`),
  );
  assert.match(
    checks.get("test root")?.detail ?? "",
    /^CN=SignSealShip TEST root localhost until .* SHA-256 [0-9a-f]{64}/,
  );
  assert.match(
    (await runCli({ DATA_DIR: data }, "seal", "list")).stdout,
    new RegExp(`${fingerprint}  CN=SignSealShip root`),
  );
  assert.equal(checks.get("key files")?.result, "ok");
  chmodSync(join(data, "keys/signer-ca"), 0o640);
  const [files] = await doctor({}, "key files");
  assert.match(`${files?.result} ${files?.detail}`, /^warning .*others can read \S+signer-ca: chmod 600/);
  chmodSync(join(data, "keys/signer-ca"), 0o600);
  const refused = await doctor({ SIGNER_CA_KEY: `file:${join(data, "keys/seal")}` }, "signer authority");
  assert.match(`${refused[0]?.result} ${refused[0]?.detail}`, /^failed SIGNER_CA_KEY: it is the key of SEAL_KEY/);
});

test("the operator's own key and certificate seal, and so does a P-256 key", needs("openssl", "poppler"), async () => {
  const own = identity("Acme Escrow Seal", ["-days", "400"]);
  const other = await startService({ DATA_DIR: data, ...own, RATE_LIMITS: "off" });
  try {
    const answer = await seal({ ...(await newPartner(other, { live: true })), baseUrl: other.baseUrl }, makePdf());
    const document = await fetch(`${other.baseUrl}/api/passport/verify/${answer.verifyCode}/document`);
    writeFileSync(path("own.pdf"), Buffer.from(await document.arrayBuffer()));
    assert.match(
      execFileSync("pdfsig", [path("own.pdf")], { encoding: "utf8" }),
      /Acme Escrow Seal[\s\S]*Signature is Valid/,
    );
    assert.match((await doctor(own))[0]?.detail ?? "", /^P-256 key, certificate of CN=Acme Escrow Seal until/);
  } finally {
    await other.stop();
  }
});

test("a passport keeps the certificates that sealed it when the key changes", needs("openssl", "unzip"), async () => {
  const caller = { ...(await newPartner(service, { live: true })), baseUrl: service.baseUrl };
  const { verifyCode } = await seal(caller, makePdf());
  const own = identity("Next Seal", ["-days", "400"]);
  const next = await startService({ DATA_DIR: data, ...own });
  try {
    const folderOfZip = path("rotated");
    mkdirSync(folderOfZip);
    const zip = await fetch(`${next.baseUrl}/api/passport/verify/${verifyCode}/evidence`);
    writeFileSync(join(folderOfZip, "e.zip"), Buffer.from(await zip.arrayBuffer()));
    execFileSync("unzip", ["-q", "e.zip"], { cwd: folderOfZip });
    const first = readFileSync(join(data, "keys/seal-certificate.pem"), "utf8");
    assert.equal(readFileSync(join(folderOfZip, "seal-certificates.pem"), "utf8"), first);
    assert.equal(
      await (await fetch(`${next.baseUrl}/seal/certificate.pem`)).text(),
      readFileSync(own.SEAL_CERTIFICATE, "utf8") + readFileSync(join(data, "keys/test-seal-certificate.pem"), "utf8"),
    );
  } finally {
    await next.stop();
  }
});

test("a certificate of another key stops the start in one line, and fails doctor", needs("openssl"), async () => {
  const wrong = { SEAL_CERTIFICATE: identity("Somebody Else", ["-days", "400"]).SEAL_CERTIFICATE };
  assert.match(await startRefused(wrong), /SEAL_CERTIFICATE: CN=Somebody Else is not for the key of SEAL_KEY/);
  const [found] = await doctor(wrong);
  assert.equal(found?.result, "failed");
});

test("an expired certificate stops the start in one line", needs("openssl"), async () => {
  const own = identity("Long Ago", ["-days", "400"]);
  const key = await openSealKey(own.SEAL_KEY);
  const elevenYearsAgo = Date.now() - 11 * 365.25 * 86_400_000;
  writeFileSync(own.SEAL_CERTIFICATE, sealChainPem([await selfSigned(key, elevenYearsAgo)]));
  assert.match(await startRefused(own), /SEAL_CERTIFICATE: CN=SignSealShip seal .* expired on 20/);
  assert.equal((await doctor(own))[0]?.result, "failed");
});

test(
  "a certificate that expires soon is reported at the start and by doctor, and still seals",
  needs("openssl"),
  async () => {
    const soon = identity("Nearly Over", ["-days", "10"]);
    const other = await startService({ DATA_DIR: data, ...soon });
    assert.match(other.stderr(), /expires-soon.*CN=Nearly Over expires on/);
    await other.stop();
    const [key, certificate] = await doctor(soon);
    assert.deepEqual([key?.result, certificate?.result], ["ok", "warning"]);
    assert.match(certificate?.detail ?? "", /Nearly Over expires on/);
  },
);

test("a key or certificate that cannot be read stops the start in one line", async () => {
  writeFileSync(path("noise"), "no key");
  assert.match(
    await startRefused({ SEAL_KEY: `file:${path("noise")}` }),
    /SEAL_KEY: .*holds no unencrypted private key/,
  );
  assert.match(await startRefused({ SEAL_CERTIFICATE: path("noise") }), /SEAL_CERTIFICATE: .*noise/);
  assert.match(await startRefused({ SEAL_CERTIFICATE: path("nowhere.pem") }), /SEAL_CERTIFICATE: .*can't be read/);
  assert.match(
    await startRefused({ SIGNER_CA_KEY: `file:${path("noise")}` }),
    /SIGNER_CA_KEY: .*no unencrypted private key/,
  );
  assert.match(
    await startRefused({ SIGNER_CA_CERTIFICATE: path("nowhere.pem") }),
    /SIGNER_CA_CERTIFICATE: .*can't be read/,
  );
  mkdirSync(path("folder"));
  assert.match(await startRefused({ LOG_KEY: `file:${path("folder")}` }), /LOG_KEY: .*folder can't be read/);
  await assert.rejects(
    ed25519KeyAt(path("noise/key"), "WITNESS_KEY"),
    (error) => error instanceof StartupError && /^WITNESS_KEY: .*noise\/key can't be read/.test(error.message),
  );
  assert.match(await startRefused({ SIGNER_CA_KEY: "hsm:1" }), /SIGNER_CA_KEY must be file:PATH, pkcs11/);
  assert.match(await startRefused({ SEAL_KEY: "gcpkms:///x" }), /SEAL_KEY must be file:PATH, pkcs11/);
  assert.match(await startRefused({ KEEP_SEALED: "maybe" }), /KEEP_SEALED must be on or off/);
});
