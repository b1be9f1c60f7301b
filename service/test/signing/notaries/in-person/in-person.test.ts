import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { newPartner } from "@signsealship/testing/service";
import { until } from "@signsealship/testing/until";
import { isSealed, type Statement, sql } from "../../../../src/kernel/platform/database/sql.ts";
import { lockOrder } from "../../../../src/orders/order/order.ts";
import { requestPartRefund } from "../../../../src/orders/refunds/refunds.ts";
import { addNotary } from "../../../../src/signing/notaries/notaries.ts";
import { mailsTo, newMember, postForm } from "../../../firms/members/signed-in-member.ts";
import { newOperator } from "../../../firms/operators/console-people.ts";
import { openLiveService } from "../../../orders/fulfilment/live-service.ts";

type Person = Awaited<ReturnType<typeof newOperator>>;

const owner = "owner@acme.example";

const running = await forTests(openLiveService({}));
const { harness } = running;
const firm = await liveMember(owner, running.headers.Authorization);
const { headers: foreign } = await newPartner(harness.service, { live: true, name: "Other Title" });
const stranger = await liveMember("owner@other.example", foreign.Authorization);
// Places and pays all live orders before a notary is on record. Once a notary is on record, the service quotes only
// acts that this notary may perform.
const waiting: string[] = [];
for (let index = 0; index < 10; index++)
  waiting.push(await running.paidOrder({ svc_notary: "true", signer_state: "FL" }));
const nora = await newOperator(harness, { roles: ["notary"], passkey: false });
const approver = await newOperator(harness, { roles: ["approver", "agent"] });
const commission = {
  commissionName: "Nora Ames",
  state: "FL",
  county: "Dade",
  commissionNumber: "1",
  commissionExpires: "2040-01-31",
  status: "active",
};
await addNotary({ db: running.db, clock: () => new Date() }, nora.id, commission, "operator");

async function liveMember(email: string, authorization: string) {
  const { headers } = await newMember(running.harness.service, email, authorization.replace("Bearer ", ""));
  const signedIn = { ...headers, Origin: running.url() };
  const switched = { environment: "live", return_to: "/dashboard" };
  assert.equal((await postForm(`${running.url()}/dashboard/environment`, switched, signedIn)).status, 303);
  return signedIn;
}

const at = (path: string) => running.url() + path;
const desk = (code: string, rest = "") => `/operator/notary/orders/${code}${rest}`;
const post = (path: string, { cookie }: Person, fields: Record<string, string> = {}) =>
  postForm(at(path), fields, { cookie, Accept: "text/html" });
const look = async (path: string, cookie: string) => (await fetch(at(path), { headers: { Cookie: cookie } })).text();
const alertIn = async (answer: Response) => /role="alert"[^>]*>.*?<p>(.*?)<\/p>/s.exec(await answer.text())?.[1] ?? "";
const answerOf = (code: string, answer: "agree" | "decline", member = firm) =>
  postForm(at(`/dashboard/orders/${code}/in-person/${answer}`), {}, { ...member, Accept: "text/html" });

const act = {
  act: "acknowledgment",
  mode: "ink",
  document: "Deed",
  venue_state: "FL",
  venue_county: "Dade",
  started_at: "2026-01-15T14:05",
  ended_at: "2026-01-15T14:35",
  fee: "10.00",
  principal_1_name: "Jane Doe",
  principal_1_address: "1 Main Street",
  principal_1_basis: "personal_knowledge",
};
const why = "The signer has no camera and comes to my office.";

/** An order that the notary has claimed. */
async function claimed(): Promise<string> {
  const code = waiting.pop() ?? "";
  const [task] = (await running.tasksOf(code)).filter(({ kind }) => kind === "notarize");
  assert.equal((await post(`/operator/notary/tasks/${task?.id}/claim`, nora)).status, 303);
  return code;
}

async function asked(): Promise<string> {
  const code = await claimed();
  assert.equal((await post(desk(code, "/in-person"), nora, { reason: why })).status, 303);
  return code;
}

const refundsOf = (code: string) =>
  running.db.query<{ id: string; part: boolean; cents: number; state: string; by: string }>(sql`
    SELECT r.id, r.part, r.amount_cents::float8 AS cents, r.state, r.requested_by AS by FROM refund_requests r JOIN orders o ON o.id = r.order_id
    WHERE ${isSealed(sql`o.code`, "order", code)} ORDER BY r.requested_at`);

function upload(code: string, step: string, fields: Record<string, string> = {}) {
  const body = new FormData();
  for (const [name, value] of Object.entries(fields)) body.append(name, value);
  body.append("document", new Blob([new Uint8Array(makePdf({ text: "Scan" }))], { type: "application/pdf" }), "d.pdf");
  const headers = { cookie: nora.cookie, Accept: "text/html" };
  return fetch(at(desk(code, step)), { method: "POST", redirect: "manual", headers, body });
}

/** Uploads the scan, and confirms the report about it. */
async function complete(code: string): Promise<Response> {
  const report = await (await upload(code, "/check")).text();
  const value = (name: string) => new RegExp(`name="${name}"[^>]*? value="([^"]*)"`).exec(report)?.[1] ?? "";
  const confirmed = { sha256: value("sha256"), actSha256: value("actSha256"), warnings: value("warnings") };
  return upload(code, "/complete", confirmed);
}

test("an act in ink is not noted for an order with online notarization before the firm has agreed", async () => {
  const code = await claimed();
  const refused = await post(desk(code, "/act"), nora, act);
  assert.equal(refused.status, 409);
  assert.match(await alertIn(refused), /Online notarization was bought for this document.*Ask the firm first\./);
  assert.match(await alertIn(await post(desk(code, "/in-person"), nora, { reason: "" })), /reason must have 1 to 500/);
  assert.equal((await post(desk(code, "/in-person"), approver, { reason: why })).status, 403);
  assert.equal((await answerOf(code, "agree")).status, 409);
  assert.equal((await post(desk(code, "/in-person"), nora, { reason: why })).status, 303);
  assert.match(
    await alertIn(await post(desk(code, "/in-person"), nora, { reason: why })),
    /The firm was asked already/,
  );
  assert.match(await alertIn(await post(desk(code, "/act"), nora, act)), /The firm was asked and has not answered yet/);
  const mail = await until(() =>
    mailsTo(running.harness.service, owner).find((each) => /asks to act in person/.test(each)),
  );
  assert.match(mail, new RegExp(`/dashboard/orders/${code}#in-person`));
  assert.doesNotMatch(mail, /camera/);
  assert.equal((await post(desk(code, "/release"), nora)).status, 303);
});

test("the firm reads the reason and agrees, and the technology fee is requested back; another person approves, and the order continues", async () => {
  const code = await asked();
  const page = await look(`/dashboard/orders/${code}`, firm.Cookie);
  assert.match(page, /The signer has no camera and comes to my office\./);
  assert.match(page, /a refund of the technology fee \(\$24\.00\)/);
  assert.equal((await answerOf(code, "agree")).status, 303);
  assert.match(await look(`/dashboard/orders/${code}`, firm.Cookie), /You agreed/);
  assert.equal(await running.statusOf(code), "NotarizationPending");
  const [request, ...others] = await refundsOf(code);
  assert.deepEqual([request?.part, request?.cents, request?.state, request?.by], [true, 2400, "requested", nora.id]);
  assert.equal(others.length, 0);
  const refund = `/operator/refunds/${request?.id}`;
  assert.match(await look(refund, approver.cookie), /\$24\.00, a part of what is held: the order goes on/);
  const before = running.stripe.refunds.length;
  assert.equal((await post(`${refund}/approve`, approver)).status, 303);
  await until(() => running.stripe.refunds.length === before + 1);
  assert.equal(Number(running.stripe.refunds.at(-1)?.["amount"]), 2400);
  const intent = running.stripe.refunds.at(-1)?.["payment_intent"];
  const partly = running.stripe.event("charge.refunded", {
    payment_intent: intent,
    refunded: false,
    amount_refunded: 2400,
  });
  await running.stripe.deliver(running.url(), partly);
  assert.equal(await running.statusOf(code), "NotarizationPending");

  assert.equal((await post(desk(code, "/act"), nora, act)).status, 303);
  const done = await complete(code);
  assert.equal(done.status, 303, await done.text());
  assert.equal(await running.statusOf(code), "NotarizationComplete");
  // A full refund returns the rest of the payment.
  assert.match(await look(`/operator/refunds/new?order=${code}`, approver.cookie), /\$37\.00/);
});

test("the job that refunds a part does so once, even when it runs again", async () => {
  const [row] = await running.db.query<{ id: string }>(
    sql`SELECT id FROM refund_requests WHERE part AND state = 'approved' LIMIT 1`,
  );
  const before = running.stripe.refunds.length;
  const lists = () =>
    running.stripe.requests.filter(({ method, path }) => method === "GET" && path === "/v1/refunds").length;
  const listed = lists();
  await running.db.query(sql`SELECT enqueue_job('part-refund', ${{ requestId: row?.id }}::jsonb, now())`);
  await until(() => lists() > listed);
  assert.equal(running.stripe.refunds.length, before);
});

test("a firm that declines keeps its online notarization, and is asked three times at most", async () => {
  const code = await asked();
  for (let times = 1; times <= 3; times++) {
    assert.equal((await answerOf(code, "decline")).status, 303);
    assert.match(await alertIn(await post(desk(code, "/act"), nora, act)), /The firm declined/);
    assert.equal((await answerOf(code, "agree")).status, 409);
    const again = await post(desk(code, "/in-person"), nora, { reason: why });
    if (times < 3) assert.equal(again.status, 303);
    else assert.match(await alertIn(again), /asked at most 3 times/);
  }
  assert.deepEqual(await refundsOf(code), []);
});

test("another firm can't answer or see the request; of several concurrent answers one counts", async () => {
  const code = await asked();
  for (const answer of ["agree", "decline"] as const)
    assert.equal((await answerOf(code, answer, stranger)).status, 404);
  assert.doesNotMatch(await look(`/dashboard/orders/${code}`, stranger.Cookie), /no camera/);
  const answers = await Promise.all([1, 2, 3, 4].map((each) => answerOf(code, each % 2 ? "agree" : "decline")));
  assert.deepEqual(answers.map(({ status }) => status).sort(), [303, 409, 409, 409]);
  const [row] = await running.db.query<{ state: string }>(sql`
    SELECT r.state FROM in_person_requests r JOIN orders o ON o.id = r.order_id WHERE ${isSealed(sql`o.code`, "order", code)}`);
  assert.equal((await refundsOf(code)).length, row?.state === "agreed" ? 1 : 0);
});

test("an agreement whose audit line can't be written does not count, and nothing is refunded", async () => {
  const code = await asked();
  const script = (text: string) => running.db.transaction((tx) => tx.script(text));
  await script(`CREATE FUNCTION no_line() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF NEW.action = 'notary.in_person_agreed' THEN RAISE EXCEPTION 'no line'; END IF; RETURN NEW; END $$;
    CREATE TRIGGER no_line BEFORE INSERT ON audit_log FOR EACH ROW EXECUTE FUNCTION no_line()`);
  assert.equal((await answerOf(code, "agree")).status, 500);
  await script("DROP TRIGGER no_line ON audit_log; DROP FUNCTION no_line()");
  assert.deepEqual(await refundsOf(code), []);
  assert.match(await alertIn(await post(desk(code, "/act"), nora, act)), /has not answered yet/);
  assert.equal((await answerOf(code, "agree")).status, 303);
});

test("an agreement that was inserted into the database does not count; real decisions stay", async () => {
  const code = await asked();
  const ofOrder = sql`order_id = (SELECT id FROM orders WHERE ${isSealed(sql`code`, "order", code)})`;
  const set = (change: Statement) => running.db.query(sql`UPDATE in_person_requests SET ${change} WHERE ${ofOrder}`);
  await set(sql`state = 'agreed', decided_by = 'member:x', decided_at = now()`);
  assert.equal((await post(desk(code, "/act"), nora, act)).status, 503);
  await assert.rejects(set(sql`state = 'declined'`), /is decided once, and otherwise stays as it is/);
  await assert.rejects(running.db.query(sql`DELETE FROM in_person_requests WHERE ${ofOrder}`), /is decided once/);
});

/** Uploads a scan as a document that was notarized elsewhere. */
function handIn(code: string, step = "", fields: Record<string, string> = {}) {
  const body = new FormData();
  for (const [name, value] of Object.entries(fields)) body.append(name, value);
  body.append("document", new Blob([new Uint8Array(makePdf({ text: "Scan" }))], { type: "application/pdf" }), "d.pdf");
  const headers = { cookie: approver.cookie, Accept: "text/html", Origin: running.url() };
  const path = `/operator/orders/${code}/finished/notarized${step}`;
  return fetch(at(path), { method: "POST", redirect: "manual", headers, body });
}

const askElsewhere = (code: string, by: Person, reason = why) =>
  post(`/operator/orders/${code}/in-person`, by, { reason });
const byKey = (code: string, method: "GET" | "POST", body?: object, headers = running.headers) =>
  fetch(at(`/api/partner/orders/${code}/in-person`), {
    method,
    headers: { ...headers, "Content-Type": "application/json" },
    ...(body && { body: JSON.stringify(body) }),
  });

test("an operator's scan from elsewhere does not complete an order with online notarization before the firm has agreed", async () => {
  const code = waiting.pop() ?? "";
  const report = await handIn(code, "/check");
  assert.equal(report.status, 400);
  assert.match(await report.text(), /Online notarization was bought for this document.*Ask the firm first\./);
  const sha256 = createHash("sha256")
    .update(makePdf({ text: "Scan" }))
    .digest("hex");
  const confirmed = { sha256, reason: "In ink.", warnings: "our_document,signatures,online_bought" };
  const refused = await handIn(code, "", confirmed);
  assert.equal(refused.status, 400);
  assert.match(await alertIn(refused), /online_bought: Online notarization was bought/);

  assert.match(await look(`/operator/orders/${code}`, approver.cookie), /The firm bought online notarization/);
  assert.equal((await askElsewhere(code, nora)).status, 403);
  assert.match(await alertIn(await askElsewhere(code, approver, " ")), /reason must have 1 to 500/);
  assert.equal((await askElsewhere("0".repeat(40), approver)).status, 404);
  assert.equal((await askElsewhere(code, approver)).status, 303);
  assert.match(await alertIn(await askElsewhere(code, approver)), /The firm was asked already/);
  assert.match(await (await handIn(code, "/check")).text(), /was asked and has not answered yet/);
  assert.equal((await byKey(code, "POST", { agrees: true })).status, 200);
  const taken = await handIn(code, "/check");
  assert.equal(taken.status, 200);
  assert.match(await taken.text(), /The firm has agreed to a notarization in person, in ink/);
  assert.equal((await handIn(code, "", confirmed)).status, 303);
  assert.equal(await running.statusOf(code), "NotarizationPending", "a second person approves it");
});

test("a firm reads and answers the request with its key, once, with the right scope and a body of true or false", async () => {
  const code = waiting.pop() ?? "";
  assert.deepEqual((await (await byKey(code, "GET")).json()).inPerson, null);
  assert.equal((await byKey(code, "POST", { agrees: true })).status, 409);
  assert.equal((await askElsewhere(code, approver)).status, 303);
  for (const body of [{}, { agrees: "yes" }, { agrees: null }]) {
    const refused = await byKey(code, "POST", body);
    assert.equal(refused.status, 400);
    assert.match((await refused.json()).error, /agrees must be true or false/);
  }
  assert.equal((await byKey("0".repeat(40), "GET")).status, 404);
  assert.equal((await byKey(code, "GET", undefined, foreign)).status, 404);
  assert.equal((await byKey(code, "POST", { agrees: false }, foreign)).status, 404);
  const { inPerson } = await (await byKey(code, "GET")).json();
  assert.deepEqual([inPerson.state, inPerson.reason, inPerson.technologyFeeCents], ["requested", why, 2400]);
  const answers = await Promise.all([true, true, false].map((agrees) => byKey(code, "POST", { agrees })));
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 409, 409]);
  const answered = answers.find(({ status }) => status === 200);
  assert.ok(answered);
  const { state, refundCents } = await answered.json();
  assert.deepEqual(refundCents, state === "agreed" ? 2400 : null);
  assert.equal((await (await byKey(code, "GET")).json()).inPerson.state, state);
});

test("an agreement whose fee can't be refunded opens a task, and the refund is requested once it is possible", async () => {
  const code = waiting.pop() ?? "";
  assert.equal((await askElsewhere(code, approver)).status, 303);
  assert.equal((await post("/operator/refunds", approver, { order: code, reason: "The client asked." })).status, 303);
  const answered = await byKey(code, "POST", { agrees: true });
  assert.deepEqual((await answered.json()).refundCents, null);
  const owed = async () => (await running.tasksOf(code)).find(({ kind }) => kind === "technology_fee");
  assert.deepEqual(
    [(await owed())?.state, (await owed())?.reason],
    ["open", "Another refund of this order waits for its decision."],
  );
  assert.match(await look(`/operator/orders/${code}`, approver.cookie), /The technology fee was not asked back/);
  const ask = (by = approver) => post(`/operator/orders/${code}/technology-fee`, by);
  assert.equal((await ask(nora)).status, 403);
  assert.match(await alertIn(await ask()), /Another refund of this order waits/);
  assert.equal((await owed())?.state, "open");
  const [whole] = await refundsOf(code);
  assert.equal((await post(`/operator/refunds/${whole?.id}/withdraw`, approver)).status, 303);
  const asks = await Promise.all([ask(), ask(), ask()]);
  assert.deepEqual(asks.map(({ status }) => status).sort(), [303, 409, 409]);
  assert.equal((await owed())?.state, "done");
  assert.deepEqual(
    (await refundsOf(code)).map(({ part, cents, state }) => [part, cents, state]),
    [
      [false, 6100, "withdrawn"],
      [true, 2400, "requested"],
    ],
  );
});

test("a part that no single payment covers is not requested, and the reason says so", async () => {
  const code = waiting.pop() ?? "";
  const asked = await running.db.transaction(async (tx) => {
    const order = await lockOrder(tx, code);
    assert.ok(order);
    const request = { reason: "x", requestedBy: approver.id, actor: "operator", at: new Date() };
    return requestPartRefund(tx, order, { ...request, amountCents: 6101 });
  });
  assert.deepEqual(asked, { refusal: "No single payment that is held covers $61.01." });
  assert.deepEqual(await refundsOf(code), []);
});
