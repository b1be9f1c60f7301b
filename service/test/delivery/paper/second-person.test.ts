import assert from "node:assert/strict";
import { test } from "node:test";
import { readSealPurpose } from "@signsealship/evidence/seal";
import { newClient } from "@signsealship/testing/client";
import { forTests } from "@signsealship/testing/for-tests";
import { openHarness } from "@signsealship/testing/harness";
import { minimal, orderForm } from "@signsealship/testing/inputs/order-form";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { asService } from "@signsealship/testing/row-mac";
import { newPartner } from "@signsealship/testing/service";
import type { OperatorRole } from "../../../src/firms/operators/operators.ts";
import { isSealed, sql } from "../../../src/kernel/platform/database/sql.ts";
import { postForm } from "../../firms/members/signed-in-member.ts";
import { newOperator, newSession } from "../../firms/operators/console-people.ts";

const running = await forTests(openHarness());
const { headers } = await newPartner(running.service);
const client = newClient(
  running.service.baseUrl,
  headers.Authorization.replace("Bearer ", ""),
  (status) => status < 300,
);
const person = (...roles: readonly OperatorRole[]) => newOperator(running, { roles, environment: "test" });
const [agent, other] = [await person("agent"), await person("agent")];

const scan = makePdf({ pages: 1, text: "Notarized in ink" });
const cookieOf = ({ cookie }: { cookie: string }) => ({ cookie, Accept: "text/html" });

/**
 * A paid test order that waits for its signature or its notarization. Its firm has agreed to a notarization on paper.
 */
async function waiting(service: "svc_sign" | "svc_notary"): Promise<string> {
  const form = orderForm({ ...minimal, [service]: "true" }, makePdf({ pages: 1, text: "Deed" }));
  const { orderCode } = await client.ok<{ orderCode: string }>("POST", "/api/partner/orders", form);
  await client.ok("POST", `/api/partner/sandbox/orders/${orderCode}/checkout`);
  if (service === "svc_notary") await agreeToInk(orderCode);
  return orderCode;
}

async function agreeToInk(code: string): Promise<void> {
  const { baseUrl } = running.service;
  const asked = await postForm(
    `${baseUrl}/operator/orders/${code}/in-person`,
    { reason: "No camera." },
    cookieOf(agent),
  );
  assert.equal(asked.status, 303);
  await client.ok("POST", `/api/partner/orders/${code}/in-person`, { agrees: true });
}

async function upload(path: string, by: { cookie: string }, fields: Record<string, string> = {}, bytes = scan) {
  const { baseUrl } = running.service;
  const body = new FormData();
  for (const [name, value] of Object.entries(fields)) body.append(name, value);
  body.append("document", new Blob([new Uint8Array(bytes)], { type: "application/pdf" }), "scan.pdf");
  const sent = { method: "POST", redirect: "manual" as const, headers: { ...cookieOf(by), Origin: baseUrl }, body };
  const answer = await fetch(`${baseUrl}/operator/orders/${path}`, sent);
  return { status: answer.status, text: await answer.text() };
}

/** Uploads the document, and confirms the report with its warnings. */
async function handIn(code: string, on: "signed" | "notarized", by: { cookie: string }, bytes = scan) {
  const report = await upload(`${code}/finished/${on}/check`, by, {}, bytes);
  if (report.status !== 200) return report;
  const fieldOf = (name: string) => new RegExp(`name="${name}"[^>]*value="([^"]*)"`).exec(report.text)?.[1] ?? "";
  const fields = { sha256: fieldOf("sha256"), warnings: fieldOf("warnings"), reason: "In ink, at the office." };
  return upload(`${code}/finished/${on}`, by, fields, bytes);
}

const approve = (code: string, by: { cookie: string }, bytes = scan) =>
  upload(`${code}/taking-in/approve`, by, {}, bytes);
const end = (code: string, state: "refused" | "withdrawn", by: { cookie: string }, note = "") =>
  postForm(`${running.service.baseUrl}/operator/orders/${code}/taking-in/${state}`, { note }, cookieOf(by));
const statusOf = async (code: string) =>
  (await client.ok<{ status: string }>("GET", `/api/partner/orders/${code}`)).status;
const page = async (code: string, by: { cookie: string }) =>
  (await fetch(`${running.service.baseUrl}/operator/orders/${code}`, { headers: cookieOf(by) })).text();

async function recordOf(code: string) {
  const [row] = await running.db.query<{ states: string[]; task: string | null; actions: string[] }>(sql`
    SELECT (SELECT array_agg(r.state ORDER BY r.requested_at) FROM taking_in_requests r WHERE r.order_id = o.id) AS states,
      (SELECT t.state FROM tasks t WHERE t.order_id = o.id AND t.kind = 'taking_in_approval' ORDER BY t.id DESC LIMIT 1) AS task,
      (SELECT array_agg(a.action || ' ' || a.actor ORDER BY a.id) FROM audit_log a
        WHERE a.order_id = o.id AND a.action LIKE 'taking_in.%') AS actions
    FROM orders o WHERE ${isSealed(sql`o.code`, "order", code)}`);
  return row;
}

test("refuses a document from elsewhere by an operator without a passkey, and by one whose passkey check is too old", async () => {
  for (const on of ["signed", "notarized"] as const) {
    const code = await waiting(on === "signed" ? "svc_sign" : "svc_notary");
    const before = await statusOf(code);
    const bare = await newOperator(running, { roles: ["agent"], environment: "test", passkey: false });
    const refused = await handIn(code, on, bare);
    assert.equal(refused.status, 403);
    assert.match(refused.text, /This needs a passkey/);
    assert.match(refused.text, /Add a passkey first/);
    const earlier = await newSession(running, agent.id, {
      at: new Date(Date.now() - 16 * 60_000),
      environment: "test",
    });
    const late = await handIn(code, on, earlier);
    assert.equal(late.status, 403);
    assert.match(late.text, /Sign in with a passkey to do this/);
    assert.match(late.text, new RegExp(`name="return_to" value="/operator/orders/${code}"`));
    assert.equal((await upload(`${code}/finished/${on}`, bare, {})).status, 403);
    assert.equal(await statusOf(code), before);
  }
});

test("accepts a signed document from one person with a recent passkey check", async () => {
  const code = await waiting("svc_sign");
  assert.equal((await handIn(code, "signed", agent)).status, 303);
  assert.equal(await statusOf(code), "EsignComplete");
});

test("accepts a signed document after a signer declined or the signing expired, and reopens the signing first", async () => {
  for (const status of ["EsignDeclined", "EsignExpired"]) {
    const code = await waiting("svc_sign");
    await running.service.cli("order", "move", code, status, "--reason", "signer 1: wants to sign on paper");
    assert.match(await page(code, agent), /Signed on paper or elsewhere/);
    assert.equal((await handIn(code, "signed", agent)).status, 303);
    const moves = await running.db.query(sql`
      SELECT a.to_status AS to, a.actor FROM audit_log a JOIN orders o ON o.id = a.order_id
      WHERE ${isSealed(sql`o.code`, "order", code)} AND a.action = 'order.transition' ORDER BY a.id DESC LIMIT 2`);
    const actor = `operator:${agent.id}`;
    assert.deepEqual(moves, [
      { to: "EsignComplete", actor },
      { to: "EsignPending", actor },
    ]);
  }
});

test("accepts a notarized document from a second person with the same file, and from nobody alone", async () => {
  const code = await waiting("svc_notary");
  assert.equal((await handIn(code, "notarized", agent)).status, 303);
  assert.equal(await statusOf(code), "NotarizationPending");
  assert.deepEqual((await recordOf(code))?.task, "open");
  assert.match(await page(code, other), /Waits for a second person/);

  const own = await approve(code, agent);
  assert.equal(own.status, 409);
  assert.match(own.text, /Another operator decides/);
  const admin = await person("admin");
  assert.equal((await approve(code, admin)).status, 403);
  const foreign = await approve(code, other, makePdf({ pages: 1, text: "Another file" }));
  assert.equal(foreign.status, 400);
  assert.match(foreign.text, /another file/);
  assert.equal(await statusOf(code), "NotarizationPending");

  assert.equal((await approve(code, other)).status, 303);
  assert.equal(await statusOf(code), "NotarizationComplete");
  assert.deepEqual(await recordOf(code), {
    states: ["approved"],
    task: "done",
    actions: [`taking_in.requested operator:${agent.id}`, `taking_in.approved operator:${other.id}`],
  });
  const { documents } = await client.ok<{ documents: { documentId: string; kind: string; origin?: string }[] }>(
    "GET",
    `/api/partner/orders/${code}/documents`,
  );
  const notarized = documents.find(({ kind }) => kind === "notarized");
  assert.equal(notarized?.origin, "operator");
  const { baseUrl } = running.service;
  const file = await fetch(`${baseUrl}/api/partner/orders/${code}/documents/${notarized?.documentId}`, { headers });
  assert.deepEqual(await readSealPurpose(new Uint8Array(await file.arrayBuffer())), {
    kind: "notarized_elsewhere",
    environment: "test",
  });
  assert.equal((await approve(code, other)).status, 409);
});

test("accepts a notarized document from one operator who is also a notary", async () => {
  const code = await waiting("svc_notary");
  assert.equal((await handIn(code, "notarized", await person("agent", "notary"))).status, 303);
  assert.equal(await statusOf(code), "NotarizationComplete");
});

test("seals once when several people approve concurrently", async () => {
  const code = await waiting("svc_notary");
  await handIn(code, "notarized", agent);
  const answers = await Promise.all([other, await person("agent"), other].map((by) => approve(code, by)));
  assert.deepEqual(answers.map(({ status }) => status).sort(), [303, 409, 409]);
  assert.equal(await statusOf(code), "NotarizationComplete");
  const notarized = await running.db.query(sql`
    SELECT FROM documents d JOIN orders o ON o.id = d.order_id WHERE ${isSealed(sql`o.code`, "order", code)} AND d.kind = 'notarized'`);
  assert.equal(notarized.length, 1);
});

test("ends a request only when another person refuses it, or the requester withdraws it", async () => {
  const code = await waiting("svc_notary");
  await handIn(code, "notarized", agent);
  assert.equal((await handIn(code, "notarized", other)).status, 409, "one waits already");
  assert.equal((await end(code, "refused", agent, "my own")).status, 409);
  assert.equal((await end(code, "withdrawn", other)).status, 409);
  assert.equal((await end(code, "refused", other)).status, 400, "a refusal says why");
  assert.equal((await end(code, "refused", other, "The stamp is missing.")).status, 303);
  await handIn(code, "notarized", agent);
  assert.equal((await end(code, "withdrawn", agent)).status, 303);
  assert.equal((await end(code, "withdrawn", agent)).status, 409);
  assert.deepEqual((await recordOf(code))?.states, ["refused", "withdrawn"]);
  assert.equal(await statusOf(code), "NotarizationPending");
});

test("closes a request when the command line moves the order", async () => {
  const code = await waiting("svc_notary");
  await handIn(code, "notarized", agent);
  await running.service.cli("order", "move", code, "NotarizationFailed", "--reason", "No notary came.");
  const record = await recordOf(code);
  assert.deepEqual([record?.states, record?.task], [["closed"], "dropped"]);
  assert.equal((await approve(code, other)).status, 409);
});

test("waits a day for an operator whom an admin appointed, both for second persons and for notaries", async () => {
  const [fresh, notary] = [await person("agent"), await person("agent", "notary")];
  const decidesFrom = (at: Date) =>
    asService(running, sql`UPDATE operators SET decides_from = ${at} WHERE user_id IN (${fresh.id}, ${notary.id})`);
  await decidesFrom(new Date(Date.now() + 60_000));
  const code = await waiting("svc_notary");
  assert.equal((await handIn(code, "notarized", notary)).status, 303);
  assert.equal(await statusOf(code), "NotarizationPending", "a new notary needs a second person");
  const early = await approve(code, fresh);
  assert.equal(early.status, 409);
  assert.match(early.text, /You may decide from/);
  assert.equal((await end(code, "refused", fresh, "no")).status, 409);
  await decidesFrom(new Date());
  assert.equal((await approve(code, fresh)).status, 303);
  assert.equal(await statusOf(code), "NotarizationComplete");
  const next = await waiting("svc_notary");
  assert.equal((await handIn(next, "notarized", notary)).status, 303);
  assert.equal(await statusOf(next), "NotarizationComplete", "a notary of more than a day needs nobody");
});
