import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { minimal, orderForm, shipping } from "@signsealship/testing/inputs/order-form";
import { newPartner, startService, temporaryFolder } from "@signsealship/testing/service";
import { until } from "@signsealship/testing/until";

const folder = temporaryFolder();

const service = await forTests(startService({ DATA_DIR: folder.path, RATE_LIMITS: "off" }));
const partner = await newPartner(service);
const { key } = await service.cli("key", "issue", partner.partnerId);
const liveKey = { Authorization: `Bearer ${key}` };

const everything = { svc_sign: "true", svc_notary: "true", ...shipping, fax_to: "2125550123" };

async function place(
  fields: Record<string, string>,
  headers = partner.headers,
  document?: Uint8Array,
): Promise<string> {
  const body = orderForm({ ...minimal, ...fields }, document);
  const response = await fetch(`${service.baseUrl}/api/partner/orders`, { method: "POST", headers, body });
  return ((await response.json()) as { orderCode: string }).orderCode;
}

type Answer = {
  status: string;
  firedEvents: string[];
  error: string;
  checkoutUrl: string;
  requestId: string;
  outcome: string;
  warnings?: string[];
};

async function sandbox(code: string, action: "checkout" | "advance", body?: unknown, headers = partner.headers) {
  const response = await fetch(`${service.baseUrl}/api/partner/sandbox/orders/${code}/${action}`, {
    method: "POST",
    headers: { ...headers, ...(body !== undefined && { "Content-Type": "application/json" }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { http: response.status, ...((await response.json()) as Answer) };
}

const brief = ({ http, status, firedEvents }: Awaited<ReturnType<typeof sandbox>>) => [http, status, firedEvents];

type Quote = { lines: { amountCents: number }[]; subtotalCents: number; discountCents: number; totalCents: number };

type OrderShown = {
  envelopeStatus: string;
  documents: { kind: string }[];
  shipments: { status: string; carrier: string; trackingNumber: string }[];
  faxes: { status: string }[];
  history: { toStatus: string }[];
};

test("an unknown member for the sandbox is named in the answer", async () => {
  const code = await place({ svc_sign: "true" });
  assert.deepEqual((await sandbox(code, "checkout", { outcom: "decline" })).warnings, [
    'outcom is not a field of this request and was ignored: did you mean "outcome"?',
  ]);
  assert.equal((await sandbox(code, "advance", { event: null })).warnings, undefined);
});

test("passes every milestone to the end, and creates real artifacts", async () => {
  const code = await place(everything);
  assert.deepEqual(brief(await sandbox(code, "advance")), [200, "EsignPending", ["payment.cleared"]]);
  assert.deepEqual(brief(await sandbox(code, "advance")), [200, "EsignComplete", ["signature.completed"]]);
  assert.deepEqual(brief(await sandbox(code, "advance", { event: null })), [200, "Delivered", ["shipment.delivered"]]);
  assert.deepEqual(brief(await sandbox(code, "advance", {})), [200, "Completed", []]);
  assert.deepEqual(brief(await sandbox(code, "advance")), [200, "Completed", []]);
  const shown = await service.cli<OrderShown>("order", "show", code);
  assert.equal(shown.envelopeStatus, "Completed");
  assert.deepEqual(
    shown.documents.map(({ kind }) => kind),
    ["original", "sealed", "notarized"],
  );
  assert.deepEqual(
    shown.faxes.map(({ status }) => status),
    ["Delivered"],
  );
  const tracking = `TEST${code.slice(0, 12).toUpperCase()}`;
  assert.deepEqual(
    shown.shipments.map(({ status, carrier, trackingNumber }) => [status, carrier, trackingNumber]),
    [["Delivered", "Test Carrier", tracking]],
  );
  assert.deepEqual(
    shown.history.slice(1).map(({ toStatus }) => toStatus),
    [
      "QuoteReady",
      "Paid",
      "EsignPending",
      "EsignComplete",
      "NotarizationPending",
      "NotarizationComplete",
      "ShippingPending",
      "Shipped",
      "Delivered",
      "FaxPending",
      "FaxSent",
      "FaxDelivered",
      "Completed",
    ],
  );
});

test("moves straight to a named milestone, and does nothing for a passed one", async () => {
  const code = await place(everything);
  const there = await sandbox(code, "advance", { event: "shipment.delivered" });
  assert.deepEqual(brief(there), [200, "Delivered", ["payment.cleared", "signature.completed", "shipment.delivered"]]);
  assert.deepEqual(brief(await sandbox(code, "advance", { event: "payment.cleared" })), [200, "Delivered", []]);
});

test("an order of one service skips the others", async () => {
  const code = await place({ svc_notary: "true" });
  assert.deepEqual(brief(await sandbox(code, "advance")), [200, "NotarizationPending", ["payment.cleared"]]);
  assert.deepEqual(brief(await sandbox(code, "advance")), [200, "Completed", []]);
});

test("a milestone of a service that was not bought gets a 409", async () => {
  const code = await place({ svc_sign: "true" });
  for (const event of ["shipment.delivered"]) {
    const answer = await sandbox(code, "advance", { event });
    assert.equal(answer.http, 409);
    assert.match(answer.error, /never reaches shipment.delivered/);
  }
  assert.deepEqual(brief(await sandbox(code, "checkout")), [200, "EsignPending", ["payment.cleared"]]);
});

test("each outcome of a payment gives the order the same status as the processor would", async () => {
  const code = await place({ svc_sign: "true" });
  const steps: [object | undefined, string, string[]][] = [
    [{ outcome: "decline" }, "PaymentFailed", []],
    [{ outcome: "cancel" }, "AwaitingPayment", []],
    [{ outcome: "decline" }, "PaymentFailed", []],
    [{ outcome: "delayed" }, "AwaitingPayment", []],
    [{ outcome: "success" }, "EsignPending", ["payment.cleared"]],
    [{ outcome: "success" }, "EsignPending", []],
    [{ outcome: "decline" }, "EsignPending", []],
    [undefined, "EsignPending", []],
  ];
  for (const [body, status, fired] of steps) {
    const answer = await sandbox(code, "checkout", body);
    assert.deepEqual(brief(answer), [200, status, fired], JSON.stringify(body));
    assert.equal(answer.checkoutUrl, `${service.baseUrl.replace("127.0.0.1", "localhost")}/orders/${code}`);
    assert.deepEqual(Object.keys(answer).sort(), [
      "checkoutUrl",
      "firedEvents",
      "http",
      "orderCode",
      "outcome",
      "requestId",
      "status",
    ]);
  }
});

test("a live order gets a 409, an unknown or another firm's a 404, an invalid value a 400", async () => {
  const live = await place({ svc_sign: "true" }, liveKey);
  for (const headers of [partner.headers, liveKey]) {
    const answer = await sandbox(live, "advance", undefined, headers);
    assert.equal(answer.http, 409);
    assert.equal(answer.error, "The sandbox takes test orders only.");
  }
  const mine = await place({ svc_sign: "true" });
  assert.equal((await sandbox(mine, "advance", undefined, liveKey)).http, 404);
  const other = await newPartner(service);
  assert.equal((await sandbox(mine, "checkout", undefined, other.headers)).http, 404);
  assert.equal((await sandbox("0".repeat(40), "checkout")).http, 404);
  for (const body of [{ outcome: "maybe" }, { outcome: null }, { outcome: 5 }, [], "x"])
    assert.equal((await sandbox(mine, "checkout", body)).http, 400);
  for (const event of ["order.created", 1, "", {}]) assert.equal((await sandbox(mine, "advance", { event })).http, 400);
});

test("an order that a person must price cannot be paid before", async () => {
  const code = await place({ ...shipping, ship_state: "PR", ship_postal: "00000" });
  assert.equal((await sandbox(code, "checkout")).http, 409);
  assert.equal((await sandbox(code, "advance")).http, 409);
  const priced = await service.cli(
    "order",
    "move",
    code,
    "QuoteReady",
    "--amount-cents",
    "1234",
    "--label",
    "Postage by hand",
  );
  assert.equal(priced["status"], "QuoteReady");
  const response = await fetch(`${service.baseUrl}/api/partner/orders/${code}`, { headers: partner.headers });
  const { lines, subtotalCents, discountCents, totalCents } = (await response.json()) as Quote;
  assert.deepEqual(lines.at(-1), { type: "ServiceAdjustment", label: "Postage by hand", amountCents: 1234 });
  assert.equal(
    lines.reduce((sum, line) => sum + line.amountCents, 0),
    subtotalCents,
  );
  assert.equal(totalCents, subtotalCents - discountCents);
  assert.equal((await sandbox(code, "checkout")).status, "ShippingPending");
});

test("a person lowers a price by a negative amount, in a word of its own or after an equals sign", async () => {
  for (const amount of [["--amount-cents", "-180"], ["--amount-cents=-180"]]) {
    const code = await place({ ...shipping, ship_state: "PR", ship_postal: "00000" });
    assert.equal((await service.cli("order", "move", code, "QuoteReady", ...amount))["status"], "QuoteReady");
    const response = await fetch(`${service.baseUrl}/api/partner/orders/${code}`, { headers: partner.headers });
    assert.equal(((await response.json()) as Quote).lines.at(-1)?.amountCents, -180);
  }
});

test("ten concurrent requests complete an order once", async () => {
  const code = await place(everything);
  const answers = await Promise.all(
    Array.from({ length: 10 }, () => sandbox(code, "advance", { event: "shipment.delivered" })),
  );
  assert.deepEqual(new Set(answers.map(({ http }) => http)), new Set([200]));
  const fired = answers.flatMap(({ firedEvents }) => firedEvents).sort();
  assert.deepEqual(fired, ["payment.cleared", "shipment.delivered", "signature.completed"]);
  const { documents } = await service.cli<OrderShown>("order", "show", code);
  assert.equal(documents.length, 3);
});

test("a document that cannot be sealed is replaced by a page that explains it, when signing is not bought", async () => {
  const header = Buffer.from("%PDF-1.4\nno more than a header\n%%EOF");
  const code = await place({ svc_notary: "true" }, partner.headers, header);
  let { status } = await sandbox(code, "checkout");
  for (let steps = 0; status !== "Completed" && steps < 10; steps++) ({ status } = await sandbox(code, "advance"));
  assert.equal(status, "Completed");
  const { documents } = await service.cli<OrderShown>("order", "show", code);
  assert.equal(documents.length, 2);
});

test("mails to the client of a test order are only stored in the outbox", async () => {
  const code = await place({ svc_sign: "true", email: `${"x".repeat(10)}@example.com` });
  await sandbox(code, "checkout");
  const outbox = join(folder.path, "outbox");
  const mail = await until(() => {
    const names = readdirSync(folder.path).includes("outbox") ? readdirSync(outbox) : [];
    return names
      .filter((name) => name.endsWith(".eml"))
      .map((name) => readFileSync(join(outbox, name), "utf8"))
      .find((text) => text.includes("xxxxxxxxxx@example.com"));
  });
  assert.match(mail, /Subject: TEST: \[Acme Title\] .*please sign/);
  assert.match(mail, /Your payment of \$[\d.]+ has cleared/);
});
