import assert from "node:assert/strict";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { minimal, orderForm } from "@signsealship/testing/inputs/order-form";
import { markDeleted, rowMacOf } from "@signsealship/testing/row-mac";
import { isSealed, sql } from "../../../../src/kernel/platform/database/sql.ts";
import { openMembersService } from "../../../firms/members/members-service.ts";
import { newMember, postForm } from "../../../firms/members/signed-in-member.ts";

const running = await forTests(openMembersService());

async function firm() {
  const { key, headers } = await running.newPartner();
  const email = running.somebody();
  const member = await newMember(running.service, email, key);
  const { body } = await running.call("/api/partner/orders", { method: "POST", headers, body: orderForm(minimal) });
  const { orderCode: code } = body as { orderCode: string };
  const page = async (at = code) =>
    (await running.call(`/dashboard/orders/${at}`, { headers: member.headers })).body as string;
  const note = async (text: string, { at = code, headers: more = {} } = {}) => {
    const url = `${running.service.baseUrl}/dashboard/orders/${at}/notes`;
    const answer = await postForm(url, { note: text }, { ...member.headers, ...more });
    return { status: answer.status, text: await answer.text(), location: answer.headers.get("location") ?? "" };
  };
  return { code, email, apiHeaders: headers, page, note };
}

test("a member's note is on the order's page with author and time, the latest first, and leaves an audit row without its words", async () => {
  const { code, email, page, note } = await firm();
  const added = await note("Borrower prefers mornings.\nCall <Dana> first.");
  assert.equal(added.status, 303);
  assert.equal(added.location, `/dashboard/orders/${code}?done=order-noted#notes-title`);
  assert.equal((await note("Second thought")).status, 303);
  const shown = await page();
  assert.ok(shown.indexOf("Second thought") < shown.indexOf("Borrower prefers mornings."));
  assert.match(shown, /Borrower prefers mornings\.\nCall &lt;Dana&gt; first\.<\/p><p class="second-line">/);
  assert.ok(shown.includes(`${email} · <time`));
  const lines = await running.db.query<{ actor: string; detail: unknown }>(sql`
    SELECT a.actor, a.detail FROM audit_log a JOIN orders o ON o.id = a.order_id
    WHERE ${isSealed(sql`o.code`, "order", code)} AND action = 'order.firm_noted'`);
  assert.equal(lines.length, 2);
  assert.deepEqual(new Set(lines.map(({ actor }) => actor)).size, 1);
  assert.match(lines[0]?.actor ?? "", /^member:/);
  assert.equal(lines[0]?.detail, null);
});

test("a note is stored encrypted", async () => {
  const { code, note } = await firm();
  await note("Payoff letter is late");
  const [row] = await running.db.query<{ text: Buffer }>(
    sql`SELECT n.text FROM firm_notes n JOIN orders o ON o.id = n.order_id WHERE ${isSealed(sql`o.code`, "order", code)}`,
  );
  assert.equal(row?.text.subarray(0, 4).toString(), "SSSC");
  assert.equal(row?.text.includes("Payoff"), false);
});

test("notes are on no client's page, and in no answer of the API", async () => {
  const { code, note, apiHeaders } = await firm();
  await note("Seller is difficult");
  const { body: room } = await running.call("/api/rooms", {
    method: "POST",
    headers: { ...apiHeaders, "Content-Type": "application/json" },
    body: JSON.stringify({ name: "12 Elm Street" }),
  });
  const { roomCode } = room as { roomCode: string };
  await running.call(`/api/rooms/${roomCode}/orders`, {
    method: "POST",
    headers: { ...apiHeaders, "Content-Type": "application/json" },
    body: JSON.stringify({ orderCode: code }),
  });
  for (const path of [
    `/orders/${code}`,
    `/rooms/${roomCode}`,
    `/api/rooms/${roomCode}`,
    `/api/partner/orders/${code}`,
    "/api/partner/orders",
    "/api/partner/events",
  ]) {
    const { body } = await running.call(path, { headers: apiHeaders });
    const text = JSON.stringify(body);
    assert.equal(/difficult|firm_noted/.test(text), false, path);
  }
});

test("a note that is empty, too long, or has control characters is rejected with a message, and the typed text stays", async () => {
  const { page, note } = await firm();
  const long = "é".repeat(2_000);
  for (const text of ["", "  \n ", "\u200b", `${long}x`, "a\u0000b", "a\u0007b"]) {
    const refused = await note(text);
    assert.equal(refused.status, 400, JSON.stringify(text));
    assert.ok(refused.text.includes("Note must have 1 to 2,000 characters, and no control characters."));
  }
  assert.ok((await note(`${long}x`)).text.includes(`${long}x</textarea>`));
  assert.equal((await page()).includes('class="notes"'), false);
  assert.equal((await note(long)).status, 303);
});

test("another firm's order, an unknown one and another site's note are refused, and nothing is written", async () => {
  const [acme, harbor] = [await firm(), await firm()];
  for (const at of [harbor.code, "0".repeat(40), "%00"])
    assert.equal((await acme.note("hello", { at })).status, 404, at);
  const foreign = await acme.note("hello", {
    headers: { "Sec-Fetch-Site": "cross-site", Origin: "https://evil.example" },
  });
  assert.equal(foreign.status, 403);
  const anonymous = await postForm(`${running.service.baseUrl}/dashboard/orders/${acme.code}/notes`, { note: "hello" });
  assert.equal(anonymous.status, 401);
  const byKey = await postForm(
    `${running.service.baseUrl}/dashboard/orders/${acme.code}/notes`,
    { note: "hello" },
    acme.apiHeaders,
  );
  assert.equal(byKey.status, 401);
  for (const { code } of [acme, harbor]) {
    const rows = await running.db.query(
      sql`SELECT 1 FROM firm_notes n JOIN orders o ON o.id = n.order_id WHERE ${isSealed(sql`o.code`, "order", code)}`,
    );
    assert.equal(rows.length, 0);
  }
});

test("an order can have 200 notes; an altered one is reported, and hides no other", async () => {
  const { code, page, note } = await firm();
  await note("first");
  await running.db.query(sql`
    INSERT INTO firm_notes (id, order_id, author, text, created_at)
    SELECT gen_random_uuid(), o.id, 'member:x', n.text, n.created_at - interval '1 hour'
    FROM orders o JOIN firm_notes n ON n.order_id = o.id, generate_series(1, 199) WHERE ${isSealed(sql`o.code`, "order", code)}`);
  const refused = await note("one too many");
  assert.equal(refused.status, 400);
  assert.ok(refused.text.includes("An order holds at most 200 notes."));
  const shown = await page();
  assert.ok(shown.includes(">first</p>"));
  assert.ok(shown.includes("This note can’t be read."));
});

test("an order whose documents were deleted shows no form for notes, and accepts none", async () => {
  const { code, page, note } = await firm();
  const rowMac = await rowMacOf(running.service.dataDir);
  await markDeleted({ db: running.db, rowMac }, code, "test.orderDocuments");
  const refused = await note("late");
  assert.equal(refused.status, 409);
  assert.ok(refused.text.includes("This order’s documents and notes were deleted. It takes no new notes."));
  assert.equal((await page()).includes(`action="/dashboard/orders/${code}/notes"`), false);
});
