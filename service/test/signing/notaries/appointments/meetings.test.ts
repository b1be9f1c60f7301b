import assert from "node:assert/strict";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { openHarness } from "@signsealship/testing/harness";
import { minimal, orderForm } from "@signsealship/testing/inputs/order-form";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { newPartner, temporaryFolder } from "@signsealship/testing/service";
import { until } from "@signsealship/testing/until";
import { isSealed, sql } from "../../../../src/kernel/platform/database/sql.ts";
import { openLog } from "../../../../src/kernel/platform/logs.ts";
import { lockOrder, recordCorrection, transition } from "../../../../src/orders/order/order.ts";
import { addNotary } from "../../../../src/signing/notaries/notaries.ts";
import { mailsTo, postForm } from "../../../firms/members/signed-in-member.ts";
import { newOperator } from "../../../firms/operators/console-people.ts";
import { certificateFiles } from "../certificate-files.ts";

const running = await forTests(openHarness());
const folder = await forTests(temporaryFolder());
const certificate = certificateFiles(folder.path)("Nora Ames", { key: "p256" }).pem;
const { headers } = await newPartner(running.service, { tier: "ClosingDesk" });
const at = (path: string) => running.service.baseUrl + path;

const daily = Object.fromEntries(
  ["sun", "mon", "tue", "wed", "thu", "fri", "sat"].map((day) => [`hours_${day}`, "00:00-23:59"]),
);
const nora = await newOperator(running, { roles: ["notary"], environment: "test", passkey: false });
await addNotary(
  { db: running.db, clock: () => new Date() },
  nora.id,
  {
    commissionName: "Nora Ames",
    state: "OH",
    county: "Franklin",
    commissionNumber: "1",
    status: "active",
    certificate,
    commissionExpires: "2040-01-31",
    ronRegistration: "R",
    ronExpires: "2040-01-31",
  },
  "operator",
);
const hours = { zone: "America/Chicago", ...daily, meeting_url: "https://meet.example/nora", place: "1 Main Street" };
await postForm(at("/operator/notary/hours"), hours, { cookie: nora.cookie, Accept: "text/html" });

const send = (path: string, body: BodyInit, more: Record<string, string> = {}) =>
  fetch(at(path), { method: "POST", headers: { ...headers, ...more }, body });

async function newRoom(): Promise<string> {
  const answer = await send("/api/rooms", JSON.stringify({ name: "Elm" }), { "Content-Type": "application/json" });
  return ((await answer.json()) as { roomCode: string }).roomCode;
}

type Person = { name: string; email: string };

/** Places an order in the room and moves it to the next step: to its signers, or to the notary. */
async function place(room: string | null, people: Person[], fields: Record<string, string>, name: string) {
  const form = { ...minimal, ...fields, signers: JSON.stringify(people) };
  const tags = people.map((_, index) => `{{signature, r${index + 1}}}`).join(" ");
  const document = makePdf({ text: `${name} ${tags}` });
  const body = orderForm(form, document);
  body.set("document", new File([new Uint8Array(document)], `${name}.pdf`, { type: "application/pdf" }));
  const placed = await send("/api/partner/orders", body);
  const { orderCode } = (await placed.json()) as { orderCode: string };
  assert.equal(placed.status, 201, name);
  if (room !== null) {
    const json = { "Content-Type": "application/json" };
    await send(`/api/rooms/${room}/orders`, JSON.stringify({ orderCode }), json);
  }
  await fetch(at(`/api/partner/sandbox/orders/${orderCode}/advance`), { method: "POST", headers });
  return orderCode;
}

const signed = { svc_sign: "true" };
const notarized = { svc_notary: "true" };
let clients = 0;
const newPerson = (name: string): Person => ({ name, email: `person${++clients}@example.com` });

const linkTo = ({ email }: Person) =>
  until(() => mailsTo(running.service, email).flatMap((mail) => /\/sign\/[0-9a-f]{40}/.exec(mail)?.[0] ?? [])[0]);
const pageOf = async (path: string) => (await fetch(at(path))).text();

test("the link of a signer lists what waits for the notary, leads to the appointment without a mail, and names its time", async () => {
  const [jane, john] = [newPerson("Jane Doe"), newPerson("John Doe")];
  const room = await newRoom();
  await place(room, [jane, john], signed, "Note");
  const deed = await place(room, [jane], notarized, "Deed");
  await place(room, [john], notarized, "Affidavit of John");
  const link = await linkTo(jane);
  const page = await pageOf(link);
  assert.match(page, /Document 1 of 2/);
  assert.match(page, /Deed[\s\S]*with the notary: no time chosen yet/);
  assert.doesNotMatch(page, /Affidavit of John/, "what others sign is not listed");
  assert.ok(!page.includes(deed), "the order's code opens its page, with prices");
  assert.match(await pageOf(await linkTo(john)), /Affidavit of John[\s\S]*with the notary/);

  const met = await postForm(at(`${link}/meet`), { n: "1" });
  assert.equal(met.status, 303);
  const path = met.headers.get("location") ?? "";
  assert.match(path, /^\/appointments\/[0-9a-f]{40}\?lang=en$/);
  assert.equal((await postForm(at(`${link}/meet`), { n: "1" })).headers.get("location"), path, "one link for a person");
  assert.deepEqual(
    mailsTo(running.service, jane.email).filter((mail) => mail.includes("/appointments/")),
    [],
    "no mail",
  );
  const [, slot = ""] = /<option value="(\S+ ron \S+)"/.exec(await pageOf(path)) ?? [];
  assert.equal((await postForm(at(path.split("?")[0] ?? ""), { slot })).status, 303);
  assert.match(await pageOf(link), /with the notary, \w+day, .*America\/Chicago/);
  assert.match(await pageOf(link), /See the appointment with the notary/);
  // After a hold, a person who has chosen a time is not asked to choose one.
  const isAskedAfterHold = async () => {
    await running.db.transaction(async (tx) => {
      for (const on of ["held", "released"] as const) {
        const order = (await lockOrder(tx, deed)) ?? assert.fail();
        await transition(tx, order, on, {
          actor: "test",
          at: new Date(),
          log: openLog("silent"),
          reason: "A dispute.",
        });
      }
    });
    const isAsking = sql`queue = 'notary-again' OR queue = 'appointment-invitation-mail'`;
    await until(async () => (await running.db.query(sql`SELECT FROM jobs WHERE ${isAsking}`)).length === 0);
    return mailsTo(running.service, jane.email).some((mail) => /Subject: .*Choose a time with the notary/.test(mail));
  };
  assert.equal(await isAskedAfterHold(), false);
  // Simulates that a hold dropped the mail of the link, and that the person then opened the link from the page.
  await running.db.query(sql`
    UPDATE appointment_links l SET is_mailed = false FROM orders o
    WHERE o.id = l.order_id AND ${isSealed(sql`o.code`, "order", deed)}`);
  assert.equal((await postForm(at(`${link}/meet`), { n: "1" })).headers.get("location"), path);
  assert.equal(await isAskedAfterHold(), false);
});

test("the link of a signer lists a document that the same person signed under an address that was corrected since", async () => {
  const jane = newPerson("Jane Doe");
  const [room, earlier] = [await newRoom(), { ...jane, email: "jane@wrong.example" }];
  const code = await place(room, [earlier], notarized, "Deed");
  await running.db.transaction(async (tx) => {
    const order = await lockOrder(tx, code);
    assert.ok(order);
    const after = { ...jane, signed: [jane.name] };
    await recordCorrection(tx, order, { kind: "signer", before: earlier, after, actor: "firm", at: new Date() });
  });
  const note = await place(room, [jane], signed, "Note");
  const link = await linkTo(jane);
  assert.match(await pageOf(link), /Deed[\s\S]*with the notary: no time chosen yet/);
  // An altered record about "Deed", or about the correction of "Note", must not make the page of "Note" fail. Otherwise
  // nobody could sign "Note".
  for (const altered of [code, note]) {
    await running.db.query(sql`
      INSERT INTO order_corrections (order_id, kind, before, after, actor, at)
      SELECT id, 'signer', '{}', '{}', 'eve', now() FROM orders WHERE ${isSealed(sql`code`, "order", altered)}`);
    const page = await fetch(at(link));
    assert.equal(page.status, 200);
    assert.doesNotMatch(await page.text(), /Deed[\s\S]*with the notary/);
  }
});

test("an unknown meeting number is refused; a document that was notarized, a single order and a forged link list nothing", async () => {
  const jane = newPerson("Jane Doe");
  const room = await newRoom();
  await place(room, [jane], signed, "Note");
  const deed = await place(room, [jane], notarized, "Deed");
  const link = await linkTo(jane);
  for (const n of ["0", "2", "x", "", "1e0"]) assert.equal((await postForm(at(`${link}/meet`), { n })).status, 404, n);
  await fetch(at(`/api/partner/sandbox/orders/${deed}/advance`), { method: "POST", headers });
  assert.doesNotMatch(await pageOf(link), /with the notary/);
  assert.equal((await postForm(at(`${link}/meet`), { n: "1" })).status, 404);

  const alone = newPerson("Ann Roe");
  await place(null, [alone], signed, "Note");
  await place(null, [alone], notarized, "Deed");
  assert.doesNotMatch(await pageOf(await linkTo(alone)), /with the notary/);
  assert.equal((await postForm(at(`/sign/${"0".repeat(40)}/meet`), { n: "1" })).status, 404);
});

test("a link that asks for a code shows and opens nothing before the code, and another person of the same name has no meeting", async () => {
  const [jane, other] = [newPerson("Jane Doe"), newPerson("Jane Doe")];
  const room = await newRoom();
  await place(room, [jane], { ...signed, signer_auth: "mail_code" }, "Note");
  await place(room, [other], signed, "Plan");
  await place(room, [jane], notarized, "Deed");
  const link = await linkTo(jane);
  assert.doesNotMatch(await pageOf(link), /with the notary|Deed/);
  assert.equal((await postForm(at(`${link}/meet`), { n: "1" })).status, 400);
  const [links] = await running.db.query<{ count: number }>(sql`
    SELECT count(*)::int AS count FROM appointment_links l JOIN orders o ON o.id = l.order_id
    WHERE o.signers @> ${JSON.stringify([{ email: jane.email }])}::jsonb`);
  assert.equal(links?.count, 0);
  assert.doesNotMatch(await pageOf(await linkTo(other)), /with the notary/);
});
