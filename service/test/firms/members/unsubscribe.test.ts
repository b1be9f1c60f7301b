import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { minimal, orderForm } from "@signsealship/testing/inputs/order-form";
import { until } from "@signsealship/testing/until";
import { linkSeriesOf, mailDelayMs, mailKinds, unsubscribeUrl } from "../../../src/firms/members/members.ts";
import { sql } from "../../../src/kernel/platform/database/sql.ts";
import { openSecretsKey } from "../../../src/kernel/platform/secrets.ts";
import { mailOrderUpdates } from "../../../src/orders/fulfilment/fulfilment.ts";
import { openMembersService } from "./members-service.ts";
import { mailsTo, newMember, postForm } from "./signed-in-member.ts";

const running = await forTests(openMembersService());
const { service, db } = running;
const secrets = await openSecretsKey(`file:${join(service.dataDir, "keys/secrets")}`);

/** A member with a mail about an order on hold, and the link in that mail. */
async function mailed() {
  const { key } = await running.newPartner();
  const email = running.somebody();
  const { headers } = await newMember(service, email, key);
  const body = orderForm({ ...minimal, svc_sign: "true", external_reference: email });
  const placed = await fetch(`${service.baseUrl}/dashboard/orders/new`, {
    method: "POST",
    redirect: "manual",
    headers,
    body,
  });
  const code = /orders\/([0-9a-f]{40})/.exec(placed.headers.get("location") ?? "")?.[1] ?? "";
  const pay = { method: "POST", headers: { Authorization: `Bearer ${key}` } };
  await fetch(`${service.baseUrl}/api/partner/sandbox/orders/${code}/checkout`, pay);
  await service.cli("order", "move", code, "OnHold", "--reason", "which county is it");
  await mailOrderUpdates({ db, clock: () => new Date(Date.now() + 30 * 60_000) });
  const mail = await until(() => mailsTo(service, email).find((each) => each.includes("On hold")));
  const header = /^List-Unsubscribe:\s*<([^>]+)>/m.exec(mail.replaceAll(/\r\n[ \t]+/g, " "))?.[1] ?? assert.fail(mail);
  const page = async () => (await running.call("/dashboard/security", { headers })).body as string;
  // Takes only the path: mails contain the service's public URL, and tests call another one.
  const { pathname } = new URL(header.replaceAll(" ", ""));
  const userId = pathname.split("/").at(-2) ?? "";
  /** The unsubscribe link that a mail about live orders would contain if it was sent now. */
  const liveUrl = async () =>
    unsubscribeUrl(
      { baseUrl: service.baseUrl, secrets },
      { userId, kind: "orders", environment: "live", series: await linkSeriesOf(db, userId, "orders") },
    );
  const switches = async () =>
    (
      await db.query<{ line: string }>(sql`
        SELECT action || ' ' || (detail ->> 'kind') || ' ' || (detail ->> 'by') AS line FROM audit_log
        WHERE actor = ${`member:${userId}`} AND action LIKE 'mails.%' AND partner_id IS NOT NULL ORDER BY id`)
    ).map(({ line }) => line);
  const testUrl = service.baseUrl + pathname;
  return { email, headers, mail, header, url: await liveUrl(), liveUrl, testUrl, page, switches };
}

test("a mail that can be switched off has the headers of a one-click unsubscribe, and a link in its text", async () => {
  const { mail, header } = await mailed();
  assert.match(mail, /^List-Unsubscribe-Post: List-Unsubscribe=One-Click\r?$/m);
  assert.match(new URL(header).pathname, /^\/unsubscribe\/orders\//);
  assert.ok(mail.replaceAll("\r\n", "\n").includes(`Stop these emails:\n${header}`));
});

test("a mail with a link to sign in has no such headers", async () => {
  const { email } = await mailed();
  const mail = mailsTo(service, email).find((each) => each.includes("/sign-in/")) ?? assert.fail();
  assert.doesNotMatch(mail, /List-Unsubscribe/);
});

for (const [type, body] of [
  ["application/x-www-form-urlencoded", "List-Unsubscribe=One-Click"],
  [
    "multipart/form-data; boundary=x",
    '--x\r\nContent-Disposition: form-data; name="List-Unsubscribe"\r\n\r\nOne-Click\r\n--x--\r\n',
  ],
] as const)
  test(`one request of a mail program as ${type.split(";")[0]} switches that kind off, and no other`, async () => {
    const { url, page } = await mailed();
    assert.match(await page(), /You get an email when an order that you placed/);
    const init = { method: "POST", headers: { "Content-Type": type, Origin: "https://mail.example" }, body };
    for (let twice = 0; twice < 2; twice++) assert.equal((await fetch(url, init)).status, 200);
    const shown = await page();
    assert.match(shown, /You get no email when an order that you placed/);
    assert.match(shown, /You get an email on business mornings/);
  });

test("opening the link changes nothing: its page asks first, and the button switches off", async () => {
  const { url, page, headers } = await mailed();
  const asked = await (await fetch(url)).text();
  assert.match(asked, /Stop these emails\?[\s\S]*emails about orders that you placed/);
  assert.match(await page(), /You get an email when an order that you placed/);
  const action = /<form[^>]* action="([^"]+)"/.exec(asked.slice(asked.indexOf("Stop these emails?")))?.[1] ?? "";
  assert.equal((await postForm(service.baseUrl + action, {})).status, 200);
  assert.match(await page(), /You get no email when an order that you placed/);
  await postForm(`${service.baseUrl}/dashboard/security/mails`, { kind: "orders", mails: "on" }, headers);
  assert.match(await page(), /You get an email when an order that you placed/);
});

test("the pages that switch off mails about orders say that trouble always reaches somebody, and no other mail's pages do", async () => {
  const { url, headers, page } = await mailed();
  const [, mails = ""] = /Emails to you(.*?)<\/section>/s.exec(await page()) ?? [];
  assert.equal(mails.match(/Trouble with an order is always mailed to somebody/g)?.length, 1);
  assert.match(mails, /otherwise to the owner who joined first, even if that owner stopped them\./);
  const userId = new URL(url).pathname.split("/").at(-2) ?? "";
  const still = /trouble with an order is still mailed to the owner who joined first/;
  for (const kind of mailKinds) {
    const series = await linkSeriesOf(db, userId, kind);
    const link = unsubscribeUrl({ baseUrl: service.baseUrl, secrets }, { userId, kind, environment: "live", series });
    for (const method of ["GET", "POST"]) {
      const answer = await fetch(link, { method });
      assert.equal(answer.status, 200, `${method} ${kind}`);
      assert.equal(still.test(await answer.text()), kind === "orders", `${method} ${kind}`);
    }
  }
  const off = (await running.call("/dashboard/security", { headers })).body as string;
  assert.match(off, /You get no email when an order that you placed.*Trouble with an order is always mailed/);
});

test("a link ends when its person switches the mails on again, and each switch is in the audit log once", async () => {
  const { url, liveUrl, page, headers, switches } = await mailed();
  const use = async (link: string) => (await fetch(link, { method: "POST" })).status;
  for (let twice = 0; twice < 2; twice++) assert.equal(await use(url), 200);
  const security = `${service.baseUrl}/dashboard/security/mails`;
  for (let twice = 0; twice < 2; twice++) await postForm(security, { kind: "orders", mails: "on" }, headers);
  assert.deepEqual([await use(url), (await fetch(url)).status], [404, 404], "the link from before");
  assert.match(await page(), /You get an email when an order that you placed/);
  assert.deepEqual(await switches(), ["mails.switched_off orders link", "mails.switched_on orders member"]);
  assert.equal(await use(await liveUrl()), 200, "the link in a later mail");
  assert.match(await page(), /You get no email when an order that you placed/);
});

test("ten uses of a link at once switch off once", async () => {
  const { url, switches } = await mailed();
  const answers = await Promise.all(Array.from({ length: 10 }, () => fetch(url, { method: "POST" })));
  assert.ok(answers.every(({ status }) => status === 200));
  assert.deepEqual(await switches(), ["mails.switched_off orders link"]);
});

test("the link in a mail about test orders changes nothing, and says so", async () => {
  const { testUrl, page, switches } = await mailed();
  for (const method of ["GET", "POST"]) {
    const answer = await fetch(testUrl, { method });
    assert.equal(answer.status, 200);
    const text = await answer.text();
    assert.match(text, /This email was a test/);
    assert.doesNotMatch(text, /Stop them/);
  }
  assert.match(await page(), /You get an email when an order that you placed/);
  assert.deepEqual(await switches(), []);
});

test("refuses a link for another kind, another person, or an altered token", async () => {
  const [own, other] = [await mailed(), await mailed()];
  const [kind = "", userId = "", token = ""] = own.url.split("/").slice(-3);
  const otherId = other.url.split("/").at(-2) ?? "";
  const altered = token.replace(/^./, (first) => (first === "0" ? "1" : "0"));
  for (const path of [
    `closings/${userId}/${token}`,
    `${kind}/${otherId}/${token}`,
    `${kind}/${userId}/${altered}`,
    `${kind}/${userId}/x`,
    `${kind}/x/${token}`,
    `passwords/${userId}/${token}`,
  ])
    for (const method of ["GET", "POST"])
      assert.equal((await fetch(`${service.baseUrl}/unsubscribe/${path}`, { method })).status, 404, path);
  assert.match(await other.page(), /You get an email when an order that you placed/);
});

const zoneOf = (zone: string | null, userId: string) => sql`
  INSERT INTO mail_hours (user_id, time_zone, set_at) VALUES (${userId}, ${zone}, now())
  ON CONFLICT (user_id) DO UPDATE SET time_zone = excluded.time_zone`;
const hours = (count: number) => count * 3_600_000;

test("a mail that can wait comes between 7 AM and 9 PM in the person's zone, on the days when clocks change, too", async () => {
  const [{ id } = { id: "" }] = await db.query<{ id: string }>(sql`SELECT id FROM users LIMIT 1`);
  const delay = (at: string) => mailDelayMs(db, id, new Date(at));
  await db.query(sql`DELETE FROM mail_hours WHERE user_id = ${id}`);
  assert.equal(await delay("2026-11-24T02:00:00Z"), hours(10), "Eastern Time, until a person chooses");
  assert.equal(await delay("2026-11-24T12:00:00Z"), 0, "7 AM");
  assert.equal(await delay("2026-11-24T11:59:00Z"), 60_000, "6:59 AM");
  assert.equal(await delay("2026-11-24T01:59:59Z"), 0, "8:59 PM");
  await db.query(zoneOf("America/Los_Angeles", id));
  assert.equal(await delay("2026-11-24T12:00:00Z"), hours(3), "4 AM in Los Angeles");
  assert.equal(await delay("2026-11-01T05:00:00Z"), hours(10), "10 PM, and the clocks go back in the night");
  assert.equal(await delay("2026-03-08T06:00:00Z"), hours(8), "10 PM, and the clocks go forward in the night");
  await db.query(zoneOf("Pacific/Honolulu", id));
  assert.equal(await delay("2026-07-01T12:00:00Z"), hours(5), "2 AM in Hawaii");
  await db.query(zoneOf(null, id));
  assert.equal(await delay("2026-11-24T08:00:00Z"), 0, "at any hour");
});

test("a member chooses the hours on the page, and a zone that is not in the list is refused", async () => {
  const { headers, page } = await mailed();
  const save = (zone: string) =>
    postForm(`${service.baseUrl}/dashboard/security/mail-hours`, { zone }, { ...headers, Accept: "text/html" });
  assert.match(await page(), /<option value="America\/New_York" selected>/);
  assert.equal((await save("America/Denver")).status, 303);
  assert.match(await page(), /<option value="America\/Denver" selected>/);
  assert.equal((await save("any")).status, 303);
  assert.match(await page(), /<option value="any" selected>/);
  assert.equal((await save("Mars/Olympus")).status, 400);
});

test("at night live news waits until 7 AM and comes in one mail, unless its closing is due today", async () => {
  const [order] = await db.query<{ id: number }>(sql`SELECT id FROM orders ORDER BY id DESC LIMIT 1`);
  const night = new Date("2026-11-24T03:00:00Z");
  const clock = () => night;
  const by = "member:00000000-0000-4000-8000-000000000001";
  await db.query(sql`
    INSERT INTO order_news (order_id, environment, placed_by, status, at)
    VALUES (${order?.id ?? 0}, 'live', ${by}, 'OnHold', ${new Date(night.getTime() - hours(1))})`);
  assert.equal(await mailOrderUpdates({ db, clock }), 0, "10 PM Eastern Time");
  assert.equal(await mailOrderUpdates({ db, clock: () => new Date("2026-11-24T11:59:00Z") }), 0, "6:59 AM");
  const isDue = (orderId: Parameters<NonNullable<Parameters<typeof mailOrderUpdates>[0]["closesToday"]>>[0]) =>
    sql`${orderId} = ${order?.id ?? 0}`;
  const waiting = () => db.query(sql`SELECT FROM order_news WHERE placed_by = ${by}`);
  assert.equal((await waiting()).length, 1);
  assert.equal(await mailOrderUpdates({ db, clock, closesToday: isDue }), 1);
  await db.query(sql`DELETE FROM order_news_mails`);
  await db.query(sql`
    INSERT INTO order_news (order_id, environment, placed_by, status, at)
    VALUES (${order?.id ?? 0}, 'live', ${by}, 'OnHold', ${night}), (${order?.id ?? 0}, 'live', ${by}, 'Completed', ${night})`);
  assert.equal(await mailOrderUpdates({ db, clock: () => new Date("2026-11-24T12:00:00Z") }), 1, "7 AM, one mail");
  assert.equal((await waiting()).length, 0);
});

test("news of a member who has left waits for the morning of the owner who gets it", async () => {
  const { headers } = await mailed();
  const zone = { zone: "Pacific/Honolulu" };
  await postForm(`${service.baseUrl}/dashboard/security/mail-hours`, zone, { ...headers, Accept: "text/html" });
  const [owner] = await db.query<{ id: string; partnerId: string }>(sql`
    UPDATE members SET live_access = true WHERE linked_at = (SELECT max(linked_at) FROM members)
    RETURNING user_id AS id, partner_id AS "partnerId"`);
  const [order] = await db.query<{ id: number }>(
    sql`SELECT id FROM orders WHERE partner_id = ${owner?.partnerId ?? ""} LIMIT 1`,
  );
  const by = "member:00000000-0000-4000-8000-000000000002";
  await db.query(sql`DELETE FROM order_news`);
  await db.query(sql`
    INSERT INTO order_news (order_id, environment, placed_by, status, at)
    VALUES (${order?.id ?? 0}, 'live', ${by}, 'OnHold', '2026-11-24T00:00:00Z')`);
  assert.equal(await mailOrderUpdates({ db, clock: () => new Date("2026-11-24T12:00:00Z") }), 0, "2 AM in Hawaii");
  assert.equal(await mailOrderUpdates({ db, clock: () => new Date("2026-11-24T17:00:00Z") }), 1, "7 AM in Hawaii");
});
