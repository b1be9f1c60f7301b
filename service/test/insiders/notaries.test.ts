import assert from "node:assert/strict";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { openHarness } from "@signsealship/testing/harness";
import { minimal, orderForm } from "@signsealship/testing/inputs/order-form";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { newPartner } from "@signsealship/testing/service";
import { until } from "@signsealship/testing/until";
import { isSealed, type Statement, sql } from "../../src/kernel/platform/database/sql.ts";
import { addNotary, answerInPerson } from "../../src/signing/notaries/notaries.ts";
import { mailsTo, postForm } from "../firms/members/signed-in-member.ts";
import { newOperator } from "../firms/operators/console-people.ts";
import { openInsider } from "./insider.ts";

type Person = Awaited<ReturnType<typeof newOperator>>;

const running = await forTests(openHarness());
const insider = await forTests(openInsider(running.service.dataDir));
const partner = await newPartner(running.service);
const person = (role: "notary" | "agent") =>
  newOperator(running, { roles: [role], environment: "test", passkey: role !== "notary" });
const [nora, agent, other] = [await person("notary"), await person("agent"), await person("agent")];
const commission = {
  commissionName: "Nora Ames",
  state: "OH",
  county: "Franklin",
  commissionNumber: "2024-RE-1",
  commissionExpires: "2040-01-31",
  status: "active",
};
await addNotary({ db: running.db, clock: () => new Date() }, nora.id, commission, "operator");

const at = (path: string) => running.service.baseUrl + path;
const post = (path: string, { cookie }: Person, fields: Record<string, string> = {}) =>
  postForm(at(path), fields, { cookie, Accept: "text/html" });
const get = (path: string, { cookie }: Person) => fetch(at(path), { headers: { cookie } });
const desk = (code: string, rest = "") => `/operator/notary/orders/${code}${rest}`;

async function upload(path: string, { cookie }: Person, fields: Record<string, string> = {}) {
  const body = new FormData();
  for (const [name, value] of Object.entries(fields)) body.append(name, value);
  const pdf = new Uint8Array(makePdf({ pages: 1, text: "Notarized in ink" }));
  body.append("document", new Blob([pdf], { type: "application/pdf" }), "scan.pdf");
  const headers = { cookie, Accept: "text/html", Origin: running.service.baseUrl };
  return fetch(at(path), { method: "POST", redirect: "manual", headers, body });
}

async function isRefused(answer: Response): Promise<void> {
  const text = await answer.text();
  assert.equal(answer.status, 503, text);
  assert.match(text, /not what the service wrote/);
}

/** A test order that waits for a notary, and its id. */
async function waitingOrder() {
  const email = `client-${crypto.randomUUID()}@example.com`;
  const body = orderForm({ ...minimal, svc_notary: "true", name: "Jane Doe", email }, makePdf({ text: "Deed" }));
  const placed = await fetch(at("/api/partner/orders"), { method: "POST", headers: partner.headers, body });
  const { orderCode: code } = (await placed.json()) as { orderCode: string };
  await fetch(at(`/api/partner/sandbox/orders/${code}/advance`), { method: "POST", headers: partner.headers });
  const [row] = await insider.run<{ id: number; task: number }>(sql`
    SELECT o.id, t.id AS task FROM orders o JOIN tasks t ON t.order_id = o.id AND t.kind = 'notarize'
    WHERE ${isSealed(sql`o.code`, "order", code)}`);
  assert.ok(row, "the order waits for a notary");
  return { code, ...row, email };
}

const act = {
  act: "acknowledgment",
  mode: "ink",
  document: "Quitclaim deed",
  venue_state: "OH",
  venue_county: "Franklin",
  started_at: "2026-01-15T14:05",
  ended_at: "2026-01-15T14:35",
  fee: "5.00",
  principal_1_name: "Jane Doe",
  principal_1_address: "1 Main Street, Columbus, OH",
  principal_1_basis: "personal_knowledge",
};

async function notedAct(fields: Record<string, string> = act) {
  const order = await waitingOrder();
  assert.equal((await post(`/operator/notary/tasks/${order.task}/claim`, nora)).status, 303);
  assert.equal((await post(desk(order.code, "/in-person"), nora, { reason: "The client has no camera." })).status, 303);
  const owner = { partnerId: partner.partnerId, environment: "test" } as const;
  const agreed = { owner, orderCode: order.code, actor: "key:test", agrees: true };
  await answerInPerson({ db: running.db, clock: () => new Date() }, agreed);
  const noted = await post(desk(order.code, "/act"), nora, fields);
  assert.equal(noted.status, 303, await noted.text());
  return order;
}

type Noted = Awaited<ReturnType<typeof notedAct>>;

const change = ({ task }: Noted, set: Statement) =>
  insider.run(sql`UPDATE notary_drafts SET ${set} WHERE task_id = ${task}`);
const journalOf = ({ id }: Noted) => insider.run(sql`SELECT FROM notary_journal WHERE order_id = ${id}`);

const drafts: readonly [string, Statement][] = [
  ["the act", sql`act = jsonb_set(act, '{document}', '"Mortgage"')`],
  ["an address of an appointment", sql`appointment_url = 'https://evil.example/'`],
  ["a time of an appointment", sql`appointment_at = now()`],
  ["no MAC", sql`row_mac = NULL`],
];
for (const [name, set] of drafts)
  test(`altered notes of an act are neither shown, mailed, written into the journal nor completed: ${name}`, async () => {
    const order = await notedAct();
    assert.equal((await get(desk(order.code), nora)).status, 200);
    await change(order, set);
    await isRefused(await get(desk(order.code), nora));
    await isRefused(await post(desk(order.code, "/act"), nora, act));
    await isRefused(await post(desk(order.code, "/appointment"), nora, { url: "https://meet.example/1" }));
    await isRefused(await upload(desk(order.code, "/check"), nora));
    await isRefused(await post(desk(order.code, "/refuse"), nora, { reason: "no_show", words: "Nobody came." }));
    assert.deepEqual(await journalOf(order), []);
    assert.deepEqual(
      mailsTo(running.service, order.email).filter((mail) => mail.includes("meet.example") || mail.includes("evil")),
      [],
    );
  });

test("earlier notes of an act can't be restored with their earlier MAC, in their row or in another one", async () => {
  const order = await notedAct();
  const putBack = await insider.keep(sql`notary_drafts`, sql`task_id`, String(order.task));
  type Kept = { act: object; version: number; mac: Buffer };
  const [before] = await insider.run<Kept>(sql`
    SELECT act, state_version AS version, row_mac AS mac FROM notary_drafts WHERE task_id = ${order.task}`);
  assert.ok(before);
  assert.equal((await post(desk(order.code, "/act"), nora, { ...act, document: "Deed of trust" })).status, 303);
  await change(order, sql`act = ${before.act}::jsonb, state_version = ${before.version}, row_mac = ${before.mac}`);
  await isRefused(await get(desk(order.code), nora));
  await putBack();
  await isRefused(await get(desk(order.code), nora));
  const other = await notedAct();
  await assert.rejects(
    change(other, sql`id = (SELECT id FROM notary_drafts WHERE task_id = ${order.task})`),
    /append-only/,
  );
});

test("notes that were inserted for an act without notes are not used", async () => {
  const order = await waitingOrder();
  await post(`/operator/notary/tasks/${order.task}/claim`, nora);
  await insider.run(sql`
    INSERT INTO notary_drafts (task_id, notary_id, act, updated_at, row_mac)
    SELECT ${order.task}, id, ${act}::jsonb, now(), (SELECT row_mac FROM notary_drafts LIMIT 1) FROM notaries`);
  await isRefused(await get(desk(order.code), nora));
  await isRefused(await upload(desk(order.code, "/check"), nora));
});

test("a second person approves no document that nobody handed in", async () => {
  const order = await waitingOrder();
  const sha256 = "a".repeat(64);
  await insider.run(sql`
    INSERT INTO taking_in_requests (id, order_id, sha256, reason, warnings, requested_by, requested_at)
    VALUES (gen_random_uuid(), ${order.id}, ${sha256}, 'planted reason', '{}', ${other.id}, now())`);
  await isRefused(await get(`/operator/orders/${order.code}`, agent));
  await isRefused(await upload(`/operator/orders/${order.code}/taking-in/approve`, agent));
  const [row] = await insider.run<{ status: string }>(sql`SELECT status FROM orders WHERE id = ${order.id}`);
  assert.equal(row?.status, "NotarizationPending");
});

test("an order whose signers were altered is on no notary's desk", async () => {
  const order = await notedAct();
  assert.equal((await get(desk(order.code), nora)).status, 200);
  for (const change of [
    sql`signers = '[{"name": "Eve", "email": "eve@example.com", "language": "en"}]'`,
    sql`signature_fields = '[null]'`,
    sql`signers = '[1.5]'`,
  ]) {
    await insider.run(sql`UPDATE orders SET ${change} WHERE id = ${order.id}`);
    assert.equal((await get(desk(order.code), nora)).status, 404, change.text);
    assert.equal((await get("/operator/notary", nora)).status, 200, "the desk goes on");
  }
  const mailed = await post(desk(order.code, "/appointment"), nora, { url: "https://meet.example/1" });
  assert.equal(mailed.status, 404);
});

test("mails no appointment because of a job that was inserted or altered in the database", async () => {
  const order = await notedAct();
  const waits = sql`queue = 'notary-appointment-mail' AND payload ->> 'url' LIKE 'https://evil.example/%'`;
  const mail = {
    to: order.email,
    name: "Jane",
    url: "https://evil.example/1",
    when: null,
    notary: "Nora Ames",
    partnerId: partner.partnerId,
    environment: "test",
    id: `planted-${order.id}`,
  };
  for (const mac of ["", "00".repeat(36)])
    await insider.run(sql`SELECT enqueue_job('notary-appointment-mail', ${{ ...mail, mac }}::jsonb, now())`);
  await until(async () => (await insider.run(sql`SELECT FROM jobs WHERE ${waits} AND attempts > 0`)).length === 2);
  assert.deepEqual(
    mailsTo(running.service, order.email).filter((text) => text.includes("evil.example")),
    [],
  );
});
