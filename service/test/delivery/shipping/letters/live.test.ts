import assert from "node:assert/strict";
import { type LobDouble, startLob } from "@signsealship/testing/doubles/lob";
import { type StripeDouble, startStripe } from "@signsealship/testing/doubles/stripe";
import { type Harness, openHarness } from "@signsealship/testing/harness";
import { minimal, orderForm, shipping } from "@signsealship/testing/inputs/order-form";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { newPartner, ownProcess } from "@signsealship/testing/service";
import { testsNeeding } from "@signsealship/testing/tools/tools";
import { until } from "@signsealship/testing/until";
import { isSealed, sql } from "../../../../src/kernel/platform/database/sql.ts";

const { after, before, test } = testsNeeding("mupdf");

/** How often the test kills the service. After each kill, the service is started again. */
const kills = Number(process.env["KILLS"] ?? 2);

let harness: Harness;
let lob: LobDouble;
let stripe: StripeDouble;
let headers: { Authorization: string };

before(async () => {
  [lob, stripe] = await Promise.all([startLob(), startStripe()]);
  harness = await openHarness({
    ...stripe.settings("live"),
    LOB_API_KEY: lob.apiKey,
    LOB_WEBHOOK_SECRET: lob.webhookSecret,
    LOB_API_BASE: lob.apiBase,
    ...ownProcess,
  });
  ({ headers } = await newPartner(harness.service, { live: true }));
});
after(async () => {
  await harness.close();
  await Promise.all([lob.close(), stripe.close()]);
});

const baseUrl = () => harness.service.baseUrl;
const pdf = makePdf({ pages: 3, text: "Lien release" });

const comesTo = (code: string, status: string) =>
  until(
    async () =>
      (
        await harness.db.query(
          sql`SELECT FROM orders WHERE ${isSealed(sql`code`, "order", code)} AND status = ${status}`,
        )
      ).length === 1,
  );

type OrderShown = { status: string; shipments: { status: string; carrier: string; trackingNumber: string }[] };

test("a live order goes from payment to Delivered without people", async () => {
  const fields = { ...minimal, ...shipping, ship_method: "print_mail", create_checkout: "true" };
  const body = orderForm(fields, pdf);
  const answer = await fetch(`${baseUrl()}/api/partner/orders`, { method: "POST", headers, body });
  const { orderCode, checkoutUrl } = (await answer.json()) as { orderCode: string; checkoutUrl: string };
  assert.equal(lob.requests.length, 0);
  await stripe.deliver(baseUrl(), stripe.pay(stripe.sessionOf(checkoutUrl)));

  const letter = await until(() => [...lob.letters.values()][0]);
  assert.ok(lob.files.get(letter.id)?.equals(pdf), "nothing is put before the document");
  assert.deepEqual([letter.extra_service, letter["use_type"]], ["certified", "operational"]);
  assert.equal((letter["from"] as { name: string }).name, "SignSealShip");

  await until(async () => (await harness.db.query(sql`SELECT FROM letters`)).length === 1);
  const [mailed] = await lob.deliver(baseUrl(), lob.happens(letter.id, "letter.certified.mailed"), { twice: true });
  assert.equal(mailed?.status, 200);
  await comesTo(orderCode, "Shipped");
  await lob.deliver(baseUrl(), lob.happens(letter.id, "letter.certified.delivered"));
  await comesTo(orderCode, "Delivered");
  const { shipments } = await harness.service.cli<OrderShown>("order", "show", orderCode);
  assert.deepEqual(
    shipments.map(({ status, carrier, trackingNumber }) => [status, carrier, trackingNumber]),
    [["Delivered", "USPS Certified Mail", letter.tracking_number]],
  );
  assert.equal(lob.letters.size, 1);
  await until(
    async () => (await harness.db.query(sql`SELECT FROM documents WHERE kind = 'mail_receipt'`)).length === 1,
  );
});

test("events without a recent valid signature of Lob over these bytes move nothing and are not stored", async () => {
  const [letter] = lob.letters.values();
  const event = lob.happens(letter?.id ?? "", "letter.certified.returned_to_sender");
  for (const how of [{ forged: true }, { late: true }, { otherSecret: true }]) {
    const [answer] = await lob.deliver(baseUrl(), event, how);
    assert.equal(answer?.status, 400, JSON.stringify(how));
  }
  assert.deepEqual(await harness.db.query(sql`SELECT FROM provider_events WHERE event_id = ${event.id}`), []);
});

test(`a service that is killed after Lob accepted a letter finds the letter there, and sends no second one: ${kills} times`, async () => {
  for (let n = 0; n < kills; n++) {
    const before = lob.letters.size;
    lob.fail("silent");
    const fields = { ...minimal, ...shipping, ship_method: "print_mail", create_checkout: "true" };
    const answer = await fetch(`${baseUrl()}/api/partner/orders`, {
      method: "POST",
      headers,
      body: orderForm(fields, pdf),
    });
    const { orderCode, checkoutUrl } = (await answer.json()) as { orderCode: string; checkoutUrl: string };
    await stripe.deliver(baseUrl(), stripe.pay(stripe.sessionOf(checkoutUrl)));
    await until(() => lob.letters.size === before + 1);
    await harness.service.kill();
    const ofOrder = sql`order_id = (SELECT id FROM orders WHERE ${isSealed(sql`code`, "order", orderCode)})`;
    const { db } = harness;
    assert.equal((await db.query(sql`SELECT FROM provider_calls WHERE ${ofOrder} AND state = 'begun'`)).length, 1);
    assert.equal((await db.query(sql`SELECT FROM letters WHERE ${ofOrder}`)).length, 0);
    // Expires the lease of the killed node, and the waiting time before the look-up.
    await db.query(sql`UPDATE provider_calls SET begun_at = begun_at - interval '3 minutes' WHERE ${ofOrder}`);
    await db.query(sql`UPDATE jobs SET due_at = now() WHERE queue = 'provider-act-lob'`);
    harness.service = await harness.service.restart();
    await until(async () => (await db.query(sql`SELECT FROM letters WHERE ${ofOrder}`)).length === 1);
    assert.equal(lob.letters.size, before + 1);
  }
});
