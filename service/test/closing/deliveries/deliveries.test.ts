import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { openHarness } from "@signsealship/testing/harness";
import { minimal, orderForm } from "@signsealship/testing/inputs/order-form";
import { newPartner } from "@signsealship/testing/service";
import { until } from "@signsealship/testing/until";
import { unzipSync } from "fflate";
import { sendToReceivers, writeReceivers } from "../../../src/closing/deliveries/deliveries.ts";
import { isSealed, sql } from "../../../src/kernel/platform/database/sql.ts";
import { mailsTo, newMember, postForm } from "../../firms/members/signed-in-member.ts";
import { silent } from "../../orders/order/orders-database.ts";

const running = await forTests(openHarness());
const { baseUrl } = running.service;
const acme = await newPartner(running.service, { name: "Acme Title" });
const other = await newPartner(running.service, { name: "Other Title" });
const agent = (await newMember(running.service, "agent@acme.example", acme.key)).headers;

type Firm = { headers: Record<string, string> };

async function post<T>(path: string, { headers }: Firm, body?: object): Promise<T> {
  const more = body && { "Content-Type": "application/json" };
  const init = { method: "POST", headers: { ...headers, ...more }, ...(body && { body: JSON.stringify(body) }) };
  const answer = await fetch(baseUrl + path, init);
  assert.ok(answer.ok, await answer.clone().text());
  return (await answer.json()) as T;
}

async function place(firm: Firm, fields: Record<string, string>): Promise<string> {
  const body = orderForm({ ...minimal, svc_sign: "true", ...fields });
  const answer = await fetch(`${baseUrl}/api/partner/orders`, { method: "POST", headers: firm.headers, body });
  return ((await answer.json()) as { orderCode: string }).orderCode;
}

const finish = async (firm: Firm, code: string) => {
  await post(`/api/partner/sandbox/orders/${code}/checkout`, firm);
  for (let status = ""; status !== "Completed"; )
    ({ status } = await post<{ status: string }>(`/api/partner/sandbox/orders/${code}/advance`, firm));
};

/** A room with a finished deed, an unfinished note, and a finished order of another firm. */
async function closing() {
  const room = { name: "Ortega closing", reference: "2026-1187" };
  const { roomCode } = await post<{ roomCode: string }>("/api/rooms", acme, room);
  const [deed, note] = [await place(acme, {}), await place(acme, {})];
  const foreign = await place(other, {});
  for (const orderCode of [deed, note, foreign]) await post(`/api/rooms/${roomCode}/orders`, acme, { orderCode });
  await finish(acme, deed);
  await finish(other, foreign);
  await post(`/api/rooms/${roomCode}/passport`, acme);
  return { roomCode, deed, note, foreign };
}

const { roomCode, deed, note, foreign } = await closing();
const roomPage = `${baseUrl}/dashboard/rooms/${roomCode}`;
const look = async () => (await fetch(roomPage, { headers: agent })).text();

const bytesOf = async (answer: Response): Promise<Uint8Array> => {
  assert.equal(answer.status, 200);
  return new Uint8Array(await answer.arrayBuffer());
};

function namesIn(zip: Uint8Array): string[] {
  return Object.keys(unzipSync(zip)).sort();
}

const top = "2026-1187 Ortega closing";

test("puts the finished documents of a room in one zip, with names for people, and the same bytes each time", async () => {
  const get = () => fetch(`${roomPage}/zip`, { headers: agent });
  const answer = await get();
  assert.match(answer.headers.get("content-disposition") ?? "", /filename="2026-1187 Ortega closing\.zip"/);
  assert.equal(answer.headers.get("content-type"), "application/zip");
  const zip = await bytesOf(answer);
  assert.equal(Number(answer.headers.get("content-length")), zip.length);
  assert.deepEqual(zip, await bytesOf(await get()));
  const files = unzipSync(zip);
  const names = namesIn(zip);
  assert.ok(names.includes(`${top}/README.txt`) && names.includes(`${top}/verify.html`), names.join());
  const documents = names.filter((name) => name.includes("/Documents/"));
  assert.equal(documents.length, 1, "neither what is unfinished nor what another firm placed");
  assert.match(documents[0] ?? "", /^2026-1187 Ortega closing\/Documents\/01 2026-1187 .+, signed\.pdf$/);
  assert.ok(names.includes(`${top}/Certificates/Closing certificate.pdf`), names.join());
  const contents = JSON.parse(Buffer.from(files[`${top}/contents.json`] ?? []).toString());
  for (const { path, sha256 } of contents.files)
    assert.equal(hash("sha256", files[`${top}/${path}`] ?? new Uint8Array()), sha256, path);
  const checker = Buffer.from(files[`${top}/verify.html`] ?? []).toString();
  assert.match(checker, /default-src &#39;none&#39;|default-src 'none'/);
  const readme = Buffer.from(files[`${top}/README.txt`] ?? []).toString();
  assert.match(readme, /File number: 2026-1187/);
  assert.match(readme, /A TEST/);
  for (const code of [roomCode, deed, note, foreign])
    assert.ok(!readme.includes(code) && !JSON.stringify(contents).includes(code));
});

test("puts a finished order in a zip of its own, and refuses an unfinished one", async () => {
  const zip = await bytesOf(await fetch(`${baseUrl}/dashboard/orders/${deed}/zip`, { headers: agent }));
  assert.equal(namesIn(zip).filter((name) => name.includes("/Documents/")).length, 1);
  assert.equal((await fetch(`${baseUrl}/dashboard/orders/${note}/zip`, { headers: agent })).status, 409);
  assert.equal((await fetch(`${baseUrl}/dashboard/orders/${foreign}/zip`, { headers: agent })).status, 404);
  assert.match(
    await (await fetch(`${baseUrl}/dashboard/orders/${deed}`, { headers: agent })).text(),
    /Download everything \(zip\)/,
  );
});

let sent = 0;

async function send(fields: Record<string, string> = {}, room = roomCode) {
  const typed = { name: "Lena Lender", email: "lena@lender.example", days: "14", [`send-${deed}`]: "on" };
  const submission = `${Date.now()}-${sent++}`;
  return postForm(
    `${baseUrl}/dashboard/rooms/${room}/deliveries`,
    { ...typed, submission, ...fields },
    {
      ...agent,
      Accept: "text/html",
    },
  );
}

/** Sends the form as it is shown, with the box for a code ticked. */
const sendWithCode = (email: string) => send({ email, code: "on" });
const newestCode = (email: string) =>
  mailsTo(running.service, email)
    .filter((mail) => /Subject: .*Your code for the documents/.test(mail))
    .flatMap((mail) => /^\s*(\d{6})\s*$/m.exec(mail)?.[1] ?? []);
const postTo = (path: string, fields: Record<string, string> = {}, cookie = "") =>
  fetch(baseUrl + path, {
    method: "POST",
    redirect: "manual",
    headers: { cookie, "Accept-Language": "en" },
    body: new URLSearchParams(fields),
  });

const links = (email: string) => [
  ...new Set(
    mailsTo(running.service, email).flatMap(
      (mail) => /\/deliveries\/[0-9a-f-]{36}\/[0-9a-f]{40}/.exec(mail)?.[0] ?? [],
    ),
  ),
];

test("names the wrong field, and sends nothing", async () => {
  for (const [fields, status, why] of [
    [{ name: " " }, 400, /name must have 1 to 200 characters/],
    [{ email: "nobody" }, 400, /email must be an email address/],
    [{ days: "0" }, 400, /days must be a whole number from 1 to 90/],
    [{ days: "91" }, 400, /days must be/],
    [{ days: "1.5" }, 400, /days must be/],
    [{ [`send-${note}`]: "on" }, 409, /is not finished/],
  ] as const) {
    const answer = await send(fields);
    assert.equal(answer.status, status, JSON.stringify(fields));
    assert.match(await answer.text(), why);
  }
  const none = await postForm(
    `${roomPage}/deliveries`,
    { name: "Lena", email: "lena@lender.example", days: "14", [`send-${foreign}`]: "on" },
    agent,
  );
  assert.equal(none.status, 400);
  assert.equal((await send({}, "0".repeat(40))).status, 404);
  assert.equal((await running.db.query(sql`SELECT FROM closing_deliveries`)).length, 0);
});

test("sends documents by a link whose page downloads nothing, lists the downloads, and ends", async () => {
  assert.equal((await send()).status, 303);
  const path = await until(() => links("lena@lender.example")[0]);
  const page = await fetch(baseUrl + path, { headers: { "Accept-Language": "en" } });
  assert.equal(page.status, 200);
  const text = await page.text();
  assert.match(text, /Acme Title sends you documents/);
  assert.match(text, /, signed\.pdf/);
  for (const code of [roomCode, deed]) assert.ok(!text.includes(code), "no code that opens an order or a room");
  assert.doesNotMatch(text, /\$\d/);
  assert.match(await look(), /Not downloaded yet/);
  const zip = await bytesOf(await fetch(baseUrl + path, { method: "POST" }));
  assert.deepEqual(zip, await bytesOf(await fetch(baseUrl + path, { method: "POST" })));
  assert.equal(namesIn(zip).filter((name) => name.includes("/Documents/")).length, 1);
  const [, single = ""] = /action="(\/deliveries\/[^"]+\/sealed-[0-9a-f]{64})/.exec(text) ?? [];
  const one = await bytesOf(await fetch(baseUrl + single, { method: "POST" }));
  assert.equal(hash("sha256", one), single.slice(-64));
  assert.ok(
    !namesIn(zip).some((name) => name.includes("Closing certificate")),
    "its manifest has codes that open rooms",
  );
  await running.db.query(sql`
    INSERT INTO closing_delivery_uses (delivery_id, at, file) VALUES (${path.split("/")[2]}, now(), 'put in.pdf')`);
  const listed = await look();
  assert.equal(
    listed.match(/Download begun /g)?.length,
    2,
    "each once an hour, and none that was put into the database",
  );
  assert.match(listed, /from the network 127\.0\.0\.0\/24/);
  for (const wrong of [
    path.replace(/.$/, (last) => (last === "0" ? "1" : "0")),
    `${path.slice(0, -40)}${"0".repeat(40)}`,
    "/deliveries/x/y",
  ])
    for (const method of ["GET", "POST"]) assert.equal((await fetch(baseUrl + wrong, { method })).status, 404);
  assert.equal((await fetch(`${baseUrl}${path}/original-${"0".repeat(64)}`, { method: "POST" })).status, 404);

  const [, end = ""] = /action="(\/dashboard\/rooms\/[^"]+\/revoke)"/.exec(listed) ?? [];
  assert.equal((await postForm(baseUrl + end, {}, agent)).status, 303);
  assert.equal((await postForm(baseUrl + end, {}, agent)).status, 404);
  for (const method of ["GET", "POST"]) assert.equal((await fetch(baseUrl + path, { method })).status, 404);
  assert.match(await look(), /The link was ended/);
});

/** A link that asks for a code, before a code was mailed. */
async function asking(email: string) {
  assert.equal((await sendWithCode(email)).status, 303);
  return until(() => links(email)[0]);
}

const wrongOf = (code: string) => (code === "000000" ? "000001" : "000000");

test("asks for a code that only the recipient's mailbox gets, before it shows or sends anything", async () => {
  const email = "code@lender.example";
  const path = await asking(email);
  const door = await (await fetch(baseUrl + path, { headers: { "Accept-Language": "en" } })).text();
  assert.match(door, /We mail a code to c/);
  assert.doesNotMatch(door, /signed\.pdf|Ortega|lender\.example"/);
  assert.equal(newestCode(email).length, 0, "a scanner that opens the link has no code mailed");
  const early = await postTo(path);
  assert.deepEqual([early.status, early.headers.get("location")], [303, path]);

  assert.match((await postTo(`${path}/code`)).headers.get("location") ?? "", /code=sent$/);
  assert.match((await postTo(`${path}/code`)).headers.get("location") ?? "", /code=wait$/, "one a minute");
  const code = await until(() => newestCode(email)[0]);
  assert.match((await postTo(`${path}/enter`, { code: wrongOf(code) })).headers.get("location") ?? "", /code=wrong$/);
  const entered = await postTo(`${path}/enter`, { code: ` ${code.slice(0, 3)} ${code.slice(3)}` });
  const [cookie = ""] = (entered.headers.get("set-cookie") ?? "").split(";");
  assert.match(entered.headers.get("set-cookie") ?? "", /HttpOnly/);
  assert.match(
    await (await fetch(baseUrl + path, { headers: { cookie, "Accept-Language": "en" } })).text(),
    /signed\.pdf/,
  );
  assert.ok((await bytesOf(await postTo(path, {}, cookie))).length > 1000);
  assert.match(
    (await postTo(`${path}/enter`, { code })).headers.get("location") ?? "",
    /code=wrong$/,
    "a code works once",
  );

  const other = await asking("code2@lender.example");
  assert.doesNotMatch(await (await fetch(baseUrl + other, { headers: { cookie } })).text(), /signed\.pdf/);
  const forged = cookie.replace(/.$/, (last) => (last === "0" ? "1" : "0"));
  assert.doesNotMatch(await (await fetch(baseUrl + path, { headers: { cookie: forged } })).text(), /signed\.pdf/);
  const listed = await look();
  assert.match(listed, /Code entered /);
});

test("the fifth wrong code locks the link, however they are sent, and no row in the database opens it again", async () => {
  const email = "guess@lender.example";
  const path = await asking(email);
  await postTo(`${path}/code`);
  const code = await until(() => newestCode(email)[0]);
  const answers = await Promise.all(Array.from({ length: 8 }, () => postTo(`${path}/enter`, { code: wrongOf(code) })));
  const said = answers.map((answer) => /code=(\w+)/.exec(answer.headers.get("location") ?? "")?.[1]);
  assert.deepEqual(said.filter((word) => word === "wrong").length, 5);
  assert.match((await postTo(`${path}/enter`, { code })).headers.get("location") ?? "", /code=locked$/);
  assert.match(
    await (await fetch(baseUrl + path, { headers: { "Accept-Language": "en" } })).text(),
    /the link is locked/,
  );
  assert.match(await look(), /Locked after five wrong codes/);
  const id = path.split("/")[2] ?? "";
  await running.db.query(
    sql`UPDATE closing_delivery_codes SET failures = 0, locked_at = NULL WHERE delivery_id = ${id}`,
  );
  assert.equal((await postTo(`${path}/enter`, { code })).status, 503);
  await assert.rejects(running.db.query(sql`UPDATE closing_deliveries SET asks_code = false WHERE id = ${id}`));
});

test("sends people what they are to receive once it is done, once each, by links that ask for a code", async () => {
  const { roomCode: room, deed: finished, note: unfinished } = await closing();
  const [email, gone] = ["lee@lender.example", "gone@lender.example"];
  const { db, rowMac } = running;
  for (const code of [finished, unfinished]) {
    const [order] = await db.query<{ orderId: number; roomId: string }>(sql`
      SELECT o.id AS "orderId", a.room_id AS "roomId" FROM orders o JOIN room_orders a ON a.order_id = o.id
      WHERE ${isSealed(sql`o.code`, "order", code)}`);
    assert.ok(order);
    const receivers = [email, gone].map((each) => ({ name: "Lee Lender", email: each.toUpperCase() }));
    await db.transaction((tx) => writeReceivers(tx, { ...order, by: "member:test", at: new Date() }, receivers));
  }
  const sweep = (minutes: number) =>
    sendToReceivers(
      { db, rowMac, log: silent, clock: () => new Date(Date.now() + minutes * 60_000) },
      new AbortController().signal,
    );
  const sentTo = (to: string) =>
    db.query<{ files: number; asks: boolean }>(sql`
      SELECT jsonb_array_length(files) AS files, asks_code AS asks FROM closing_deliveries WHERE recipient_email = ${to}`);
  const own = `${baseUrl}/dashboard/rooms/${room}`;
  assert.match(await (await fetch(own, { headers: agent })).text(), /lee@lender\.example<\/strong>: 2 documents/);
  assert.equal((await postForm(`${own}/receivers/end`, { email: gone }, agent)).status, 303);
  assert.equal((await postForm(`${own}/receivers/end`, { email: gone }, agent)).status, 404);
  await sweep(0);
  assert.deepEqual(await sentTo(email), [], "documents that are done within ten minutes go together");
  await Promise.all([sweep(11), sweep(11)]);
  const [first, ...more] = await sentTo(email);
  assert.deepEqual([first?.asks, more.length], [true, 0]);
  await finish(acme, unfinished);
  await Promise.all([sweep(0), sweep(0)]);
  assert.equal((await sentTo(email)).length, 2, "the last one goes at once");
  await sweep(60);
  assert.deepEqual([(await sentTo(email)).length, await sentTo(gone)], [2, []]);
  await until(() => links(email).length === 2);
  const put = sql`SELECT room_id, order_id, 'Eve', 'eve@example.com', asked_by, asked_at FROM closing_receivers LIMIT 1`;
  await db.query(sql`INSERT INTO closing_receivers (room_id, order_id, name, email, asked_by, asked_at) ${put}`);
  await sweep(60);
  assert.deepEqual(await sentTo("eve@example.com"), []);
});

test("prevents changes of a delivery in the database, and opens none that was changed", async () => {
  assert.equal((await send({ email: "second@lender.example" })).status, 303);
  const path = await until(() => links("second@lender.example")[0]);
  const id = path.split("/")[2] ?? "";
  for (const change of [
    sql`files = '[{}]'`,
    sql`expires_at = expires_at + interval '1 year'`,
    sql`recipient_email = 'eve@example.com'`,
  ])
    await assert.rejects(running.db.query(sql`UPDATE closing_deliveries SET ${change} WHERE id = ${id}`));
  await running.db.query(sql`UPDATE closing_deliveries SET row_mac = NULL WHERE id = ${id}`);
  assert.equal((await fetch(baseUrl + path)).status, 503);
});
