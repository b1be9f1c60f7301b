import assert from "node:assert/strict";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { minimal, orderForm } from "@signsealship/testing/inputs/order-form";
import { until } from "@signsealship/testing/until";
import { sealed, sql } from "../../../src/kernel/platform/database/sql.ts";
import { json, openMembersService } from "../../firms/members/members-service.ts";
import { newMember, postForm } from "../../firms/members/signed-in-member.ts";

const running = await forTests(openMembersService());

async function firm() {
  const { service, call } = running;
  const { partnerId, key, headers } = await running.newPartner();
  const [owner, colleague] = [
    await newMember(service, running.somebody(), key),
    await newMember(service, running.somebody(), key),
  ];
  const page = async (path: string) => (await call(path, { headers: owner.headers })).body as string;
  const submission = async (path: string) =>
    /name="submission" value="([a-z2-7]{52})"/.exec(await page(path))?.[1] ?? assert.fail(`${path} has no submission`);
  const post = async (path: string, fields: Record<string, string>, by = owner) => {
    const answer = await postForm(service.baseUrl + path, fields, by.headers);
    return { status: answer.status, location: answer.headers.get("location"), text: await answer.text() };
  };
  const create = async (path: string, body: object) =>
    (await call(path, { method: "POST", headers: { ...headers, ...json }, body: JSON.stringify(body) })).body;
  const order = async (fields = {}): Promise<string> => {
    const body = orderForm({ ...minimal, ...fields });
    return (await call("/api/partner/orders", { method: "POST", headers, body })).body.orderCode;
  };
  const place = (fields: Record<string, string>) =>
    fetch(`${service.baseUrl}/dashboard/orders/new`, {
      method: "POST",
      redirect: "manual",
      headers: owner.headers,
      body: orderForm(fields),
    });
  /** The number of audit lines with the action. */
  const times = async (action: string) => {
    const rows = await running.db.query(sql`
      SELECT 1 FROM audit_log a LEFT JOIN orders o ON o.id = a.order_id
      WHERE ${partnerId} IN (a.partner_id, o.partner_id) AND action = ${action}`);
    return rows.length;
  };
  return { partnerId, page, submission, post, place, create, order, times, colleague };
}

type Firm = Awaited<ReturnType<typeof firm>>;

/** Posts the form twice at once and then once more. Each response must redirect to the same page. */
async function postThrice({ submission, post }: Firm, page: string, path: string, fields: Record<string, string> = {}) {
  const sent = { ...fields, submission: await submission(page) };
  const answers = await Promise.all([post(path, sent), post(path, sent)]);
  answers.push(await post(path, sent));
  for (const answer of answers) {
    assert.equal(answer.status, 303, `${path}: ${answer.text}`);
    assert.equal(answer.location, answers[0]?.location, path);
  }
  return answers[0]?.location ?? "";
}

test("a note whose form is sent twice exists once; the next page's form adds another, even with the same words", async () => {
  const acme = await firm();
  const own = `/dashboard/orders/${await acme.order()}`;
  const at = await postThrice(acme, own, `${own}/notes`, { note: "Call Dana first." });
  assert.equal(at, `${own}?done=order-noted#notes-title`);
  assert.equal(await acme.times("order.firm_noted"), 1);
  assert.equal((await acme.page(own)).split("Call Dana first.").length, 2);
  await postThrice(acme, own, `${own}/notes`, { note: "Call Dana first." });
  assert.equal(await acme.times("order.firm_noted"), 2);
});

test("a form that was changed before it was sent again adds another note, and so does one of a colleague or for another order", async () => {
  const acme = await firm();
  const [own, other] = [`/dashboard/orders/${await acme.order()}`, `/dashboard/orders/${await acme.order()}`];
  const submission = await acme.submission(own);
  await acme.post(`${own}/notes`, { note: "First", submission });
  await acme.post(`${own}/notes`, { note: "Second", submission });
  await acme.post(`${own}/notes`, { note: "First", submission }, acme.colleague);
  await acme.post(`${other}/notes`, { note: "First", submission });
  assert.equal(await acme.times("order.firm_noted"), 4);
});

test("a refused form does nothing, and its page accepts it once it is corrected", async () => {
  const acme = await firm();
  const own = `/dashboard/orders/${await acme.order()}`;
  const submission = await acme.submission(own);
  const refused = await acme.post(`${own}/notes`, { note: " ", submission });
  assert.equal(refused.status, 400);
  assert.ok(refused.text.includes(`name="submission" value="${submission}"`));
  for (let sent = 0; sent < 2; sent++)
    assert.equal((await acme.post(`${own}/notes`, { note: "Mended", submission })).status, 303);
  assert.equal(await acme.times("order.firm_noted"), 1);
});

test("a submission key that this service did not issue is ignored: each post counts", async () => {
  const acme = await firm();
  const own = `/dashboard/orders/${await acme.order()}`;
  for (const submission of ["", "x", "A".repeat(52)]) await acme.post(`${own}/notes`, { note: "Same", submission });
  assert.equal(await acme.times("order.firm_noted"), 3);
});

test("a test order moves one step for each page, however often the button is pressed", async () => {
  const acme = await firm();
  const own = `/dashboard/orders/${await acme.order({ svc_sign: "true" })}`;
  await postThrice(acme, own, `${own}/sandbox/checkout`, { outcome: "success" });
  const at = await postThrice(acme, own, `${own}/sandbox/advance`);
  assert.ok(at.includes("fired=signature.completed"), at);
});

test("a signer is reminded and replaced once for each page", async () => {
  const acme = await firm();
  const own = `/dashboard/orders/${await acme.order({ svc_sign: "true" })}`;
  await acme.post(`${own}/sandbox/checkout`, { outcome: "success" });
  await until(async () => (await acme.page(own)).includes("Send a reminder"));
  await postThrice(acme, own, `${own}/signers/1/remind`);
  assert.equal(await acme.times("signer.reminded"), 1);
  const instead = { name: "Riley Chen", email: "riley@example.com", language: "", auth: "", access_code: "" };
  await postThrice(acme, own, `${own}/signers/1/replace`, instead);
  assert.equal(await acme.times("signer.replaced"), 1);
});

test("in a room a person, an order, a version and a new link are added once for each page, and the second press leads to the first result", async () => {
  const acme = await firm();
  const { roomCode } = await acme.create("/api/rooms", { name: "12 Elm Street" });
  const own = `/dashboard/rooms/${roomCode}`;
  const orderCode = await acme.order();
  const toOrders = await postThrice(acme, own, `${own}/orders`, { orderCode, label: "" });
  assert.ok(toOrders.endsWith("done=room-order-attached"), toOrders);
  const person = { name: "Riley", email: "riley@example.com", role: "", invite: "on" };
  const toPeople = await postThrice(acme, own, `${own}/participants`, person);
  assert.ok(toPeople.endsWith("done=participant-added-invited"), toPeople);
  assert.equal(await acme.times("room.participant_invited"), 1);
  // Sealing may take longer than a repeated request waits for the first. So the test sends these two requests one after
  // the other.
  const sealing = { version: "1", submission: await acme.submission(own) };
  const sealed = await acme.post(`${own}/passport`, sealing);
  assert.equal(sealed.status, 303, sealed.text);
  assert.equal((await acme.post(`${own}/passport`, sealing)).location, sealed.location);
  assert.equal(await acme.times("room.passport_sealed"), 1);
  const renewed = await postThrice(acme, own, `${own}/rotate`);
  assert.ok((await acme.page(renewed)).includes("12 Elm Street"));
  assert.equal(await acme.times("room.rotated"), 1);
});

test("a webhook gets one test and one replay for each page", async () => {
  const acme = await firm();
  const url = "https://hooks.example.com/test";
  const { id } = await acme.create("/api/partner/webhooks", { url, topics: ["order.created"] });
  const own = `/dashboard/webhooks/${id}`;
  const deliveries = () =>
    running.db.query<{ id: string }>(sql`
    SELECT d.id FROM webhook_deliveries d JOIN webhooks w ON w.id = d.webhook_id WHERE w.id = ${id}`);
  await postThrice(acme, own, `${own}/test`);
  const [tested, ...others] = await deliveries();
  assert.ok(tested && others.length === 0);
  await until(async () => !(await acme.page(own)).includes("Pending"));
  await postThrice(acme, `/dashboard/webhooks/deliveries/${tested.id}`, `${own}/deliveries/${tested.id}/replay`);
  assert.equal((await deliveries()).length, 2);
});

test("the test clock is advanced once for each page", async () => {
  const acme = await firm();
  await postThrice(acme, "/dashboard", "/dashboard/test-clock/advance", { seconds: "3600" });
  const [clock] = await running.db.query<{ seconds: number }>(sql`
    SELECT sum(seconds)::int AS seconds FROM test_clock_advances WHERE partner_id = ${acme.partnerId}`);
  assert.equal(clock?.seconds, 3_600);
});

/** Replaces the stored response to a page's request with a plain text, as releases before 0.1.0 stored it. */
async function storeText({ partnerId }: Firm, path: string, text: string): Promise<void> {
  const [row] = await running.db.query<{ answer: string; route: string }>(sql`
    SELECT body AS "answer@answer", route FROM idempotency_keys WHERE partner_id = ${partnerId} AND route = ${`POST ${path}`}`);
  assert.ok(row);
  const bound = row.answer.slice(0, row.answer.indexOf("\n") + 1);
  await running.db.query(sql`
    UPDATE idempotency_keys SET body = ${sealed("answer", bound + text)}
    WHERE partner_id = ${partnerId} AND route = ${row.route}`);
}

test("a form that an earlier release answered gets the same answer after the upgrade", async () => {
  const acme = await firm();
  const code = await acme.order();
  const own = `/dashboard/orders/${code}`;
  const note = { note: "Once", submission: await acme.submission(own) };
  const { location } = await acme.post(`${own}/notes`, note);
  await storeText(acme, "/dashboard/orders/:code/notes", `${location}`);
  assert.equal((await acme.post(`${own}/notes`, note)).location, location);
  assert.equal(await acme.times("order.firm_noted"), 1);
});

test("an order that an earlier release placed is not placed again after the upgrade, with a checkout and without", async () => {
  const acme = await firm();
  for (const [text, done] of [
    ["", "order-placed-unpayable"],
    [" https://checkout.stripe.com/c/pay/cs_test_a1b2", "order-placed"],
  ] as const) {
    const submission = await acme.submission("/dashboard/orders/new");
    const place = () => acme.place({ ...minimal, submission, create_checkout: "on" });
    const code = /orders\/(\w+)/.exec((await place()).headers.get("location") ?? "")?.[1];
    await storeText(acme, "/dashboard/orders/new", `${code}${text}`);
    assert.equal((await place()).headers.get("location"), `/dashboard/orders/${code}?done=${done}`);
    await running.db.query(sql`DELETE FROM idempotency_keys WHERE partner_id = ${acme.partnerId}`);
  }
  assert.equal(await acme.times("order.created"), 2);
});

test("a form with an unknown outcome is not carried out again until its page is opened again", async () => {
  const acme = await firm();
  const own = `/dashboard/orders/${await acme.order()}`;
  const note = { note: "Once", submission: await acme.submission(own) };
  await acme.post(`${own}/notes`, note);
  await running.db.query(sql`
    UPDATE idempotency_keys SET pending_until = now() - interval '1 s' WHERE partner_id = ${acme.partnerId}`);
  const refused = await acme.post(`${own}/notes`, note);
  assert.deepEqual([refused.status, /may have been carried out already/.test(refused.text)], [409, true]);
  assert.equal(await acme.times("order.firm_noted"), 1);
  const again = await acme.post(`${own}/notes`, { ...note, submission: await acme.submission(own) });
  assert.equal(again.status, 303);
});
