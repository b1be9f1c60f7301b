import assert from "node:assert/strict";
import { hash, randomUUID } from "node:crypto";
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { newClient } from "@signsealship/testing/client";
import { forTests } from "@signsealship/testing/for-tests";
import { openHarness } from "@signsealship/testing/harness";
import { minimal, orderForm } from "@signsealship/testing/inputs/order-form";
import { newPartner } from "@signsealship/testing/service";
import { until } from "@signsealship/testing/until";
import { unzipSync } from "fflate";
import { lockCode, updateCode } from "../../../src/closing/deliveries/code-store.ts";
import { sendToReceivers, writeReceivers } from "../../../src/closing/deliveries/deliveries.ts";
import { insertDelivery } from "../../../src/closing/deliveries/store.ts";
import { isSealed, sql } from "../../../src/kernel/platform/database/sql.ts";
import { markMac } from "../../../src/kernel/retention/marks.ts";
import { checkFiles } from "../../../src/pages/verify/browser/check.ts";
import type { VerifyConfig } from "../../../src/pages/verify/browser/config.ts";
import { bannerOf } from "../../../src/pages/verify/browser/outcome-banner.ts";
import { mailsTo, newMember, postForm } from "../../firms/members/signed-in-member.ts";
import { silent } from "../../orders/order/orders-database.ts";

const running = await forTests(openHarness());
const { baseUrl } = running.service;
const newFirm = async (name: string) => {
  const partner = await newPartner(running.service, { name });
  return { ...partner, ...newClient(baseUrl, partner.key) };
};
type Firm = Awaited<ReturnType<typeof newFirm>>;
const acme = await newFirm("Acme Title");
const other = await newFirm("Other Title");
const agent = (await newMember(running.service, "agent@acme.example", acme.key)).headers;

async function place(firm: Firm, fields: Record<string, string>): Promise<string> {
  const form = orderForm({ ...minimal, svc_sign: "true", ...fields });
  return (await firm.post<{ orderCode: string }>("/api/partner/orders", form)).orderCode;
}

const finish = async (firm: Firm, code: string) => {
  await firm.post(`/api/partner/sandbox/orders/${code}/checkout`);
  for (let status = ""; status !== "Completed"; )
    ({ status } = await firm.post<{ status: string }>(`/api/partner/sandbox/orders/${code}/advance`));
};

/** A room with a finished deed, an unfinished note, and a finished order of another firm. */
async function closing() {
  const room = { name: "Ortega closing", reference: "2026-1187" };
  const { roomCode } = await acme.post<{ roomCode: string }>("/api/rooms", room);
  const [deed, note] = [await place(acme, {}), await place(acme, {})];
  const foreign = await place(other, {});
  for (const orderCode of [deed, note, foreign]) await acme.post(`/api/rooms/${roomCode}/orders`, { orderCode });
  await finish(acme, deed);
  await finish(other, foreign);
  await acme.post(`/api/rooms/${roomCode}/passport`);
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
  // The zip contains log proofs of the signed document and of the closing certificate within seconds after their seals.
  const proofs = (zip: Uint8Array) => namesIn(zip).filter((name) => name.endsWith(".tlog-proof"));
  await until(async () => proofs(await bytesOf(await get())).length === 2);
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
  assert.match(
    readme,
    /Not here: custody certificates and receipts\. In a test/,
    "the sandbox signed and sent nothing",
  );
  assert.doesNotMatch(readme, /A custody certificate tells|Receipts:|together with its custody certificate/);
  for (const code of [roomCode, deed, note, foreign])
    assert.ok(!readme.includes(code) && !JSON.stringify(contents).includes(code));
});

test("the checker in a zip verifies the zip's own documents, and says which document of the closing each one is", async () => {
  const files = unzipSync(await bytesOf(await fetch(`${roomPage}/zip`, { headers: agent })));
  const checker = Buffer.from(files[`${top}/verify.html`] ?? []).toString();
  const config = JSON.parse(/id="verify-config">([^<]+)</.exec(checker)?.[1] ?? "") as VerifyConfig;
  const pdfs = Object.entries(files).filter(([name]) => name.endsWith(".pdf"));
  const outcomes = await checkFiles({
    files: pdfs.map(([name, bytes]) => ({ name, bytes })),
    config,
    trust: { seal: "", timeStamping: "" },
    at: Date.now(),
    subtle: crypto.subtle,
  });
  assert.equal(outcomes.length, pdfs.length);
  for (const outcome of outcomes) {
    assert.ok(outcome.kind !== "failed" && outcome.verdict === "verified", JSON.stringify(outcome).slice(0, 300));
    // Test orders are sealed as tests, so the verifier shows no file of the zip in green. It shows none in red either.
    assert.equal(bannerOf(outcome).tone, "unknown");
  }
  const claims = outcomes.flatMap((outcome) => (outcome.kind === "proof" ? outcome.claims : []));
  const named = claims.filter(({ name }) => name === "document_of_this_room");
  assert.ok(named.length > 0 && named.every(({ state }) => state === "holds"));
  assert.match(named[0]?.why ?? "", /^Document \d of 3 of closing 2026-1187/);
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

/** Sends the deed by a link that requires a code. */
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

test("names a notarization that the sandbox simulated as simulated, in the zip and in its explanation", async () => {
  const order = await place(acme, { svc_notary: "true" });
  await finish(acme, order);
  const zip = await bytesOf(await fetch(`${baseUrl}/dashboard/orders/${order}/zip`, { headers: agent }));
  const [name = "", ...others] = namesIn(zip).filter((each) => each.includes("/Documents/"));
  assert.match(name, /, notarization simulated\.pdf$/);
  assert.deepEqual(others, []);
  const files = unzipSync(zip);
  const readme = Object.keys(files).find((each) => each.endsWith("/README.txt")) ?? "";
  const text = Buffer.from(files[readme] ?? []).toString();
  assert.match(text, /notarization simulated\.pdf\s+A test: the notarization was simulated, and no notary signed it\./);
  assert.doesNotMatch(text, /Use this file/);
});

test("offers the one lender of a room as the recipient, and of several lenders only their addresses", async () => {
  const lender = (name: string, email: string) =>
    acme.post(`/api/rooms/${roomCode}/participants`, { name, email, role: "lender" });
  assert.match(await look(), /id="delivery-email"[^>]* value=""/);
  await acme.post(`/api/rooms/${roomCode}/participants`, { name: "Ana", email: "ana@example.com", role: "signer" });
  await lender("Lee Lender", "lee@lender.example");
  const one = await look();
  assert.match(one, /id="delivery-name"[^>]* value="Lee Lender"/);
  assert.match(one, /id="delivery-email"[^>]* value="lee@lender\.example"/);
  await lender("Bo Banks", "bo@bank.example");
  const two = await look();
  assert.match(two, /id="delivery-email"[^>]* value=""/);
  assert.match(
    two,
    /<option value="lee@lender\.example">Lee Lender<\/option><option value="bo@bank\.example">Bo Banks/,
  );
  assert.doesNotMatch(two, /<option value="ana@example\.com"/);
});

test("names all wrong fields as the form does, and sends nothing", async () => {
  for (const [fields, status, why] of [
    [{ name: " " }, 400, /“Name of the recipient” must have 1 to 200 characters/],
    [{ email: "nobody" }, 400, /“Email” must be an email address/],
    [{ days: "0" }, 400, /“Days until the link ends” must be a whole number from 1 to 90/],
    [{ days: "91", email: "" }, 400, /“Email” must be an email address\. “Days until the link ends” must be/],
    [{ days: "1.5" }, 400, /“Days until the link ends” must be/],
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
  const [mail = ""] = mailsTo(running.service, "lena@lender.example");
  assert.match(mail, /The link works until [A-Z][a-z]+ \d+, \d{4} at \d+:\d\d [AP]M E[SD]T\./);
  const page = await fetch(baseUrl + path, { headers: { "Accept-Language": "en" } });
  assert.equal(page.status, 200);
  const text = await page.text();
  assert.match(text, /Acme Title sends you documents/);
  assert.match(text, /, signed\.pdf<\/span>\. <strong>Completed in the sandbox: nobody’s signature is in it<\/strong>/);
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
    "its manifest has codes that open rooms, and nobody chose to send it",
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

/** The HTML of the checkbox for the closing certificate on a room's page, and the hint below it. */
async function certificateBox(room: string): Promise<readonly [box: string, hint: string]> {
  const page = await (await fetch(`${baseUrl}/dashboard/rooms/${room}`, { headers: agent })).text();
  const [, box = "", hint = ""] =
    /(<input[^>]*name="certificate"[^>]*>)<label[^>]*>[^<]*<\/label><p[^>]*>([^<]*)</.exec(page) ?? [];
  return [box, hint];
}

test("delivers the newest closing certificate where the sender chose it, and exactly that version afterwards", async () => {
  const [box, hint] = await certificateBox(roomCode);
  assert.match(box, /type="checkbox"[^>]*value="1"/);
  assert.doesNotMatch(box, /checked/, "it leads to the unfinished note, and to an order of another firm");
  assert.match(
    hint,
    /can check each document .* and of 2 more: not finished, taken out of the room, or placed by another/,
  );
  assert.equal((await send({ email: "cert@lender.example", certificate: "1" })).status, 303);
  const path = await until(() => links("cert@lender.example")[0]);
  assert.match(await look(), /cert@lender\.example<\/strong>: 1 document with the closing certificate,/);
  assert.match(await look(), /lena@lender\.example<\/strong>: 1 document, /);
  const page = await (await fetch(baseUrl + path, { headers: { "Accept-Language": "en" } })).text();
  const [, single = ""] = /action="(\/deliveries\/[^"]+\/closing_certificate-[0-9a-f]{64})/.exec(page) ?? [];
  await acme.post(`/api/rooms/${roomCode}/passport`);
  const files = unzipSync(await bytesOf(await fetch(baseUrl + path, { method: "POST" })));
  const certificate = files[`${top}/Certificates/Closing certificate.pdf`] ?? new Uint8Array();
  assert.equal(hash("sha256", certificate), single.slice(-64), "the version of the time of sending");
  assert.deepEqual(await bytesOf(await fetch(baseUrl + single, { method: "POST" })), certificate);
  const contents = JSON.parse(Buffer.from(files[`${top}/contents.json`] ?? []).toString());
  assert.ok(contents.files.some(({ kind }: { kind: string }) => kind === "closing_certificate"));
  const outcomes = await checkFiles({
    files: Object.entries(files).flatMap(([name, bytes]) => (name.endsWith(".pdf") ? { name, bytes } : [])),
    config: JSON.parse(
      /id="verify-config">([^<]+)</.exec(Buffer.from(files[`${top}/verify.html`] ?? []).toString())?.[1] ?? "",
    ) as VerifyConfig,
    trust: { seal: "", timeStamping: "" },
    at: Date.now(),
    subtle: crypto.subtle,
  });
  const claims = outcomes.flatMap((outcome) => (outcome.kind === "proof" ? outcome.claims : []));
  assert.match(
    claims.find(({ name }) => name === "document_of_this_room")?.why ?? "",
    /^Document \d of 3 of closing 2026-1187/,
  );

  const id = path.split("/")[2] ?? "";
  const another = sql`certificate_sha256 = ${"0".repeat(64)}`;
  await assert.rejects(running.db.query(sql`UPDATE closing_deliveries SET ${another} WHERE id = ${id}`));
  const write = (sha256: string | null) =>
    running.db.transaction(async (tx) => {
      await tx.script("SET LOCAL session_replication_role = replica");
      await tx.query(sql`UPDATE closing_deliveries SET certificate_sha256 = ${sha256} WHERE id = ${id}`);
    });
  await write(null);
  assert.equal((await fetch(baseUrl + path)).status, 503, "its MAC covers the certificate");
  await write(single.slice(-64));
  assert.equal((await fetch(baseUrl + path)).status, 200);
});

/** A room with finished orders of these firms. */
async function finishedRoom(...firms: Firm[]): Promise<{ room: string; orders: string[] }> {
  const { roomCode: room } = await acme.post<{ roomCode: string }>("/api/rooms", { name: "Own closing" });
  const orders: string[] = [];
  for (const firm of firms) {
    const orderCode = await place(firm, {});
    await acme.post(`/api/rooms/${room}/orders`, { orderCode });
    await finish(firm, orderCode);
    orders.push(orderCode);
  }
  return { room, orders };
}

test("checks the box for a certificate that links to sent documents only, and sends no certificate that does not exist", async () => {
  const {
    room,
    orders: [own = ""],
  } = await finishedRoom(acme);
  const sendWith = (certificate: string) =>
    send({ certificate, [`send-${own}`]: "on", email: "none@lender.example" }, room);
  const before = await sendWith("1");
  assert.equal(before.status, 409);
  assert.match(await before.text(), /This closing has no certificate to send/);
  assert.deepEqual(await certificateBox(room), ["", ""]);
  await acme.post(`/api/rooms/${room}/passport`);
  const [box, hint] = await certificateBox(room);
  assert.match(box, /checked/);
  assert.match(hint, /can check each document .* of all its orders, also of those that you untick here\.$/);
  for (const wrong of ["on", "2", ""]) {
    const refused = await sendWith(wrong);
    assert.equal(refused.status, 409, wrong);
    assert.match(await refused.text(), /The newest closing certificate is version 1 now/);
  }
  await acme.post(`/api/rooms/${room}/close`);
});

test("lists what is missing before the documents are sent, and sends them anyway", async () => {
  const { room, orders } = await finishedRoom(acme);
  const note = await place(acme, {});
  await acme.post(`/api/rooms/${room}/orders`, { orderCode: note });
  const missing = async () => {
    const page = await (await fetch(`${baseUrl}/dashboard/rooms/${room}`, { headers: agent })).text();
    const [, list = ""] = /Missing now.*?<ul>(.*?)<\/ul>/s.exec(page) ?? [];
    return list.split("</li>").flatMap((line) => line.replaceAll(/<[^>]*>/g, "").trim() || []);
  };
  const simulated = /: the sandbox simulated the signatures\.$/;
  const isMissing = async (...wanted: RegExp[]) => {
    const lines = await missing();
    assert.equal(lines.length, wanted.length, lines.join("\n"));
    for (const [index, line] of lines.entries()) assert.match(line, wanted[index] ?? /^$/);
  };
  const unfinished = /: the document is not finished \(Ready to pay\)\.$/;
  await isMissing(simulated, unfinished, /^The closing certificate is not sealed yet\.$/);
  await acme.post(`/api/rooms/${room}/passport`);
  await isMissing(simulated, unfinished);
  await finish(acme, note);
  await isMissing(simulated, simulated, /^Version 1 of the closing certificate does not list every finished document/);
  assert.equal((await send({ [`send-${orders[0]}`]: "on", email: "early@lender.example" }, room)).status, 303);
  await acme.post(`/api/rooms/${room}/passport`);
  await isMissing(simulated, simulated);
  const foreign = await place(other, {});
  await acme.post(`/api/rooms/${room}/orders`, { orderCode: foreign });
  const ofOther = /^Order [0-9A-F]{6}: another firm placed it, so it can’t be sent from here\.$/;
  await isMissing(simulated, simulated, ofOther);
  const refused = await send({ [`send-${note}`]: "on", email: "not an address" }, room);
  assert.equal((await refused.text()).match(/: its box is not ticked\./g)?.length, 1);
  const [version] = await running.db.query<{ blobKey: string }>(
    sql`SELECT c.blob_key AS "blobKey" FROM closing_passports c ORDER BY c.created_at DESC LIMIT 1`,
  );
  const mark = { blobKey: version?.blobKey ?? "", rule: "test", deletedAt: new Date() };
  await running.db.query(sql`
    INSERT INTO deleted_blobs (blob_key, rule, deleted_at, row_mac)
    VALUES (${mark.blobKey}, ${mark.rule}, ${mark.deletedAt}, ${markMac(running.rowMac, mark)})`);
  await isMissing(simulated, simulated, ofOther, /^The newest closing certificate was deleted\./);
  assert.deepEqual(await certificateBox(room), ["", ""]);
  await acme.post(`/api/rooms/${room}/close`);
});

test("says that nothing is missing only while every box is ticked, and names an altered order and certificate", async () => {
  const { roomCode: room } = await acme.post<{ roomCode: string }>("/api/rooms", { name: "Whole closing" });
  const faxed = { svc_sign: "", fax_to: "2125550100" };
  const [orderCode, altered] = [await place(acme, faxed), await place(acme, faxed)];
  for (const code of [orderCode, altered]) {
    await acme.post(`/api/rooms/${room}/orders`, {
      orderCode: code,
      label: code === altered ? "The other deed" : null,
    });
    await finish(acme, code);
  }
  await acme.post(`/api/rooms/${room}/passport`);
  const page = async () => (await fetch(`${baseUrl}/dashboard/rooms/${room}`, { headers: agent })).text();
  assert.match(await page(), /Nothing is missing while every box above is ticked: every document is completed/);
  await running.db.query(sql`
    UPDATE orders SET fax_to = '+12125550188' WHERE ${isSealed(sql`code`, "order", altered)}`);
  assert.match(await page(), /Missing now[\s\S]*The other deed: its record was altered outside the service/);
  assert.doesNotMatch(await page(), /Nothing is missing/);
  await running.db.query(sql`UPDATE closing_passports SET row_mac = NULL WHERE room_id = (
    SELECT room_id FROM closing_passports ORDER BY created_at DESC LIMIT 1)`);
  assert.match(await page(), /The newest closing certificate is not as it was sealed, and can’t be sent\./);
  assert.doesNotMatch(await page(), /Nothing is missing|not sealed yet/);
  await acme.post(`/api/rooms/${room}/close`);
});

test("leaves the box unticked for a certificate without a finished document, and sends no such document with it", async () => {
  const {
    room,
    orders: [deed = ""],
  } = await finishedRoom(acme);
  const late = await place(acme, {});
  await acme.post(`/api/rooms/${room}/orders`, { orderCode: late });
  await acme.post(`/api/rooms/${room}/passport`);
  assert.match((await certificateBox(room))[1], / and of 1 more: not finished/);
  await finish(acme, late);
  const [box, hint] = await certificateBox(room);
  assert.doesNotMatch(box, /checked/);
  assert.match(hint, /^It does not list every finished document as it is now: seal a new version first\./);
  const sendWith = (certificate: string, ...orders: string[]) => {
    const chosen = Object.fromEntries(orders.map((code) => [`send-${code}`, "on"]));
    return send({ certificate, email: "late@lender.example", ...chosen }, room);
  };
  const refused = await sendWith("1", deed, late);
  assert.equal(refused.status, 409);
  assert.match(await refused.text(), /Version 1 of the closing certificate does not list .* as it is now/);
  assert.equal((await sendWith("1", deed)).status, 303);
  await acme.post(`/api/rooms/${room}/passport`);
  assert.match((await certificateBox(room))[0], /value="2"[^>]*checked/);
  assert.equal((await sendWith("1", deed, late)).status, 409, "the sender has not seen what version 2 leads to");
  assert.equal((await sendWith("2", deed, late)).status, 303);
  await acme.post(`/api/rooms/${room}/close`);
});

test("leaves the box unticked for a certificate that leads to an order which has left the room", async () => {
  const { room, orders } = await finishedRoom(acme, other);
  await acme.post(`/api/rooms/${room}/passport`);
  await fetch(`${baseUrl}/api/rooms/${room}/orders/${orders[1]}`, { method: "DELETE", headers: acme.headers });
  const [box, hint] = await certificateBox(room);
  assert.match(box, /value="1"/);
  assert.doesNotMatch(box, /checked/);
  assert.match(hint, / and of 1 more: not finished, taken out of the room, or placed by another firm\.$/);
  await acme.post(`/api/rooms/${room}/close`);
});

test("delivers intact documents also while the certificate is missing or was altered", async () => {
  const {
    room,
    orders: [own = ""],
  } = await finishedRoom(acme);
  await acme.post(`/api/rooms/${room}/passport`);
  const email = "gone@certificate.example";
  assert.equal((await send({ certificate: "1", [`send-${own}`]: "on", email }, room)).status, 303);
  const path = await until(() => links(email)[0]);
  const [version] = await running.db.query<{ key: string; sha256: string }>(sql`
    SELECT c.blob_key AS key, c.sealed_sha256 AS sha256 FROM closing_passports c
    JOIN closing_deliveries d ON d.certificate_sha256 = c.sealed_sha256 WHERE d.recipient_email = ${email}`);
  assert.ok(version);
  const readmeOf = (zip: Uint8Array) =>
    Object.entries(unzipSync(zip)).flatMap(([name, bytes]) =>
      name.endsWith("/README.txt") ? Buffer.from(bytes).toString() : [],
    )[0] ?? "";
  const zipOf = async () => bytesOf(await fetch(baseUrl + path, { method: "POST" }));
  const isLost = async () => {
    const zip = await zipOf();
    const names = namesIn(zip);
    assert.equal(names.filter((name) => /\/Documents\/.*\.pdf$/.test(name)).length, 1);
    const text = /- Not here: the closing certificate\. It is missing at the service, or was altered there\./;
    const [isIn, isSaid] = [names.some((name) => name.endsWith("/Closing certificate.pdf")), text.test(readmeOf(zip))];
    assert.notEqual(isIn, isSaid);
    return isSaid;
  };
  const statuses = async () => {
    const page = await fetch(baseUrl + path);
    const [, document = ""] = /action="(\/deliveries\/[^"]+\/sealed-[0-9a-f]{64})/.exec(await page.text()) ?? [];
    const posted = [document, `${path}/closing_certificate-${version.sha256}`, path].map((each) =>
      fetch(baseUrl + each, { method: "POST" }),
    );
    return [page, ...(await Promise.all(posted))].map(({ status }) => status);
  };
  assert.deepEqual(await statuses(), [200, 200, 200, 200]);
  assert.equal(await isLost(), false);
  const file = join(running.service.dataDir, "blobs", version.key);
  renameSync(file, `${file}.away`);
  assert.deepEqual(await statuses(), [200, 200, 503, 200]);
  assert.equal(await isLost(), true);
  renameSync(`${file}.away`, file);
  const whole = readFileSync(file);
  writeFileSync(file, whole.with(whole.length - 20, whole.readUInt8(whole.length - 20) ^ 1));
  assert.deepEqual(await statuses(), [200, 200, 503, 200]);
  assert.equal(await isLost(), true);
  writeFileSync(file, whole);
  await running.db.query(sql`UPDATE closing_passports SET row_mac = NULL WHERE sealed_sha256 = ${version.sha256}`);
  assert.deepEqual(await statuses(), [200, 200, 503, 200]);
  assert.equal(await isLost(), true);
  assert.deepEqual(await certificateBox(room), ["", ""]);
  await acme.post(`/api/rooms/${room}/close`);
});

const told = (to: string, about: string) =>
  mailsTo(running.service, to).filter((mail) =>
    new RegExp(`^Subject: .*Documents sent to ${about} were downloaded`, "m").test(mail),
  );

/** Sends the deed to a new recipient by a link that needs no code. @returns the path of the link */
async function linkFor(name: string, email: string): Promise<string> {
  assert.equal((await send({ name, email })).status, 303);
  return until(() => links(email)[0]);
}

test("mails the sender once when documents are first downloaded, however many downloads begin at once", async () => {
  const to = "agent@acme.example";
  const path = await linkFor("Nora Bank", "nora@lender.example");
  await fetch(baseUrl + path);
  await Promise.all([1, 2, 3].map(async () => bytesOf(await fetch(baseUrl + path, { method: "POST" }))));
  const mail = await until(() => told(to, "Nora Bank")[0]);
  assert.match(mail, /Documents sent to Nora Bank were downloaded: 2026-1187/);
  assert.match(mail, /Downloaded[\s\S]*?\d:\d\d.{1,12}[AP]M.{1,12}E[DS]T/, "in the zone of the firm's statements");
  assert.doesNotMatch(mail, /\d UTC/);
  assert.match(mail, /This was the first download/);
  assert.match(mail, /\/dashboard\/rooms\/[0-9a-f]{40}/);
  assert.doesNotMatch(mail, /\bread\b|received it|\/deliveries\//);
  await bytesOf(await fetch(baseUrl + path, { method: "POST" }));

  assert.equal(
    (await postForm(`${baseUrl}/dashboard/security/mails`, { kind: "downloads", mails: "off" }, agent)).status,
    303,
  );
  const quiet = await linkFor("Otto Bank", "otto@lender.example");
  await bytesOf(await fetch(baseUrl + quiet, { method: "POST" }));
  assert.equal(
    (await postForm(`${baseUrl}/dashboard/security/mails`, { kind: "downloads", mails: "on" }, agent)).status,
    303,
  );
  const last = await linkFor("Pia Bank", "pia@lender.example");
  await bytesOf(await fetch(baseUrl + last, { method: "POST" }));
  await until(() => told(to, "Pia Bank")[0]);
  assert.equal(told(to, "Nora Bank").length, 1);
  assert.equal(told(to, "Otto Bank").length, 0);
});

/** Sends a link that requires a code, and requests no code yet. */
async function asking(email: string) {
  assert.equal((await sendWithCode(email)).status, 303);
  return until(() => links(email)[0]);
}

const wrongOf = (code: string) => (code === "000000" ? "000001" : "000000");

test("asks for a code that is mailed only to the recipient, before it shows or sends anything", async () => {
  const email = "code@lender.example";
  const path = await asking(email);
  const door = await (await fetch(baseUrl + path, { headers: { "Accept-Language": "en" } })).text();
  assert.match(door, /We mail a code to c/);
  assert.doesNotMatch(door, /signed\.pdf|Ortega|lender\.example"/);
  assert.equal(newestCode(email).length, 0, "a scanner that opens the link has no code mailed");
  const early = await postTo(path);
  assert.deepEqual([early.status, early.headers.get("location")], [303, path]);

  assert.match((await postTo(`${path}/code`)).headers.get("location") ?? "", /code=sent$/);
  const sent = await (await fetch(`${baseUrl}${path}?code=sent`, { headers: { "Accept-Language": "en" } })).text();
  assert.match(sent, /role="status">No email is sent in a test\./);
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
    /code=ended$/,
    "a code works once",
  );
  const { headers } = await postTo(`${path}/code`);
  const again = await fetch(`${baseUrl}${headers.get("location")}`, { headers: { "Accept-Language": "en" } });
  assert.match(await again.text(), /A code was mailed a moment ago.*<input [^>]*name="code"/s);

  const other = await asking("code2@lender.example");
  assert.doesNotMatch(await (await fetch(baseUrl + other, { headers: { cookie } })).text(), /signed\.pdf/);
  const forged = cookie.replace(/.$/, (last) => (last === "0" ? "1" : "0"));
  assert.doesNotMatch(await (await fetch(baseUrl + path, { headers: { cookie: forged } })).text(), /signed\.pdf/);
  const listed = await look();
  assert.match(listed, /Code entered /);
});

test("counts no try while no code is valid, and asks for a new code", async () => {
  const email = "idle@lender.example";
  const path = await asking(email);
  const enter = async (code: string) =>
    /code=(\w+)/.exec((await postTo(`${path}/enter`, { code })).headers.get("location") ?? "")?.[1];
  for (let i = 0; i < 6; i++) assert.equal(await enter("000000"), "ended", "before the first code");
  const door = await fetch(`${baseUrl}${path}?code=ended`, { headers: { "Accept-Language": "en" } });
  assert.match(await door.text(), /role="alert">No code is valid at the moment\. Ask for a new one\./);
  await postTo(`${path}/code`);
  const code = await until(() => newestCode(email)[0]);
  const id = path.split("/")[2] ?? "";
  const mailed = (minutesAgo: number) =>
    running.db.transaction(async (tx) => {
      const row = await lockCode(tx, id);
      assert.ok(row);
      await updateCode(tx, id, { ...row, askedAt: new Date(Date.now() - minutesAgo * 60_000) });
    });
  await mailed(11);
  for (let i = 0; i < 6; i++) assert.equal(await enter(code), "ended", "after the code expired");
  await mailed(9);
  assert.equal(await enter(wrongOf(code)), "wrong");
  assert.equal(await enter(code), undefined);
  for (let i = 0; i < 6; i++) assert.equal(await enter(code), "ended", "after the code was used");
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

/** Requests that these people are sent an order's document when the order is completed. */
async function ask(orderCode: string, emails: string[]) {
  const { db } = running;
  const [order] = await db.query<{ orderId: number; roomId: string }>(sql`
    SELECT o.id AS "orderId", a.room_id AS "roomId" FROM orders o JOIN room_orders a ON a.order_id = o.id
    WHERE ${isSealed(sql`o.code`, "order", orderCode)}`);
  assert.ok(order);
  const receivers = emails.map((email) => ({ name: "Lee Lender", email: email.toUpperCase() }));
  await db.transaction((tx) => writeReceivers(tx, { ...order, by: "member:test", at: new Date() }, receivers));
}

function sweep(minutes: number) {
  const { db, rowMac } = running;
  const clock = () => new Date(Date.now() + minutes * 60_000);
  return sendToReceivers({ db, rowMac, log: silent, clock }, new AbortController().signal);
}

const sentTo = (to: string) =>
  running.db.query<{ files: number; asks: boolean }>(sql`
    SELECT jsonb_array_length(files) AS files, asks_code AS asks FROM closing_deliveries WHERE recipient_email = ${to}`);

test("sends recipients their documents once these are done, each document once, by links that ask for a code", async () => {
  const { roomCode: room, deed: finished, note: unfinished } = await closing();
  const [email, gone] = ["lee@lender.example", "gone@lender.example"];
  for (const code of [finished, unfinished]) await ask(code, [email, gone]);
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
  const { db } = running;
  const put = sql`SELECT room_id, order_id, 'Eve', 'eve@example.com', asked_by, asked_at FROM closing_receivers LIMIT 1`;
  await db.query(sql`INSERT INTO closing_receivers (room_id, order_id, name, email, asked_by, asked_at) ${put}`);
  await sweep(60);
  assert.deepEqual(await sentTo("eve@example.com"), []);
  // The firm requests another recipient for the same order. That must not give the forged row a valid MAC.
  const [forged] = await db.query<{ orderId: number; roomId: string }>(sql`
    SELECT order_id AS "orderId", room_id AS "roomId" FROM closing_receivers WHERE email = 'eve@example.com'`);
  assert.ok(forged);
  const asked = { ...forged, by: "member:test", at: new Date() };
  await db.transaction((tx) => writeReceivers(tx, asked, [{ name: "Lou Lender", email: "lou@lender.example" }]));
  await sweep(60);
  assert.deepEqual(await sentTo("eve@example.com"), []);
});

test("sends documents although rows of many other recipients were altered", async () => {
  const { roomCode: room, deed: finished } = await closing();
  const email = "zoe@lender.example";
  await ask(finished, [email]);
  await running.db.query(sql`
    INSERT INTO closing_receivers (room_id, order_id, name, email, asked_by, asked_at)
    SELECT room_id, order_id, 'Eve', 'eve' || n || '@example.com', asked_by, asked_at
    FROM closing_receivers, generate_series(1, 150) AS n WHERE email = ${email}`);
  await sweep(11);
  assert.equal((await sentTo(email)).length, 1);
  // Ends the invalid rows, so that they don't disturb later tests.
  await running.db.query(sql`UPDATE closing_receivers SET ended_at = now() WHERE name = 'Eve' AND ended_at IS NULL`);
  await acme.post(`/api/rooms/${room}/close`);
});

test("sends nothing that the firm took back, also after it is added again, and nothing from a closed room", async () => {
  // The unfinished document prevents the service's own sweep from sending the others at once.
  const { roomCode: room, deed: detached, note: unfinished } = await closing();
  const own = `/api/rooms/${room}`;
  const kept = await place(acme, {});
  await acme.post(`${own}/orders`, { orderCode: kept });
  await finish(acme, kept);
  const [stays, removed] = ["stays@lender.example", "removed@lender.example"];
  for (const email of [stays, removed]) await acme.post(`${own}/participants`, { name: "Lee Lender", email });
  for (const code of [detached, kept, unfinished]) await ask(code, [stays, removed]);
  const drop = async (path: string) =>
    assert.equal((await fetch(baseUrl + path, { method: "DELETE", headers: acme.headers })).status, 200);
  await drop(`${own}/orders/${detached}`);
  await acme.post(`${own}/orders`, { orderCode: detached });
  const [person] = await running.db.query<{ id: string }>(
    sql`SELECT id FROM room_participants WHERE email = ${removed}`,
  );
  await drop(`${own}/participants/${person?.id}`);
  const shown = async () => (await fetch(`${baseUrl}/dashboard/rooms/${room}`, { headers: agent })).text();
  assert.match(await shown(), /stays@lender\.example<\/strong>: 2 documents, within minutes/);
  assert.doesNotMatch(await shown(), /removed@lender\.example<\/strong>: \d document/);

  await acme.post(`${own}/close`);
  assert.match(await shown(), /stays@lender\.example<\/strong>: 2 documents, after you reopen the room/);
  await sweep(60);
  assert.deepEqual(await sentTo(stays), []);
  await acme.post(`${own}/reopen`);
  await sweep(0);
  const waits = () =>
    running.db.query(sql`SELECT FROM closing_receivers WHERE email = ANY (${[stays, removed]}) AND ended_at IS NULL`);
  assert.equal((await waits()).length, 2, "the end of the others is on record");
  await acme.post(`${own}/participants`, { name: "Lee Lender", email: removed });
  await Promise.all([sweep(60), sweep(60)]);
  assert.deepEqual([(await sentTo(stays)).length, await sentTo(removed)], [1, []]);
  const [files] = await running.db.query<{ orders: number }>(sql`
    SELECT count(DISTINCT f->>'orderId')::int AS orders FROM closing_deliveries, jsonb_array_elements(files) f
    WHERE recipient_email = ${stays}`);
  assert.equal(files?.orders, 1);
  assert.equal((await waits()).length, 1, "the unfinished document still waits");
});

const correct = (room: string, from: string, to: string) =>
  postForm(`${baseUrl}/dashboard/rooms/${room}/addresses`, { from, to }, { ...agent, Accept: "text/html" });

const openTo = (email: string) =>
  running.db.query<{ id: string; files: unknown }>(sql`
    SELECT id, files FROM closing_deliveries WHERE recipient_email = ${email} AND revoked_at IS NULL`);

test("a corrected address gets the links of the earlier one, which end, and waits for the other documents", async () => {
  const { roomCode: room, deed: finished, note: unfinished } = await closing();
  const [wrong, right, sam] = ["lou@wrong.example", "lou@right.example", "sam@lender.example"];
  await acme.post(`/api/rooms/${room}/participants`, { name: "Lee Lender", email: wrong });
  for (const code of [finished, unfinished]) await ask(code, [wrong, sam]);
  await sweep(11);
  const path = await until(() => links(wrong)[0]);
  const [sent] = await openTo(wrong);
  assert.equal((await correct(room, wrong, right)).status, 303);
  assert.equal((await fetch(baseUrl + path)).status, 404);
  assert.deepEqual(await openTo(wrong), []);
  const [again, ...more] = await openTo(right);
  assert.deepEqual([again?.files, more], [sent?.files, []]);
  assert.equal((await fetch(baseUrl + (await until(() => links(right)[0])))).status, 200);
  assert.equal((await correct(room, right, wrong)).status, 303);
  assert.equal((await correct(room, wrong, right)).status, 303, "an address can be corrected back");
  await finish(acme, unfinished);
  await sweep(0);
  assert.deepEqual([(await openTo(wrong)).length, (await openTo(right)).length], [0, 2]);
  assert.equal((await openTo(sam)).length, 2, "the other person's links stay");
  const lines = await running.db.query<{ action: string; actor: string }>(sql`
    SELECT action, actor FROM audit_log WHERE detail->>'room' =
      (SELECT id::text FROM rooms WHERE ${isSealed(sql`code`, "room", room)}) AND actor LIKE 'member:%' AND actor <> 'member:test'`);
  const count = (action: string) => lines.filter((line) => line.action === action).length;
  assert.deepEqual(["delivery.receiver_corrected", "delivery.revoked", "delivery.sent"].map(count), [3, 3, 3]);
  await acme.post(`/api/rooms/${room}/close`);
});

test("a corrected address loses the links to a document in a room that the document has left, and no others there", async () => {
  const { roomCode: room, deed: moved, note: stays } = await closing();
  await finish(acme, stays);
  const [wrong, right] = ["nan@wrong.example", "nan@right.example"];
  for (const code of [moved, stays])
    assert.equal((await send({ email: wrong, [`send-${code}`]: "on" }, room)).status, 303);
  const [own] = await running.db.query<{ orderId: number }>(sql`
    SELECT id AS "orderId" FROM orders WHERE ${isSealed(sql`code`, "order", moved)}`);
  const path = `/api/rooms/${room}/orders/${moved}`;
  assert.equal((await fetch(baseUrl + path, { method: "DELETE", headers: acme.headers })).status, 200);
  await acme.post(`/api/rooms/${room}/close`);
  const { roomCode: next } = await acme.post<{ roomCode: string }>("/api/rooms", { name: "Ortega closing, again" });
  await acme.post(`/api/rooms/${next}/orders`, { orderCode: moved });
  assert.equal((await correct(next, wrong, right)).status, 303);
  const ordersIn = (files: unknown) => new Set((files as { orderId: number }[]).map(({ orderId }) => orderId));
  const [again, ...more] = await openTo(right);
  assert.deepEqual([ordersIn(again?.files), more.length], [new Set([own?.orderId]), 0]);
  const left = await openTo(wrong);
  assert.deepEqual([left.length, ordersIn(left[0]?.files).has(own?.orderId ?? 0)], [1, false]);
  await acme.post(`/api/rooms/${next}/close`);
});

test("leaves no link with the earlier address when documents are sent during the correction", async () => {
  const { roomCode: room, deed: finished, note: unfinished } = await closing();
  const [wrong, right] = ["kim@wrong.example", "kim@right.example"];
  await acme.post(`/api/rooms/${room}/participants`, { name: "Lee Lender", email: wrong });
  for (const code of [finished, unfinished]) await ask(code, [wrong]);
  const [corrected] = await Promise.all([correct(room, wrong, right), sweep(11), sweep(11)]);
  assert.equal(corrected?.status, 303);
  await sweep(11);
  assert.deepEqual([(await openTo(wrong)).length, (await openTo(right)).length], [0, 1]);
  await acme.post(`/api/rooms/${room}/close`);
});

test("counts only the deliveries that the firm sends by hand toward the limit of a day", async () => {
  const { roomCode: room, deed: finished } = await closing();
  const receivers = ["one@lender.example", "two@lender.example"];
  await ask(finished, receivers);
  await sweep(11);
  for (const email of receivers) assert.equal((await sentTo(email)).length, 1);
  const [of] = await running.db.query<{ id: string }>(sql`
    SELECT room_id AS id FROM closing_deliveries WHERE recipient_email = ${receivers[0]}`);
  const byHand = (email: string) => send({ email, [`send-${finished}`]: "on" }, room);
  // The first receiver already got the document automatically, which doesn't count toward the day's limit. The same
  // document can still be sent by hand, and that delivery counts.
  assert.equal((await byHand("one@lender.example")).status, 303);
  await running.db.transaction(async (tx) => {
    const [at, expiresAt] = [new Date(), new Date(Date.now() + 86_400_000)];
    const row = { roomId: of?.id ?? "", recipientName: "Lena", files: [{ orderId: 1, kind: "sealed", sha256: "0" }] };
    const more = { recipientEmail: "lena@lender.example", sentBy: "member:test", createdAt: at, expiresAt };
    const plain = { asksCode: false, certificateSha256: null };
    for (let i = 0; i < 23; i++) await insertDelivery(tx, { id: randomUUID(), ...row, ...more, ...plain });
  });
  assert.equal((await byHand("two@lender.example")).status, 303, "the 25th by hand");
  const refused = await byHand("two@lender.example");
  assert.equal(refused.status, 409);
  assert.match(await refused.text(), /at most 25 deliveries of a room in 24 hours/);
});

test("shows a closing without its documents, and sends none, once a document was altered in the database", async () => {
  const { roomCode: room, deed: finished } = await closing();
  const page = async () => (await fetch(`${baseUrl}/dashboard/rooms/${room}`, { headers: agent })).text();
  assert.match(await page(), /Orders in this room[\s\S]*Download everything/);
  await running.db.query(sql`
    UPDATE documents SET sha256 = repeat('0', 64) WHERE kind = 'sealed' AND order_id =
      (SELECT id FROM orders WHERE ${isSealed(sql`code`, "order", finished)})`);
  const shown = await page();
  assert.match(shown, /Orders in this room/);
  assert.doesNotMatch(shown, /Download everything/);
  assert.equal((await fetch(`${baseUrl}/dashboard/rooms/${room}/zip`, { headers: agent })).status, 503);
  assert.equal((await send({ [`send-${finished}`]: "on" }, room)).status, 503);
  await acme.post(`/api/rooms/${room}/close`);
});

test("sends no document whose stored bytes were altered, and says so to everybody who asks for it", async () => {
  const {
    room,
    orders: [own = ""],
  } = await finishedRoom(acme);
  const email = "altered@document.example";
  assert.equal((await send({ [`send-${own}`]: "on", email }, room)).status, 303);
  const path = await until(() => links(email)[0]);
  const [document] = await running.db.query<{ blobKey: string; sha256: string }>(sql`
    SELECT d.blob_key AS "blobKey", d.sha256 FROM documents d JOIN orders o ON o.id = d.order_id
    WHERE d.kind = 'sealed' AND ${isSealed(sql`o.code`, "order", own)}`);
  const file = join(running.service.dataDir, "blobs", document?.blobKey ?? "");
  const bytes = readFileSync(file);
  writeFileSync(file, bytes.with(bytes.length - 20, bytes.readUInt8(bytes.length - 20) ^ 1));
  const id = `sealed-${document?.sha256}`;
  const answers = await Promise.all([
    fetch(`${baseUrl}/dashboard/rooms/${room}/zip`, { headers: agent }),
    fetch(`${baseUrl}/dashboard/orders/${own}/documents/${id}`, { headers: agent }),
    fetch(baseUrl + path, { method: "POST" }),
    fetch(`${baseUrl}${path}/${id}`, { method: "POST" }),
  ]);
  for (const answer of answers) {
    assert.equal(answer.status, 409, answer.url);
    assert.match(await answer.text(), /is not what was written, so it is not served, signed or sealed/);
  }
  const spanish = { Accept: "text/html", "Accept-Language": "es" };
  const page = await fetch(`${baseUrl}${path}/${id}`, { method: "POST", headers: spanish });
  assert.match(await page.text(), /El documento guardado fue alterado/);
  const tasks = await running.db.query(sql`
    SELECT t.state FROM tasks t JOIN orders o ON o.id = t.order_id
    WHERE t.kind = 'document_altered' AND ${isSealed(sql`o.code`, "order", own)}`);
  assert.deepEqual(tasks, [{ state: "open" }]);
  await acme.post(`/api/rooms/${room}/close`);
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

test("answers of clients, participants and recipients go to an owner of a firm without a contact address", async () => {
  const email = "answers@lender.example";
  const mailWith = (subject: string) =>
    until(() => mailsTo(running.service, email).find((mail) => mail.replaceAll(/\r\n[ \t]+/g, " ").includes(subject)));
  await sendWithCode(email);
  await mailWith("A document was sent to you");
  assert.equal((await postTo(`${links(email)[0]}/code`)).status, 303);
  const code = await place(acme, { email, svc_sign: "false", svc_notary: "true" });
  await acme.post(`/api/partner/sandbox/orders/${code}/checkout`);
  const invited = { name: "Lena Lender", email, role: "lender", invite: "on", submission: "a".repeat(52) };
  assert.equal((await postForm(`${roomPage}/participants`, invited, agent)).status, 303);
  for (const subject of ["A document was sent to you", "Your code for the", "Payment received", "You are invited to"])
    assert.match(await mailWith(subject), /^Reply-To: agent@acme\.example\r$/m, subject);
});
