import assert from "node:assert/strict";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { minimal, orderForm, shipping } from "@signsealship/testing/inputs/order-form";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { authenticate, changeOrder } from "@signsealship/testing/row-mac";
import { until } from "@signsealship/testing/until";
import { writeReceivers } from "../../../../src/closing/deliveries/deliveries.ts";
import { isSealed, type Statement, sql } from "../../../../src/kernel/platform/database/sql.ts";
import { openMembersService } from "../../../firms/members/members-service.ts";
import { newMember, postForm } from "../../../firms/members/signed-in-member.ts";

const running = await forTests(openMembersService());
const { service, db, call } = running;
const { key, headers } = await running.newPartner();
const owner = await newMember(service, running.somebody(), key);

/** A paid order in a status. */
async function orderIn(status: string, fields: Record<string, string> = {}, fileName?: string): Promise<string> {
  const body = orderForm({ ...minimal, svc_sign: "true", ...fields }, undefined, fileName);
  const { orderCode } = (await call("/api/partner/orders", { method: "POST", headers, body })).body;
  await call(`/api/partner/sandbox/orders/${orderCode}/checkout`, { method: "POST", headers });
  await changeOrder(db, orderCode, sql`status = ${status}`);
  return orderCode;
}

const page = async (code: string) =>
  (await call(`/dashboard/orders/${code}`, { headers: owner.headers })).body as string;
const post = (code: string, name: string, fields: Record<string, string>) =>
  postForm(`${service.baseUrl}/dashboard/orders/${code}/${name}`, fields, { ...owner.headers, Accept: "text/html" });
const upload = (code: string, bytes: Buffer, fields: Record<string, string> = {}) => {
  const body = new FormData();
  for (const [name, value] of Object.entries(fields)) body.append(name, value);
  body.append("document", new Blob([new Uint8Array(bytes)], { type: "application/pdf" }), "Deed.pdf");
  const target = `${service.baseUrl}/dashboard/orders/${code}/document`;
  return fetch(target, {
    method: "POST",
    redirect: "manual",
    headers: { ...owner.headers, Accept: "text/html" },
    body,
  });
};
const statusOf = async (code: string) =>
  (await db.query<{ status: string }>(sql`SELECT status FROM orders WHERE ${isSealed(sql`code`, "order", code)}`))[0]
    ?.status;

test("a declined order has its buttons at the top, and a document is replaced and sent in one step", async () => {
  const code = await orderIn("EsignDeclined");
  const shown = await page(code);
  for (const words of ["Send it to the signers again", "Put it right", "Replace the document", "Ask for a refund"])
    assert.ok(shown.includes(words), words);
  assert.ok(!shown.includes("Correct the fax number"));
  assert.match(shown, /The sandbox cannot move the order from here\. “Send it to the signers again” on this page does/);
  const done = await upload(code, makePdf({ pages: 2 }), { again: "on" });
  assert.equal(done.status, 303);
  assert.equal(await statusOf(code), "EsignPending");
  assert.match(await page(code), /Document replaced/);
});

test("a signer’s wish for paper is shown with what the firm can do", async () => {
  const body = orderForm({ ...minimal, svc_sign: "true" });
  const { orderCode: code } = (await call("/api/partner/orders", { method: "POST", headers, body })).body;
  await call(`/api/partner/sandbox/orders/${code}/checkout`, { method: "POST", headers });
  const end = async (kind: string, reason: string) => {
    const path = `/api/partner/orders/${code}/signers`;
    const link = await until(async () => (await call(path, { headers })).body.signers[0].signingUrl as string | null);
    const answer = await postForm(`${link}/decline`, { kind, reason, scope: "this" }, { Accept: "text/html" });
    assert.equal(answer.status, 303, await answer.text());
  };
  await end("paper", "I have no printer");
  const shown = await page(code);
  assert.match(shown, /wants to sign on paper<\/h3>/);
  const ofClient = (await call(`/orders/${code}`)).body as string;
  for (const shownTo of [shown, ofClient]) {
    assert.match(shownTo, />A signer wants to sign on paper<\/h[12]>/);
    assert.match(shownTo, /the signing has stopped for everybody/);
    assert.doesNotMatch(shownTo, /declined/i);
  }
  for (const words of ["Sign in ink: send the PDF", "ask for a refund", "Sign electronically after all"])
    assert.ok(shown.includes(words), words);
  const replaced = await post(code, "signers/1/replace", { name: "Max Roe", email: "max@example.com" });
  assert.equal(replaced.status, 303, await replaced.text());
  assert.doesNotMatch(await page(code), /wants to sign on paper<\/h3>/, "Max Roe did not ask for paper");
  await service.cli("order", "move", code, "EsignPending");
  await end("declined", "wants to sign on paper");
  assert.doesNotMatch(await page(code), /Sign in ink/);
});

test("a correction with the ZIP code of another state is refused on the page, and accepted by the API", async () => {
  const code = await orderIn("ShippingFailed", shipping);
  const parts = Object.entries(shipping).filter(([name]) => name.startsWith("ship_"));
  const moved = { ...Object.fromEntries(parts), ship_line2: "", ship_state: "CA", ship_postal: "78701" };
  const refused = await post(code, "correct", moved);
  assert.equal(refused.status, 400);
  assert.match(await refused.text(), /“Recipient’s ZIP code” must belong to “Recipient’s state”: 78701 is in Texas\./);
  const answer = await call(`/api/partner/orders/${code}/corrections`, {
    method: "POST",
    headers: { ...headers, "Content-Type": "application/json" },
    body: JSON.stringify({ ...moved, ship_line2: undefined }),
  });
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
  const mistyped = await post(code, "correct", { ...moved, ship_postal: "787" });
  assert.match(await mistyped.text(), /“Recipient’s ZIP code” must be a US ZIP code/);
});

test("a refused correction is shown on the page, and the typed text stays", async () => {
  const code = await orderIn("FaxFailed", { fax_to: "2125550123" });
  const refused = await post(code, "correct", { fax_to: "12" });
  assert.equal(refused.status, 400);
  const text = await refused.text();
  assert.match(text, /role="alert"[\s\S]*“Fax number” must be a 10-digit US number/);
  assert.match(text, /name="fax_to" required aria-describedby="[^"]*"? ?value="12"|name="fax_to"[^>]* value="12"/);
  assert.equal((await post(code, "correct", { fax_to: "2125550199" })).status, 303);
  assert.match(await page(code), /Fax number, before: \+12125550123/);
  assert.equal((await post(code, "send-again", {})).status, 303);
  assert.equal(await statusOf(code), "FaxPending");
});

test("a file that is not a PDF, and a missing one, are refused on the page", async () => {
  const code = await orderIn("EsignDeclined");
  assert.equal((await upload(code, Buffer.from("Hello"))).status, 400);
  assert.equal((await upload(code, Buffer.alloc(0))).status, 400);
  assert.equal(await statusOf(code), "EsignDeclined");
});

test("a replaced document keeps its name, unless the firm types another one", async () => {
  const code = await orderIn("EsignDeclined", {}, "Affidavit of title.pdf");
  const nameIn = (shown: string) => /name="name"[^>]* value="([^"]*)"/.exec(shown)?.[1];
  assert.equal((await upload(code, makePdf({ pages: 2 }))).status, 303);
  assert.equal(nameIn(await page(code)), "Affidavit of title");
  assert.equal((await upload(code, makePdf({ pages: 3 }), { name: "Affidavit, corrected" })).status, 303);
  assert.equal(nameIn(await page(code)), "Affidavit, corrected");
});

test("the page shows the parcel’s address, the form has it, and states are chosen by name", async () => {
  const code = await orderIn("ShippingFailed", { ...shipping, ship_line2: "Suite 200" });
  const shown = await page(code);
  assert.match(shown, /<dt>Ship to<\/dt>\s*<dd>[^<]*Suite 200[^<]*<\/dd>/);
  assert.match(shown, /name="ship_line2"[^>]* value="Suite 200"/);
  assert.match(shown, /<option value="TX"[^>]*>Texas<\/option>/);
  const moved = { ...shipping, ship_line1: "2 State Street", ship_line2: "", ship_state: "TX", ship_postal: "78701" };
  const {
    ship_name = "",
    ship_line1,
    ship_line2,
    ship_city = "",
    ship_state,
    ship_postal,
  } = moved as Record<string, string>;
  const fields = { ship_name, ship_line1: ship_line1 ?? "", ship_line2: ship_line2 ?? "", ship_city };
  const saved = await post(code, "correct", {
    ...fields,
    ship_state: ship_state ?? "",
    ship_postal: ship_postal ?? "",
  });
  assert.equal(saved.status, 303);
  const after = await page(code);
  assert.match(after, /<dt>Ship to<\/dt>\s*<dd>[^<]*2 State Street[^<]*TX 78701<\/dd>/);
  assert.match(after, /Parcel’s address, before: [^<]*Suite 200/);
});

test("a refund is requested in dollars, once", async () => {
  const code = await orderIn("EsignDeclined");
  assert.equal((await post(code, "refund-request", { reason: "Wrong client", amount: "a lot" })).status, 400);
  const tooMuch = await post(code, "refund-request", { reason: "Wrong client", amount: "9999" });
  assert.equal(tooMuch.status, 400);
  const again = await tooMuch.text();
  assert.match(again, /Amount must not be more than the order’s price, \$\d+\.\d\d\./);
  assert.match(again, /<details class="question" open><summary>Ask for a refund/);
  assert.match(again, /value="Wrong client"[\s\S]*value="9999"/);
  assert.equal(again.match(/<details class="question" open>/g)?.length, 1);
  assert.equal((await post(code, "refund-request", { reason: "Wrong client", amount: "$5.00" })).status, 303);
  assert.ok(!(await page(code)).includes("Ask for a refund"));
  assert.match(await page(code), /Your firm asked for a refund of \$5\.00, [\s\S]{0,120}: Wrong client/);
});

const json = { ...headers, "Content-Type": "application/json" };
const signersOf = async (code: string) =>
  ((await call(`/api/partner/orders/${code}/signers`, { headers })).body.signers as { email: string }[]).map(
    ({ email }) => email,
  );

let last = "";
/**
 * Documents of one closing, which wait for the same signers. First closes the room of the previous test, because a
 * trial firm may have only a few open rooms.
 */
async function closing(signers: readonly object[], papers: number) {
  if (last !== "") await call(`/api/rooms/${last}/close`, { method: "POST", headers });
  const room = { method: "POST", headers: json, body: JSON.stringify({ name: "Ortega closing" }) };
  const { roomCode } = (await call("/api/rooms", room)).body;
  last = String(roomCode);
  const codes: string[] = [];
  for (let n = 0; n < papers; n++) {
    const fields = { ...minimal, svc_sign: "true", signers: JSON.stringify(signers) };
    const { orderCode } = (await call("/api/partner/orders", { method: "POST", headers, body: orderForm(fields) }))
      .body;
    await call(`/api/rooms/${roomCode}/orders`, {
      method: "POST",
      headers: json,
      body: JSON.stringify({ orderCode, label: `Paper ${n + 1}` }),
    });
    codes.push(orderCode);
  }
  for (const code of codes) await call(`/api/partner/sandbox/orders/${code}/checkout`, { method: "POST", headers });
  for (const code of codes) await until(async () => /Send a reminder/.test(await page(code)));
  return { roomCode: String(roomCode), codes };
}

/** Asks that the final document of an order in a closing is sent to these people. */
async function askFor(code: string, people: readonly { name: string; email: string }[]) {
  const [order] = await db.query<{ orderId: number; roomId: string }>(sql`
    SELECT o.id AS "orderId", a.room_id AS "roomId" FROM orders o JOIN room_orders a ON a.order_id = o.id
    WHERE ${isSealed(sql`o.code`, "order", code)}`);
  assert.ok(order);
  await db.transaction((tx) => writeReceivers(tx, { ...order, by: "member:test", at: new Date() }, people));
}

/** The email addresses to which the final document of an order will be sent. */
const waitingFor = async (code: string) =>
  (
    await db.query<{ email: string }>(sql`
      SELECT r.email FROM closing_receivers r JOIN orders o ON o.id = r.order_id
      WHERE ${isSealed(sql`o.code`, "order", code)} AND r.ended_at IS NULL ORDER BY r.email`)
  ).map(({ email }) => email);

test("a signer is replaced in all documents of a closing at once, or in one, and the page says which links still work", async () => {
  const signers = [
    { name: "Daniel Roe", email: "daniel@example.com" },
    { name: "Maria Roe", email: "maria@example.com" },
  ];
  const [first = "", second = "", third = ""] = (await closing(signers, 3)).codes;
  const others = ["lee@example.com", "maria@example.com"];
  for (const code of [first, second, third])
    await askFor(code, [...signers, { name: "Lee Lender", email: "lee@example.com" }]);
  assert.match(await page(first), /Also in the 2 other documents of this closing that Daniel Roe has to sign/);
  const moved = { name: "Daniel Roe", email: "daniel.roe@example.com" };
  const done = await post(first, "signers/1/replace", { ...moved, everywhere: "on" });
  assert.equal(done.status, 303, await done.text());
  const location = done.headers.get("location")?.split("#")[0] ?? "";
  const shown = (await call(location, { headers: owner.headers })).body as string;
  assert.match(shown, /replaced in every document of the closing that this person had yet to sign/);
  for (const code of [first, second, third])
    assert.deepEqual(await signersOf(code), [moved.email, "maria@example.com"]);
  for (const code of [first, second, third]) assert.deepEqual(await waitingFor(code), [moved.email, ...others]);

  const alone = await post(second, "signers/2/replace", { name: "Max Roe", email: "max@example.com" });
  const then = (await call(alone.headers.get("location")?.split("#")[0] ?? "", { headers: owner.headers }))
    .body as string;
  assert.match(then, /in this document only. The old link still opens/);
  assert.deepEqual(await signersOf(first), [moved.email, "maria@example.com"]);
  assert.deepEqual(await signersOf(second), [moved.email, "max@example.com"]);
  assert.deepEqual(await waitingFor(second), [moved.email, "lee@example.com", "max@example.com"]);
  assert.deepEqual(await waitingFor(third), [moved.email, ...others]);

  await changeOrder(db, third, sql`status = 'EsignDeclined'`);
  await db.query(sql`
    UPDATE envelopes SET ended_at = now(), outcome = 'Declined'
    WHERE order_id = (SELECT id FROM orders WHERE ${isSealed(sql`code`, "order", third)})`);
  await authenticate(running, "envelopes");
  assert.equal((await post(third, "signers/2/replace", { name: "Max Roe", email: "max@example.com" })).status, 303);
  assert.deepEqual(await waitingFor(third), [moved.email, "lee@example.com", "max@example.com"]);
});

test("a signer is replaced in a held document of the closing, too", async () => {
  const [first = "", held = ""] = (await closing([{ name: "Hal Roe", email: "hal@gmial.example" }], 2)).codes;
  await changeOrder(db, held, sql`status = 'OnHold', status_before_hold = 'EsignPending'`);
  assert.match(await page(first), /Also in the other document of this closing that Hal Roe has to sign/);
  const moved = { name: "Hal Roe", email: "hal@right.example" };
  assert.equal((await post(first, "signers/1/replace", { ...moved, everywhere: "on" })).status, 303);
  for (const code of [first, held]) assert.deepEqual(await signersOf(code), [moved.email]);
});

test("an address is corrected once for the whole closing, and the page names each document with what was changed", async () => {
  const wrong = { name: "Grace Okafor", email: "grace@gmial.example" };
  const { roomCode, codes } = await closing([wrong], 2);
  const path = `/dashboard/rooms/${roomCode}/addresses`;
  const addresses = async () => (await call(path, { headers: owner.headers })).body as string;
  assert.match(await addresses(), /grace@gmial\.example \(2 documents\)/);
  const correct = (fields: Record<string, string>) =>
    postForm(`${service.baseUrl}${path}`, fields, { ...owner.headers, Accept: "text/html" });
  const refused = await correct({ from: "nobody@example.com", to: "grace@mail.example" });
  assert.equal(refused.status, 409);
  assert.match(await refused.text(), /No document of this closing has that address/);
  assert.equal((await correct({ from: wrong.email, to: "grace" })).status, 400);
  const [, signed = ""] = codes;
  await changeOrder(db, signed, sql`status = 'NotarizationPending'`);
  assert.equal((await correct({ from: wrong.email, to: "grace@mail.example" })).status, 303);
  assert.deepEqual(await signersOf(codes[0] ?? ""), ["grace@mail.example"]);
  const order = await page(codes[0] ?? "");
  assert.match(order, /Signer’s email corrected/);
  assert.doesNotMatch(order, /Signer replaced/);
  assert.deepEqual(await signersOf(signed), [wrong.email]);
  const shown = await addresses();
  assert.match(shown, /Signer: Grace Okafor, grace@mail\.example/);
  assert.match(shown, /Signer, before: grace@gmial\.example/);
  assert.match(shown, /A notary identifies this client now/);
  let address = "grace@mail.example";
  for (let n = 2; n <= 10; n++) {
    const next = `grace${n}@mail.example`;
    assert.equal((await correct({ from: address, to: next })).status, 303);
    address = next;
  }
  const once = await correct({ from: address, to: "grace11@mail.example" });
  assert.equal(once.status, 409);
  assert.match(await once.text(), /change at most 10 times in 24 hours/);
  assert.deepEqual(await signersOf(codes[0] ?? ""), [address], "nothing is changed");
});

test("people who share a mailbox are listed each, and a participant's correction is on the audit log", async () => {
  const shared = "roe@gmial.example";
  const { roomCode, codes } = await closing(
    [
      { name: "Ann Roe", email: shared },
      { name: "Bob Roe", email: shared },
    ],
    2,
  );
  const participant = { name: "Ann Roe", email: shared, role: "buyer" };
  const added = { method: "POST", headers: json, body: JSON.stringify(participant) };
  assert.equal((await call(`/api/rooms/${roomCode}/participants`, added)).status, 200);
  const path = `/dashboard/rooms/${roomCode}/addresses`;
  const addresses = async () => (await call(path, { headers: owner.headers })).body as string;
  const shown = await addresses();
  assert.match(shown, /Ann Roe, roe@gmial\.example \(2 documents\)/);
  assert.match(shown, /Bob Roe, roe@gmial\.example \(2 documents\)/);
  assert.match(shown, /Everybody at roe@gmial\.example: Ann Roe, Bob Roe/);
  const correct = (fields: Record<string, string>) =>
    postForm(`${service.baseUrl}${path}`, fields, { ...owner.headers, Accept: "text/html" });
  assert.equal((await correct({ from: `${shared} Ann Roe`, to: "ann@mail.example" })).status, 303);
  for (const code of codes) assert.deepEqual(await signersOf(code), ["ann@mail.example", shared]);
  assert.match(await addresses(), /Bob Roe, roe@gmial\.example \(2 documents\)/);
  const lines = await db.query<{ actor: string }>(sql`
    SELECT a.actor FROM audit_log a JOIN rooms r ON r.id = a.room_id
    WHERE ${isSealed(sql`r.code`, "room", roomCode)} AND a.action = 'room.participant_corrected'`);
  assert.match(lines.map(({ actor }) => actor).join(), /^member:/);
  assert.equal((await correct({ from: shared, to: "bob@mail.example" })).status, 303);
  for (const code of codes) assert.deepEqual(await signersOf(code), ["ann@mail.example", "bob@mail.example"]);
});

test("the page of addresses names the documents that were altered in the database, and corrects the others", async () => {
  const wrong = { name: "Grace Okafor", email: "grace2@gmial.example" };
  const { roomCode, codes } = await closing([wrong], 5);
  const path = `/dashboard/rooms/${roomCode}/addresses`;
  const correct = (to: string) =>
    postForm(`${service.baseUrl}${path}`, { from: wrong.email, to }, { ...owner.headers, Accept: "text/html" });
  const [good = "", ...altered] = codes;
  const [correction, order, signer, parcel] = altered.map(
    (code) => sql`(SELECT id FROM orders WHERE ${isSealed(sql`code`, "order", code)})`,
  ) as [Statement, Statement, Statement, Statement];
  await db.query(sql`
    INSERT INTO order_corrections (order_id, kind, before, after, actor, at)
    VALUES (${correction}, 'signer', '{}', '{}', 'member:x', now())`);
  await db.query(sql`UPDATE orders SET customer_name = 'Eve' WHERE id = ${order}`);
  await db.query(sql`
    UPDATE envelope_signers SET name = 'Eve' WHERE envelope_id IN (SELECT id FROM envelopes WHERE order_id = ${signer})`);
  await db.query(sql`
    INSERT INTO shipments (order_id, status, carrier, tracking_number, shipped_at)
    VALUES (${parcel}, 'Shipped', 'USPS', '9400', now())`);
  const shown = await call(path, { headers: owner.headers });
  assert.equal(shown.status, 200);
  assert.match(
    shown.body as string,
    /Nothing is shown or corrected in these documents: Paper 2, Paper 3, Paper 4, Paper 5\./,
  );
  assert.doesNotMatch(shown.body as string, /Eve/);
  const corrected = await correct("grace@right.example");
  assert.equal(corrected.status, 303, await corrected.text());
  assert.deepEqual(await signersOf(good), ["grace@right.example"]);
  const left = await db.query(sql`
    SELECT DISTINCT s.email FROM envelope_signers s JOIN envelopes e ON e.id = s.envelope_id
    WHERE e.order_id IN (${correction}, ${order}, ${signer}, ${parcel})`);
  assert.deepEqual(left, [{ email: wrong.email }]);

  await db.query(sql`UPDATE rooms SET name = 'Eve closing' WHERE ${isSealed(sql`code`, "room", roomCode)}`);
  const closed = await call(path, { headers: owner.headers });
  assert.equal(closed.status, 200);
  assert.match(closed.body as string, /This closing can’t be shown: its record was altered/);
  assert.doesNotMatch(closed.body as string, /Eve closing/);
  const refused = await correct("grace@other.example");
  assert.equal(refused.status, 409);
  assert.match(await refused.text(), /own record was altered, so no address was corrected/);
  assert.deepEqual(await signersOf(good), ["grace@right.example"]);
});

test("an order whose list of signers was altered keeps its address, and the other orders of the closing are corrected", async () => {
  const wrong = { name: "Ida Moss", email: "ida@gmial.example" };
  const { roomCode, codes } = await closing([wrong], 2);
  const [good = "", altered = ""] = codes;
  await db.query(sql`UPDATE orders SET row_mac = NULL WHERE ${isSealed(sql`code`, "order", altered)}`);
  const path = `${service.baseUrl}/dashboard/rooms/${roomCode}/addresses`;
  const fields = { from: wrong.email, to: "ida@mail.example" };
  const corrected = await postForm(path, fields, { ...owner.headers, Accept: "text/html" });
  assert.equal(corrected.status, 303, await corrected.text());
  assert.deepEqual(await signersOf(good), ["ida@mail.example"]);
  assert.deepEqual(await signersOf(altered), [wrong.email]);
  const cookie = [owner.headers.Cookie, corrected.headers.get("set-cookie")?.split(";")[0]].filter(Boolean).join("; ");
  const shown = await fetch(new URL(corrected.headers.get("location") ?? "", path), { headers: { Cookie: cookie } });
  assert.match(await shown.text(), /Paper 2/);
});

test("an address is corrected in refunded documents of the closing, too, and canceled ones keep it, as the page says", async () => {
  const wrong = { name: "Rae Doe", email: "rae@gmial.example" };
  const { roomCode, codes } = await closing([wrong], 3);
  const [open = "", refunded = "", canceled = ""] = codes;
  await changeOrder(db, refunded, sql`status = 'Refunded'`);
  await changeOrder(db, canceled, sql`status = 'Cancelled'`);
  const path = `/dashboard/rooms/${roomCode}/addresses`;
  const shown = async () => (await call(path, { headers: owner.headers })).body as string;
  assert.equal((await shown()).match(/The order has ended\./g)?.length, 1);
  const fields = { from: wrong.email, to: "rae@mail.example" };
  assert.equal((await postForm(service.baseUrl + path, fields, { ...owner.headers, Accept: "text/html" })).status, 303);
  for (const code of [open, refunded]) assert.deepEqual(await signersOf(code), ["rae@mail.example"]);
  assert.deepEqual(await signersOf(canceled), [wrong.email]);
});

test("the pages of a closing and of its other documents open although one document was altered, and name it", async () => {
  const { roomCode, codes } = await closing([{ name: "Ivy Roe", email: "ivy@example.com" }], 3);
  const [good = "", ...altered] = codes;
  const idOf = (code = "") => sql`(SELECT id FROM orders WHERE ${isSealed(sql`code`, "order", code)})`;
  const room = async () => {
    const { status, body } = await call(`/dashboard/rooms/${roomCode}`, { headers: owner.headers });
    assert.equal(status, 200);
    return body as string;
  };
  assert.doesNotMatch(await room(), /was altered/);
  await db.query(sql`UPDATE envelopes SET pages = pages + 1 WHERE order_id = ${idOf(altered[0])}`);
  assert.match(await room(), /record was altered outside the service: Paper 2\. Contact the operator/);
  await db.query(sql`
    UPDATE envelope_signers SET name = 'Eve' WHERE envelope_id IN (SELECT id FROM envelopes WHERE order_id = ${idOf(altered[1])})`);
  const shown = await room();
  assert.match(shown, /record was altered outside the service: Paper 2, Paper 3\. Contact the operator/);
  assert.match(shown, new RegExp(`href="/dashboard/orders/${good}"`));
  assert.doesNotMatch(shown, /Eve/);
  const { status, body } = await call(`/dashboard/orders/${good}`, { headers: owner.headers });
  assert.equal(status, 200);
  assert.match(body as string, /Ivy Roe/);
});
