import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { startStripe } from "@signsealship/testing/doubles/stripe";
import { forTests } from "@signsealship/testing/for-tests";
import { shipping } from "@signsealship/testing/inputs/order-form";
import { rowMacOf } from "@signsealship/testing/row-mac";
import { until } from "@signsealship/testing/until";
import { clientClosing, closingsOf, payableOfClient } from "../../../src/closing/rooms/rooms.ts";
import { issueKey } from "../../../src/firms/partners/partners.ts";
import { systemClock } from "../../../src/kernel/platform/clock.ts";
import { isSealed, sql } from "../../../src/kernel/platform/database/sql.ts";
import { openSecretsKey } from "../../../src/kernel/platform/secrets.ts";
import { markMac } from "../../../src/kernel/retention/marks.ts";
import { clientClosingPath, lockOrder, mailClient } from "../../../src/orders/order/order.ts";
import { insertPayer } from "../../../src/orders/payments/checkout/payers.ts";
import { allowPayAgain, askSupplement } from "../../../src/orders/payments/payments.ts";
import { openRoomsService } from "../../closing/rooms/rooms-service.ts";
import { mailsTo, newMember, postForm } from "../../firms/members/signed-in-member.ts";
import { newOperator } from "../../firms/operators/console-people.ts";

const stripe = await forTests(startStripe());
const running = await forTests(openRoomsService(stripe.settings("test")));
const { service, db } = running;
const secrets = await openSecretsKey(`file:${join(service.dataDir, "keys/secrets")}`);
const firm = await running.partner("ClosingDesk");
const supply = (gap: string | null) => ({ gapOf: async () => gap, refuses: false });
const idOf = async (code: string) =>
  (await db.query<{ id: number }>(sql`SELECT id FROM orders WHERE ${isSealed(sql`code`, "order", code)}`))[0]?.id ?? 0;

let clients = 0;
/** Orders of one new client. */
async function orders(...each: readonly Record<string, string>[]): Promise<string[]> {
  const email = `payer${++clients}@example.com`;
  const codes: string[] = [];
  for (const fields of each) codes.push(await firm.order({ svc_sign: "true", email, ...fields }));
  return codes;
}
async function roomWith(...codes: readonly (string | undefined)[]): Promise<string> {
  const room = await firm.room("Ortega closing");
  for (const orderCode of codes) await firm.ok("POST", `/api/rooms/${room}/orders`, { orderCode });
  return room;
}
const at = (code = "", more = "") => service.baseUrl + clientClosingPath(secrets, code, 0) + more;
const cents = (text = "") => Math.round(Number(text.replaceAll(/[$,]/g, "")) * 100);

/** The amounts of the closing's page: those in its table, and the one in the button. */
async function pageOf(code?: string) {
  const text = await (await fetch(at(code))).text();
  const table = /<table class="money">[\s\S]*?<\/table>/.exec(text)?.[0] ?? "";
  const rows = [...table.matchAll(/<th scope="row">[^<]*<\/th><td>([^<]+)<\/td>/g)].map(([, amount]) => cents(amount));
  const button = /class="pay">[^<]*(\$[\d,.]+)</.exec(text)?.[1];
  return { text, lines: rows.slice(0, -1), total: rows.at(-1), button: button === undefined ? null : cents(button) };
}
const sum = (each: readonly number[]) => each.reduce((total, one) => total + one, 0);
const totalOf = async (code = "") =>
  (await firm.ok<{ totalCents: number }>("GET", `/api/partner/orders/${code}`)).totalCents;

test("the lines are what the button asks for: no cancelled or refunded order, and a supplement that is due", async () => {
  const codes = await orders({}, { svc_fax: "true", fax_to: "+12125550123" }, {}, {});
  const [first, cancelled = "", refunded = "", shipping = ""] = codes;
  await roomWith(...codes);
  await running.setStatus(cancelled, "Cancelled");
  await running.setStatus(refunded, "Refunded");
  await running.setStatus(shipping, "ShippingPending");
  await db.transaction(async (tx) => {
    const order = await lockOrder(tx, shipping);
    const asked = { amountCents: 407, label: "Postage", actor: "system", at: new Date() };
    if (order) await askSupplement(tx, order, asked);
  });
  const shown = await pageOf(first);
  const due = [await totalOf(first), 407];
  assert.deepEqual([shown.lines, shown.total, shown.button], [due, sum(due), sum(due)]);
  assert.match(shown.text, /The parcel waits until \$4\.07 more is paid/);
});

test("the page says that the firm pays only until the last of the firm's orders is cancelled or refunded", async () => {
  const [refunded = "", cancelled = ""] = await orders({ pay_by: "firm" }, { pay_by: "firm" });
  await roomWith(refunded, cancelled);
  await running.setStatus(refunded, "Refunded");
  assert.match((await pageOf(refunded)).text, /The firm that placed these orders pays for them/);
  await running.setStatus(cancelled, "Cancelled");
  const { text } = await pageOf(refunded);
  assert.match(text, /There is nothing to pay now/);
  assert.doesNotMatch(text, /pays for them/);
});

test("an order whose bank payment is under way is named, and the others can be paid at once", async () => {
  const [first = "", second = "", third = ""] = await orders({}, {}, { svc_fax: "true", fax_to: "+12125550123" });
  await roomWith(first, second, third);
  const { checkoutUrl } = await firm.ok<{ checkoutUrl: string }>("POST", `/api/partner/orders/${first}/checkout`);
  await stripe.deliver(service.baseUrl, stripe.payByBank(stripe.sessionOf(checkoutUrl)));
  const shown = await pageOf(second);
  const due = [await totalOf(second), await totalOf(third)];
  assert.deepEqual([shown.lines, shown.button], [due, sum(due)]);
  assert.match(shown.text, /your bank payment is being processed\. There is nothing to pay for it now/);
  assert.doesNotMatch(shown.text, /There is nothing else to do/);
  const opened = await (await fetch(at(second, "/checkout"), { method: "POST" })).text();
  const session = /\/c\/pay\/([\w-]+)/.exec(opened)?.[1] ?? assert.fail(opened);
  assert.equal(stripe.sessions.get(session)?.["amount_total"], sum(due), "the checkout asks for the button's sum");
});

test("an order whose notarization has no notary left is not due, and says so", async () => {
  const [signed = "", notarized = ""] = await orders({}, { svc_notary: "true" });
  await roomWith(signed, notarized);
  await running.setStatus(notarized, "QuoteReady");
  const refusals = async (gap: string | null) =>
    (await clientClosing({ db, notarySupply: supply(gap) }, signed))?.orders.map(({ dueCents, refusal }) => [
      dueCents !== null,
      refusal,
    ]);
  assert.deepEqual(await refusals("No notary."), [
    [true, null],
    [false, "stuck"],
  ]);
  assert.deepEqual(await refusals(null), [
    [true, null],
    [true, null],
  ]);
  const together = await payableOfClient({ db, notarySupply: supply("No notary.") }, signed);
  assert.deepEqual([together.orders.map(({ code }) => code), together.withheld], [[signed], 1]);
});

test("the client is not asked for a payment of the firm that a bank took back", async () => {
  const [code = ""] = await orders({});
  await roomWith(code);
  const { checkoutUrl } = await firm.ok<{ checkoutUrl: string }>("POST", `/api/partner/orders/${code}/checkout`);
  const session = stripe.sessionOf(checkoutUrl);
  const paid = stripe.pay(session);
  await stripe.deliver(service.baseUrl, paid);
  const dispute = stripe.dispute(String(paid.data.object["payment_intent"]), { amount: await totalOf(code) });
  await stripe.deliver(service.baseUrl, dispute);
  await stripe.deliver(service.baseUrl, stripe.endDispute(String(dispute.data.object["id"]), "lost"));
  const asked = { code, environment: "test" as const, actor: "operator:test" };
  await allowPayAgain({ db, clock: () => new Date(), acceptsPayment: () => true }, asked);
  const together = async () => (await payableOfClient({ db, notarySupply: supply(null) }, code)).orders.length;
  assert.match((await pageOf(code)).text, /bank took back your payment/i);
  assert.deepEqual([(await pageOf(code)).button, await together()], [await totalOf(code), 1]);
  const [checkout] = await db.query<{ id: string }>(
    sql`SELECT id FROM checkout_sessions WHERE session_id = ${session}`,
  );
  const { id = "" } = checkout ?? {};
  await db.query(sql`ALTER TABLE checkout_payers DISABLE TRIGGER checkout_payers_stay`);
  await db.query(sql`DELETE FROM checkout_payers WHERE checkout_id = ${id}`);
  await db.query(sql`ALTER TABLE checkout_payers ENABLE TRIGGER checkout_payers_stay`);
  await db.transaction((tx) => insertPayer(tx, id, "firm"));
  const hidesLoss = async () => {
    const shown = await pageOf(code);
    assert.doesNotMatch(shown.text, /took back/i);
    assert.deepEqual([shown.button, await together()], [null, 0]);
  };
  await hidesLoss();
  const setPayer = async (payer: string) => {
    await db.query(sql`ALTER TABLE checkout_payers DISABLE TRIGGER checkout_payers_stay`);
    await db.query(sql`UPDATE checkout_payers SET payer = ${payer} WHERE checkout_id = ${id}`);
    await db.query(sql`ALTER TABLE checkout_payers ENABLE TRIGGER checkout_payers_stay`);
  };
  await setPayer("client");
  await hidesLoss();
  await setPayer("firm");
  const opened = await fetch(`${service.baseUrl}/orders/${code}/checkout`, { method: "POST", redirect: "manual" });
  assert.deepEqual([opened.status, opened.headers.get("location")], [303, `/orders/${code}`]);
});

test("the mail and the page are about the same room of an order that is in several", async () => {
  const [first = "", second = "", third = ""] = await orders({}, {}, {});
  const [other = ""] = await orders({});
  await roomWith(first, second);
  await roomWith(first, third);
  await roomWith(other, first);
  const ids = await Promise.all([first, third].map(idOf));
  const [mailed] = await closingsOf(db, ids[0] ?? 0);
  assert.deepEqual(mailed?.orders, ids, "the room with more orders of the client, attached last");
  const shown = await clientClosing({ db, notarySupply: supply(null) }, first);
  assert.deepEqual(
    shown?.orders.map(({ id }) => id),
    ids,
  );
});

test("the link of an order that stays pays those that stay when another leaves the room", async () => {
  const [first = "", second = "", third = ""] = await orders({}, {}, {});
  const room = await roomWith(first, second, third);
  await firm.ok("DELETE", `/api/rooms/${room}/orders/${first}`);
  assert.equal((await pageOf(second)).button, (await totalOf(second)) + (await totalOf(third)));
});

test("the link of an order that left its room leads to the order's own page", async () => {
  const [first = "", second = ""] = await orders({}, {});
  const room = await roomWith(first, second);
  await firm.ok("DELETE", `/api/rooms/${room}/orders/${first}`);
  for (const [method, more] of [
    ["GET", ""],
    ["POST", "/checkout"],
  ] as const) {
    const answer = await fetch(at(first, more), { method, redirect: "manual" });
    assert.deepEqual([answer.status, answer.headers.get("location")], [303, `/orders/${first}`], method);
  }
  assert.equal((await fetch(at(first).replace(/[0-9a-f]{40}$/, "0".repeat(40)))).status, 404);
});

test("the page shows the parcel with its recorded dates, and mails the client one link to each finished document", async () => {
  const [note = "", deed = ""] = await orders({}, { ...shipping, svc_ship: "true" });
  await roomWith(note, deed);
  const email = `payer${clients}@example.com`;
  const finished = () => mailsTo(service, email).filter((mail) => mail.includes("Your documents are complete"));
  const ask = async () => (await fetch(at(note, "/documents"), { method: "POST", redirect: "manual" })).headers;
  for (const code of [note, deed]) await firm.ok("POST", `/api/partner/sandbox/orders/${code}/checkout`);
  assert.doesNotMatch((await pageOf(note)).text, /Handed over|Get your documents/);
  const outcomeAt = (outcome: string) => `${clientClosingPath(secrets, note, 0)}/documents/${outcome}`;
  assert.equal((await ask()).get("location"), outcomeAt("unsent"));
  const advance = async (code: string, to: string) => {
    const passed: string[] = [];
    while (passed.at(-1) !== to && passed.length < 12)
      passed.push((await firm.ok<{ status: string }>("POST", `/api/partner/sandbox/orders/${code}/advance`)).status);
    assert.equal(passed.at(-1), to, passed.join());
  };
  await advance(deed, "EsignComplete");
  await service.cli("order", "move", deed, "Shipped", "--carrier", "UPS", "--tracking", "1Z999");
  const sent = (await pageOf(note)).text;
  assert.match(sent, /<dt>Handed over<\/dt><dd>\w{3} \d{1,2}, \d{4}, E[SD]T<\/dd>/, "in the firm's time zone");
  assert.doesNotMatch(sent, /Recorded as delivered/);
  await advance(deed, "Completed");
  assert.match((await pageOf(note)).text, /<dt>Recorded as delivered<\/dt><dd>\w{3} \d/);
  await advance(note, "Completed");
  const inSpanish = await (await fetch(`${at(note)}?lang=es`)).text();
  assert.match(inSpanish, /<dt>Entrega registrada<\/dt><dd>\d{1,2} [a-z]+ \d{4}/);
  assert.match(inSpanish, /action="[^"]*\/documents\?lang=es"/);
  await until(() => finished().length === 1 || undefined);
  for (const outcome of ["sent", "sent", "sent", "unsent"])
    assert.equal((await ask()).get("location"), outcomeAt(outcome));
  await until(() => finished().length === 4 || undefined);
  for (const mail of finished())
    for (const code of [note, deed]) assert.ok(mail.includes(`/orders/${code}/documents/`), mail);
  assert.equal((await fetch(at(note, "/documents"))).status, 405, "programs that follow links ask for nothing");
  const stranger = at(note, "/documents").replace(/[0-9a-f]{40}(?=\/documents)/, "0".repeat(40));
  assert.equal((await fetch(stranger, { method: "POST" })).status, 404);
  assert.equal((await fetch(`${stranger}/sent`)).status, 404);
  const page = await (await fetch(service.baseUrl + outcomeAt("sent"))).text();
  assert.ok(page.includes(`<a href="${clientClosingPath(secrets, note, 0)}">`), "the way back leads to the closing");
});

test("the mail with the links to documents leaves out an order whose documents were deleted since", async () => {
  const codes = await orders({}, {}, {});
  await roomWith(...codes);
  const email = `payer${clients}@example.com`;
  const ids = await Promise.all(codes.map(idOf));
  for (const code of codes) {
    await firm.ok("POST", `/api/partner/sandbox/orders/${code}/checkout`);
    await running.setStatus(code, "Completed");
  }
  const deleteDocuments = async (orderId = 0) => {
    const [document] = await db.query<{ blobKey: string }>(
      sql`SELECT blob_key AS "blobKey" FROM documents WHERE order_id = ${orderId} LIMIT 1`,
    );
    const mark = { blobKey: document?.blobKey ?? "", rule: "test", deletedAt: new Date() };
    await db.query(sql`
      INSERT INTO deleted_blobs (blob_key, rule, deleted_at, row_mac)
      VALUES (${mark.blobKey}, ${mark.rule}, ${mark.deletedAt}, ${markMac(running.rowMac, mark)})`);
  };
  const mails = () => mailsTo(service, email).filter((mail) => mail.includes("Your documents are complete"));
  const ask = async () => {
    await db.transaction((tx) => mailClient(tx, ids[0] ?? 0, "completed", new Date(), { isWhole: true }));
    await until(
      async () => (await db.query(sql`SELECT FROM jobs WHERE queue = 'order-mail'`)).length === 0 || undefined,
    );
    return mails().length;
  };
  await deleteDocuments(ids[1]);
  assert.equal(await ask(), 1);
  const [mail = ""] = mails();
  assert.deepEqual(
    codes.map((code) => mail.includes(`/orders/${code}/documents/`)),
    [true, false, true],
  );
  for (const id of [ids[0], ids[2]]) await deleteDocuments(id);
  assert.equal(await ask(), 1, "no document is left");
});

test("an order with an altered receipt opens for its client, its firm and operators, and its page says which part is missing", async () => {
  const [altered = "", other = ""] = await orders({}, {});
  await roomWith(altered, other);
  for (const code of [altered, other]) {
    const { checkoutUrl } = await firm.ok<{ checkoutUrl: string }>("POST", `/api/partner/orders/${code}/checkout`);
    assert.equal((await stripe.deliver(service.baseUrl, stripe.pay(stripe.sessionOf(checkoutUrl)))).status, 200);
  }
  await db.query(sql`
    UPDATE billing_documents SET row_mac = NULL
    WHERE payment_id IN (SELECT id FROM payments WHERE order_id = ${await idOf(altered)})`);
  const missing = /Some receipts can’t be shown: a record of a payment was altered/;
  const shown = await fetch(`${service.baseUrl}/orders/${altered}`, { headers: { Accept: "text/html" } });
  assert.equal(shown.status, 200);
  assert.match(await shown.text(), missing);
  const closing = await pageOf(other);
  assert.match(closing.text, missing);
  assert.match(closing.text, /\/receipts\/[^"]+" download>Receipt /);

  const deps = { db, clock: systemClock, rowMac: await rowMacOf(service.dataDir) };
  const { key } = await issueKey(deps, firm.partnerId, "test");
  const { headers } = await newMember(service, "owner@altered-receipt.example", key);
  const ofFirm = await fetch(`${service.baseUrl}/dashboard/orders/${altered}`, { headers });
  assert.equal(ofFirm.status, 200);
  const text = await ofFirm.text();
  assert.match(text, missing);
  assert.match(text, /This order’s payments can’t be shown/);

  const { cookie } = await newOperator(running, { roles: ["agent"] });
  await postForm(`${service.baseUrl}/operator/environment`, { environment: "test" }, { cookie });
  const ofOperator = await fetch(`${service.baseUrl}/operator/orders/${altered}`, { headers: { cookie } });
  assert.equal(ofOperator.status, 200);
  assert.match(await ofOperator.text(), /A receipt was altered in the database/);
});
