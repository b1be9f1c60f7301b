import assert from "node:assert/strict";
import { randomBytes, X509Certificate } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseCertificatesPem } from "@signsealship/evidence/x509";
import { startTsa } from "@signsealship/testing/doubles/tsa";
import { runCli, temporaryFolder } from "@signsealship/testing/service";
import { testsNeeding } from "@signsealship/testing/tools/tools";
import { createNodeCrypto } from "@signsealship/verifier/node-crypto";
import { createTimeStamping, type TimeStampRefusal } from "../../../src/evidence/seals/time-stamping.ts";
import { openTsaTrust } from "../../../src/evidence/seals/tsa-trust.ts";

const { after, test } = testsNeeding("openssl");
const folder = temporaryFolder();
after(() => folder.remove());

const freetsa = "https://freetsa.org/tsr";
const digicert = "http://timestamp.digicert.com";
const shipped = (file: string) => readFileSync(new URL(`../../../data/tsa-roots/${file}`, import.meta.url), "utf8");
const blocks = (pem: string) => pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];

test("the default authorities need their shipped roots, any other needs none", () => {
  const anchorsOf = openTsaTrust({ tsaUrls: [freetsa, digicert, "https://tsa.example/"], tsaTrust: null });
  assert.deepEqual(anchorsOf(freetsa), parseCertificatesPem(shipped("freetsa.pem")));
  assert.deepEqual(anchorsOf(digicert), parseCertificatesPem(shipped("digicert.pem")));
  assert.deepEqual(anchorsOf("https://tsa.example/"), []);
});

test("shipped roots are self-signed and have the expected names", () => {
  const printsOf = (pem: string) => blocks(pem).map((block) => new X509Certificate(block).fingerprint256);
  for (const file of ["freetsa.pem", "digicert.pem"]) {
    const pem = shipped(file);
    const stated = pem.match(/[0-9a-f]{64}/g);
    assert.deepEqual(
      printsOf(pem).map((print) => print.replaceAll(":", "").toLowerCase()),
      stated,
    );
    for (const block of blocks(pem)) {
      const root = new X509Certificate(block);
      assert.ok(root.verify(root.publicKey));
    }
  }
});

test("TSA_TRUST applies to every authority: a token that does not chain to it is refused", async () => {
  const [own, foreign] = await Promise.all([startTsa(), startTsa()]);
  try {
    const path = join(folder.path, "own.pem");
    writeFileSync(path, own.caPem);
    const refusals: TimeStampRefusal[] = [];
    const stamp = (url: string, tsaTrust: string | null) =>
      createTimeStamping({
        authorities: [url],
        anchorsOf: openTsaTrust({ tsaUrls: [url], tsaTrust }),
        fetch,
        clock: () => new Date(),
        randomBytes,
        crypto: createNodeCrypto(),
        onRefusal: (refusal) => refusals.push(refusal),
      })(Buffer.from("a seal"));
    assert.ok(await stamp(own.url, path));
    assert.ok(await stamp(foreign.url, null));
    assert.equal(await stamp(foreign.url, path), null);
    assert.deepEqual(
      refusals.map(({ failed }) => failed),
      ["chain"],
    );
  } finally {
    await Promise.all([own.close(), foreign.close()]);
  }
});

test("plain http is allowed for loopback, and for authorities with known roots", () => {
  const open = (url: string, tsaTrust: string | null = null) => openTsaTrust({ tsaUrls: [url], tsaTrust });
  for (const url of ["http://localhost:1/", "http://127.0.0.1/", "http://[::1]:8/", digicert, "https://tsa.example"])
    assert.doesNotThrow(() => open(url));
  const path = join(folder.path, "roots.pem");
  writeFileSync(path, shipped("freetsa.pem"));
  assert.doesNotThrow(() => open("http://tsa.example/", path));
  for (const url of ["http://tsa.example/", "http://127.0.0.1.example/", "http://localhost.example/"])
    assert.throws(() => open(url), /^StartupError: TSA_URLS must be https where TSA_TRUST does not name the roots/);
});

test("the start is refused in one line with a TSA_TRUST that cannot be read or holds no certificate", async () => {
  const empty = join(folder.path, "empty.pem");
  writeFileSync(empty, "nothing");
  for (const path of [empty, join(folder.path, "missing.pem")]) {
    const env = { DATA_DIR: join(folder.path, "data"), TSA_URLS: "https://tsa.example/", TSA_TRUST: path };
    const { code, stderr } = await runCli(env, "serve");
    assert.equal(code, 1);
    assert.match(stderr, /^signsealship: TSA_TRUST must be a PEM file of certificates; \S+: [^\n]+\n$/m);
  }
});
