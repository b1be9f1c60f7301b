import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { until } from "@signsealship/testing/until";
import { isSealed, type Statement, sql } from "../../../../src/kernel/platform/database/sql.ts";
import { enqueue } from "../../../../src/kernel/platform/jobs/jobs.ts";
import { type Link, replaceSigner } from "../../../../src/signing/envelopes/envelopes.ts";
import { reissueEnvelope } from "../../../../src/signing/envelopes/lifecycle/by-operator.ts";
import { signingMailQueue } from "../../../../src/signing/envelopes/lifecycle/issue-link.ts";
import { joinSession } from "../../../../src/signing/envelopes/records/sessions.ts";
import { openInsider } from "../../../insiders/insider.ts";
import { browser, consentText, openCeremonyService } from "./ceremony-service.ts";

const running = await forTests(openCeremonyService());
const insider = await forTests(openInsider(running.service.dataDir));
const { client, ceremony, db } = running;
const closingText = { version: "5", language: "en" } as const;

let people = 0;
type Signer = { name: string; email: string } & Record<string, unknown>;
const person = (more: object = {}): Signer => ({ name: "Jane Doe", email: `jane${++people}@example.com`, ...more });

let last = "";
/** Opens a room. Closes the previous one first, because a trial firm may have only a few open rooms. */
async function newRoom(): Promise<string> {
  if (last !== "") await client.ok("POST", `/api/rooms/${last}/close`);
  ({ roomCode: last } = await client.ok<{ roomCode: string }>("POST", "/api/rooms", { name: "Ortega closing" }));
  return last;
}
const attach = (room: string, orderCode: string) => client.ok("POST", `/api/rooms/${room}/orders`, { orderCode });
const pay = (code: string) => client.ok("POST", `/api/partner/sandbox/orders/${code}/checkout`);

/** A closing whose documents are all paid at the same time. */
async function closing(documents: readonly (readonly Signer[])[]) {
  const room = await newRoom();
  const codes: string[] = [];
  for (const [index, signers] of documents.entries()) {
    const code = await running.order(signers, { external_reference: `Paper ${index + 1}` }, undefined, { pay: false });
    await attach(room, code);
    codes.push(code);
  }
  await Promise.all(codes.map(pay));
  return { room, codes };
}

/** Waits until a person was mailed this many links. @returns these mails */
async function mails(email: string, count: number): Promise<string[]> {
  await until(async () => running.mailsTo(email).filter((mail) => mail.includes("/sign/")).length >= count);
  return running.mailsTo(email).filter((mail) => mail.includes("/sign/"));
}

const at = (link: Link, document: number): Link => ({ ...link, document });

async function sessionLink(email: string): Promise<Link> {
  await mails(email, 1);
  return running.linkOf(email);
}

async function sign(link: Link) {
  const { document, signer } = await ceremony.view(link);
  const mark = { kind: "typed", text: signer.name } as const;
  return ceremony.sign(link, { revision: document?.revision ?? 0, mark, values: new Map() }, browser);
}

const trailOf = async (code: string) => {
  const { events } = await db
    .query<{ record: string }>(sql`
      SELECT t.record FROM envelope_events t JOIN envelopes e ON e.id = t.envelope_id JOIN orders o ON o.id = e.order_id
      WHERE o.external_reference = ${code} ORDER BY t.id`)
    .then((rows) => ({ events: rows.map(({ record }) => JSON.parse(record)) }));
  return events as { event: string; session?: string; consent?: { textSha256: string; at: string }; method?: string }[];
};

const statusOf = async (code: string) =>
  (await client.ok<{ status: string }>("GET", `/api/partner/orders/${code}`)).status;

test("a person who signs three documents of a room gets one link, consents once, signs each, and gets one mail at each step", async () => {
  const jane = person();
  const { codes } = await closing([[jane], [jane], [jane]]);
  const [request, ...more] = await mails(jane.email, 1);
  assert.deepEqual(more, []);
  assert.match(request ?? "", /Ortega closing \(3 documents\)/);
  assert.match(request ?? "", /1\. Paper 1[\s\S]*2\. Paper 2[\s\S]*3\. Paper 3/);
  const link = await running.linkOf(jane.email);
  assert.equal(await ceremony.next(link), 1);
  await ceremony.opened(at(link, 1), browser);
  await ceremony.consent(at(link, 1), closingText, browser);
  for (const n of [1, 2, 3]) {
    assert.equal(await ceremony.next(link), n);
    const { session, consent } = await ceremony.view(at(link, n));
    assert.equal(session?.documents.filter(({ hasSigned }) => hasSigned).length, n - 1);
    assert.equal(consent?.version, "5", "the consent is asked for once");
    assert.deepEqual(await sign(at(link, n)), { outcome: "signed", completed: true });
  }
  const all = await mails(jane.email, 2);
  assert.match(all[1] ?? "", /Ortega closing \(3 documents\) is signed by everybody/);
  const sessions = new Set<unknown>();
  for (const [index, code] of codes.entries()) {
    assert.notEqual(await statusOf(code), "EsignPending");
    const trail = (await trailOf(`Paper ${index + 1}`)).filter(({ session }) => session !== undefined);
    assert.deepEqual(
      trail.map(({ event }) => event),
      ["session_identified", "consented"],
    );
    assert.equal(trail[1]?.consent?.textSha256.length, 64);
    for (const { session } of trail) sessions.add(session);
  }
  assert.equal(sessions.size, 1);
  assert.equal(running.mailsTo(jane.email).filter((mail) => mail.includes("/sign/")).length, 2);
});

test("documents of one name have labels from the room in mails and on the page, or numbers", async () => {
  const jane = person();
  const room = await newRoom();
  const documents = [
    ["Lien release", "12 Elm Street"],
    ["Lien release", "9 Oak Avenue"],
    ["Lien release", "www.evil.example"],
    ["Deed", "9 Oak Avenue"],
    ["Lien release", "Lien release"],
  ] as const;
  const codes: string[] = [];
  for (const [external_reference, label] of documents) {
    const orderCode = await running.order([jane], { external_reference }, undefined, { pay: false });
    await client.ok("POST", `/api/rooms/${room}/orders`, { orderCode, label });
    codes.push(orderCode);
  }
  await Promise.all(codes.map(pay));
  const [request = ""] = await mails(jane.email, 1);
  assert.match(request, /1\. Lien release \(12 Elm Street\)[\s\S]*2\. Lien release \(9 Oak Avenue\)/);
  assert.match(
    request,
    /3\. Lien release \(1\)\s[\s\S]*4\. Deed\s[\s\S]*5\. Lien release \(2\)\s/,
    "a mail quotes no label that looks like an address",
  );
  const link = await running.linkOf(jane.email);
  const page = await (await fetch(`${running.service.baseUrl}/sign/${link.token}/1`)).text();
  assert.match(page, /<h1>Lien release \(12 Elm Street\)<\/h1>/);
  assert.match(page, /\/2">Lien release \(9 Oak Avenue\)<[\s\S]*\/4">Deed</);
  await ceremony.decline(at(link, 2), { kind: "declined", reason: "" }, browser);
  const [, ended = ""] = await mails(jane.email, 2);
  assert.match(ended, /Subject: .*Lien release \(9 Oak Avenue\) will not be signed/);
  await client.ok("POST", `/api/partner/orders/${codes[0]}/signers/1/replace`, person({ name: "Ann Poe" }));
  const isTold = (mail: string) => /Subject: .*Lien release \(12 Elm Street\): you need not sign/.test(mail);
  const told = await until(async () => running.mailsTo(jane.email).find(isTold));
  assert.match(told, /still opens your other documents: what you have not signed there still waits for you/);
});

test("a client who signed has the mail that everybody has signed among the mails of each order, once; other signers don't", async () => {
  const [jane, john] = [person(), person({ name: "John Doe" })];
  const room = await newRoom();
  const codes: string[] = [];
  for (const paper of ["Paper 1", "Paper 2"]) {
    const more = { external_reference: paper, email: jane.email.toUpperCase() };
    codes.push(await running.order([jane, john], more, undefined, { pay: false }));
  }
  for (const orderCode of codes) await attach(room, orderCode);
  await Promise.all(codes.map(pay));
  const signedMails = (code: string) =>
    db.query<{ moment: string }>(sql`
      SELECT m.moment FROM client_mails m JOIN orders o ON o.id = m.order_id
      WHERE m.moment = 'signed' AND ${isSealed(sql`o.code`, "order", code)}`);
  for (const { email } of [jane, john]) {
    const link = await sessionLink(email);
    await ceremony.opened(at(link, 1), browser);
    await ceremony.consent(at(link, 1), closingText, browser);
    for (const code of codes) assert.deepEqual(await signedMails(code), []);
    for (const n of [1, 2]) await sign(at(link, n));
  }
  for (const { email } of [jane, john]) await mails(email, 2);
  for (const code of codes) {
    await until(async () => (await signedMails(code)).length > 0);
    assert.equal((await signedMails(code)).length, 1);
  }
});

const told = ({ email }: Signer) => running.mailsTo(email).filter((mail) => /Subject: .*is notarized/.test(mail));

/** Uploads the notarized document. */
async function notarize(code: string): Promise<void> {
  const scan = join(running.service.dataDir, "notarized.pdf");
  writeFileSync(scan, makePdf({ pages: 2, text: "Notarized" }));
  await running.service.cli("order", "move", code, "NotarizationComplete", "--document", scan);
}

/** Waits until no job can mail anybody about a notarized document. Delayed jobs are run at once. */
async function mailsAreSent(): Promise<void> {
  const queues = sql`queue = ANY ('{notarized,notarized-notice,signing-mail,order-mail}')`;
  await until(async () => {
    // Leaves out running jobs: their due time is the end of a lease of half a minute.
    await db.query(sql`UPDATE jobs SET due_at = now() WHERE ${queues} AND due_at > now() + interval '40 seconds'`);
    return (await db.query(sql`SELECT FROM jobs WHERE ${queues}`)).length === 0;
  });
}

test("one mail tells of all notarized documents of a room, and its client gets none of it", async () => {
  const [jane, john] = [person(), person({ name: "John Doe" })];
  const room = await newRoom();
  const codes: string[] = [];
  for (const paper of ["Paper 1", "Paper 2"]) {
    const more = { external_reference: paper, email: jane.email, svc_notary: "true" };
    codes.push(await running.order([jane, john], more, undefined, { pay: false }));
  }
  for (const orderCode of codes) await attach(room, orderCode);
  await Promise.all(codes.map(pay));
  for (const { email } of [jane, john]) {
    const link = await sessionLink(email);
    await ceremony.opened(at(link, 1), browser);
    await ceremony.consent(at(link, 1), closingText, browser);
    for (const n of [1, 2]) await sign(at(link, n));
  }
  const link = await sessionLink(john.email);
  // Both documents wait for a notary before the first one is notarized.
  for (const code of codes) await running.service.cli("order", "move", code, "NotarizationPending");
  await notarize(codes[0] ?? "");
  await notarize(codes[1] ?? "");
  await mailsAreSent();
  const [mail, ...more] = told(john);
  assert.match(mail ?? "", /Ortega closing \(2 documents\) is notarized/);
  assert.match(mail ?? "", /1\. Paper 1[\s\S]*2\. Paper 2/);
  assert.ok(mail?.includes(`/sign/${link.token}`), "the person's own link of before");
  assert.deepEqual([more, told(jane)], [[], []]);
  assert.deepEqual(
    (await ceremony.view(at(link, 2))).copies.map(({ kind }) => kind),
    ["notarized", "sealed", "custody_certificate"],
  );
});

test("a signer of documents that nobody signed here gets one mail for all of them, without a link, and the client none", async () => {
  const [jane, john] = [person(), person({ name: "John Doe" })];
  const room = await newRoom();
  const codes: string[] = [];
  for (const paper of ["Paper 1", "Paper 2"]) {
    const more = { external_reference: paper, email: jane.email, svc_notary: "true", svc_sign: "false" };
    codes.push(await running.order([jane, john], more, undefined, { pay: false }));
  }
  for (const orderCode of codes) await attach(room, orderCode);
  await Promise.all(codes.map(pay));
  const status = (code: string) => client.ok<{ status: string }>("GET", `/api/partner/orders/${code}`);
  await until(async () => (await Promise.all(codes.map(status))).every((one) => one.status === "NotarizationPending"));
  await notarize(codes[0] ?? "");
  await until(async () => {
    const due = sql`SELECT FROM jobs WHERE queue = 'notarized-notice' AND due_at > now() + interval '40 seconds'`;
    return (await db.query(due)).length > 0;
  });
  assert.deepEqual(told(john), [], "the mail waits for the other document");
  await notarize(codes[1] ?? "");
  await mailsAreSent();
  const [mail, ...more] = told(john);
  assert.match(mail ?? "", /Paper 1 \(2 documents\) is notarized/);
  assert.doesNotMatch(mail ?? "", /Ortega closing/, "a closing's name may name other people");
  assert.match(mail ?? "", /1\. Paper 1[\s\S]*2\. Paper 2[\s\S]*To get your copy, ask /);
  assert.doesNotMatch(mail ?? "", /\/sign\//);
  assert.deepEqual([more, told(jane)], [[], []]);
});

for (const [first, order] of [
  [0, "a link first"],
  [1, "a notice first"],
] as const)
  test(`a person with a link to one notarized document and a notice of another gets one mail: ${order}`, async () => {
    const [jane, john] = [person(), person({ name: "John Doe" })];
    const room = await newRoom();
    const codes: string[] = [];
    for (const [paper, sign] of [
      ["Paper 1", "true"],
      ["Paper 2", "false"],
    ] as const) {
      const more = { external_reference: paper, email: jane.email, svc_notary: "true", svc_sign: sign };
      codes.push(await running.order([jane, john], more, undefined, { pay: false }));
    }
    for (const orderCode of codes) await attach(room, orderCode);
    await Promise.all(codes.map(pay));
    for (const { email } of [jane, john]) {
      const mail = await until(() => running.mailsTo(email).find((one) => one.includes("/sign/")));
      const link = { token: /\/sign\/(\w+)/.exec(mail)?.[1] ?? "", session: null };
      await ceremony.opened(link, browser);
      await ceremony.consent(link, consentText, browser);
      await sign(link);
    }
    const status = (code: string) => client.ok<{ status: string }>("GET", `/api/partner/orders/${code}`);
    await running.service.cli("order", "move", codes[0] ?? "", "NotarizationPending");
    await until(async () =>
      (await Promise.all(codes.map(status))).every((one) => one.status === "NotarizationPending"),
    );
    await notarize(codes[first] ?? "");
    await notarize(codes[1 - first] ?? "");
    await mailsAreSent();
    const [mail, ...more] = told(john);
    assert.match(mail ?? "", /Subject: .*Paper 1 is notarized/);
    assert.match(mail ?? "", /\/sign\/\w+/);
    assert.match(mail ?? "", /notarized Paper 2 from Acme Title. To get your copy, ask Acme/);
    assert.deepEqual([more, told(jane)], [[], []]);
  });

test("a client’s address that is corrected on one order moves in the whole closing, and no earlier link opens anything", async () => {
  const [grace, john] = [person({ name: "Grace Okafor", auth: "mail_code" }), person({ name: "John Doe" })];
  const room = await newRoom();
  const codes: string[] = [];
  for (const paper of ["Paper 1", "Paper 2", "Paper 3"]) {
    const more = { external_reference: paper, email: paper === "Paper 3" ? john.email : grace.email };
    codes.push(await running.order([grace, john], more, undefined, { pay: false }));
  }
  for (const orderCode of codes) await attach(room, orderCode);
  await Promise.all(codes.map(pay));
  const old = await sessionLink(grace.email);
  await ceremony.sendCode(at(old, 1), browser);
  const codeIn = (mail: string) => /^(\d{6})\r?$/m.exec(mail)?.[1];
  const mailedCode = await until(() => running.mailsTo(grace.email).map(codeIn).find(Boolean));
  const begun = await ceremony.identify(at(old, 1), mailedCode ?? "", browser);
  const open = { ...old, session: begun?.session ?? null };
  await ceremony.consent(at(open, 1), closingText, browser);
  await sign(at(open, 1));
  const { document } = await ceremony.view(at(open, 2));
  const rows = await db.query<{ linkId: string }>(
    sql`SELECT link_id AS "linkId" FROM envelope_signers WHERE email = ${grace.email}`,
  );
  const own = rows.map(({ linkId }) => running.deps.reach.links.tokenOf(linkId));

  const right = person().email;
  await client.ok("POST", `/api/rooms/${room}/participants`, { name: grace.name, email: grace.email, role: "seller" });
  await client.ok("POST", `/api/partner/orders/${codes[1]}/corrections`, { email: right });
  type Participants = { participants: { email: string }[] };
  const { participants } = await client.ok<Participants>("GET", `/api/rooms/${room}/participants`);
  assert.deepEqual(
    participants.map(({ email }) => email),
    [right],
  );
  for (const n of [1, 2, 3]) await assert.rejects(ceremony.view(at(open, n)), /not valid/);
  const mark = { kind: "typed", text: grace.name } as const;
  const late = ceremony.sign(at(open, 2), { revision: document?.revision ?? 0, mark, values: new Map() }, browser);
  await assert.rejects(late, /not valid/);
  const dead = await Promise.all(
    own.map((token) => ceremony.view({ token, session: null }).then(({ state }) => state, String)),
  );
  assert.deepEqual(
    dead.map((each) => /not valid/.test(each)),
    [true, true, true],
    "the link of the signed document, too",
  );

  const [request, ...more] = await mails(right, 1);
  assert.match(request ?? "", /Ortega closing \(2 documents\)/);
  assert.deepEqual(more, []);
  const fresh = await running.linkOf(right);
  assert.notEqual(fresh.token, old.token);
  assert.equal((await ceremony.view(at(fresh, 2))).state, "identify", "the new address proves itself");
  const people = async (code: string) =>
    (await client.ok<{ signers: { email: string }[] }>("GET", `/api/partner/orders/${code}/signers`)).signers.map(
      ({ email }) => email,
    );
  assert.deepEqual(await Promise.all(codes.map(people)), [
    [grace.email, john.email],
    [right, john.email],
    [right, john.email],
  ]);
  type Corrections = { corrections: { kind: string; after: object }[] };
  const recorded = await Promise.all(
    codes.map((code) => client.ok<Corrections>("GET", `/api/partner/orders/${code}/corrections`)),
  );
  assert.deepEqual(
    recorded.map(({ corrections }) => corrections.map(({ kind, after }) => ({ kind, after }))),
    [
      [{ kind: "email", after: { email: right, signed: [grace.name], moved: [] } }],
      [{ kind: "email", after: { email: right, moved: [grace.name] } }],
      [{ kind: "signer", after: { name: grace.name, email: right } }],
    ],
  );
});

test("a client who signed all documents of a closing gets one mail about the copies after a correction", async () => {
  const jane = person();
  const room = await newRoom();
  const codes = await Promise.all(
    ["Paper 1", "Paper 2"].map((paper) =>
      running.order([jane], { external_reference: paper, email: jane.email }, undefined, { pay: false }),
    ),
  );
  for (const orderCode of codes) await attach(room, orderCode);
  await Promise.all(codes.map(pay));
  const link = await sessionLink(jane.email);
  await ceremony.opened(at(link, 1), browser);
  await ceremony.consent(at(link, 1), closingText, browser);
  for (const n of [1, 2]) await sign(at(link, n));
  await until(async () => !(await Promise.all(codes.map(statusOf))).includes("EsignPending"));
  for (const code of codes)
    while ((await statusOf(code)) !== "Completed")
      await client.ok("POST", `/api/partner/sandbox/orders/${code}/advance`);
  await mailsAreSent();
  const right = person().email;
  await client.ok("POST", `/api/partner/orders/${codes[0]}/corrections`, { email: right });
  await mailsAreSent();
  const subjects = running.mailsTo(right).map((mail) => /^Subject: (.*(?:\r\n .*)*)$/m.exec(mail)?.[1] ?? "");
  assert.deepEqual(subjects.length, 1, subjects.join());
  assert.match(subjects.join().replaceAll("\r\n ", " "), /is signed by everybody/);
});

type RoomCorrection = { corrected: string[]; notCorrected: string[] };

test("a correction in one room ends no link of another room that shares a document with it", async () => {
  const jane = person();
  const { codes } = await closing([[jane], [jane]]);
  const [shared = "", other = ""] = codes;
  const old = await sessionLink(jane.email);
  const { roomCode } = await client.ok<{ roomCode: string }>("POST", "/api/rooms", { name: "Lender's room" });
  await attach(roomCode, shared);
  const right = person().email;
  const body = { from: jane.email, to: right };
  const { corrected, notCorrected } = await client.ok<RoomCorrection>(
    "POST",
    `/api/rooms/${roomCode}/corrections`,
    body,
  );
  assert.deepEqual([corrected, notCorrected], [[shared], []]);
  await assert.rejects(ceremony.view(at(old, 1)), /not valid/);
  assert.equal((await ceremony.view(at(old, 2))).state, "ready");
  await mails(right, 1);
  assert.equal((await ceremony.view(await running.linkOf(right))).session ?? null, null, "a link of its own");
  assert.equal(await statusOf(other), "EsignPending");
  await client.ok("POST", `/api/rooms/${roomCode}/close`);
});

/** Changes rows of an order without the database's triggers, so that their MACs are invalid. */
const attack = (code: string, change: (orderId: Statement) => Statement) =>
  db.transaction(async (tx) => {
    await tx.script("SET LOCAL session_replication_role = replica");
    await tx.query(change(sql`(SELECT id FROM orders WHERE ${isSealed(sql`code`, "order", code)})`));
  });
const alter = (code: string) =>
  attack(code, (orderId) => sql`UPDATE envelopes SET pages = pages + 1 WHERE order_id = ${orderId}`);

test("a correction names the document whose record was altered, and moves the person in the others", async () => {
  const [jane, client1] = [person(), person().email];
  const room = await newRoom();
  const codes = await Promise.all(
    [1, 2, 3].map(() => running.order([jane], { email: client1 }, undefined, { pay: false })),
  );
  for (const orderCode of codes) await attach(room, orderCode);
  await Promise.all(codes.map(pay));
  await sessionLink(jane.email);
  const [first = "", second = "", altered = ""] = codes;
  await alter(altered);
  const [right, client2] = [person().email, person().email];
  const correct = (path: string, body: object) => client.ok<Record<string, unknown>>("POST", path, body);
  const { corrected, notCorrected } = await correct(`/api/rooms/${room}/corrections`, { from: jane.email, to: right });
  assert.deepEqual([corrected, notCorrected], [[first, second], [altered]]);
  const answer = await correct(`/api/partner/orders/${first}/corrections`, { email: client2 });
  assert.deepEqual([answer["alsoCorrected"], answer["notCorrected"]], [[second], [altered]]);
  const orders = await db.query<{ email: string; signer: string }>(sql`
    SELECT o.customer_email AS email, s.email AS signer FROM rooms r JOIN room_orders a ON a.room_id = r.id
      JOIN orders o ON o.id = a.order_id JOIN envelopes e ON e.order_id = o.id JOIN envelope_signers s ON s.envelope_id = e.id
    WHERE ${isSealed(sql`r.code`, "room", room)} ORDER BY a.position`);
  const moved = { email: client2, signer: right };
  assert.deepEqual(orders, [moved, moved, { email: client1, signer: jane.email }]);
  const own = { path: `/api/partner/orders/${altered}/corrections`, body: { email: person().email } };
  assert.equal((await client.call("POST", own.path, own.body)).status, 503, "the altered order itself is refused");
  const fax = await correct(`/api/partner/orders/${first}/corrections`, { email: client2 });
  assert.deepEqual(fax["alsoCorrected"], []);
});

test("a link to copies ends although the record of another document that it opens was altered", async () => {
  const jane = person();
  const { codes } = await closing([[jane], [jane]]);
  const link = await sessionLink(jane.email);
  await ceremony.opened(at(link, 1), browser);
  await ceremony.consent(at(link, 1), closingText, browser);
  for (const n of [1, 2]) await sign(at(link, n));
  await until(async () => !(await Promise.all(codes.map(statusOf))).includes("EsignPending"));
  await alter(codes[1] ?? "");
  const end = () => client.call("DELETE", `/api/partner/orders/${codes[0]}/copy-links/1-1`);
  assert.equal((await end()).status, 200);
  for (const n of [1, 2]) await assert.rejects(ceremony.view(at(link, n)), /not valid/);
  assert.equal((await client.call("DELETE", `/api/partner/orders/${codes[1]}/copy-links/1-1`)).status, 503);
});

test("an altered document is not signed: its order is held with a task that names it, and its signer reads that it waits", async () => {
  const jane = person();
  const code = await running.order([jane]);
  const link = await sessionLink(jane.email);
  await ceremony.opened(link, browser);
  await ceremony.consent(link, consentText, browser);
  const sha256 = "e".repeat(64);
  await attack(
    code,
    (orderId) => sql`UPDATE documents SET sha256 = ${sha256} WHERE kind = 'original' AND order_id = ${orderId}`,
  );
  await assert.rejects(sign(link), { code: "conflict" });
  assert.equal(await statusOf(code), "OnHold");
  assert.equal((await ceremony.view(link)).state, "waiting");
  const [task] = await db.query<{ reason: string }>(sql`
    SELECT t.reason FROM tasks t JOIN orders o ON o.id = t.order_id
    WHERE t.kind = 'order_on_hold' AND ${isSealed(sql`o.code`, "order", code)}`);
  assert.ok(task?.reason.includes(`The original document of order ${code.slice(0, 6)}… is not what was written`));
});

/** Changes one byte of the stored original. */
async function alterBytes(code: string): Promise<void> {
  const [original] = await db.query<{ blobKey: string }>(sql`
    SELECT d.blob_key AS "blobKey" FROM documents d JOIN orders o ON o.id = d.order_id
    WHERE d.kind = 'original' AND ${isSealed(sql`o.code`, "order", code)}`);
  const path = join(running.service.dataDir, "blobs", original?.blobKey ?? "");
  const bytes = readFileSync(path);
  bytes.writeUInt8(bytes.readUInt8(bytes.length - 1) ^ 1, bytes.length - 1);
  writeFileSync(path, bytes);
}

test("a document whose bytes were altered holds its order, before anybody is asked to sign and between two signatures", async () => {
  const [jane, john] = [person(), person({ name: "John Doe" })];
  const unsent = await running.order([jane], {}, undefined, { pay: false });
  await alterBytes(unsent);
  await pay(unsent);
  await until(async () => (await statusOf(unsent)) === "OnHold");
  assert.deepEqual(running.mailsTo(jane.email), []);
  const half = await running.order([jane, john]);
  for (const [index, { email }] of [jane, john].entries()) {
    const link = await sessionLink(email);
    await ceremony.opened(link, browser);
    await ceremony.consent(link, consentText, browser);
    if (index === 0) await sign(link);
    else await assert.rejects(sign(link), { code: "conflict" });
    if (index === 0) await alterBytes(half);
  }
  assert.equal(await statusOf(half), "OnHold");
});

test("a person who is replaced in all documents of a closing has no link any more, and the new one gets one mail", async () => {
  const [dan, mary] = [person({ name: "Dan Roe" }), person({ name: "Mary Roe" })];
  const { codes } = await closing([[dan], [dan, { name: "John Doe", email: "john.doe@example.com" }], [dan]]);
  const old = await sessionLink(dan.email);
  await ceremony.opened(at(old, 1), browser);
  await ceremony.consent(at(old, 1), closingText, browser);
  await sign(at(old, 1));
  const [order] = await db.query<{ partnerId: string }>(
    sql`SELECT partner_id AS "partnerId" FROM orders WHERE ${isSealed(sql`code`, "order", codes[1] ?? "")}`,
  );
  const owner = { partnerId: order?.partnerId ?? "", environment: "test" } as const;
  const request = { owner, orderCode: codes[1] ?? "", n: 1, actor: "test", others: [codes[0] ?? "", codes[2] ?? ""] };
  await replaceSigner(running.replacing, request, mary);
  for (const n of [1, 2, 3]) await assert.rejects(ceremony.view(at(old, n)), /not valid/);
  const [request2, ...more] = await mails(mary.email, 1);
  assert.match(request2 ?? "", /Ortega closing \(2 documents\)/);
  assert.deepEqual(more, []);
  const signers = (code: string) =>
    client.ok<{ signers: { email: string }[] }>("GET", `/api/partner/orders/${code}/signers`);
  const first = (await Promise.all(codes.map(signers))).map(({ signers: [one] }) => one?.email);
  assert.deepEqual(first, [dan.email, mary.email, mary.email]);
});

test("people with one mailbox, in another language, with another access step, or in another room are separate people", async () => {
  const [jane, shared] = [person(), person()];
  const named = { ...shared, name: "John Doe" };
  await closing([[jane], [{ ...jane, language: "es" }], [{ ...jane, auth: "mail_code" }]]);
  await closing([[jane]]);
  await closing([[shared], [named]]);
  for (const [email, count] of [
    [jane.email, 4],
    [shared.email, 2],
  ] as const) {
    const found = (await mails(email, count)).map((mail) => /\/sign\/[0-9a-f]{40}[/\d]*/.exec(mail)?.[0]);
    assert.equal(new Set(found).size, count);
  }
  const rows = await db.query(sql`
    SELECT FROM session_signers m JOIN envelope_signers s ON s.id = m.signer_id
    WHERE s.email IN (${jane.email}, ${shared.email})`);
  assert.equal(rows.length, 0);
});

test("one code opens all documents, five wrong ones lock all, and each trail records the access", async () => {
  const jane = person({ auth: "mail_code" });
  const { codes } = await closing([[jane], [jane]]);
  const link = await sessionLink(jane.email);
  assert.equal((await ceremony.view(at(link, 2))).state, "identify");
  assert.ok((await ceremony.view(at(link, 2))).session?.documents.every(({ title }) => title === null));
  await ceremony.sendCode(at(link, 1), browser);
  const code = async () => {
    await until(async () => running.mailsTo(jane.email).some((mail) => /^\d{6}\r?$/m.test(mail)));
    return (
      /^(\d{6})\r?$/m.exec(running.mailsTo(jane.email).findLast((mail) => /^\d{6}\r?$/m.test(mail)) ?? "")?.[1] ?? ""
    );
  };
  const right = await code();
  const wrong = right === "000000" ? "000001" : "000000";
  for (const n of [1, 2, 1, 2]) assert.equal(await ceremony.identify(at(link, n), wrong, browser), null);
  const begun = await ceremony.identify(at(link, 2), right, browser);
  assert.ok(begun);
  const inside = { ...link, session: begun.session };
  for (const n of [1, 2]) assert.equal((await ceremony.view(at(inside, n))).state, "ready");
  await ceremony.consent(at(inside, 1), closingText, browser);
  for (const n of [1, 2]) await sign(at(inside, n));
  for (const [index] of codes.entries()) {
    const trail = await trailOf(`Paper ${index + 1}`);
    assert.ok(trail.some(({ event, method }) => event === "session_identified" && method === "mail_code"));
  }
  const other = person({ auth: "mail_code" });
  const locked = await closing([[other], [other]]);
  const theirs = await sessionLink(other.email);
  for (const n of [1, 2, 1, 2, 1]) await ceremony.identify(at(theirs, n), "000000", browser);
  for (const n of [1, 2]) assert.equal((await ceremony.view(at(theirs, n))).state, "locked");
  for (const each of locked.codes) {
    const { signers } = await client.ok<{ signers: { status: string }[] }>(
      "GET",
      `/api/partner/orders/${each}/signers`,
    );
    assert.equal(signers[0]?.status, "locked");
  }
});

test("the same access code joins documents, another one does not, and wrong ones count for the person", async () => {
  const jane = person({ auth: "access_code", access_code: "elm street" });
  const { room } = await closing([[jane], [jane], [{ ...jane, access_code: "oak avenue" }]]);
  const [first, second] = await mails(jane.email, 2);
  assert.equal([first, second].filter((mail) => mail?.includes("(2 documents)")).length, 1);
  const [{ token } = assert.fail()] = running
    .mailsTo(jane.email)
    .filter((mail) => mail.includes("(2 documents)"))
    .map((mail) => ({ token: /\/sign\/([0-9a-f]{40})/.exec(mail)?.[1] ?? "" }));
  const link = { token, session: null };
  for (const n of [1, 2, 1, 2]) assert.equal(await ceremony.identify(at(link, n), "oak avenue", browser), null);
  const later = await running.order([jane], { external_reference: "Late paper" }, undefined, { pay: false });
  await attach(room, later);
  await pay(later);
  await until(async () => (await ceremony.view(at(link, 1))).session?.documents.length === 3);
  const begun = await ceremony.identify(at(link, 3), "elm street", browser);
  assert.ok(begun);
  const inside = { token, session: begun.session };
  for (const n of [1, 2, 3]) assert.equal((await ceremony.view(at(inside, n))).state, "ready");
  for (const n of [3, 1, 2, 3]) await ceremony.identify(at(link, n), "wrong", browser);
  const last = await running.order([jane], { external_reference: "Last paper" }, undefined, { pay: false });
  await attach(room, last);
  await pay(last);
  await until(async () => (await ceremony.view(at(link, 1))).session?.documents.length === 4);
  assert.equal(await ceremony.identify(at(link, 4), "wrong", browser), null);
  for (const n of [1, 2, 3, 4]) assert.equal((await ceremony.view(at(link, n))).state, "locked");
  const other = person({ auth: "access_code", access_code: "elm street" });
  await closing([[other]]);
  await mails(other.email, 1);
  const hashes = await db.query<{ hash: string }>(sql`
    SELECT DISTINCT access_code_hash AS hash FROM envelope_signers WHERE email IN (${jane.email}, ${other.email})`);
  assert.equal(hashes.length, 3, "one for each code of each person");
});

test("a declined document, a held one, and one whose turn has not come do not block the next", async () => {
  const jane = person();
  const max = person({ name: "Max Roe" });
  const first = { ...max, routing: 1 };
  const { codes } = await closing([[jane], [first, { ...jane, routing: 2 }], [jane]]);
  const link = await sessionLink(jane.email);
  assert.equal(await ceremony.next(link), 1);
  await ceremony.decline(at(link, 1), { kind: "declined", reason: "" }, browser);
  assert.equal(await statusOf(codes[0] ?? ""), "EsignDeclined");
  assert.equal(await statusOf(codes[2] ?? ""), "EsignPending");
  assert.equal(await ceremony.next(link), 3);
  const { session } = await ceremony.view(at(link, 3));
  assert.deepEqual(
    session?.documents.map(({ state }) => state),
    ["declined", "waiting", "ready"],
  );
  await ceremony.consent(at(link, 3), closingText, browser);
  await assert.rejects(sign(at(link, 2)), /not your turn/);
  await sign(at(link, 3));
  const theirs = await sessionLink(max.email);
  await ceremony.consent(theirs, { version: "4", language: "en" }, browser);
  await sign(theirs);
  assert.equal(await ceremony.next(link), 2);
  assert.deepEqual(await sign(at(link, 2)), { outcome: "signed", completed: true });
});

test("withdrawing the consent ends every unsigned document, and leaves signed ones valid", async () => {
  const jane = person();
  const { codes } = await closing([[jane], [jane], [jane]]);
  const link = await sessionLink(jane.email);
  await ceremony.consent(at(link, 1), closingText, browser);
  await sign(at(link, 1));
  assert.equal((await ceremony.view(at(link, 2))).consent?.version, "5");
  await ceremony.setLanguage(at(link, 2), "es");
  assert.equal((await ceremony.view(at(link, 2))).consent, null, "a text is agreed to in the language of the signer");
  await ceremony.decline(at(link, 2), { kind: "withdrawn", reason: "" }, browser);
  assert.deepEqual(await Promise.all(codes.slice(1).map(statusOf)), ["EsignDeclined", "EsignDeclined"]);
  assert.notEqual(await statusOf(codes[0] ?? ""), "EsignDeclined");
  assert.equal((await ceremony.view(at(link, 1))).state, "completed");
});

test("declining all documents keeps the one that another tab signs meanwhile", async () => {
  const jane = person();
  const max = person({ name: "Max Roe" });
  const { codes } = await closing([[jane], [jane, max]]);
  const link = await sessionLink(jane.email);
  await ceremony.consent(at(link, 1), closingText, browser);
  const isWaiting = async () =>
    (
      await db.query(sql`
        SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
          AND query LIKE '%FROM orders%'`)
    ).length > 0;
  const declined = await db.transaction(async (tx) => {
    await tx.query(sql`
      SELECT FROM orders o WHERE o.id = (
        SELECT e.order_id FROM session_signers m JOIN envelope_signers s ON s.id = m.signer_id
          JOIN envelopes e ON e.id = s.envelope_id WHERE s.email = ${jane.email} AND m.n = 1) FOR UPDATE`);
    const declining = ceremony.decline(at(link, 1), { kind: "not_me", reason: "" }, browser);
    await until(isWaiting);
    await sign(at(link, 2));
    return { declining };
  });
  await declined.declining;
  assert.deepEqual(await Promise.all(codes.map(statusOf)), ["EsignDeclined", "EsignPending"]);
  const [move] = await db.query<{ reason: string }>(sql`
    SELECT detail ->> 'reason' AS reason FROM audit_log WHERE to_status = 'EsignDeclined' ORDER BY id DESC LIMIT 1`);
  assert.match(move?.reason ?? "", /nobody declined, the link reached somebody who is not the person/);
  assert.equal((await ceremony.view(at(link, 2))).state, "signed");
});

test("the number of a document that left a session is never reused", async () => {
  const jane = person();
  const { room, codes } = await closing([[jane], [jane]]);
  const link = await sessionLink(jane.email);
  await client.ok("DELETE", `/api/rooms/${room}/orders/${codes[1]}`);
  const later = await running.order([jane], { external_reference: "Late paper" }, undefined, { pay: false });
  await attach(room, later);
  await pay(later);
  await until(async () => (await ceremony.view(at(link, 1))).session?.documents.length === 2);
  const { session } = await ceremony.view(at(link, 1));
  assert.deepEqual(
    session?.documents.map(({ n }) => n),
    [1, 3],
  );
  await assert.rejects(sign(at(link, 2)), /not valid/);
});

for (const [how, leave] of [
  [
    "is replaced",
    (code: string) =>
      client.ok("POST", `/api/partner/orders/${code}/signers/1/replace`, { ...person({ name: "Ann Poe" }) }),
  ],
  ["leaves the room", (code: string, room: string) => client.ok("DELETE", `/api/rooms/${room}/orders/${code}`)],
] as const)
  test(`if the person whose mail covered all documents ${how} before it was sent, the others are asked by another mail`, async () => {
    const jane = person();
    const { room, codes } = await closing([[jane], [jane]]);
    await mails(jane.email, 1);
    const [about] = await db.query<{ signerId: number; linkId: string; paper: string }>(sql`
      SELECT s.id AS "signerId", s.link_id AS "linkId", o.external_reference AS paper FROM session_signers m JOIN envelope_signers s ON s.id = m.signer_id
        JOIN envelopes e ON e.id = s.envelope_id JOIN orders o ON o.id = e.order_id
      WHERE s.email = ${jane.email} AND m.asked_by = s.link_id::text`);
    assert.ok(about);
    const isFirst = about.paper === "Paper 1";
    await leave(codes[isFirst ? 0 : 1] ?? "", room);
    // Queues the mail again, as after a mail server refused it.
    const { signerId, linkId } = about;
    await db.transaction((tx) => enqueue(tx, signingMailQueue, { signerId, moment: "request", linkId }));
    const other = isFirst ? "Paper 2" : "Paper 1";
    await until(async () => running.mailsTo(jane.email).some((mail) => mail.includes(`${other}: please sign`)));
  });

test("a replaced signer loses only that document, and a new link ends the earlier one for all", async () => {
  const jane = person();
  const { codes } = await closing([[jane], [jane], [jane]]);
  const link = await sessionLink(jane.email);
  const signer = person({ name: "Ann Poe" });
  await client.ok("POST", `/api/partner/orders/${codes[1]}/signers/1/replace`, { ...signer });
  await assert.rejects(ceremony.view(at(link, 2)), /not valid/);
  const { session } = await ceremony.view(at(link, 1));
  assert.deepEqual(
    session?.documents.map(({ n }) => n),
    [1, 3],
  );
  await mails(signer.email, 1);
  const replaced = (title: string) =>
    until(async () => running.mailsTo(jane.email).find((mail) => mail.includes(`${title}: you need not sign`)));
  assert.match(await replaced("Paper 2"), /no longer opens it, but still opens your other documents/);
  await reissueEnvelope(running.deps, codes[2] ?? "");
  await mails(jane.email, 2);
  await assert.rejects(ceremony.view(at(link, 1)), /not valid/);
  const renewed = await running.linkOf(jane.email);
  for (const n of [1, 3]) assert.equal((await ceremony.view(at(renewed, n))).state, "ready");
  for (const code of [codes[0], codes[2]])
    await client.ok("POST", `/api/partner/orders/${code}/signers/1/replace`, { ...signer });
  assert.match(await replaced("Paper 3"), /no longer works, and there is nothing for you to do/);
});

test("a replaced signer whose other documents are declined or signed reads nothing of documents that wait", async () => {
  const [jane, ann, lee] = [person(), person({ name: "Ann Poe" }), person({ name: "Lee Poe" })];
  const { codes } = await closing([[jane], [jane, ann], [jane]]);
  const link = await sessionLink(jane.email);
  const replaced = async (code: string | undefined, title: string) => {
    await client.ok("POST", `/api/partner/orders/${code}/signers/1/replace`, { ...lee });
    const isTold = (mail: string) => mail.includes(`${title}: you need not sign`);
    return until(async () => running.mailsTo(jane.email).find(isTold));
  };
  await ceremony.consent(at(link, 3), closingText, browser);
  await sign(at(link, 3));
  await ceremony.decline(await running.linkOf(ann.email), { kind: "declined", reason: "" }, browser);
  assert.match(await replaced(codes[0], "Paper 1"), /still opens your other documents\.\s/);
});

test("an order that is added later joins, one that leaves the room gets its own link, and old single links still work", async () => {
  const jane = person();
  const { room, codes } = await closing([[jane]]);
  const single = await sessionLink(jane.email);
  const later = await running.order([jane], { external_reference: "Late paper" }, undefined, { pay: false });
  await attach(room, later);
  await pay(later);
  const [, second] = await mails(jane.email, 2);
  assert.match(second ?? "", /2 documents/);
  const link = await running.linkOf(jane.email);
  assert.equal(await ceremony.next(single), null);
  assert.equal((await ceremony.view(single)).state, "ready");
  await ceremony.consent(at(link, 2), closingText, browser);
  assert.equal((await ceremony.view(single)).consent, null, "the consent for all counts by the session's link");
  assert.equal((await ceremony.view(at(link, 1))).consent?.version, "5");
  await ceremony.consent(single, { version: "4", language: "en" }, browser);
  await sign(single);
  assert.equal((await ceremony.view(at(link, 1))).state, "completed");
  await client.ok("DELETE", `/api/rooms/${room}/orders/${later}`);
  await assert.rejects(ceremony.view(at(link, 2)), /not valid/);
  const all = await mails(jane.email, 3);
  assert.ok(all.some((mail) => mail.includes("Late paper: please sign")));
  assert.equal(codes.length, 1);
});

test("two tabs sign one document once", async () => {
  const jane = person();
  await closing([[jane], [jane]]);
  const link = await sessionLink(jane.email);
  await Promise.all([1, 2].map((n) => ceremony.consent(at(link, n), closingText, browser)));
  const done = await Promise.allSettled([1, 1, 2, 2].map((n) => sign(at(link, n))));
  assert.ok(done.some(({ status }) => status === "fulfilled"));
  for (const n of [1, 2]) {
    if (!(await ceremony.view(at(link, n))).signedAt) await sign(at(link, n));
    const acts = await db.query(sql`
      SELECT FROM envelope_events t JOIN session_signers m ON m.n = ${n}
        JOIN envelope_signers s ON s.id = m.signer_id AND s.envelope_id = t.envelope_id
      WHERE s.email = ${jane.email} AND t.record::json ->> 'event' IN ('signed', 'session_identified')`);
    assert.equal(acts.length, 2);
  }
});

test("a row that moves another person's document into a session is refused", async () => {
  const [jane, max] = [person(), person({ name: "Max Roe" })];
  await closing([[jane], [jane], [max]]);
  const link = await sessionLink(jane.email);
  await mails(max.email, 1);
  await insider.run(sql`
    INSERT INTO session_signers (session_id, signer_id, n)
    SELECT m.session_id, theirs.id, 9 FROM session_signers m JOIN envelope_signers s ON s.id = m.signer_id
      JOIN envelope_signers theirs ON theirs.email = ${max.email}
    WHERE s.email = ${jane.email} AND m.n = 1`);
  await assert.rejects(ceremony.view(at(link, 9)), /not valid/);
  await insider.run(sql`
    UPDATE signing_sessions g SET consent = '{"version": "5", "language": "en", "textSha256": "", "at": "2026-01-01T00:00:00Z"}'
    WHERE g.id = (SELECT m.session_id FROM session_signers m JOIN envelope_signers s ON s.id = m.signer_id WHERE s.email = ${jane.email} LIMIT 1)`);
  await assert.rejects(ceremony.view(at(link, 1)), { code: "unavailable" });
});

test("no document joins a session that has an altered row, and the row stays refused", async () => {
  const jane = person();
  await closing([[jane], [jane]]);
  const link = await sessionLink(jane.email);
  await running.order([jane]);
  const own = sql`SELECT id FROM envelope_signers WHERE email = ${jane.email}`;
  const alone = () =>
    db.query<{ id: number }>(sql`
      SELECT own.id FROM (${own}) AS own WHERE NOT EXISTS (SELECT FROM session_signers WHERE signer_id = own.id)`);
  await until(async () => (await alone()).length === 1);
  const signers = (await alone()).map(({ id }) => id);
  const [session] = await db.query<{ id: string }>(sql`
    SELECT session_id AS id FROM session_signers WHERE signer_id IN (${own}) LIMIT 1`);
  assert.ok(session);
  const join = () => db.transaction((tx) => joinSession(tx, session.id, signers));
  await insider.run(sql`UPDATE session_signers SET n = 7 WHERE n = 2 AND session_id = ${session.id}`);
  await assert.rejects(join(), { code: "unavailable" });
  await assert.rejects(ceremony.view(at(link, 1)), { code: "unavailable" });
  await insider.run(sql`UPDATE session_signers SET n = 2 WHERE n = 7 AND session_id = ${session.id}`);
  await join();
  assert.equal((await ceremony.view(at(link, 3))).signer.name, jane.name);
});

test("the pages lead from one document to the next without scripts, and show the number of each", async () => {
  const jane = person();
  await closing([[jane], [jane]]);
  const { token } = await sessionLink(jane.email);
  const { baseUrl } = running.service;
  const get = async (path: string) => {
    const answer = await fetch(baseUrl + path, { redirect: "manual" });
    return { to: answer.headers.get("location"), text: await answer.text() };
  };
  const post = async (path: string, form: Record<string, string>) => {
    const headers = { Origin: new URL(baseUrl).origin, "Content-Type": "application/x-www-form-urlencoded" };
    const init = { method: "POST", headers, body: new URLSearchParams(form), redirect: "manual" } as const;
    return (await fetch(baseUrl + path, init)).headers.get("location");
  };
  assert.equal((await get(`/sign/${token}`)).to, `/sign/${token}/1`);
  const first = await get(`/sign/${token}/1`);
  assert.match(first.text, /Document 1 of 2/);
  assert.match(first.text, /documents of this closing that are listed on this page/);
  const agreed = await post(`/sign/${token}/1/consent`, { version: "5", language: "en", can_read: "on" });
  assert.equal(agreed, `/sign/${token}/1?done=consent`);
  const { document } = await ceremony.view(at({ token, session: null }, 1));
  const signed = { revision: String(document?.revision), name: "Jane Doe" };
  const root = `/sign/${token}?done=signed`;
  assert.equal(await post(`/sign/${token}/1/sign`, signed), root);
  assert.equal((await get(root)).to, `/sign/${token}/2?done=signed`);
  const second = await get(`/sign/${token}/2?done=signed`);
  assert.match(second.text, /Document 2 of 2/);
  assert.match(second.text, /You have signed 1 of 2\./);
  assert.doesNotMatch(second.text, /id="consent"/);
  const saved = await get(`/sign/${token}/1`);
  assert.match(saved.text, /href="\/sign\/[0-9a-f]{40}\/1\/sealed\.pdf\?save=1"/);
  assert.match(saved.text, /Next: Paper 2/);
  const other = {
    ...signed,
    revision: String((await ceremony.view(at({ token, session: null }, 2))).document?.revision),
  };
  await post(`/sign/${token}/2/sign`, other);
  assert.match((await get(`/sign/${token}/2`)).text, /You have signed 2 of 2\./);
  for (const path of [`/sign/${token}/3`, `/sign/${"0".repeat(40)}/1`])
    assert.equal((await fetch(baseUrl + path)).status, 404);
});
