import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { generateKeyPairSync, randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { needs } from "@signsealship/testing/tools/tools";
import { askPyHanko } from "../../../../../packages/evidence/test/pdf/changes/oracles/pyhanko-oracle.ts";
import { sealChainPem } from "../../../../src/evidence/seals/certificate/certificate.ts";
import { writeCrl } from "../../../../src/evidence/seals/certificate/crl.ts";
import { issueSignerCertificate } from "../../../../src/signing/envelopes/signer-authority.ts";
import { pdfsigTrusting, run } from "../../../evidence/seals/pdf/oracles.ts";
import { someInstant } from "../../../evidence/seals/signers.ts";
import { crlPlace, openSigning } from "./signing.ts";

const folder = mkdtempSync(join(tmpdir(), "test-key-"));
after(() => rmSync(folder, { recursive: true, force: true }));

const director = "Angela Chief, First National Bank";
type Signing = Awaited<ReturnType<typeof openSigning>>;

async function signedBy(signing: Signing): Promise<Buffer> {
  const { bytes, fields } = await signing.prepare(makePdf(), [], [director]);
  return signing.act(bytes, fields, 1, { name: director });
}

const [live, tests] = [await openSigning("live"), await openSigning("test")];
/**
 * The same document, signed in the director's name: `genuine` for a live order, `forged` by the holder of a test key.
 */
const [genuine, forged] = [await signedBy(live), await signedBy(tests)];

const at = (name: string, bytes: Uint8Array | string) => {
  const path = join(folder, name);
  writeFileSync(path, bytes);
  return path;
};
const database = (name: string) => {
  const path = join(folder, name);
  mkdirSync(path);
  return path;
};

test("pyHanko does not trust a test key's signature with the live root", needs("pyhanko"), () => {
  const roots = [live.root.chain[0].der];
  const [bad, good, worthless] = askPyHanko([
    { validate: forged, roots },
    { validate: genuine, roots },
    { validate: forged, roots: [tests.root.chain[0].der] },
  ]);
  const outcome = (answer: typeof bad) => answer?.validations?.map(({ valid, trusted }) => [valid, trusted]);
  assert.deepEqual(outcome(bad), [[false, false]]);
  assert.deepEqual(outcome(good), [[true, true]]);
  assert.deepEqual(outcome(worthless), [[true, true]]);
});

test("pdfsig does not trust a test key's signature with the live root", needs("poppler", "nss"), async () => {
  const root = sealChainPem(live.root.chain);
  const [bad] = await pdfsigTrusting(at("forged.pdf", forged), root, database("forged"));
  const [good] = await pdfsigTrusting(at("genuine.pdf", genuine), root, database("genuine"));
  assert.match(bad?.certificate ?? "", /isn't Trusted|unknown/i);
  assert.equal(good?.certificate, "Certificate is Trusted.");
});

/** A mail signed by the holder of a signer's key. */
async function mailBy(signing: Signing, environment: "live" | "test") {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const chain = await issueSignerCertificate(signing.issuer, {
    name: director,
    environment,
    publicKey: publicKey.export({ type: "spki", format: "der" }),
    statement: "https://seal.example/signers",
    crl: crlPlace,
    serialNumber: randomBytes(16),
    at: someInstant,
  });
  const [leaf, above, key, text] = [
    at("mail-leaf.pem", sealChainPem(chain.slice(0, 1))),
    at("mail-above.pem", sealChainPem(chain.slice(1, 2))),
    at("mail.key", privateKey.export({ type: "pkcs8", format: "pem" })),
    at("mail.txt", "Please pay 1,000,000 dollars.\n"),
  ];
  const mail = join(folder, `${environment}.eml`);
  const args = ["-in", text, "-signer", leaf, "-inkey", key, "-certfile", above, "-from", "ceo@first-national.example"];
  assert.equal(spawnSync("openssl", ["cms", "-sign", ...args, "-out", mail]).status, 0);
  return mail;
}

test("openssl refuses a mail signed by a test key with the live root", needs("openssl"), async () => {
  const mail = await mailBy(tests, "test");
  const verify = (root: string, ...more: string[]) =>
    spawnSync("openssl", ["cms", "-verify", "-purpose", "smimesign", "-in", mail, "-CAfile", root, ...more], {
      encoding: "utf8",
    });
  const liveRoot = at("live-root.pem", sealChainPem(live.root.chain));
  assert.match(verify(liveRoot).stderr, /Verification failure[\s\S]*unable to get (?:local )?issuer certificate/);
  // No signer's certificate contains an email address, not even one that the test root certifies.
  const testRoot = at("test-root.pem", sealChainPem(tests.root.chain));
  assert.match(verify(testRoot, "-verify_email", "ceo@first-national.example").stderr, /email address mismatch/);
  assert.equal(verify(testRoot).status, 0);
});

const minutes = 60_000;
/** The CRL that revokes the certificates of the live acts, five minutes after the acts. */
const revoking = () =>
  writeCrl(live.issuer, {
    place: crlPlace,
    revoked: live.issued.map(({ serialNumber }) => ({ serialNumber, at: someInstant + 5 * minutes })),
    number: 1,
    thisUpdate: someInstant + 6 * minutes,
    nextUpdate: Date.now() + 60 * minutes,
  });

test(
  "pyHanko with revocation checks accepts an act at its time, and refuses one after the revocation",
  needs("pyhanko"),
  async () => {
    const roots = [live.root.chain[0].der];
    const crls = [await revoking()];
    const validate = genuine;
    const answers = askPyHanko([
      { validate, roots, crls, at: new Date(someInstant + minutes) },
      { validate, roots, crls, at: new Date(someInstant + 7 * minutes) },
      { validate, roots, crls: [], at: new Date(someInstant + minutes) },
      { validate, roots },
    ]);
    const trusted = answers.map(({ validations, error }) => validations?.map((one) => one.trusted) ?? error);
    assert.deepEqual(trusted, [[true], [false], [false], [true]]);
  },
);

test(
  "openssl refuses the revoked certificate, and accepts it without revocation checks",
  needs("openssl"),
  async () => {
    const [leaf] = live.issued;
    assert.ok(leaf);
    const crl = at("live.crl", await revoking());
    spawnSync("openssl", ["crl", "-inform", "DER", "-in", crl, "-out", `${crl}.pem`]);
    const files = {
      root: at("crl-root.pem", sealChainPem(live.root.chain)),
      above: at("crl-above.pem", sealChainPem(live.issuer.chain.slice(0, 1))),
      leaf: at("crl-leaf.pem", sealChainPem([leaf])),
    };
    const verify = (...more: string[]) =>
      spawnSync("openssl", ["verify", ...more, "-CAfile", files.root, "-untrusted", files.above, files.leaf], {
        encoding: "utf8",
      });
    assert.match(verify("-crl_check", "-CRLfile", `${crl}.pem`).stderr, /certificate revoked/);
    assert.equal(verify().status, 0);
  },
);

test(
  "pdfsig trusts an act with an unreachable revocation list, and one whose list it was given",
  needs("poppler", "nss"),
  async () => {
    const nss = database("revoked");
    const crl = at("nss.crl", await revoking());
    const path = at("revoked.pdf", genuine);
    const [unreached] = await pdfsigTrusting(path, sealChainPem(live.root.chain), nss);
    assert.equal(unreached?.certificate, "Certificate is Trusted.");
    await run("certutil", [
      "-A",
      "-d",
      nss,
      "-n",
      "above",
      "-t",
      ",,",
      "-i",
      at("nss-above.pem", sealChainPem(live.issuer.chain.slice(0, 1))),
    ]);
    // NSS rejects a CRL that covers only one distribution point, so the act stays trusted.
    const imported = await run("crlutil", ["-I", "-d", nss, "-i", crl, "-t", "1", "-B"]);
    assert.match(imported.output, /UNKNOWN_CRITICAL_EXTENSION/);
    const { output } = await run("pdfsig", ["-nssdir", nss, path]);
    assert.match(output, /- Certificate Validation: Certificate is Trusted/);
  },
);
