import assert from "node:assert/strict";
import { test } from "node:test";
import { newClient } from "@signsealship/testing/client";
import { forTests } from "@signsealship/testing/for-tests";
import { openHarness } from "@signsealship/testing/harness";
import { minimal, orderForm } from "@signsealship/testing/inputs/order-form";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { newPartner, temporaryFolder } from "@signsealship/testing/service";
import { until } from "@signsealship/testing/until";
import { sql } from "../../../src/kernel/platform/database/sql.ts";
import { addNotary } from "../../../src/signing/notaries/notaries.ts";
import { mailsTo, postForm } from "../../firms/members/signed-in-member.ts";
import { newOperator } from "../../firms/operators/console-people.ts";
import { certificateFiles } from "../../signing/notaries/certificate-files.ts";
import { ohioCommission } from "../../signing/notaries/orders-to-notarize.ts";

/**
 * The most mails that each person may get for one closing with a notary's appointment. `payer`: a client who pays.
 * `signer`: another signer. `whenFirmPays`: a client whose firm pays.
 */
const max = { payer: 5, signer: 4, whenFirmPays: 4 };

const running = await forTests(openHarness());
const folder = await forTests(temporaryFolder());
const { service } = running;
const { post } = newClient(service.baseUrl, (await newPartner(service, { tier: "ClosingDesk" })).key);
const at = (path: string) => service.baseUrl + path;

const nora = await newOperator(running, { roles: ["notary"], environment: "test", passkey: false });
const certificate = certificateFiles(folder.path)("Nora Ames", { key: "p256" }).pem;
await addNotary({ db: running.db, clock: () => new Date() }, nora.id, { ...ohioCommission, certificate }, "operator");
const days = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"].map((day) => [`hours_${day}`, "00:00-23:59"]);
const hours = { zone: "America/Chicago", meeting_url: "https://meet.example/nora", place: "1 Main Street" };
await postForm(at("/operator/notary/hours"), { ...hours, ...Object.fromEntries(days) }, { cookie: nora.cookie });

type Person = { name: string; email: string };

/** Two documents that both people sign online, and a deed that the client signs in a notary's presence. */
async function newClosing(client: Person, other: Person, more: Record<string, string>) {
  const { roomCode } = await post<{ roomCode: string }>("/api/rooms", { name: "Ortega closing" });
  const codes: string[] = [];
  for (const [title, people, fields] of [
    ["Note", [client, other], { svc_sign: "true" }],
    ["Disclosure", [client, other], { svc_sign: "true" }],
    ["Deed", [client], { svc_notary: "true" }],
  ] as const) {
    const tags = people.map((_, index) => `{{signature, r${index + 1}}}`).join(" ");
    const form = { ...minimal, ...more, ...fields, ...client, signers: JSON.stringify(people) };
    const body = orderForm(form, makePdf({ text: `${title} ${tags}` }));
    const { orderCode } = await post<{ orderCode: string }>("/api/partner/orders", body);
    await post(`/api/rooms/${roomCode}/orders`, { orderCode });
    codes.push(orderCode);
  }
  return { roomCode, codes };
}

const subjectsTo = ({ email }: Person) =>
  mailsTo(service, email).map((mail) => /^Subject: (.*)$/m.exec(mail.replaceAll("\r\n ", " "))?.[1]?.trim() ?? "");
const pageOf = async (path: string) => (await fetch(at(path))).text();
const linkOf = ({ email }: Person) =>
  until(() => mailsTo(service, email).flatMap((mail) => /\/sign\/[0-9a-f]{40}/.exec(mail)?.[0] ?? [])[0]);

/** Signs the documents of the person's only link, as a browser without JavaScript does. */
async function signs(person: Person, count: number): Promise<void> {
  const link = await linkOf(person);
  for (let n = 1; n <= count; n++) {
    const path = `${link}/${n}`;
    const given = { version: "5", language: "en", can_read: "on" };
    if (n === 1) assert.equal((await postForm(at(`${path}/consent`), given, {})).status, 303);
    const revision = /name="revision" value="(\d+)"/.exec(await pageOf(path))?.[1] ?? "1";
    const signed = await postForm(at(`${path}/sign`), { revision, name: person.name }, {});
    assert.equal(signed.status, 303, await signed.text());
  }
}

/** The client books an appointment with the notary, through the signing link. */
async function books(client: Person): Promise<void> {
  const met = await until(async () => {
    const answer = await postForm(at(`${await linkOf(client)}/1/meet`), { n: "1" });
    return answer.status === 303 ? answer : undefined;
  });
  const path = (met.headers.get("location") ?? "").split("?")[0] ?? "";
  const [, slot = ""] = /<option value="(\S+ ron \S+)"/.exec(await pageOf(path)) ?? [];
  assert.equal((await postForm(at(path), { slot })).status, 303);
  await until(() => subjectsTo(client).find((subject) => /appointment/.test(subject)));
}

/**
 * Moves the firm's test clock to a minute after the start of the appointment. An earlier notarization would cancel the
 * appointment.
 */
async function meets(): Promise<void> {
  const [session] = await running.db.query<{ seconds: number }>(sql`
    SELECT ceil(extract(epoch FROM max(starts_at) - now()) + 60)::int AS seconds
    FROM notary_sessions WHERE state = 'scheduled'`);
  await post("/api/partner/sandbox/clock", { advanceSeconds: session?.seconds });
}

/** Waits until all mails are sent. Mails that wait for other documents become due at once. */
const quiet = () =>
  until(async () => {
    await running.db.query(sql`
      UPDATE jobs SET due_at = now() WHERE queue IN ('order-mail', 'signing-mail') AND due_at > now()`);
    const waiting = await running.db.query(sql`
      SELECT FROM jobs WHERE queue IN ('order-mail', 'signing-mail', 'notary-session-mail') AND failed_at IS NULL`);
    return waiting.length === 0 || undefined;
  });

async function wholeClosing(client: Person, other: Person, more: Record<string, string> = {}): Promise<void> {
  const { codes } = await newClosing(client, other, more);
  for (const code of codes) await post(`/api/partner/sandbox/orders/${code}/checkout`);
  await signs(client, 2);
  await signs(other, 2);
  await books(client);
  await meets();
  for (const code of codes)
    for (let status = ""; status !== "Completed"; )
      ({ status } = await post<{ status: string }>(`/api/partner/sandbox/orders/${code}/advance`));
  await until(async () => {
    await quiet();
    return subjectsTo(client).find((subject) => /complete/.test(subject));
  });
}

test("a closing with an appointment with a notary mails its payer five times at most, and another signer four times", async (t) => {
  const [client, other] = [
    { name: "Marcus Ortega", email: "marcus@example.com" },
    { name: "Ana Ortega", email: "ana@example.com" },
  ];
  await wholeClosing(client, other);
  // This service has no payment processor, so it mails no quote. With one, the payer gets one more mail.
  const quote = 1;
  const [payer, signer] = [subjectsTo(client), subjectsTo(other)];
  t.diagnostic(`payer: ${payer.join(" | ")}; signer: ${signer.join(" | ")}`);
  assert.ok(payer.length + quote <= max.payer, payer.join("\n"));
  assert.ok(signer.length <= max.signer, signer.join("\n"));
  assert.equal(payer.filter((subject) => /appointment/i.test(subject)).length, 1, "with its calendar entry");
  assert.equal(payer.filter((subject) => /complete/.test(subject)).length, 1);
});

test("when the firm pays, the client is mailed four times at most, and never about money", async () => {
  const [client, other] = [
    { name: "Mia Ortega", email: "mia@example.com" },
    { name: "Ben Ortega", email: "ben@example.com" },
  ];
  await wholeClosing(client, other, { pay_by: "firm" });
  const mails = mailsTo(service, client.email);
  assert.ok(mails.length <= max.whenFirmPays, subjectsTo(client).join("\n"));
  for (const mail of mails) assert.doesNotMatch(mail, /\$\s?\d|payment/i);
});
