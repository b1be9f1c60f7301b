import assert from "node:assert/strict";
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { startTsa } from "@signsealship/testing/doubles/tsa";
import { forTests } from "@signsealship/testing/for-tests";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { newPartner, runCli, startService, temporaryFolder } from "@signsealship/testing/service";
import { needs } from "@signsealship/testing/tools/tools";
import { fileForm, postSeal, seal } from "../proof-passports/seal-document.ts";

const folder = temporaryFolder();
const path = (name: string) => join(folder.path, name);

type Certificates = {
  certificates: { sha256: string; subject: string; inUse: boolean; retiredAt: string | null; reason: string | null }[];
};
type Checked = { verdict: string; checks: { claim: string; result: string; detail: string }[] };

after(() => service?.stop());
const tsa = await forTests(startTsa());
writeFileSync(path("tsa-root.pem"), tsa.caPem);
let service = await startService({
  DATA_DIR: path("data"),
  TSA_URLS: tsa.url,
  TSA_TRUST: path("tsa-root.pem"),
  RATE_LIMITS: "off",
});
const caller = { ...(await newPartner(service, { live: true })), baseUrl: service.baseUrl };

const certificates = async () => (await service.cli<Certificates>("seal", "list")).certificates;
const inUse = async () => (await certificates()).find((one) => one.inUse && !/TEST/.test(one.subject))?.sha256 ?? "";
const retire = (...args: string[]) => runCli({ DATA_DIR: path("data") }, "seal", "retire", ...args);
const stampedBy = async (mode: "proper" | "server-error") => {
  tsa.order(mode);
  return (await seal(caller, makePdf())).verifyCode;
};

/** The command-line verifier's result for the passport's URL, with the service's published list as its trust. */
async function verified(code: string): Promise<{ verdict: string; retirement: string | undefined; why: string }> {
  const { stdout } = await runCli({}, "verify", `${service.baseUrl}/api/passport/verify/${code}`, "--json");
  const { verdict, checks } = JSON.parse(stdout) as Checked;
  const check = checks.find(({ claim }) => claim === "seal_certificate_not_retired");
  return { verdict, retirement: check?.result, why: check?.detail ?? "" };
}

const trustList = async () =>
  (await fetch(`${service.baseUrl}/seal/trust.json`)).json() as Promise<{
    sealCertificates: { sha256: string; retiredAt: string | null; reason: string | null; environment: string }[];
    timeStampCertificates: string[];
  }>;

test(
  "the certificate in use can't be retired, because nothing could be sealed without it",
  needs("openssl"),
  async () => {
    const { code, stderr } = await retire(await inUse(), "--reason", "superseded");
    assert.equal(code, 1);
    assert.match(stderr, /in use.*seal rotate/);
    const unknown = await retire("0".repeat(64), "--reason", "superseded");
    assert.match(unknown.stderr, /No such seal certificate/);
    assert.deepEqual(
      (await certificates()).map(({ retiredAt }) => retiredAt),
      [null, null],
    );
  },
);

test(
  "a key in a file is replaced, and its certificate retired; the list tells which seals still count",
  needs("openssl"),
  async () => {
    const old = await inUse();
    const [stamped, unstamped] = [await stampedBy("proper"), await stampedBy("server-error")];
    const oldKey = readFileSync(path("data/keys/seal"), "utf8");
    const rotated = await service.cli<{ sha256: string; previousSha256: string; previousKey: string }>(
      "seal",
      "rotate",
    );
    assert.equal(rotated.previousSha256, old);
    assert.equal(readFileSync(rotated.previousKey, "utf8"), oldKey);
    assert.notEqual(readFileSync(path("data/keys/seal"), "utf8"), oldKey);

    const wrong = await retire(old, "--reason", "boredom");
    assert.match(wrong.stderr, /reason must be one of unspecified, key-compromise/);
    const noDate = await retire(old, "--reason", "superseded", "--at", "2026-02-30");
    assert.equal(noDate.code, 2, noDate.stderr);
    const done = await retire(old.toUpperCase().replace(/(..)(?=.)/g, "$1:"), "--reason", "superseded");
    assert.equal(done.code, 0, done.stderr);

    // A node that was not restarted still has the retired key. It refuses to seal, and reports that it is not ready.
    assert.equal((await postSeal(caller, fileForm(makePdf()))).status, 503);
    assert.equal((await fetch(`${service.baseUrl}/readyz`)).status, 503);
    await service.stop();
    service = await service.restart();
    const renewed = await stampedBy("proper");
    const published = await trustList();
    const entryOf = (sha256: string) => published.sealCertificates.find((one) => one.sha256 === sha256);
    assert.equal(entryOf(old)?.reason, "superseded");
    assert.deepEqual([entryOf(rotated.sha256)?.retiredAt, entryOf(rotated.sha256)?.reason], [null, null]);
    assert.equal(published.timeStampCertificates.length, 1);

    assert.deepEqual(await verified(renewed).then(({ verdict, retirement }) => [verdict, retirement]), [
      "verified",
      undefined,
    ]);
    assert.deepEqual(await verified(stamped).then(({ verdict, retirement }) => [verdict, retirement]), [
      "verified",
      "holds",
    ]);
    assert.deepEqual(await verified(unstamped).then(({ verdict, retirement }) => [verdict, retirement]), [
      "verified",
      "unchecked",
    ]);

    const stolen = await retire(old, "--reason", "key-compromise");
    assert.equal(stolen.code, 0, stolen.stderr);
    assert.equal((await verified(stamped)).verdict, "verified");
    const refused = await verified(unstamped);
    assert.deepEqual([refused.verdict, refused.retirement], ["not_verified", "fails"]);
    assert.match(refused.why, /key-compromise.*nothing proves/);
    await retire(old, "--reason", "key-compromise", "--at", "2026-01-01");
    assert.deepEqual(
      [(await verified(stamped)).verdict, (await verified(renewed)).verdict],
      ["not_verified", "verified"],
    );
  },
);

test(
  "a person who verifies a passport by its record or its page learns of the retirement",
  needs("openssl"),
  async () => {
    const code = await stampedBy("proper");
    const answer = async (one: string) =>
      (await (await fetch(`${service.baseUrl}/api/passport/verify/${one}`)).json()) as { sealRetirement?: object };
    assert.equal((await answer(code)).sealRetirement, undefined);
    const old = await inUse();
    await service.cli("seal", "rotate");
    await service.stop();
    service = await service.restart();
    await retire(old, "--reason", "key-compromise", "--at", "2026-03-01T00:00:00Z");
    assert.deepEqual((await answer(code)).sealRetirement, {
      retiredAtUtc: "2026-03-01T00:00:00.000Z",
      reason: "key-compromise",
    });
    const page = await (await fetch(`${service.baseUrl}/verify/${code}`)).text();
    assert.match(page, /certificate of this seal was retired/);
    assert.match(page, /key-compromise/);
    assert.match(await (await fetch(`${service.baseUrl}/verify`)).text(), /key-compromise/);
  },
);

test("a retired certificate stops the start in one line", needs("openssl"), async () => {
  const retired = (await certificates()).find(({ reason }) => reason === "key-compromise")?.sha256.slice(0, 16);
  const env = {
    DATA_DIR: path("data"),
    SEAL_KEY: `file:${path(`data/keys/seal.${retired}`)}`,
    SEAL_CERTIFICATE: path(`data/keys/seal-certificate.pem.${retired}`),
  };
  const { code, stderr } = await runCli(env, "serve");
  assert.equal(code, 1);
  assert.match(stderr, /^signsealship: SEAL_CERTIFICATE: this certificate is retired/);
});

test(
  "the seal of tests is listed, replaced and retired separately, and live seals continue",
  needs("openssl"),
  async () => {
    const tests = { ...(await newPartner(service)), baseUrl: service.baseUrl };
    const sealTest = async () => (await seal(tests, makePdf())).verifyCode;
    const code = await sealTest();
    assert.equal((await verified(code)).verdict, "verified_test");
    const listed = (await certificates()).filter((one) => one.inUse);
    assert.deepEqual(listed.map(({ subject }) => /TEST seal/.test(subject)).sort(), [false, true]);
    const old = listed.find(({ subject }) => /TEST seal/.test(subject))?.sha256 ?? "";
    const entry = (await trustList()).sealCertificates.find(({ sha256 }) => sha256 === old);
    assert.equal(entry?.environment, "test");
    assert.match((await retire(old, "--reason", "superseded")).stderr, /in use.*seal rotate --test/);

    const live = await inUse();
    const rotated = await service.cli<{ previousSha256: string }>("seal", "rotate", "--test");
    assert.deepEqual([rotated.previousSha256, await inUse()], [old, live]);
    assert.equal((await retire(old, "--reason", "key-compromise")).code, 0);
    assert.equal((await postSeal(tests, fileForm(makePdf()))).status, 503);
    assert.equal((await fetch(`${service.baseUrl}/readyz`)).status, 503);
    assert.equal((await postSeal(caller, fileForm(makePdf()))).status, 200);
    assert.equal((await verified(code)).retirement, "holds");

    await service.stop();
    service = await service.restart();
    tests.baseUrl = service.baseUrl;
    caller.baseUrl = service.baseUrl;
    assert.equal((await verified(await sealTest())).verdict, "verified_test");
    assert.equal((await trustList()).sealCertificates.find(({ sha256 }) => sha256 === live)?.environment, "live");
    for (const name of ["test-seal", "test-seal-certificate.pem"])
      renameSync(path(`data/keys/${name}.${old.slice(0, 16)}`), path(`data/keys/${name}`));
    assert.match(
      (await runCli({ DATA_DIR: path("data") }, "serve")).stderr,
      /The seal of tests: its certificate is retired/,
    );
  },
);
