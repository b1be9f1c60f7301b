import assert from "node:assert/strict";
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type CalendarDouble, startCalendar } from "@signsealship/testing/doubles/calendar";
import { startTsa, type TsaDouble } from "@signsealship/testing/doubles/tsa";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { newPartner, runCli, type Service, startService, temporaryFolder } from "@signsealship/testing/service";
import { testsNeeding } from "@signsealship/testing/tools/tools";
import { bytesOf, type SealAnswer, seal } from "../evidence/proof-passports/seal-document.ts";

const { after, before, test } = testsNeeding("openssl");

const data = temporaryFolder();
const folder = temporaryFolder();
const elsewhere = temporaryFolder();
const document = makePdf({ text: "Deed" });
let tsa: TsaDouble;
let calendar: CalendarDouble;
let service: Service;
let passport: SealAnswer;
let sealed: Buffer;

before(async () => {
  tsa = await startTsa();
  calendar = await startCalendar();
  service = await startService({ DATA_DIR: data.path, TSA_URLS: tsa.url, OTS_CALENDARS: calendar.url });
  passport = await seal({ ...(await newPartner(service)), baseUrl: service.baseUrl }, document);
  sealed = await bytesOf(await fetch(`${passport.verifyUrl}/document`));
  writeFileSync(join(folder.path, "sealed.pdf"), sealed);
  writeFileSync(join(folder.path, "original.pdf"), document);
  writeFileSync(join(folder.path, "evidence.zip"), await bytesOf(await fetch(`${passport.verifyUrl}/evidence`)));
});
after(async () => {
  await service?.stop();
  await Promise.all([tsa?.close(), calendar?.close()]);
  for (const { remove } of [data, folder, elsewhere]) remove();
});

type Check = { claim: string; result: string; detail: string };
type Report = { verdict: string; checks: Check[] };

/**
 * Runs the verb `verify` with the data folder of an installation: the one that sealed the file, or one without keys.
 */
async function verify(
  dataDir: string,
  ...args: string[]
): Promise<Report & { code: number; result: (claim: string) => string | undefined }> {
  const { code, stdout } = await runCli({ DATA_DIR: dataDir }, "verify", ...args, "--json");
  const report = JSON.parse(stdout) as Report;
  return { ...report, code, result: (claim) => report.checks.find((one) => one.claim === claim)?.result };
}
const file = (name: string): string => join(folder.path, name);

test("the operator's verifier trusts the seals of its own installation", async () => {
  const { code, verdict, result } = await verify(data.path, file("sealed.pdf"), "--doc", file("original.pdf"));
  assert.equal(verdict, "verified_test");
  assert.equal(code, 0);
  assert.equal(result("document_hash_as_expected"), "holds");
  assert.equal(result("time_stamp_valid"), "unchecked");
});

test("elsewhere the same file is intact, opens no database, and is verified once the certificate is trusted", async () => {
  const unknown = await verify(elsewhere.path, file("sealed.pdf"));
  assert.equal(unknown.verdict, "intact");
  assert.equal(unknown.code, 1);
  assert.deepEqual(existsSync(elsewhere.path) ? readdirSync(elsewhere.path) : [], []);
  const trust = join(data.path, "keys", "test-seal-certificate.pem");
  assert.equal((await verify(elsewhere.path, file("sealed.pdf"), "--trust", trust)).verdict, "verified_test");
});

test("the service's evidence zip is verified completely, and its verify URL from anywhere", async () => {
  const zip = await verify(data.path, file("evidence.zip"));
  assert.equal(zip.verdict, "verified_test");
  for (const claim of ["record_sealed_hash", "record_document_hash", "certificates_are_the_seals"]) {
    assert.equal(zip.result(claim), "holds", claim);
  }
  assert.equal(zip.result("separate_time_stamp_valid"), "unchecked");
  writeFileSync(file("tsa.pem"), tsa.caPem);
  const stamped = await verify(data.path, file("evidence.zip"), "--tsa-trust", file("tsa.pem"));
  assert.equal(stamped.result("separate_time_stamp_valid"), "holds");
  assert.equal(stamped.result("time_stamp_valid"), "holds");
  assert.equal(zip.result("anchored_in_block"), "unchecked");
  const url = await verify(elsewhere.path, passport.verifyUrl);
  assert.equal(url.verdict, "verified_test");
  assert.equal(url.code, 0);
  const unknown = await verify(elsewhere.path, `${service.baseUrl}/api/passport/verify/${"a".repeat(26)}`);
  assert.equal(unknown.code, 1);
});

test("a sealed file with one changed byte anywhere is not verified", async () => {
  for (const at of [10, 400, document.length + 20, sealed.length - 3]) {
    const forged = Buffer.from(sealed);
    forged[at] = (forged[at] ?? 0) ^ 0x10;
    writeFileSync(file("forged.pdf"), forged);
    const { code, verdict } = await verify(data.path, file("forged.pdf"));
    assert.equal(code, 1, String(at));
    assert.equal(verdict, "not_verified", String(at));
  }
});

test("a wrong command line exits 2", async () => {
  assert.equal((await runCli({ DATA_DIR: data.path }, "verify")).code, 2);
  assert.equal((await runCli({ DATA_DIR: data.path }, "verify", file("missing.pdf"))).code, 2);
  assert.equal((await runCli({ DATA_DIR: data.path }, "verify", file("sealed.pdf"), "--at", "noon")).code, 2);
});
