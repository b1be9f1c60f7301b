import assert from "node:assert/strict";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { minimal, orderForm, shipping } from "@signsealship/testing/inputs/order-form";
import { until } from "@signsealship/testing/until";
import { sql } from "../../../../../src/kernel/platform/database/sql.ts";
import { newSecret, newUuid } from "../../../../../src/kernel/platform/ids.ts";
import { openMembersService } from "../../../../firms/members/members-service.ts";
import { newMember, postForm } from "../../../../firms/members/signed-in-member.ts";

const running = await forTests(openMembersService());
const { db, service } = running;
const path = "/dashboard/orders/new";

/** A firm with a card on file, and two of its members: an owner, and a colleague who is not an owner. */
async function firmWithCard() {
  const { key, partnerId } = await running.newPartner();
  const replaceCard = async () => {
    const card = await running.call("/api/partner/sandbox/billing/method", {
      method: "POST",
      headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/json" },
      body: JSON.stringify({ method: "card" }),
    });
    assert.ok(card.status < 300, JSON.stringify(card.body));
  };
  await replaceCard();
  const owner = await newMember(service, running.somebody(), key);
  const email = running.somebody();
  const colleague = await newMember(service, email, key);
  type Listed = { members: { userId: string; email: string }[] };
  const { members } = await service.cli<Listed>("member", "list", partnerId);
  const userId = members.find((each) => each.email === email)?.userId ?? "";
  await service.cli("member", "set", userId, "member");
  const quoted =
    (headers: Record<string, string>) =>
    async (fields: Record<string, string> = {}) =>
      (
        await postForm(
          `${service.baseUrl}${path}/quote`,
          { svc_sign: "on", pay_by: "firm", pages: "3", ...fields },
          headers,
        )
      ).text();
  return {
    partnerId,
    replaceCard,
    quoteByOwner: quoted(owner.headers),
    quote: quoted(colleague.headers),
    async place(fields: Record<string, string>) {
      const body = orderForm({ ...minimal, svc_sign: "on", pay_by: "firm", ...fields });
      const answer = await fetch(service.baseUrl + path, {
        method: "POST",
        redirect: "manual",
        headers: { ...colleague.headers, Accept: "text/html" },
        body,
      });
      return { status: answer.status, text: await answer.text(), location: answer.headers.get("location") ?? "" };
    },
    page: async (at: string) => (await running.call(at, { headers: colleague.headers })).body as string,
    async limit(perOrder: string, perMonth: string) {
      const form = { spender: `member:${userId}`, perOrder, perMonth };
      const { status } = await postForm(`${service.baseUrl}/dashboard/billing/limits`, form, owner.headers);
      assert.equal(status, 303);
    },
    async orders() {
      const [found] = await db.query<{ orders: number }>(
        sql`SELECT count(*)::int AS orders FROM orders WHERE partner_id = ${partnerId}`,
      );
      return found?.orders;
    },
  };
}

const none =
  /data-place="Place without a charge" data-another="Place without a charge, and start another for this client"/;
const toPuertoRico = { ...shipping, svc_ship: "on", ship_state: "PR", ship_postal: "00901" };
const methodIn = (quote: string): string => /name="charged_method" value="([^"]+)"/.exec(quote)?.[1] ?? "";
const orderAt = ({ location }: { location: string }) => location.split("?")[0];
const notAgreed =
  /Your firm’s payment: Not charged\. Nobody agreed to a charge when it was placed\.[\s\S]*Charge \$\d+\.\d\d to Visa/;
const chargeEnded = () =>
  until(
    async () =>
      (await db.query(sql`SELECT FROM jobs WHERE queue IN ('firm-charge', 'firm-wait')`)).length === 0 || undefined,
  );

test("names the spending limit that will refuse the charge before the order is placed, and the button names no charge", async () => {
  const firm = await firmWithCard();
  const charge = /data-place="Place and charge \$12\.00 to Visa •••• \d{4}"/;
  const form = await firm.page(path);
  assert.match(form, /Who pays[\s\S]*?Nothing goes out for signature, and no work begins, before the price is paid\./);
  const unlimited = await firm.quote();
  assert.match(unlimited, /Nobody is charged: an owner has not allowed you to spend for your firm\./);
  assert.match(unlimited, /An owner can charge Visa •••• \d{4} on the order’s page/);
  assert.match(unlimited, none);
  assert.match(await firm.quoteByOwner(), charge);
  await firm.limit("10", "100");
  const aboveOrder = await firm.quote();
  assert.match(aboveOrder, /Nobody is charged: \$12\.00 is above your limit for one order, \$10\.00\./);
  assert.match(aboveOrder, none);
  const { status, location } = await firm.place({ total_cents: "1200" });
  assert.equal(status, 303);
  await until(async () => (await firm.page(location)).includes("above the limit for one order"));
  await firm.limit("20", "20");
  assert.match(await firm.quote(), charge);
  const charged_method = methodIn(await firm.quote());
  const placed = await firm.place({ total_cents: "1200", charged_method, external_reference: "Within the limit" });
  await until(async () => !/Charge \$/.test(await firm.page(placed.location)) || undefined);
  assert.doesNotMatch(await firm.page(placed.location), /Not charged/);
  const aboveMonth = await firm.quote();
  assert.match(aboveMonth, /Nobody is charged: \$12\.00 is above what is left of your limit for this month, \$8\.00\./);
  assert.match(aboveMonth, none);
  const open = await firm.quote({ svc_ship: "on" });
  assert.match(open, /Nobody is charged if the price stays above/);
  assert.doesNotMatch(open, /data-place/, "the price can still fall below the limit");
});

test("while the postage depends on pages that are not counted, the button names the highest sum that is charged", async () => {
  const firm = await firmWithCard();
  const { quoteByOwner } = firm;
  const { svc_ship: _, ...to } = shipping;
  const counted = await quoteByOwner({ ...to, svc_ship: "on" });
  assert.match(counted, /data-place="Place and charge \$\d+\.\d\d to Visa/);
  assert.match(counted, /name="total_cents" value="\d+"/);
  const uncounted = await quoteByOwner({ ...to, svc_ship: "on", pages: "" });
  assert.match(uncounted, /data-place="Place and charge at most \$\d+\.\d\d to Visa •••• \d{4}"/);
  assert.match(uncounted, /A higher price charges nobody: the order’s page shows it, and charges it\./);
  assert.doesNotMatch(uncounted, /total_cents/);
  await firm.limit("500", "5000");
  const form = { ...to, svc_ship: "on", charged_method: methodIn(uncounted) };
  const max = Number(/name="most_cents" value="(\d+)"/.exec(uncounted)?.[1]);
  const [higher, same] = [
    await firm.place({ ...form, most_cents: String(max - 1), email: "higher@example.com" }),
    await firm.place({ ...form, most_cents: String(max), email: "same@example.com" }),
  ];
  assert.deepEqual([higher.status, same.status], [303, 303], higher.text + same.text);
  assert.match(await firm.page(higher.location), /nobody was charged\. It waits for your firm’s payment\./);
  await chargeEnded();
  assert.match(await firm.page(higher.location), notAgreed);
  await until(async () => !/Charge \$/.test(await firm.page(same.location)) || undefined);
  assert.doesNotMatch(await firm.page(same.location), /Not charged/);
});

test("an order whose price is not the one that the form showed is not placed; the form shows the price and places it then", async () => {
  const firm = await firmWithCard();
  await firm.limit("50", "50");
  const form = { submission: newSecret(), email: `${newUuid()}@example.com` };
  const refused = await firm.place({ ...form, total_cents: "1100" });
  assert.equal(refused.status, 400);
  assert.match(refused.text, /The price is \$12\.00 now, not \$11\.00\. Nothing was placed, and nobody was charged\./);
  assert.equal(await firm.orders(), 0);
  assert.match(refused.text, /We kept <strong/, "the file need not be chosen again");
  const placed = await firm.place({ ...form, total_cents: "1200" });
  assert.equal(placed.status, 303, placed.text);
  const again = await firm.place({ ...form, total_cents: "1100" });
  assert.equal(orderAt(again), orderAt(placed), "the same form places one order, whichever price it showed");
  assert.equal(await firm.orders(), 1);
  for (const total_cents of ["", "x", "-1"])
    assert.equal((await firm.place({ email: "other@example.com", total_cents })).status, 400);
  const unseen = await firm.place({ email: "other@example.com" });
  assert.equal(unseen.status, 303, "without a script no price is shown");
  await chargeEnded();
  const page = await firm.page(unseen.location);
  assert.match(page, notAgreed, "a price that nobody saw is not charged");
  assert.match(page, /The order was placed, and nobody was charged\. It waits for your firm’s payment\./);
  const mails = await db.query(sql`
    SELECT FROM jobs WHERE queue = 'firm-waiting-mail' AND payload ->> 'partnerId' = ${firm.partnerId}`);
  assert.equal(mails.length, 1, "the owner is mailed that it waits");
  const old = await firm.place({ email: "old@example.com", total_cents: "1200" });
  await chargeEnded();
  assert.match(await firm.page(old.location), notAgreed, "a form that names no card charges none");
});

test("says that an order without a price is charged only after somebody of the firm has seen the price", async () => {
  const { quoteByOwner, quote } = await firmWithCard();
  const unpriced = await quoteByOwner(toPuertoRico);
  assert.match(
    unpriced,
    /We price it first, and charge nobody then\. Visa •••• \d{4} is charged when somebody of your firm has seen the price/,
  );
  assert.match(unpriced, none);
  assert.match(unpriced, /name="charged_method" value="none"/);
  assert.doesNotMatch(unpriced, /total_cents/);
  assert.match(await quote(toPuertoRico), /an owner has not allowed you to spend/);
  assert.match(await quoteByOwner({ ...toPuertoRico, pay_by: "client" }), /We tell you the price first\./);
});

test("an order that a person has to price is refused if the form showed a price; placed without one, it is not charged", async () => {
  const firm = await firmWithCard();
  await firm.limit("50", "50");
  const form = { ...toPuertoRico, submission: newSecret(), email: `${newUuid()}@example.com` };
  const charged_method = methodIn(await firm.quote());
  for (const shown of [{ total_cents: "1200" }, { charged_method }, { total_cents: "1200", charged_method: "none" }]) {
    const refused = await firm.place({ ...form, ...shown });
    assert.equal(refused.status, 400, JSON.stringify(shown));
    assert.match(
      refused.text,
      /“Place it without a price: a person sets the price” must be ticked: a person has to set the price\. There is no postage rate for the address\. Nothing was placed, and nobody was charged\./,
    );
    assert.match(refused.text, /name="price_first"/);
  }
  assert.equal(await firm.orders(), 0);
  assert.doesNotMatch(await firm.page(path), /name="price_first"/);
  const priceFirst = await firm.quote({ price_first: "on" });
  assert.match(priceFirst, none);
  assert.doesNotMatch(priceFirst, /total_cents/);
  const placed = await firm.place({ ...form, total_cents: "1200", charged_method, price_first: "on" });
  assert.equal(placed.status, 303, placed.text);
  const again = await firm.place({ ...form, total_cents: "1200" });
  assert.equal(orderAt(again), orderAt(placed), "one form, one order");
  const priced = await firm.place({ email: "other@example.com", price_first: "on", total_cents: "1200" });
  assert.equal(priced.status, 303, priced.text);
  await chargeEnded();
  assert.match(await firm.page(priced.location), notAgreed, "a price that needs no person waits for its charge, too");
  const unpriced = { ...toPuertoRico, email: "none@example.com", charged_method: "none" };
  assert.equal((await firm.place(unpriced)).status, 303, "the form said that nobody is charged");
});

test("an order is not placed if the charge is not the one that the form showed", async () => {
  const firm = await firmWithCard();
  const form = { submission: newSecret(), email: `${newUuid()}@example.com`, total_cents: "1200" };
  const byQuote = async () => ({ ...form, charged_method: methodIn(await firm.quote()) });
  const without = await byQuote();
  assert.equal(without.charged_method, "none");
  await firm.limit("50", "50");
  const refusedBy = async (fields: Record<string, string>, why: RegExp) => {
    const { status, text } = await firm.place(fields);
    assert.equal(status, 400);
    assert.match(text, /The charge is not the one that the form showed: /);
    assert.match(text, why);
  };
  await refusedBy(without, /Visa •••• \d{4} would be charged now\. Nothing was placed, and nobody was charged\./);
  const withCard = await byQuote();
  await firm.replaceCard();
  await refusedBy(withCard, /Visa •••• \d{4} is on file now\./);
  const withOther = await byQuote();
  assert.notEqual(withOther.charged_method, withCard.charged_method);
  await firm.limit("10", "50");
  await refusedBy(withOther, /your limit does not allow you to charge Visa •••• \d{4} any more\./);
  assert.equal(await firm.orders(), 0);
  const { total_cents: _, ...open } = { ...withOther, submission: newSecret() };
  assert.equal((await firm.place(open)).status, 303, "the form said that the price may turn out above the limit");
  await firm.limit("50", "50");
  const placed = await firm.place(withOther);
  assert.equal(placed.status, 303, placed.text);
  await until(async () => !/Charge \$/.test(await firm.page(placed.location)) || undefined);
  assert.doesNotMatch(await firm.page(placed.location), /Not charged/);
  assert.equal((await firm.place(without)).location, placed.location, "one form, one order");
});
