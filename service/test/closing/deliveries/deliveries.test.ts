import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { openHarness } from "@signsealship/testing/harness";
import { minimal, orderForm } from "@signsealship/testing/inputs/order-form";
import { newPartner } from "@signsealship/testing/service";
import { until } from "@signsealship/testing/until";
import { unzipSync } from "fflate";
import { sql } from "../../../src/kernel/platform/database/sql.ts";
import { mailsTo, newMember, postForm } from "../../firms/members/signed-in-member.ts";

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
