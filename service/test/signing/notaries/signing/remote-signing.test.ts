import assert from "node:assert/strict";
import { hash, X509Certificate } from "node:crypto";
import { test } from "node:test";
import { startCsc } from "@signsealship/testing/doubles/csc";
import { forTests } from "@signsealship/testing/for-tests";
import { openHarness } from "@signsealship/testing/harness";
import { minimal, orderForm } from "@signsealship/testing/inputs/order-form";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { newPartner, temporaryFolder } from "@signsealship/testing/service";
import { readConfig } from "../../../../src/kernel/config/config.ts";
import { isSealed, sql } from "../../../../src/kernel/platform/database/sql.ts";
import { addNotary, listNotaries, setNotary } from "../../../../src/signing/notaries/notaries.ts";
import { postForm } from "../../../firms/members/signed-in-member.ts";
import { newOperator } from "../../../firms/operators/console-people.ts";
import { certificateFiles } from "../certificate-files.ts";

const folder = await forTests(temporaryFolder());
const make = certificateFiles(folder.path);
const csc = await forTests(startCsc());
const running = await forTests(openHarness({ REMOTE_SIGNING_URL: csc.url }));
const partner = await newPartner(running.service);
const nora = await newOperator(running, { roles: ["notary"], environment: "test", passkey: false });
const keys = { rsa: make("Nora Ames"), ec: make("Nora Ames", { key: "p256" }), other: make("Omar Beck") };
const commission = {
  commissionName: "Nora Ames",
  state: "OH",
  county: "Franklin",
  commissionNumber: "2024-RE-1",
  status: "active",
  commissionExpires: "2040-01-31",
  ronRegistration: "RON-77",
  ronExpires: "2040-01-31",
};
const keeping = { db: running.db, clock: () => new Date() };
await addNotary(keeping, nora.id, { ...commission, certificate: keys.rsa.pem }, "operator");

async function register(pem: string): Promise<void> {
  const [notary] = await listNotaries(running.db);
  await setNotary(keeping, notary?.id ?? "", { ...commission, certificate: pem }, "operator");
}

const at = (path: string) => running.service.baseUrl + path;
const desk = (code: string, rest = "") => `/operator/notary/orders/${code}${rest}`;
const post = (path: string, fields: Record<string, string> = {}) => postForm(at(path), fields, { cookie: nora.cookie });

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
  principal_1_name: "Jane Doe",
  principal_1_address: "1 Main Street",
  principal_1_basis: "personal_knowledge",
  principal_1_city: "Columbus",
  principal_1_region: "Ohio",
  principal_1_country: "US",
};

/** A test order that the notary has claimed and whose act is noted. */
async function noted(): Promise<string> {
  const body = orderForm({ ...minimal, svc_notary: "true", name: "Jane Doe" }, makePdf({ text: "Deed" }));
  const placed = await fetch(at("/api/partner/orders"), { method: "POST", headers: partner.headers, body });
  const { orderCode: code } = (await placed.json()) as { orderCode: string };
  await fetch(at(`/api/partner/sandbox/orders/${code}/advance`), { method: "POST", headers: partner.headers });
  const [task] = await running.db.query<{ id: number }>(sql`
    SELECT t.id FROM tasks t JOIN orders o ON o.id = t.order_id WHERE ${isSealed(sql`o.code`, "order", code)} AND t.kind = 'notarize'`);
  assert.equal((await post(`/operator/notary/tasks/${task?.id}/claim`)).status, 303);
  assert.equal((await post(desk(code, "/act"), act)).status, 303);
  return code;
}

type Answer = Partial<{
  refused: string;
  keys: string[];
  signedAttrs: string;
  certificate: string;
  asks: { id: string; label: string }[];
  next: string;
}>;

const remote = async (code: string, verb: "keys" | "prepare" | "sign", fields: Record<string, string>) =>
  (await (await post(desk(code, `/sign/remote/${verb}`), { token: csc.token, ...fields })).json()) as Answer;
const hashOf = ({ signedAttrs = "" }: Answer) => hash("sha256", Buffer.from(signedAttrs, "base64"));

for (const name of ["rsa", "ec"] as const)
  test(`a key of ${name} at a trust service signs the one hash, and the file passes the checks of an upload`, async () => {
    await register(keys[name].pem);
    csc.keys = new Map([["key-1", keys[name]]]);
    const code = await noted();
    assert.deepEqual(await remote(code, "keys", {}), { keys: ["key-1"] });
    const prepared = await remote(code, "prepare", { key: "key-1" });
    assert.equal(prepared.certificate, new X509Certificate(keys[name].pem).raw.toString("base64"));
    assert.deepEqual(prepared.asks, [{ id: "PIN", label: "Your PIN" }]);
    csc.said = [];
    const order = { key: "key-1", hash: hashOf(prepared), "answer:PIN": csc.pin };
    assert.deepEqual(await remote(code, "sign", order), { next: desk(code, "/signed") });
    const hashes = [Buffer.from(order.hash, "hex").toString("base64")];
    const asked = csc.said.filter(({ method }) => method !== "credentials/info");
    assert.deepEqual(
      asked.map(({ method, body }) => [method, body["hashes"]]),
      [
        ["credentials/authorize", hashes],
        ["signatures/signHash", hashes],
      ],
    );
    const report = await (await fetch(at(desk(code, "/signed")), { headers: { cookie: nora.cookie } })).text();
    assert.match(report, /It is by your registered certificate/);
    assert.doesNotMatch(report, /Fails/);
    const value = (field: string) => new RegExp(`name="${field}"[^>]*? value="([^"]*)"`).exec(report)?.[1] ?? "";
    const confirmed = { sha256: value("sha256"), actSha256: value("actSha256"), warnings: value("warnings") };
    const done = await post(desk(code, "/signed"), confirmed);
    assert.equal(done.status, 303, await done.text());
    const found = await (await fetch(at(`/api/partner/orders/${code}`), { headers: partner.headers })).json();
    const { status, notarization } = found as { status: string; notarization: object };
    assert.equal(status, "NotarizationComplete");
    const ended = { appointmentUtc: null, session: null };
    assert.deepEqual(notarization, { state: "completed", method: "ron", jurisdiction: "OH", ...ended });
  });

test("a wrong token, PIN, hash or key, a wrong signature in the answer, and an unreachable service sign nothing, and give the reason", async () => {
  await register(keys.rsa.pem);
  csc.keys = new Map<string, (typeof keys)["rsa"] & { status?: "disabled" }>([
    ["key-1", keys.rsa],
    ["key-2", keys.other],
    ["key-3", { ...keys.rsa, status: "disabled" }],
  ]);
  const code = await noted();
  assert.match((await remote(code, "keys", { token: "wrong" })).refused ?? "", /does not accept this access token/);
  assert.match((await remote(code, "keys", { token: "two words" })).refused ?? "", /token must be/);
  assert.match((await remote(code, "prepare", { key: "" })).refused ?? "", /credential must be/);
  assert.match((await remote(code, "prepare", { key: "key-9" })).refused ?? "", /credentialID/);
  assert.match((await remote(code, "prepare", { key: "key-2" })).refused ?? "", /another one is registered for you/);
  assert.match((await remote(code, "prepare", { key: "key-3" })).refused ?? "", /not enabled/);
  const prepared = await remote(code, "prepare", { key: "key-1" });
  const order = { key: "key-1", hash: hashOf(prepared), "answer:PIN": csc.pin };
  csc.said = [];
  for (const wrong of ["", "ab".repeat(32), order.hash.toUpperCase()])
    assert.match((await remote(code, "sign", { ...order, hash: wrong })).refused ?? "", /not what waits/);
  assert.deepEqual(csc.said, []);
  assert.match((await remote(code, "sign", { ...order, key: "key-2" })).refused ?? "", /another certificate/);
  assert.match((await remote(code, "sign", { ...order, "answer:PIN": "" })).refused ?? "", /Your PIN is required/);
  assert.match((await remote(code, "sign", { ...order, "answer:PIN": "1" })).refused ?? "", /The PIN is invalid/);
  assert.ok(csc.said.every(({ method }) => method !== "signatures/signHash"));
  for (const [next, words] of [
    ["another hash", /does not match this document/],
    ["two signatures", /no usable signature\. It may have signed/],
    ["fail", /answered 503\. (Nothing was signed|It may have signed)/],
  ] as const) {
    csc.next = next;
    assert.match((await remote(code, "sign", order)).refused ?? "", words);
  }
  assert.equal((await fetch(at(desk(code, "/signed")), { headers: { cookie: nora.cookie } })).status, 409);
  assert.deepEqual(await remote(code, "sign", order), { next: desk(code, "/signed") });
  assert.match((await remote(code, "sign", order)).refused ?? "", /not what waits/);
});

test("asks the trust service for nothing once the act has changed", async () => {
  await register(keys.rsa.pem);
  csc.keys = new Map([["key-1", keys.rsa]]);
  const code = await noted();
  const prepared = await remote(code, "prepare", { key: "key-1" });
  assert.equal((await post(desk(code, "/act"), { ...act, fee: "5.00" })).status, 303);
  csc.said = [];
  const order = { key: "key-1", hash: hashOf(prepared), "answer:PIN": csc.pin };
  assert.match((await remote(code, "sign", order)).refused ?? "", /was changed meanwhile|Nothing waits/);
  assert.deepEqual(csc.said, []);
});

test("a trust service that asks by its own app needs no answer here, and a token for one signature needs no authorization", async () => {
  await register(keys.rsa.pem);
  for (const mode of ["implicit", "oauth2code"] as const) {
    csc.keys = new Map([["key-1", { ...keys.rsa, mode }]]);
    const code = await noted();
    const prepared = await remote(code, "prepare", { key: "key-1" });
    assert.deepEqual(prepared.asks, []);
    csc.said = [];
    assert.ok((await remote(code, "sign", { key: "key-1", hash: hashOf(prepared) })).next);
    const isAuthorized = csc.said.some(({ method }) => method === "credentials/authorize");
    assert.equal(isAuthorized, mode === "implicit");
  }
});

test("token and PIN are in no log and no row, and are sent only to an https address", async () => {
  const rows = await running.db.query(sql`
    SELECT FROM notary_signatures WHERE encode(tail, 'escape') LIKE ${`%${csc.token}%`}`);
  assert.equal(rows.length, 0);
  assert.doesNotMatch(running.service.stdout(), new RegExp(`${csc.token}|"${csc.pin}"`));
  for (const url of ["http://sign.example/csc/v2", "https://sign.example/csc/v1", "ftp://sign.example/csc/v2"])
    assert.throws(
      () => readConfig({ REMOTE_SIGNING_URL: url }, folder.path, folder.path),
      /REMOTE_SIGNING_URL must be an https URL/,
    );
});
