import assert from "node:assert/strict";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { orderForm } from "@signsealship/testing/inputs/order-form";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { until } from "@signsealship/testing/until";
import { sql } from "../../../../src/kernel/platform/database/sql.ts";
import { openMembersService } from "../../../firms/members/members-service.ts";
import { newMember, postForm } from "../../../firms/members/signed-in-member.ts";

const running = await forTests(openMembersService());

async function member() {
  const { key } = await running.newPartner();
  const { headers } = await newMember(running.service, running.somebody(), key);
  const { baseUrl } = running.service;
  const form = orderForm({ name: "Lease", svc_sign: "true", roles: '[{"name":"Tenant"}]' }, makePdf());
  const made = await fetch(`${baseUrl}/api/partner/templates`, {
    method: "POST",
    body: form,
    headers: { Authorization: `Bearer ${key}` },
  });
  const { templateId } = (await made.json()) as { templateId: string };
  const at = `/dashboard/templates/${templateId}/bulk`;
  const send = async (csv: string, more: Record<string, string> = { byod_confirmed: "on" }) => {
    const body = orderForm(more, null);
    body.append("file", new Blob([csv], { type: "text/csv" }), "people.csv");
    const answer = await fetch(baseUrl + at, { method: "POST", redirect: "manual", headers, body });
    return { status: answer.status, text: await answer.text(), location: answer.headers.get("location") ?? "" };
  };
  const page = async (path: string) => JSON.stringify((await running.call(path, { headers })).body);
  const press = (path: string, fields: Record<string, string> = {}) => postForm(baseUrl + path, fields, headers);
  const file = async (path: string) => {
    const answer = await fetch(baseUrl + path, { headers });
    const text = await answer.text();
    const rows = text
      .replace(/^\uFEFF/, "")
      .split("\r\n")
      .filter((line) => line !== "")
      .map((line) => line.split(","));
    return { status: answer.status, text, rows, name: answer.headers.get("content-disposition") };
  };
  const addCard = async () => {
    const card = await running.call("/api/partner/sandbox/billing/method", {
      method: "POST",
      headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/json" },
      body: JSON.stringify({ method: "card" }),
    });
    assert.ok(card.status < 300, JSON.stringify(card.body));
  };
  return { send, page, press, file, at, addCard };
}

const people = "Tenant.name,Tenant.email\nJane Doe,jane@example.com\nSam Roe,sam@example.com\n";

test("a member sends a list, sees that no order is placed yet, places them, and finds an order for each row", async () => {
  const { send, page, press, at, addCard } = await member();
  assert.match(await page(at), /Tenant\.email/);
  const { status, location, text } = await send(people);
  assert.equal(status, 303, text);
  const waiting = await page(location);
  assert.match(waiting, /Place the orders/);
  assert.match(waiting, /Once an order is paid, its document goes out for signature/);
  assert.match(waiting, /<code>firm<\/code> wait until somebody of your firm has paid on each order’s page/);
  await addCard();
  assert.match(await page(location), /<code>firm<\/code> are charged to Visa •••• \d{4} at once, each by itself/);
  assert.equal((await press(`${location}/place`)).status, 303);
  const done = await page(location);
  assert.match(done, /All done/);
  assert.equal(done.match(/href=\\"\/dashboard\/orders\/[0-9a-f]{40}/g)?.length, 2);
  assert.equal((await press(`${location}/place`)).status, 303, "pressed again it places nothing twice");
  assert.equal((await page(location)).match(/Order [0-9a-f]{6}…/g)?.length, 2);
});

test("placing a list charges only the sum and the card that its page showed, and nothing without them", async () => {
  const { send, page, press, addCard } = await member();
  await addCard();
  const list = async (person: string) => {
    const rows = [1, 2].map((n) => `${person} ${n},${person}${n}@example.com,firm`);
    return (await send(["Tenant.name,Tenant.email,pay_by", ...rows, ""].join("\n"))).location;
  };
  const shownAt = async (location: string) => {
    const text = await page(location);
    const shown = (name: string) =>
      new RegExp(`name=.{1,2}${name}.{1,2} value=.{1,2}([0-9a-f-]+)`).exec(text)?.[1] ?? "";
    return { text, fields: { total_cents: shown("total_cents"), charged_method: shown("charged_method") } };
  };
  const ended = () =>
    until(async () => {
      const jobs = await running.db.query(sql`SELECT FROM jobs WHERE queue IN ('firm-charge', 'firm-wait')`);
      return jobs.length === 0 || undefined;
    });
  const firstOrder = async (location: string) => {
    await ended();
    const [, path = ""] = /href=.{1,2}(\/dashboard\/orders\/[0-9a-f]{40})/.exec(await page(location)) ?? [];
    return page(path);
  };
  const location = await list("ann");
  const { text, fields } = await shownAt(location);
  assert.match(text, /are charged to Visa •••• \d{4} at once, [^.]*: \$24\.00 for all that are placed next\./);
  assert.equal(fields.total_cents, "2400");
  const other = await press(`${location}/place`, { ...fields, total_cents: "2300" });
  assert.equal(other.status, 409);
  assert.match(await other.text(), /The sum is \$24\.00 now, not \$23\.00\. Nothing was placed/);
  await addCard();
  const replaced = await press(`${location}/place`, fields);
  assert.equal(replaced.status, 409);
  assert.match(await replaced.text(), /another card or bank account now\. Nothing was placed/);
  assert.doesNotMatch(await page(location), /dashboard\/orders\/[0-9a-f]{40}/);
  assert.equal((await press(`${location}/place`, (await shownAt(location)).fields)).status, 303);
  await until(async () => !/Charge \$/.test(await firstOrder(location)) || undefined);
  assert.doesNotMatch(await firstOrder(location), /Not charged/);
  const unseen = await list("bo");
  assert.equal((await press(`${unseen}/place`)).status, 303);
  assert.match(await firstOrder(unseen), /Not charged\. Nobody agreed to a charge when it was placed\./);
});

test("the page of a list opens although a row was altered in the database, and its sum leaves the row out", async () => {
  const { send, page, press, addCard } = await member();
  await addCard();
  const rows = ["Cy,cy@example.com,firm", "Di,di@example.com,firm"];
  const { location } = await send(["Tenant.name,Tenant.email,pay_by", ...rows, ""].join("\n"));
  assert.match(await page(location), /: \$24\.00 for all that are placed next\./);
  const bulkId = location.split("/").at(-1);
  await running.db.query(sql`
    UPDATE bulk_rows SET content = set_byte(content, length(content) - 1, get_byte(content, length(content) - 1) # 1)
    WHERE bulk_id = ${bulkId} AND n = 1`);
  assert.match(await page(location), /: \$12\.00 for all that are placed next\./);
  const placed = await press(`${location}/place`);
  assert.equal(placed.status, 503);
  assert.match(await placed.text(), /This record is not what the service wrote/);
});

test("the page of a list says that a key is missing, and does not leave out the rows under it", async () => {
  const { send, page, addCard } = await member();
  await addCard();
  const { location } = await send("Tenant.name,Tenant.email,pay_by\nCy,cy@example.com,firm\n");
  // The key's id follows five bytes of a prefix.
  await running.db.query(sql`
    UPDATE bulk_rows SET content = set_byte(content, 5, get_byte(content, 5) # 1)
    WHERE bulk_id = ${location.split("/").at(-1)}`);
  assert.match(await page(location), /neither SECRETS_KEY nor SECRETS_KEYS_OLD/);
});

test("a list with a wrong row is refused with its row, and a canceled one offers nothing more", async () => {
  const { send, page, press } = await member();
  const refused = await send("Tenant.name,Tenant.email\nJane,jane\n");
  assert.equal(refused.status, 400);
  assert.match(refused.text, /Row 1: roles\.Tenant\.email must be an email address/);
  assert.match((await send("Tenant.name\nJane")).text, /file must have the column Tenant\.email/);
  const { location } = await send(people);
  await press(`${location}/cancel`);
  assert.doesNotMatch(await page(location), /Place the|Give up/);
});

test("the result is a CSV file: each row with its order, its state and its error, and no cell is a formula", async () => {
  const { send, file, press } = await member();
  const { location } = await send(people);
  assert.deepEqual((await file(`${location}/rows.csv`)).rows, [
    ["Row", "Order", "State", "Error"],
    ["1", "", "Waiting", ""],
    ["2", "", "Waiting", ""],
  ]);
  const { bulkId = "" } = /(?<bulkId>[0-9a-f-]{36})$/.exec(location)?.groups ?? {};
  await running.db.query(
    sql`UPDATE bulk_rows SET state = 'failed', reason = '=ship_postal, "99"' WHERE bulk_id = ${bulkId} AND n = 2`,
  );
  await press(`${location}/place`);
  const { rows, text, name } = await file(`${location}/rows.csv`);
  assert.match(rows[1]?.[1] ?? "", /^[0-9a-f]{40}$/);
  assert.deepEqual([rows[1]?.[2], rows[1]?.[3], rows.length], ["Placed", "", 3]);
  assert.ok(text.endsWith(`2,,Failed,"'=ship_postal, ""99"""\r\n`), text);
  assert.equal(name, `attachment; filename="bulk-${bulkId}.csv"`);
});

test("another firm's list is a page that does not exist", async () => {
  const { location } = await (await member()).send(people);
  const { page, press, file } = await member();
  assert.doesNotMatch(await page(location), /Progress/);
  assert.equal((await press(`${location}/place`)).status, 404);
  assert.equal((await file(`${location}/rows.csv`)).status, 404);
});
