import assert from "node:assert/strict";
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { verifyProof } from "@signsealship/evidence/seal";
import { parseCertificatesPem } from "@signsealship/evidence/x509";
import { databaseOf } from "@signsealship/testing/database";
import { forTests } from "@signsealship/testing/for-tests";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { newPartner, ownProcess, type Service, startService, temporaryFolder } from "@signsealship/testing/service";
import { needs } from "@signsealship/testing/tools/tools";
import { until } from "@signsealship/testing/until";
import { createNodeCrypto } from "@signsealship/verifier/node-crypto";
import { sql } from "../../../src/kernel/platform/database/sql.ts";
import { sealFingerprint, textOf } from "../../closing/closing-passports/seal-room.ts";
import { bytesOf, fileForm, postSeal, type SealAnswer } from "./seal-document.ts";

const folder = temporaryFolder();
const settings = { DATA_DIR: folder.path, RATE_LIMITS: "off" };

let service = await startService({ ...settings, ...ownProcess });
let second = await startService(settings);
const db = await forTests(databaseOf(folder.path));
const { headers } = await newPartner(service);
after(async () => {
  await second.stop();
  await service.stop();
});

let texts = 0;
async function sealed(): Promise<SealAnswer> {
  const document = makePdf({ text: `Deed ${++texts}` });
  return (await (await postSeal({ baseUrl: service.baseUrl, headers }, fileForm(document))).json()) as SealAnswer;
}

const ask = (node: Service, { verifyCode }: SealAnswer): Promise<Response> =>
  fetch(`${node.baseUrl}/api/passport/verify/${verifyCode}/certificate`);
const askAsOwner = (node: Service, { passportId }: SealAnswer): Promise<Response> =>
  fetch(`${node.baseUrl}/api/passport/${passportId}/certificate`, { headers });
const hexOf = async (answer: Response): Promise<string> => {
  assert.equal(answer.status, 200);
  return (await bytesOf(answer)).toString("hex");
};
const blobs = (): string[] =>
  readdirSync(join(folder.path, "blobs"), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
const rowsOf = ({ passportId }: SealAnswer) =>
  db.query<{ namesFirm: boolean; blobKey: string }>(sql`
    SELECT names_firm AS "namesFirm", blob_key AS "blobKey" FROM proof_certificates WHERE passport_id = ${passportId} ORDER BY 1`);

test("forty callers of two nodes get one public certificate, the owner another, and one of each is stored", async () => {
  const passport = await sealed();
  const before = blobs().length;
  const nodes = Array.from({ length: 40 }, (_, n) => (n % 2 ? second : service));
  const [ofPublic, ofOwner] = await Promise.all(
    [ask, askAsOwner].map((one) => Promise.all(nodes.map(async (node) => hexOf(await one(node, passport))))),
  );
  assert.equal(new Set(ofPublic).size, 1);
  assert.equal(new Set(ofOwner).size, 1);
  assert.notEqual(ofPublic?.[0], ofOwner?.[0]);
  assert.deepEqual(
    (await rowsOf(passport)).map(({ namesFirm }) => namesFirm),
    [false, true],
  );
  assert.equal(blobs().length, before + 2, "what lost the race is not left in the store");
});

test("after kill -9 while certificates are made, callers get the earlier ones", async () => {
  const passports = await Promise.all(Array.from({ length: 12 }, sealed));
  const given = new Map<string, string>();
  const asking = passports.map(async (passport) => {
    const answer = await ask(service, passport).catch(() => null);
    const bytes = answer?.status === 200 ? await bytesOf(answer).catch(() => null) : null;
    if (!bytes) return;
    given.set(passport.verifyCode, bytes.toString("hex"));
    if (given.size === 3) await service.kill();
  });
  await Promise.all(asking);
  assert.ok(given.size >= 3);
  service = await service.restart();
  for (const passport of passports) {
    const now = await hexOf(await ask(service, passport));
    assert.equal(now, given.get(passport.verifyCode) ?? now);
    assert.equal(await hexOf(await ask(second, passport)), now);
  }
});

test("a certificate with a lost blob is made again, and does not affect the passport", async () => {
  const passport = await sealed();
  await hexOf(await ask(service, passport));
  const [row] = await rowsOf(passport);
  rmSync(join(folder.path, "blobs", row?.blobKey ?? "-"));
  assert.equal((await ask(second, passport)).status, 200);
  const verification = await fetch(`${service.baseUrl}/api/passport/verify/${passport.verifyCode}`);
  assert.equal(((await verification.json()) as { verdict: string }).verdict, "verified_test");
});

test("nobody changes or removes the row of a certificate", async () => {
  const passport = await sealed();
  await hexOf(await ask(service, passport));
  for (const change of [
    sql`UPDATE proof_certificates SET names_firm = true WHERE passport_id = ${passport.passportId}`,
    sql`DELETE FROM proof_certificates WHERE passport_id = ${passport.passportId}`,
  ])
    await assert.rejects(db.query(change), /append-only/);
});

test("when the seal gets another certificate, another page is made under it and stored: the old page's seal has no time of its own", async () => {
  const passport = await sealed();
  const before = await hexOf(await ask(service, passport));
  await service.cli("seal", "rotate", "--test");
  await service.stop();
  service = await service.restart();
  const after = await hexOf(await ask(service, passport));
  assert.notEqual(after, before);
  assert.equal(await hexOf(await ask(service, passport)), after);
  const trust = await (await fetch(`${service.baseUrl}/seal/certificate.pem`)).text();
  const sealAnchors = parseCertificatesPem(trust).filter(({ isTestSeals }) => isTestSeals);
  const verdictOf = async (hex: string) =>
    (
      await verifyProof(Buffer.from(hex, "hex"), { sealAnchors, tsaAnchors: [] }, Date.now(), {
        crypto: createNodeCrypto(),
      })
    ).verdict;
  assert.equal(await verdictOf(after), "verified");
  assert.notEqual(await verdictOf(before), "verified");
});

test(
  "for a document that an older certificate sealed it names that one, and the certificate that seals the page",
  needs("poppler"),
  async () => {
    const passport = await sealed();
    const older = await sealFingerprint(service.baseUrl);
    await service.cli("seal", "rotate", "--test");
    await service.stop();
    service = await service.restart();
    const own = await sealFingerprint(service.baseUrl);
    assert.notEqual(own, older);
    const text = textOf(await bytesOf(await ask(service, passport))).replace(/\s+/g, " ");
    assert.ok(text.includes(`Certificate, SHA-256 ${older} This page’s seal, SHA-256 ${own} `), text);
  },
);

test("it is deleted with its PDF, and the next one names no document", needs("poppler"), async () => {
  const form = new FormData();
  form.append("file", new Blob([new Uint8Array(makePdf())]), "Deed of trust.pdf");
  const passport = (await (await postSeal({ baseUrl: service.baseUrl, headers }, form)).json()) as SealAnswer;
  assert.match(textOf(await bytesOf(await askAsOwner(service, passport))), /Deed of trust/);
  const [kept] = await rowsOf(passport);
  const inStore = () => blobs().some((path) => path.endsWith(kept?.blobKey ?? "-"));
  assert.equal(inStore(), true);
  await second.stop();
  await service.stop();
  service = await service.restart({ NODE_ENV: "test", TIME_TRAVEL: String(31 * 24 * 3600) });
  second = await second.restart({ NODE_ENV: "test", TIME_TRAVEL: String(31 * 24 * 3600) });
  await until(() => !inStore());
  const text = textOf(await bytesOf(await askAsOwner(service, passport)));
  assert.doesNotMatch(text, /Deed of trust/);
  assert.match(text, /it sealed a\s+document\s+whose/);
  assert.equal(await hexOf(await askAsOwner(second, passport)), await hexOf(await askAsOwner(service, passport)));
  assert.equal((await rowsOf(passport)).length, 2);
});
