import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { changesSince, findSignatures, openUnlocked } from "@signsealship/evidence/pdf";
import { verifySignatures } from "@signsealship/evidence/seal";
import { startTsa, type TsaDouble } from "@signsealship/testing/doubles/tsa";
import { type Harness, openHarness } from "@signsealship/testing/harness";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { newPartner, temporaryFolder } from "@signsealship/testing/service";
import { testsNeeding } from "@signsealship/testing/tools/tools";
import { createNodeCrypto } from "@signsealship/verifier/node-crypto";
import { askPyHanko } from "../../../../../packages/evidence/test/pdf/changes/oracles/pyhanko-oracle.ts";
import { isSealed, sql } from "../../../../src/kernel/platform/database/sql.ts";
import { type OpenedKey, openPkcs12 } from "../../../../src/pages/operator/browser/pkcs12.ts";
import { addNotary, listNotaries, setNotary, sweepSignatures } from "../../../../src/signing/notaries/notaries.ts";
import { mutoolOpens, pdfsig, qpdfAccepts } from "../../../evidence/seals/pdf/oracles.ts";
import { postForm } from "../../../firms/members/signed-in-member.ts";
import { newOperator, newSession } from "../../../firms/operators/console-people.ts";
import { certificateFiles, password } from "../certificate-files.ts";
import { ohioCommission, ordersToNotarize } from "../orders-to-notarize.ts";
import { openNotarySoftware } from "./notary-software.ts";

const { test, before, after } = testsNeeding("pyhanko", "poppler", "mupdf", "qpdf");

type Person = Awaited<ReturnType<typeof newOperator>>;

const folder = temporaryFolder();
const make = certificateFiles(folder.path);
const sentence = "performed with the principal(s) appearing online using audio-video communication";
const commission = { ...ohioCommission, commissionNumber: "2024-RE-1", ronRegistration: "RON-77" };
const keeping = () => ({ db: running.db, clock: () => new Date() });

let running: Harness;
let tsa: TsaDouble;
let partner: Awaited<ReturnType<typeof newPartner>>;
let nora: Person;
let omar: Person;
let key: OpenedKey;

before(async () => {
  tsa = await startTsa();
  const trust = join(folder.path, "tsa.pem");
  writeFileSync(trust, tsa.caPem);
  running = await openHarness({ TSA_URLS: tsa.url, TSA_TRUST: trust });
  partner = await newPartner(running.service);
  const notary = () => newOperator(running, { roles: ["notary"], environment: "test", passkey: false });
  [nora, omar] = [await notary(), await notary()];
  const { pem, p12 } = make("Nora Ames");
  key = await openPkcs12(p12, password);
  await addNotary(keeping(), nora.id, { ...commission, certificate: pem }, "operator");
  await addNotary(keeping(), omar.id, { ...commission, commissionName: "Omar Beck" }, "operator");
});
after(async () => {
  await running.close();
  await tsa.close();
  folder.remove();
});

const orders = () => ordersToNotarize(running, partner);
const statusOf = (code: string) => orders().statusOf(code);
const at = (path: string) => running.service.baseUrl + path;
const desk = (code: string, rest = "") => `/operator/notary/orders/${code}${rest}`;
const get = (path: string, { cookie }: Person = nora) => fetch(at(path), { headers: { cookie } });
const post = (path: string, fields: Record<string, string> = {}, { cookie }: Person = nora) =>
  postForm(at(path), fields, { cookie });
const alertIn = async (answer: Response) => /role="alert"[^>]*>.*?<p>(.*?)<\/p>/s.exec(await answer.text())?.[1] ?? "";

const act = {
  act: "acknowledgment",
  mode: "ron",
  document: "Deed",
  venue_state: "OH",
  venue_county: "Franklin",
  started_at: "2026-01-15T14:05",
  ended_at: "2026-01-15T14:35",
  fee: "10.00",
  tool: "T",
  session_id: "S",
  recording_sha256: "ab".repeat(32),
  recording_at: "Vault",
  recording_until: "2036-01-15",
  principal_1_name: "Jané Doe",
  principal_1_address: "1 Main Street",
  principal_1_basis: "personal_knowledge",
  principal_1_city: "Columbus",
  principal_1_region: "Ohio",
  principal_1_country: "US",
};

/** A claimed test order whose act is noted. */
async function noted(
  document = makePdf({ text: "Deed" }),
  typed: Record<string, string> = {},
  by: Person = nora,
): Promise<string> {
  const code = await orders().place({}, document);
  await orders().claim(code, by.cookie);
  const saved = await post(desk(code, "/act"), { ...act, ...typed }, by);
  assert.equal(saved.status, 303, await saved.text());
  return code;
}

type Prepared = { signedAttrs: string; tail: string; lines: string[]; warnings: string[]; isVisible: boolean };
type Answer<T> = Partial<T> & { refused?: string };
const json = async <T>(answer: Response) => (await answer.json()) as Answer<T>;
const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64");
const prepare = async (code: string, der: Uint8Array = key.certificate.der, by = nora) =>
  json<Prepared>(await post(desk(code, "/sign/prepare"), { certificate: base64(der) }, by));
const complete = async (code: string, signature: Uint8Array, by = nora) =>
  json<{ next: string }>(await post(desk(code, "/sign/complete"), { signature: base64(signature) }, by));
const signed = async (code: string, { signedAttrs = "" }: Answer<Prepared>) =>
  complete(code, await key.sign(Buffer.from(signedAttrs, "base64")));

function confirmedIn(report: string) {
  const value = (name: string) => new RegExp(`name="${name}"[^>]*? value="([^"]*)"`).exec(report)?.[1] ?? "";
  return { sha256: value("sha256"), actSha256: value("actSha256"), warnings: value("warnings") };
}

for (const [name, options] of [
  ["RSA", {}],
  ["P-256", { key: "p256" }],
] as const)
  test(`a key of ${name} signs in the page: the report equals an upload's, and readers accept signature, stamp and seal`, async () => {
    const { pem, p12 } = make("Nora Ames", options);
    await register(pem);
    key = await openPkcs12(p12, password);
    const code = await noted();
    const prepared = await prepare(code);
    assert.deepEqual([prepared.refused, prepared.warnings, prepared.isVisible], [undefined, [], true]);
    assert.ok(prepared.lines?.includes("Nora Ames, Notary Public, State of OH, Franklin"));
    assert.ok(prepared.lines?.some((line) => line.includes(sentence)));
    assert.deepEqual(await signed(code, prepared), { next: desk(code, "/signed") });
    const report = await (await get(desk(code, "/signed"))).text();
    assert.match(report, /It is by your registered certificate/);
    assert.match(report, /It has the required sentence/);
    assert.match(report, /Time stamp: 20/);
    assert.doesNotMatch(report, /Fails/);
    const confirmed = confirmedIn(report);
    assert.match(
      await alertIn(await post(desk(code, "/signed"), { ...confirmed, sha256: "0".repeat(64) })),
      /another file/,
    );
    assert.match(
      await alertIn(await post(desk(code, "/signed"), { ...confirmed, warnings: "" })),
      /Confirm what the check/,
    );
    assert.equal(await statusOf(code), "NotarizationPending");
    const done = await post(desk(code, "/signed"), confirmed);
    assert.equal(done.status, 303, await done.text());
    assert.equal(await statusOf(code), "NotarizationComplete");

    const file = await orders().notarized(code);
    const path = join(folder.path, `${name}.pdf`);
    writeFileSync(path, file);
    assert.deepEqual(await pdfsig(path), [
      { valid: true, whole: false },
      { valid: true, whole: true },
    ]);
    assert.ok((await mutoolOpens(path)) && (await qpdfAccepts(path)));
    const [answer] = askPyHanko([{ judge: file }]);
    assert.deepEqual(
      answer?.signatures?.map(({ permitted }) => permitted),
      [true, true],
      JSON.stringify(answer),
    );
    const [left] = await running.db.query<{ rows: number }>(sql`SELECT count(*)::int AS rows FROM notary_signatures`);
    assert.equal(left?.rows, 0);
  });

async function register(pem: string, more: Record<string, string> = {}): Promise<void> {
  const record = (await listNotaries(running.db)).find(({ operatorId }) => operatorId === nora.id);
  await setNotary(keeping(), record?.id ?? "", { certificate: pem, ...more }, "operator");
}

test("signatures of the document stay valid, and the block covers nothing", async () => {
  const software = await openNotarySoftware({ Signer: ["2020-01-01", "2045-01-01"] });
  const given = await software.sign(makePdf({ text: "Deed" }), "Signer");
  software.close();
  const code = await noted(given);
  await signed(code, await prepare(code));
  const report = await (await get(desk(code, "/signed"))).text();
  assert.match(report, /All 1 earlier signatures are as they were/);
  assert.match(report, /Nothing of the document is covered/);
  assert.equal((await post(desk(code, "/signed"), confirmedIn(report))).status, 303);
  const file = await orders().notarized(code);
  const [answer] = askPyHanko([{ judge: file }]);
  assert.deepEqual(
    answer?.signatures?.map(({ permitted }) => permitted),
    [true, true, true],
    JSON.stringify(answer),
  );
});

test("the notary fills the block that was reserved before the signers signed: readers accept every signature", async () => {
  const { pem, p12 } = make("Nora Ames");
  await register(pem);
  key = await openPkcs12(p12, password);
  const emails = ["ann@example.com", "ben@example.com"];
  const signers = JSON.stringify([
    { name: "Ann Lee", email: emails[0] },
    { name: "Ben Cole", email: emails[1] },
  ]);
  const code = await orders().place({ svc_sign: "true", signers });
  for (const email of emails) await orders().signsAtHome(email);
  await orders().reachesNotary(code);
  await orders().claim(code, nora.cookie);
  const [reserved] = await running.db.query<{ name: string }>(sql`
    SELECT b.block ->> 'name' AS name FROM envelope_blocks b JOIN envelopes e ON e.id = b.envelope_id
      JOIN orders o ON o.id = e.order_id WHERE ${isSealed(sql`o.code`, "order", code)}`);
  const names = { principal_1_name: "Ann Lee", principal_2_name: "Ben Cole", principal_2_address: "2 Main Street" };
  const cleveland = { principal_2_city: "Cleveland", principal_2_region: "Ohio", principal_2_country: "US" };
  const ben = { principal_2_basis: "personal_knowledge", ...cleveland };
  const noted = await post(desk(code, "/act"), { ...act, ...names, ...ben });
  assert.equal(noted.status, 303, await noted.text());
  const prepared = await prepare(code);
  assert.deepEqual([prepared.refused, prepared.isVisible], [undefined, true]);
  const tail = Buffer.from(prepared.tail ?? "", "base64").toString("latin1");
  assert.ok(reserved && tail.includes(`(${reserved.name})`), "the signature is in the reserved field");
  assert.doesNotMatch(tail, /SignSealShip-Notary-/, "no other field is added");
  // Repeats the browser's own check: the tail adds exactly one signature and nothing else.
  const given = Buffer.from(await (await get(desk(code, "/document"))).arrayBuffer());
  const opened = await openUnlocked(Buffer.concat([given, Buffer.from(tail, "latin1")]));
  assert.equal(changesSince(opened, given.length), "signatures");
  assert.equal(findSignatures(opened).filter(({ start }) => start === undefined || start >= given.length).length, 1);
  await signed(code, prepared);
  const report = await (await get(desk(code, "/signed"))).text();
  assert.match(report, /All 3 earlier signatures are as they were/);
  assert.match(report, /It has the required sentence/);
  assert.equal((await post(desk(code, "/signed"), confirmedIn(report))).status, 303);
  const file = await orders().notarized(code);
  const path = join(folder.path, "reserved.pdf");
  writeFileSync(path, file);
  assert.deepEqual(
    (await pdfsig(path)).map(({ valid }) => valid),
    [true, true, true, true, true],
  );
  assert.ok((await mutoolOpens(path)) && (await qpdfAccepts(path)));
  const [answer] = askPyHanko([{ judge: file }]);
  assert.deepEqual(
    answer?.signatures?.map(({ permitted }) => permitted),
    [true, true, true, true, true],
    JSON.stringify(answer),
  );
  const judged = await verifySignatures(file, [], Date.now(), createNodeCrypto());
  assert.deepEqual(
    judged.flatMap(({ claims }) => claims.filter(({ state }) => state === "fails")),
    [],
  );
});

test("a certificate that is not the registered one, is expired, may not sign, or is invalid is refused by its name", async () => {
  const code = await noted();
  const other = await openPkcs12(make("Eve Stranger").p12, password);
  assert.match(
    (await prepare(code, other.certificate.der)).refused ?? "",
    /CN=Eve Stranger \(serial number [0-9A-F]+, until \d{4}-\d\d-\d\d\), and another one is registered/,
  );
  const software = await openNotarySoftware({ "Nora Late": ["2020-01-01", "2025-01-01"] });
  const late = new X509Certificate(software.certificates["Nora Late"] ?? "").raw;
  software.close();
  assert.match((await prepare(code, late)).refused ?? "", /CN=Nora Late can’t be used: it has expired/);
  const bare = await openPkcs12(make("Nora Bare", { usage: "keyEncipherment" }).p12, password);
  assert.match(
    (await prepare(code, bare.certificate.der)).refused ?? "",
    /neither digital signatures nor non-repudiation/,
  );
  assert.match((await prepare(code, Buffer.from("none"))).refused ?? "", /can’t be read/);
  assert.match((await prepare(code, Buffer.alloc(0))).refused ?? "", /can’t be read/);
});

test("a certificate with another name than the commission's causes a warning, and no refusal", async () => {
  const { pem, p12 } = make("Eleonora Ames-Hill");
  await register(pem);
  const before = key;
  key = await openPkcs12(p12, password);
  const code = await noted();
  const { warnings } = await prepare(code);
  assert.match(warnings?.[0] ?? "", /names CN=Eleonora Ames-Hill, and your commission Nora Ames/);
  key = before;
  await register(make("Nora Ames").pem);
  assert.match((await prepare(code)).refused ?? "", /another one is registered/);
  const again = make("AMES, Nora");
  await register(again.pem);
  key = await openPkcs12(again.p12, password);
  assert.deepEqual((await prepare(code)).warnings, []);
});

test("nothing is signed without an act, for ink, with another's signature, twice, or for a changed act", async () => {
  const code = await noted();
  assert.match((await complete(code, Buffer.alloc(256))).refused ?? "", /Nothing waits for your signature/);
  assert.match(await alertIn(await get(desk(code, "/signed"))), /Nothing waits for your signature/);
  const prepared = await prepare(code);
  assert.match(
    (await complete(code, Buffer.alloc(256))).refused ?? "",
    /does not match this document and your certificate/,
  );
  assert.match((await complete(code, Buffer.alloc(0))).refused ?? "", /does not match this document/);
  assert.match(
    (await complete(code, await key.sign(Buffer.from("other")))).refused ?? "",
    /does not match this document/,
  );
  assert.match(await alertIn(await get(desk(code, "/signed"))), /Nothing was signed in the page yet/);
  const signature = await key.sign(Buffer.from(prepared.signedAttrs ?? "", "base64"));
  const answers = await Promise.all([1, 2, 3].map(() => complete(code, signature)));
  assert.equal(answers.filter(({ next }) => next !== undefined).length, 1, JSON.stringify(answers));
  assert.match((await complete(code, signature)).refused ?? "", /signed already/);
  const confirmed = confirmedIn(await (await get(desk(code, "/signed"))).text());
  await post(desk(code, "/act"), { ...act, notes: "Later." });
  const changed = await post(desk(code, "/signed"), confirmed);
  assert.equal(changed.status, 409);
  assert.match(await alertIn(changed), /The act or the document was changed/);
  assert.equal(await statusOf(code), "NotarizationPending");
  const paper = await noted(makePdf({ text: "Deed" }), { mode: "ron" });
  await running.db.query(sql`
    UPDATE notary_drafts SET act = jsonb_set(act, '{mode}', '"ink"') WHERE task_id IN (SELECT t.id FROM tasks t
      JOIN orders o ON o.id = t.order_id WHERE ${isSealed(sql`o.code`, "order", paper)})`);
  assert.match((await prepare(paper)).refused ?? "", /not what the service wrote/);
});

test("a notary who has a passkey must use it before the act is entered", async () => {
  const paula = await newOperator(running, { roles: ["notary"], environment: "test" });
  const { pem, p12 } = make("Paula Passkey");
  await addNotary(
    keeping(),
    paula.id,
    { ...commission, commissionName: "Paula Passkey", certificate: pem },
    "operator",
  );
  const own = await openPkcs12(p12, password);
  const code = await noted(undefined, {}, paula);
  const { signedAttrs = "" } = await prepare(code, own.certificate.der, paula);
  await complete(code, await own.sign(Buffer.from(signedAttrs, "base64")), paula);
  const earlier = { at: new Date(Date.now() - 16 * 60_000), environment: "test" } as const;
  const late = { ...paula, ...(await newSession(running, paula.id, earlier)) };
  const confirmed = confirmedIn(await (await get(desk(code, "/signed"), late)).text());
  const asked = await post(desk(code, "/signed"), confirmed, late);
  assert.equal(asked.status, 403);
  assert.match(await asked.text(), /passkey/);
  assert.equal(await statusOf(code), "NotarizationPending");
  assert.equal((await post(desk(code, "/signed"), confirmed, paula)).status, 303);
  assert.equal(await statusOf(code), "NotarizationComplete");
});

test("an order that another notary has claimed is not signed, and unconfirmed files are deleted after an hour", async () => {
  const code = await noted();
  assert.match((await prepare(code, key.certificate.der, omar)).refused ?? "", /Order not found/);
  await signed(code, await prepare(code));
  assert.match((await complete(code, Buffer.alloc(256), omar)).refused ?? "", /Order not found/);
  assert.equal((await get(desk(code, "/signed"), omar)).status, 404);
  const rows = async () => (await running.db.query(sql`SELECT 1 FROM notary_signatures`)).length;
  assert.ok((await rows()) > 0);
  await sweepSignatures(running.db, new Date());
  assert.ok((await rows()) > 0);
  await sweepSignatures(running.db, new Date(Date.now() + 3_600_001));
  assert.equal(await rows(), 0);
});

test("a document without a blank place is signed, and the notary learns that the signature is invisible", async () => {
  const words = Array.from({ length: 70 }, (_, line) => `${line} ${"word ".repeat(18)}`).join("\n");
  const code = await noted(makePdf({ text: words }));
  const prepared = await prepare(code);
  if (prepared.isVisible) return;
  assert.match(prepared.warnings?.join() ?? "", /No blank place was found/);
});

test("a prepared signature that was altered in the database fails its check, and nothing is sealed", async () => {
  const code = await noted();
  await signed(code, await prepare(code));
  await running.db.query(
    sql`UPDATE notary_signatures SET tail = set_byte(tail, contents_end + 60, get_byte(tail, contents_end + 60) # 1)`,
  );
  const page = await (await get(desk(code, "/signed"))).text();
  assert.match(page, /Fails/);
  assert.equal(await statusOf(code), "NotarizationPending");
});
