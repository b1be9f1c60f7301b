import assert from "node:assert/strict";
import { after, test } from "node:test";
import { databaseOf } from "@signsealship/testing/database";
import { startStripe } from "@signsealship/testing/doubles/stripe";
import { forTests } from "@signsealship/testing/for-tests";
import { minimal, orderForm, shipping } from "@signsealship/testing/inputs/order-form";
import { newPartner, ownProcess, startService, temporaryFolder } from "@signsealship/testing/service";
import { until } from "@signsealship/testing/until";
import { sql } from "../../../../src/kernel/platform/database/sql.ts";

const folder = temporaryFolder();

after(() => service.stop());
const stripe = await forTests(startStripe());
let service = await startService({
  DATA_DIR: folder.path,
  RATE_LIMITS: "off",
  ...stripe.settings("test"),
  ...ownProcess,
});
const { headers } = await newPartner(service, { name: "Named Title Co" });
const { headers: live } = await newPartner(service, { live: true });

async function create(fields: Record<string, string> = {}, more: Record<string, string> = {}) {
  const response = await fetch(`${service.baseUrl}/api/partner/orders`, {
    method: "POST",
    headers: { ...headers, ...more },
    body: orderForm({ ...minimal, svc_sign: "true", ...fields }),
  });
  const text = await response.text();
  return {
    status: response.status,
    text,
    body: JSON.parse(text) as { orderCode: string; checkoutUrl: string | null; totalCents: number; status: string },
  };
}

async function checkout(code: string, more: Record<string, string> = {}) {
  const response = await fetch(`${service.baseUrl}/api/partner/orders/${code}/checkout`, {
    method: "POST",
    headers: { ...headers, ...more },
  });
  const text = await response.text();
  return {
    status: response.status,
    replayed: response.headers.get("idempotent-replayed"),
    text,
    body: JSON.parse(text) as { checkoutUrl: string; error: string; requestId: string },
  };
}

const statusOf = async (code: string): Promise<string> =>
  ((await (await fetch(`${service.baseUrl}/api/partner/orders/${code}`, { headers })).json()) as { status: string })
    .status;

const creations = () => stripe.requests.filter(({ path }) => path === "/v1/checkout/sessions");

test("creates a session with the order's sum that names the order and its firm, nothing of the client or the document, and changes nothing", async () => {
  const { body } = await create();
  const answer = await checkout(body.orderCode);
  assert.equal(answer.status, 200);
  const request = creations().at(-1);
  assert.equal(request?.params["client_reference_id"], body.orderCode);
  assert.equal(request?.authorization, "Bearer sk_test_double");
  assert.match(request?.idempotencyKey ?? "", /^checkout:/);
  const text = JSON.stringify(request?.params);
  assert.match(text, new RegExp(`"unit_amount":"${body.totalCents}"`));
  assert.match(text, /"currency":"usd"/);
  assert.match(text, /Document services for Named Title Co, order [0-9A-F]{6}/);
  assert.doesNotMatch(text, /signer@|lien-release/);
  assert.deepEqual(Object.keys(answer.body).sort(), ["checkoutUrl", "requestId"]);
  assert.equal(await statusOf(body.orderCode), "QuoteReady");
});

test("returns the open session again, also to twenty concurrent requests", async () => {
  const { body } = await create();
  const before = creations().length;
  const answers = await Promise.all(Array.from({ length: 20 }, () => checkout(body.orderCode)));
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
  assert.equal(new Set(answers.map((each) => each.body.checkoutUrl)).size, 1);
  const keys = new Set(
    creations()
      .slice(before)
      .map(({ idempotencyKey }) => idempotencyKey),
  );
  assert.equal(keys.size, 1);
});

test("create_checkout returns the same checkout as the route", async () => {
  const { status, body } = await create({ create_checkout: "true" });
  assert.equal(status, 201);
  assert.equal((await checkout(body.orderCode)).body.checkoutUrl, body.checkoutUrl);
});

test("duplicates of an order with a checkout get one equal final answer", async () => {
  const duplicates = await Promise.all(
    Array.from({ length: 8 }, () =>
      create({ create_checkout: "true" }, { "Idempotency-Key": "duplicates-with-checkout" }),
    ),
  );
  assert.deepEqual(new Set(duplicates.map(({ status }) => status)), new Set([201]));
  assert.equal(new Set(duplicates.map(({ text }) => text)).size, 1);
  assert.notEqual(duplicates[0]?.body.checkoutUrl, null);
});

test("an order is stored even when the processor fails at its creation, and its answer is stored", async () => {
  stripe.fail({ status: 500 }, { status: 500 });
  const key = { "Idempotency-Key": "processor-is-down" };
  const first = await create({ create_checkout: "true" }, key);
  assert.equal(first.status, 201);
  assert.equal(first.body.checkoutUrl, null);
  assert.equal((await create({ create_checkout: "true" }, key)).text, first.text);
  assert.equal((await checkout(first.body.orderCode)).status, 200);
});

test("an order that a person must price gets no checkout", async () => {
  const { body } = await create({ create_checkout: "true", ...shipping, ship_state: "PR", ship_postal: "00000" });
  assert.equal(body.status, "ManualQuoteRequired");
  assert.equal(body.checkoutUrl, null);
  const answer = await checkout(body.orderCode);
  assert.equal(answer.status, 409);
  assert.equal(answer.body.error, "An order in ManualQuoteRequired is not payable.");
});

test("a failing processor causes a 502, and the next attempt creates a session", async () => {
  const { body } = await create();
  stripe.fail({ status: 500 }, { status: 500 });
  const failed = await checkout(body.orderCode);
  assert.equal(failed.status, 502);
  assert.equal(failed.body.error, "The payment processor failed to create the checkout session.");
  assert.equal((await checkout(body.orderCode)).status, 200);
});

test("a connection that breaks after the session was created leads to the same session", async () => {
  const { body } = await create();
  const before = stripe.sessions.size;
  stripe.fail("cut", "cut");
  assert.equal((await checkout(body.orderCode)).status, 502);
  const answer = await checkout(body.orderCode);
  assert.equal(answer.status, 200);
  assert.equal(stripe.sessions.size, before + 1);
});

test("an unknown code and another partner's order look the same", async () => {
  const { body } = await create();
  for (const answer of [await checkout("0".repeat(40)), await checkout("x"), await checkout(body.orderCode, live)]) {
    assert.equal(answer.status, 404);
    assert.equal(answer.text, '{"error":"Order not found."}');
  }
});

test("the same Idempotency-Key replays the first answer byte for byte", async () => {
  const { body } = await create();
  const key = { "Idempotency-Key": "checkout-duplicates" };
  const answers = await Promise.all(Array.from({ length: 5 }, () => checkout(body.orderCode, key)));
  assert.equal(new Set(answers.map(({ text }) => text)).size, 1);
  assert.equal(answers.filter(({ replayed }) => replayed === "true").length, 4);
  const other = await create();
  const reused = await checkout(other.body.orderCode, key);
  assert.equal(reused.status, 409);
  assert.match(reused.body.error, /used before with another body/);
  assert.equal((await checkout(body.orderCode, { "Idempotency-Key": "short" })).status, 400);
});

test("the payer's pages lead to the processor and make true statements", async () => {
  const { body } = await create();
  const page = `${service.baseUrl}/orders/${body.orderCode}/checkout`;
  const before = creations().length;
  const followed = await fetch(page, { redirect: "manual" });
  assert.deepEqual([followed.status, followed.headers.get("location")], [303, `/orders/${body.orderCode}`]);
  assert.equal(creations().length, before, "a program that follows links opens no checkout");
  const response = await fetch(page, { method: "POST" });
  assert.equal(response.status, 200);
  const url = (await checkout(body.orderCode)).body.checkoutUrl;
  assert.equal(response.headers.get("refresh"), `0; url=${url}`);
  assert.equal(response.headers.get("referrer-policy"), "no-referrer");
  assert.ok((await response.text()).includes(`href="${url}"`));
  const returned = await (await fetch(`${page}/returned`)).text();
  assert.match(returned, /being confirmed/);
  assert.match(await (await fetch(`${page}/cancelled`)).text(), /Nothing was paid/);
  assert.equal(await statusOf(body.orderCode), "QuoteReady");
  assert.equal((await fetch(`${service.baseUrl}/orders/${"0".repeat(40)}/checkout/returned`)).status, 404);
});

test("an order whose service died before its checkout was created is found again, with its checkout, by the same key", async () => {
  const key = { "Idempotency-Key": "died-on-the-way" };
  stripe.fail("hang", "hang");
  const before = creations().length;
  const lost = create({ create_checkout: "true" }, key).catch(() => null);
  await until(() => creations().length > before);
  await service.kill();
  await lost;
  service = await service.restart();
  const db = await databaseOf(folder.path);
  await db.query(sql`
    UPDATE idempotency_keys SET pending_until = now() - interval '1 s' WHERE pending_until IS NOT NULL`);
  await db.close();
  const found = await create({ create_checkout: "true" }, key);
  assert.equal(found.status, 201);
  assert.notEqual(found.body.checkoutUrl, null);
  assert.equal((await create({ create_checkout: "true" }, key)).text, found.text);
  const keys = new Set(
    creations()
      .slice(before)
      .map(({ idempotencyKey }) => idempotencyKey),
  );
  assert.equal(keys.size, 1);
});
