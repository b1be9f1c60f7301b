import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { hash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readSealPurpose } from "@signsealship/evidence/seal";
import { type Harness, openHarness } from "@signsealship/testing/harness";
import { minimal, orderForm } from "@signsealship/testing/inputs/order-form";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { changeRowsOf } from "@signsealship/testing/row-mac";
import { newPartner, runCli } from "@signsealship/testing/service";
import { testsNeeding } from "@signsealship/testing/tools/tools";
import { until } from "@signsealship/testing/until";
import type { OperatorRole } from "../../../../src/firms/operators/operators.ts";
import { isSealed, sql } from "../../../../src/kernel/platform/database/sql.ts";
import { newUuid } from "../../../../src/kernel/platform/ids.ts";
import { taskState } from "../../../../src/kernel/tasks/tasks.ts";
import {
  addNotary,
  answerInPerson,
  listNotaries,
  setNotary,
  sweepDrafts,
  watchExpiries,
} from "../../../../src/signing/notaries/notaries.ts";
import { changeRecording, insertRecording } from "../../../../src/signing/notaries/recordings/store.ts";
import { mailsTo, postForm } from "../../../firms/members/signed-in-member.ts";
import { newOperator } from "../../../firms/operators/console-people.ts";
import { type NotarySoftware, openNotarySoftware } from "../signing/notary-software.ts";

const { test, before, after } = testsNeeding("pyhanko", "jq", "poppler");

type Person = Awaited<ReturnType<typeof newOperator>>;

const sentence = "performed with the principal(s) appearing online using audio-video communication";
const folder = mkdtempSync(join(tmpdir(), "desk-"));
let running: Harness;
let software: NotarySoftware;
let partner: Awaited<ReturnType<typeof newPartner>>;
let nora: Person;
let omar: Person;
let auditor: Person;

const commission = {
  state: "OH",
  county: "Franklin",
  commissionNumber: "2024-RE-1",
  commissionExpires: "2040-01-31",
  ronRegistration: "RON-77",
  ronExpires: "2040-01-31",
  tool: "Example Meetings",
  status: "active",
};
const keeping = () => ({ db: running.db, clock: () => new Date() });
const notaryId = async ({ email }: Person): Promise<string> =>
  (await listNotaries(running.db)).find((each) => each.email === email)?.id ?? "";
const setRecord = async (person: Person, typed: Record<string, string>) =>
  setNotary(keeping(), await notaryId(person), typed, "operator");

before(async () => {
  const years = ["2020-01-01", "2045-01-01"] as const;
  [running, software] = await Promise.all([openHarness(), openNotarySoftware({ Nora: years, Stranger: years })]);
  partner = await newPartner(running.service);
  const made = (roles: readonly OperatorRole[], email: string) =>
    newOperator(running, { roles, email, environment: "test", passkey: roles[0] !== "notary" });
  nora = await made(["notary"], "nora@desk.example");
  omar = await made(["notary"], "omar@desk.example");
  auditor = await made(["auditor"], "aud@desk.example");
  const certificate = software.certificates["Nora"] ?? "";
  await addNotary(keeping(), nora.id, { ...commission, commissionName: "Nora Ames", certificate }, "operator");
  await addNotary(keeping(), omar.id, { ...commission, commissionName: "Omar Beck" }, "operator");
});
after(async () => {
  software.close();
  await running.close();
  rmSync(folder, { recursive: true });
});

/** A test order that waits for a notary. */
async function waitingOrder(
  fields: Record<string, string> = {},
  document = makePdf({ text: "Deed" }),
  fileName = "document.pdf",
): Promise<string> {
  const { baseUrl } = running.service;
  const body = orderForm({ ...minimal, svc_notary: "true", name: "Jane Doe", ...fields }, document, fileName);
  const placed = await fetch(`${baseUrl}/api/partner/orders`, { method: "POST", headers: partner.headers, body });
  const { orderCode } = (await placed.json()) as { orderCode: string };
  const moved = await fetch(`${baseUrl}/api/partner/sandbox/orders/${orderCode}/advance`, {
    method: "POST",
    headers: partner.headers,
  });
  assert.equal(((await moved.json()) as { status: string }).status, "NotarizationPending");
  return orderCode;
}

const at = (path: string) => running.service.baseUrl + path;
const desk = (code: string, rest = "") => `/operator/notary/orders/${code}${rest}`;
const get = (path: string, { cookie }: Person) => fetch(at(path), { headers: { cookie } });
const post = (path: string, { cookie }: Person, fields: Record<string, string> = {}) =>
  postForm(at(path), fields, { cookie });

function upload(path: string, { cookie }: Person, document: Buffer, fields: Record<string, string> = {}) {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  form.append("document", new Blob([new Uint8Array(document)], { type: "application/pdf" }), "d.pdf");
  return fetch(at(path), { method: "POST", redirect: "manual", headers: { cookie }, body: form });
}

async function statusOf(code: string): Promise<string | undefined> {
  const [order] = await running.db.query<{ status: string }>(
    sql`SELECT status FROM orders WHERE ${isSealed(sql`code`, "order", code)}`,
  );
  return order?.status;
}
const alertIn = async (answer: Response) => /role="alert"[^>]*>.*?<p>(.*?)<\/p>/s.exec(await answer.text())?.[1] ?? "";

const act = {
  act: "acknowledgment",
  mode: "ron",
  document: "Quitclaim deed",
  venue_state: "OH",
  venue_county: "Franklin",
  started_at: "2026-01-15T14:05",
  ended_at: "2026-01-15T14:35",
  tool: "Example Meetings",
  session_id: "S-1",
  recording_sha256: "ab".repeat(32),
  recording_at: "Example vault",
  recording_until: "2036-01-15",
  fee: "25.00",
  principal_1_name: "Jané Doe ¶",
  principal_1_address: "1 Main Street, Columbus, OH",
  principal_1_basis: "credential",
  principal_1_city: "Columbus",
  principal_1_region: "Ohio",
  principal_1_country: "US",
  principal_1_type: "Driver license",
  principal_1_issuer: "Ohio",
  principal_1_issued: "2022-02-01",
  principal_1_expires: "2030-02-01",
  principal_1_result: "IDV-9",
  principal_1_last4: "4242",
};

/** Claims the order by its task, as the page's button does. */
async function claim(code: string, person: Person): Promise<Response> {
  const [task] = await running.db.query<{ id: number }>(sql`
    SELECT t.id FROM tasks t JOIN orders o ON o.id = t.order_id WHERE ${isSealed(sql`o.code`, "order", code)} AND t.state IN ('open', 'claimed')`);
  return post(`/operator/notary/tasks/${task?.id}/claim`, person);
}

/** True if the desk or the Today page shows an order to a person. */
async function showsOnDesk(code: string, person: Person): Promise<boolean> {
  const pages = await Promise.all(
    ["/operator/notary", "/operator"].map(async (path) => (await get(path, person)).text()),
  );
  return pages.some((page) => page.includes(code.slice(0, 6).toUpperCase()));
}

async function claimed(person: Person, ...order: Parameters<typeof waitingOrder>): Promise<string> {
  const code = await waitingOrder(...order);
  assert.equal((await claim(code, person)).status, 303);
  return code;
}

test("all faults of a commission are named at once, by the command line", async () => {
  const third = await newOperator(running, { roles: ["notary"] });
  const pem = join(folder, "nobody.pem");
  writeFileSync(pem, "");
  const wrong = ["--state", "XX", "--expires", "2040-02-31", "--ron", "R", "--certificate", pem];
  const { code, stderr } = await runCli({ DATA_DIR: running.service.dataDir }, "notary", "add", third.email, ...wrong);
  assert.equal(code, 1);
  for (const rule of [
    /commissionName is required/,
    /state must be/,
    /commissionExpires must be a day/,
    /ronExpires is req/,
  ])
    assert.match(stderr, rule);
  const plain = await newOperator(running, { roles: ["agent"] });
  await assert.rejects(
    addNotary(keeping(), plain.id, { ...commission, commissionName: "P" }, "operator"),
    /not an operator with the role notary/,
  );
  const { notaries } = await running.service.cli<{ notaries: { commissionName: string; certificate: string }[] }>(
    "notary",
    "list",
  );
  assert.deepEqual(
    notaries.map(({ commissionName, certificate }) => [commissionName, certificate]),
    [
      ["Nora Ames", "registered"],
      ["Omar Beck", "none"],
    ],
  );
});

test("of notaries who claim an order concurrently one gets it and sees its document; nobody sees unclaimed documents", async () => {
  const code = await waitingOrder();
  assert.equal(await showsOnDesk(code, nora), true);
  for (const person of [nora, omar])
    for (const path of [desk(code), desk(code, "/document")]) assert.equal((await get(path, person)).status, 404);
  // A notary without a certificate, such as Omar, may claim an order, because acts on paper need none.
  const answers = await Promise.all(Array.from({ length: 6 }, (_, index) => claim(code, index % 2 ? nora : omar)));
  assert.deepEqual(answers.map(({ status }) => status).sort(), [303, 409, 409, 409, 409, 409]);
  const winner = answers.findIndex(({ status }) => status === 303) % 2 ? nora : omar;
  const loser = winner === nora ? omar : nora;
  const document = await get(desk(code, "/document"), winner);
  assert.equal(document.headers.get("content-type"), "application/pdf");
  assert.ok(Buffer.from(await document.arrayBuffer()).equals(makePdf({ text: "Deed" })));
  assert.equal((await get(desk(code, "/document"), loser)).status, 404);
  assert.equal(await showsOnDesk(code, loser), false);
  const reads = await running.db.query<{ actor: string }>(sql`
    SELECT actor FROM audit_log a JOIN orders o ON o.id = a.order_id WHERE ${isSealed(sql`o.code`, "order", code)} AND action = 'document.read'`);
  assert.deepEqual(reads, [{ actor: `operator:${winner.id}` }]);
  assert.equal((await post(desk(code, "/release"), winner)).status, 303);
  assert.equal((await get(desk(code), winner)).status, 404);
});

test("shows the notary the notices about the document", async () => {
  const pageEntries = "/Annots [<< /Type /Annot /Subtype /Stamp /F 0 /AP << >> /Rect [100 100 300 200] >>]";
  const code = await claimed(nora, {}, makePdf({ pageEntries }));
  assert.match(
    await (await get(desk(code), nora)).text(),
    /<li>An annotation is shown on screens and is not printed \(page 1\)\.<\/li>/,
  );
  assert.equal((await post(desk(code, "/release"), nora)).status, 303);
  const plain = await claimed(nora);
  assert.doesNotMatch(await (await get(desk(plain), nora)).text(), /Look at these before/);
  assert.equal((await post(desk(plain, "/release"), nora)).status, 303);
});

test("the notary's form names the document as its kind, and the page names the firm's file number next to it", async () => {
  const code = await claimed(nora, { external_reference: "26-10417" }, makePdf({ text: "Deed" }), "Warranty deed.pdf");
  const page = await (await get(desk(code), nora)).text();
  assert.match(page, /name="document"[^>]* value="Warranty deed"/);
  assert.match(page, /Warranty deed, 26-10417/);
  assert.equal((await post(desk(code, "/release"), nora)).status, 303);
});

test("Today shows a notary the orders to claim, and the claimed ones with their appointments", async () => {
  const third = await newOperator(running, { roles: ["notary"], environment: "test", passkey: false });
  const today = async (person: Person) => (await get("/operator", person)).text();
  const code = await waitingOrder();
  const name = code.slice(0, 6).toUpperCase();
  assert.match(await today(third), /Nothing is waiting\./, "nobody on record as a notary is shown orders");
  await addNotary(keeping(), third.id, { ...commission, commissionName: "Theo Dunn" }, "operator");
  const before = await today(third);
  assert.match(before, /\d+ orders? waits? for a notary\./);
  assert.match(before, new RegExp(`Claim.*order ${name}`, "s"));
  assert.doesNotMatch(before, /Notarizations that you have claimed/);
  assert.equal((await claim(code, third)).status, 303);
  const hands = async () => /id="acts".*?<\/section>/s.exec(await today(third))?.[0] ?? "";
  assert.match(await hands(), new RegExp(`${name}.*None yet`, "s"));
  const meeting = { url: "https://meet.example/1", when: "2040-01-02T15:30" };
  assert.equal((await post(desk(code, "/appointment"), third, meeting)).status, 303);
  assert.match(await hands(), new RegExp(`${name}.*15:30`, "s"));
  assert.doesNotMatch(await today(omar), new RegExp(name));
  await setRecord(third, { status: "suspended" });
  assert.doesNotMatch(await today(third), /for a notary/);
});

test("an order that a notary may not claim is not shown and can't be claimed", async () => {
  // A notary may not claim anything while suspended, or outside the dates of the commission.
  const code = await waitingOrder();
  await setRecord(omar, { status: "suspended" });
  assert.equal((await claim(code, omar)).status, 404);
  assert.equal(await showsOnDesk(code, omar), false);
  await setRecord(omar, { status: "active", commissionExpires: "2026-01-31" });
  assert.equal((await claim(code, omar)).status, 404);
  await setRecord(omar, { commissionExpires: "2040-01-31", commissionStarts: "2039-12-31" });
  assert.equal((await claim(code, omar)).status, 404);
  assert.equal(await showsOnDesk(code, omar), false);
  await setRecord(omar, { commissionStarts: "" });
  assert.equal((await claim(code, omar)).status, 303);
});

test("a commission that turns out to begin later prevents the notary from completing a claimed order", async () => {
  const code = await claimed(omar);
  await setRecord(omar, { commissionStarts: "2039-12-31" });
  const answer = await post(desk(code, "/refuse"), omar, { reason: "no_show", words: "Nobody came." });
  assert.match(await alertIn(answer), /Your commission begins on 2039-12-31/);
  await setRecord(omar, { commissionStarts: "" });
  assert.equal((await post(desk(code, "/release"), omar)).status, 303);
});

test("a suspended notary loses claimed orders; with an expired commission a notary can only release them", async () => {
  const code = await claimed(omar);
  const refusal = { reason: "no_show", words: "Nobody came." };
  await setRecord(omar, { commissionExpires: "2026-01-31" });
  for (const [verb, form] of [
    ["/refuse", refusal],
    ["/appointment", { url: "https://meet.example/1" }],
  ] as const)
    assert.match(await alertIn(await post(desk(code, verb), omar, form)), /Your commission expired on 2026-01-31/);
  assert.equal((await post(desk(code, "/release"), omar)).status, 303);
  await setRecord(omar, { commissionExpires: "2040-01-31" });
  assert.equal((await claim(code, omar)).status, 303);
  await setRecord(omar, { status: "suspended" });
  assert.equal((await get(desk(code), omar)).status, 404);
  assert.equal((await post(desk(code, "/refuse"), omar, refusal)).status, 404);
  // Simulates a concurrent claim.
  await changeRowsOf(
    running.db,
    taskState,
    sql`order_id = (SELECT id FROM orders WHERE ${isSealed(sql`code`, "order", code)})`,
    sql`state = 'claimed', claimed_by = ${`operator:${omar.id}`}, claimed_at = now()`,
  );
  assert.equal((await post(desk(code, "/refuse"), omar, refusal)).status, 403);
  assert.equal((await post(desk(code, "/release"), omar)).status, 303);
  await setRecord(omar, { status: "active" });
  assert.equal((await claim(code, nora)).status, 303);
  await post(desk(code, "/release"), nora);
});

test("a notary who claims an order can't continue the act that another notary left open when losing the claim", async () => {
  const code = await claimed(nora);
  assert.equal((await post(desk(code, "/sheet"), nora, { act: "acknowledgment", pin: "246810" })).status, 303);
  await setRecord(nora, { status: "suspended" });
  await setRecord(nora, { status: "active" });
  assert.equal((await claim(code, omar)).status, 303);
  assert.equal((await post(desk(code, "/sheet/mark"), omar, { step: "open" })).status, 409);
  const sheets = await running.db.query<{ outcome: string | null }>(sql`
    SELECT n.outcome FROM notary_sheets n JOIN orders o ON o.id = n.order_id WHERE ${isSealed(sql`o.code`, "order", code)}`);
  assert.deepEqual(sheets, [{ outcome: "abandoned" }]);
  assert.equal((await post(desk(code, "/release"), omar)).status, 303);
});

test("during an update, a notary to whom an older node gave an order can't continue the act of the one before, and gives it back", async () => {
  const { db } = running;
  await setRecord(omar, { certificate: software.certificates["Stranger"] ?? "" });
  const code = await claimed(omar);
  assert.equal((await post(desk(code, "/act"), omar, act)).status, 303);
  const olderNodeGives = (to: Person) =>
    changeRowsOf(
      db,
      taskState,
      sql`order_id = (SELECT id FROM orders WHERE ${isSealed(sql`code`, "order", code)})`,
      sql`claimed_by = ${`operator:${to.id}`}`,
    );
  await olderNodeGives(nora);
  assert.equal((await post(desk(code, "/sheet"), nora, { act: "acknowledgment", pin: "246810" })).status, 303);
  await olderNodeGives(omar);
  const begins = () => post(desk(code, "/sheet"), omar, { act: "acknowledgment", pin: "246810" });
  const refusals = [
    begins(),
    post(desk(code, "/sheet/mark"), omar, { step: "open" }),
    post(desk(code, "/sheet/end"), omar),
    post(desk(code, "/act"), omar, act),
    upload(desk(code, "/check"), omar, makePdf({ text: "Deed" })),
  ];
  for (const refused of await Promise.all(refusals)) {
    assert.equal(refused.status, 409);
    assert.match(await alertIn(refused), /Another notary left an act open for this order/);
  }
  assert.equal(
    (await fetch(at(desk(code, "/sheet")), { headers: { cookie: omar.cookie }, redirect: "manual" })).status,
    303,
  );
  assert.equal((await post(desk(code, "/release"), omar)).status, 303);
  const released = await db.query<{ actor: string }>(sql`
    SELECT a.actor FROM audit_log a JOIN orders o ON o.id = a.order_id
    WHERE ${isSealed(sql`o.code`, "order", code)} AND a.action = 'task.released'`);
  assert.deepEqual(released, [{ actor: `operator:${omar.id}` }]);
  assert.equal((await claim(code, omar)).status, 303);
  assert.equal((await begins()).status, 303);
  assert.equal((await post(desk(code, "/release"), omar)).status, 409, "the notary's own act is open");
  assert.equal((await post(desk(code, "/sheet/end"), omar)).status, 303);
  assert.equal((await post(desk(code, "/release"), omar)).status, 303);
  await setRecord(omar, { certificate: "" });
});

test("an address with an invalid byte is not found", async () => {
  assert.equal((await get(desk("a%00b"), nora)).status, 404);
  const agent = await newOperator(running, { roles: ["agent"], environment: "test" });
  assert.equal((await post("/operator/payments/a%00b/refund", agent, { reason: "Paid twice." })).status, 404);
});

test("the form of an act names all faults at once, and keeps the typed values", async () => {
  const code = await claimed(nora);
  const wrong = {
    ...act,
    ended_at: "2026-01-15T13:00",
    fee: "much",
    principal_1_type: "License 12345678",
    recording_until: "2020-01-01",
    principal_2_name: "Only a <name>",
  };
  const answer = await post(desk(code, "/act"), nora, wrong);
  assert.equal(answer.status, 400);
  const page = await answer.text();
  for (const problem of [
    "End (UTC) must not be before the start.",
    "Fee in dollars must be dollars like 25 or 25.00.",
    "Principal 1: Kind of credential must not hold the number of the credential.",
    "Until when must not be before the act.",
    "Principal 2: Full address is required.",
  ])
    assert.ok(page.includes(problem), problem);
  assert.match(page, /value="License 12345678"/);
  assert.match(page, /value="Only a &lt;name&gt;"/);
  const dear = await post(desk(code, "/act"), nora, { ...act, fee: "30.01" });
  assert.equal(dear.status, 400);
  assert.ok(
    (await dear.text()).includes(
      "Fee in dollars must not be above $30.00, the highest of your state (Ohio R.C. 147.08",
    ),
  );
  const elsewhere = await post(desk(code, "/act"), nora, { ...act, venue_state: "KY" });
  assert.match(await alertIn(elsewhere), /venue_state must be OH/);
  assert.equal((await upload(desk(code, "/check"), nora, makePdf())).status, 409);
  assert.equal((await post(desk(code, "/act"), nora, act)).status, 303);
  assert.match(await (await get(desk(code), nora)).text(), /value="2026-01-15T14:05"/);
});

test("an order that a notary has claimed can't be completed by an agent with a document from elsewhere", async () => {
  const code = await claimed(nora);
  const agent = await newOperator(running, { roles: ["agent"], environment: "test" });
  const path = `/operator/orders/${code}/finished/notarized`;
  const signed = await software.sign(makePdf({ text: "Deed" }), "Stranger", sentence);
  const { sha256, warnings } = confirmedIn(await (await upload(`${path}/check`, agent, signed)).text());
  assert.match(warnings, /online_bought/);
  const fields = { sha256, warnings, reason: "By another notary, by audio and video." };
  const unconfirmed = await upload(path, agent, signed, { ...fields, warnings: "" });
  assert.match(await alertIn(unconfirmed), /Confirm what the check warns of: online_bought/);
  const refused = await upload(path, agent, signed, fields);
  assert.equal(refused.status, 409);
  assert.match(await alertIn(refused), /A notary has claimed this order/);
  assert.equal(await statusOf(code), "NotarizationPending");
  const odd = await upload(path, agent, signed, { ...fields, reason: "a\0b" });
  assert.match(await alertIn(odd), /How it was finished must have/);
});

test("an upload is checked before it is stored, and sealed only unchanged; the act is then in the journal", async () => {
  const code = await claimed(nora);
  const given = makePdf({ text: "Deed" });
  await post(desk(code, "/act"), nora, act);
  const foreign = await upload(desk(code, "/check"), nora, await software.sign(given, "Stranger", sentence));
  assert.equal(foreign.status, 400);
  assert.match(await foreign.text(), /another certificate than the one registered/);
  const bare = await software.sign(given, "Nora");
  const checked = await upload(desk(code, "/check"), nora, bare);
  assert.equal(checked.status, 200);
  const report = await checked.text();
  assert.match(report, /required sentence was not found/);
  assert.match(report, /not one of these: deposition/);
  const confirmed = confirmedIn(report);
  const { sha256 } = confirmed;
  assert.equal(confirmed.warnings, "required_sentence,document_class");
  const other = await software.sign(given, "Nora");
  for (const [file, fields, problem] of [
    [other, confirmed, /another file/],
    [bare, { ...confirmed, warnings: "" }, /Confirm what the check warns of now: required_sentence, document_class/],
    [bare, { ...confirmed, warnings: "required_sentence" }, /document_class/],
    [bare, { ...confirmed, warnings: `${confirmed.warnings},our_revision` }, /Confirm what the check warns of now/],
    [given, confirmed, /another file/],
  ] as const)
    assert.match(await alertIn(await upload(desk(code, "/complete"), nora, file, fields)), problem);
  // The act was changed in another window, so the notary must confirm the new report.
  await post(desk(code, "/act"), nora, { ...act, principal_1_expires: "2026-01-14" });
  const again = await upload(desk(code, "/complete"), nora, bare, confirmed);
  assert.equal(again.status, 400);
  const shownAgain = await again.text();
  assert.match(shownAgain, /The act was changed since the document was checked/);
  assert.match(shownAgain, /had expired at the act: of Jané Doe ¶/);
  assert.equal(confirmedIn(shownAgain).warnings, "required_sentence,credentials_in_date,document_class");
  await post(desk(code, "/act"), nora, act);
  assert.equal(await statusOf(code), "NotarizationPending");
  assert.equal((await upload(desk(code, "/complete"), omar, bare, confirmed)).status, 404);
  const done = await upload(desk(code, "/complete"), nora, bare, confirmed);
  assert.equal(done.status, 303, await alertIn(done));
  const { status, documents, tasks } = { ...(await shown(code)), tasks: await tasksOf(code) };
  assert.equal(status, "NotarizationComplete");
  assert.deepEqual(
    documents.map(({ kind }) => kind),
    ["original", "notarized"],
  );
  assert.deepEqual(tasks, [{ kind: "notarize", state: "done" }]);
  const entry = (await journalOf(nora)).entries.at(-1);
  assert.equal(entry?.kind, "act");
  assert.deepEqual(entry?.document, {
    givenSha256: documents[0]?.sha256,
    uploadedSha256: sha256,
    notarizedSha256: documents[1]?.sha256,
    isPaper: false,
    confirmed: ["required_sentence", "document_class"],
  });
  assert.equal((await get(desk(code), nora)).status, 404);
});

/** The fields of the form below a report, as the browser sends them when the notary confirms the report. */
const confirmedIn = (report: string) => {
  const value = (name: string) => new RegExp(`name="${name}"[^>]*? value="([^"]*)"`).exec(report)?.[1] ?? "";
  return { sha256: value("sha256"), actSha256: value("actSha256"), warnings: value("warnings") };
};

const shown = (code: string) =>
  running.service.cli<{ status: string; documents: { kind: string; sha256: string }[] }>("order", "show", code);
const tasksOf = (code: string) =>
  running.db.query<{ kind: string; state: string }>(sql`
    SELECT t.kind, t.state FROM tasks t JOIN orders o ON o.id = t.order_id WHERE ${isSealed(sql`o.code`, "order", code)} ORDER BY t.id`);

type Entry = {
  kind: string;
  document?: object;
  recording?: object;
  reason?: string;
  corrects?: number;
  orderCode: string;
};
const journalOf = async (person: Person) =>
  (await (await get("/operator/notary/journal.json", person)).json()) as { entries: Entry[]; headSha256: string };

test("a scan of paper is accepted for an act in ink to which the firm agreed, and labeled as one", async () => {
  const code = await claimed(omar);
  const inInk = {
    ...act,
    mode: "ink",
    tool: "",
    session_id: "",
    recording_sha256: "",
    recording_at: "",
    recording_until: "",
  };
  assert.equal((await post(desk(code, "/act"), omar, inInk)).status, 409);
  assert.equal((await post(desk(code, "/in-person"), omar, { reason: "At my office." })).status, 303);
  const owner = { partnerId: partner.partnerId, environment: "test" } as const;
  await answerInPerson(keeping(), { owner, orderCode: code, actor: `key:${partner.keyId}`, agrees: true });
  assert.equal((await post(desk(code, "/act"), omar, inInk)).status, 303);
  const scan = makePdf({ text: "Scan" });
  const report = await (await upload(desk(code, "/check"), omar, scan)).text();
  assert.equal((await upload(desk(code, "/complete"), omar, scan, confirmedIn(report))).status, 303);
  assert.deepEqual((await journalOf(omar)).entries.at(-1)?.document, {
    ...(await journalOf(omar)).entries.at(-1)?.document,
    isPaper: true,
    confirmed: ["our_revision"],
  });
});

test("a refusal is in the journal; the order fails, or is locked for good, and an agent reopens it", async () => {
  for (const [reason, status] of [
    ["no_show", "NotarizationFailed"],
    ["identity", "IdentityLocked"],
  ] as const) {
    const code = await claimed(nora);
    assert.match(await alertIn(await post(desk(code, "/refuse"), nora, { reason })), /words is required/);
    const words = "Nobody came for half an hour.";
    assert.equal((await post(desk(code, "/refuse"), nora, { reason, words })).status, 303);
    assert.equal(await statusOf(code), status);
    const entry = (await journalOf(nora)).entries.at(-1);
    assert.deepEqual([entry?.kind, entry?.reason, entry?.orderCode], ["refusal", reason, code]);
    await running.service.cli("order", "move", code, "NotarizationPending");
    assert.equal((await claim(code, nora)).status, 303);
    await post(desk(code, "/release"), nora);
  }
});

test("a refusal names no recording of a notary who had the order before", async () => {
  const code = await claimed(omar);
  const [order] = await running.db.query<{ id: number }>(
    sql`SELECT id FROM orders WHERE ${isSealed(sql`code`, "order", code)}`,
  );
  const [id, at, sha256] = [newUuid(), new Date(), hash("sha256", "{}")];
  const of = { notaryId: await notaryId(nora), orderId: order?.id ?? 0, environment: "test" } as const;
  await running.db.transaction(async (tx) => {
    const recording = { id, session: id, ...of, people: [], headSha256: sha256, startedAt: at, keepUntil: null };
    await insertRecording(tx, recording, new Uint8Array(60));
    await changeRecording(tx, id, { manifest: { text: "{}", sha256, at, log: "test" } });
  });
  assert.equal((await post(desk(code, "/refuse"), omar, { reason: "doubts", words: "Not sure." })).status, 303);
  const entry = (await journalOf(omar)).entries.at(-1);
  assert.deepEqual([entry?.kind, entry?.recording], ["refusal", undefined]);
});

test("the link of the notary's tool is mailed to everybody who is to appear; another kind of address is refused", async () => {
  const code = await claimed(nora, { email: "appears@example.com" });
  for (const url of ["http://meet.example/1", "https://a:b@meet.example/", "javascript:alert(1)", ""])
    assert.equal((await post(desk(code, "/appointment"), nora, { url })).status, 400);
  const url = "https://meet.example/room-1";
  assert.equal((await post(desk(code, "/appointment"), nora, { url, when: "2026-12-01T14:00" })).status, 303);
  const mail = await until(() =>
    mailsTo(running.service, "appears@example.com").find((each) => /Subject: .*Your appointment/.test(each)),
  );
  assert.match(mail, /https:\/\/meet\.example\/room-1/);
  assert.match(mail, /2026-12-01 at 14:00 UTC/);
  await post(desk(code, "/release"), nora);
});

test("mails an appointment once when its form is sent twenty times concurrently, and five appointments in a day", async () => {
  const code = await claimed(nora, { email: "once@example.com" });
  const send = (url: string) => post(desk(code, "/appointment"), nora, { url, when: "2026-12-01T14:00" });
  const answers = await Promise.all(Array.from({ length: 20 }, () => send("https://meet.example/once")));
  assert.equal(answers.filter(({ status }) => status === 303).length, 1);
  assert.equal(answers.filter(({ status }) => status === 409).length, 19);
  for (let n = 2; n <= 5; n++) assert.equal((await send(`https://meet.example/${n}`)).status, 303);
  assert.equal((await send("https://meet.example/6")).status, 409);
  const mails = () => mailsTo(running.service, "once@example.com").filter((each) => /Your appointment/.test(each));
  await until(() => mails().length >= 5);
  assert.equal(mails().length, 5);
  await post(desk(code, "/release"), nora);
});

test("a journal can only be changed by entries that correct; copies verify with jq and sha256sum, and by their seal", async () => {
  const { cookie } = nora;
  assert.match(
    await alertIn(await post("/operator/notary/journal/correct", nora, { entry: "99", words: "x" })),
    /no entry 99/,
  );
  assert.equal(
    (await post("/operator/notary/journal/correct", nora, { entry: "1", words: "The fee was 20." })).status,
    303,
  );
  assert.equal((await journalOf(nora)).entries.at(-1)?.corrects, 1);
  for (const change of [sql`UPDATE notary_journal SET record = '{}'`, sql`DELETE FROM notary_journal`])
    await assert.rejects(running.db.query(change), /is append-only/);
  const json = await (await get("/operator/notary/journal.json", nora)).text();
  writeFileSync(join(folder, "journal.json"), json);
  assert.match(documentedCheck(), /The chain holds/);
  const forged = json.replace("Jan\\u00e9 Doe", "Joan Doe");
  assert.notEqual(forged, json);
  writeFileSync(join(folder, "journal.json"), forged);
  assert.throws(documentedCheck, /Command failed/);

  const id = await notaryId(nora);
  const pdf = Buffer.from(await (await get(`/operator/notaries/${id}/journal.pdf`, auditor)).arrayBuffer());
  assert.deepEqual(await readSealPurpose(pdf), { kind: "journal", environment: "test" });
  writeFileSync(join(folder, "journal.pdf"), pdf);
  assert.match(inFolder("pdfsig", "-nocert", "journal.pdf"), /Signature is Valid/);
  inFolder("pdfdetach", "-save", "1", "-o", "journal.json", "journal.pdf");
  assert.match(documentedCheck(), /The chain holds/);
  assert.match(
    inFolder("pdftotext", "journal.pdf", "-"),
    /does\s+not\s+replace\s+the\s+journal\s+that\s+the\s+law\s+requires\s+you\s+to\s+keep/,
  );
  const reads = await running.db.query<{ actor: string }>(sql`
    SELECT DISTINCT actor FROM audit_log WHERE action = 'notary_journal.read' AND detail ->> 'notary' = ${id}`);
  assert.deepEqual(reads.map(({ actor }) => actor).sort(), [`operator:${auditor.id}`, `operator:${nora.id}`].sort());
  assert.equal((await fetch(at(`/operator/notaries/${id}/journal.json`), { headers: { cookie } })).status, 403);
});

const inFolder = (program: string, ...args: string[]): string =>
  execFileSync(program, args, { cwd: folder, encoding: "utf8" });

/** Runs the commands of docs/notary-journal.md on the copy of the journal in `folder`. */
function documentedCheck(): string {
  const page = readFileSync(new URL("../../../../../docs/notary-journal.md", import.meta.url), "utf8");
  const commands = [...page.matchAll(/```sh\n(.*?)```/gs)].map(([, command]) => command);
  assert.equal(commands.length, 3);
  return inFolder("bash", "-ec", `{ ${commands.join("\n")}\n} 2>&1`);
}

test("a journal that lost its last entries is neither copied nor continued", async () => {
  const id = await notaryId(omar);
  const rows = sql`SELECT * FROM notary_journal WHERE notary_id = ${id}`;
  const unguarded = (statement: ReturnType<typeof sql>) =>
    running.db.transaction(async (tx) => {
      await tx.script("SET LOCAL session_replication_role = replica");
      await tx.query(statement);
    });
  await running.db.query(sql`CREATE TABLE kept AS ${rows}`);
  const columns = sql`notary_id, position, order_id, record, sha256, corrects, row_mac`;
  await unguarded(sql`DELETE FROM notary_journal WHERE notary_id = ${id}`);
  assert.equal((await get("/operator/notary/journal.json", omar)).status, 500);
  const code = await claimed(omar);
  assert.equal((await post(desk(code, "/refuse"), omar, { reason: "no_show", words: "x" })).status, 500);
  await unguarded(sql`INSERT INTO notary_journal (${columns}) SELECT ${columns} FROM kept`);
  assert.equal((await get("/operator/notary/journal.json", omar)).status, 200);
  await unguarded(sql`UPDATE notary_journal SET row_mac = decode(repeat('00', 36), 'hex') WHERE notary_id = ${id}`);
  assert.equal((await post(desk(code, "/refuse"), omar, { reason: "no_show", words: "x" })).status, 500);
  await unguarded(sql`
    UPDATE notary_journal j SET row_mac = k.row_mac FROM kept k
    WHERE k.notary_id = j.notary_id AND k.position = j.position`);
});

test("notes on an order are deleted when the order no longer waits for a notary, and stay until then", async () => {
  const code = await claimed(nora);
  await post(desk(code, "/act"), nora, act);
  const drafts = async () => {
    await sweepDrafts(running.db);
    const rows = await running.db.query(sql`
      SELECT FROM notary_drafts d JOIN tasks t ON t.id = d.task_id JOIN orders o ON o.id = t.order_id WHERE ${isSealed(sql`o.code`, "order", code)}`);
    return rows.length;
  };
  assert.equal(await drafts(), 1);
  await running.service.cli("order", "move", code, "NotarizationFailed", "--reason", "Nobody came.");
  assert.equal(await drafts(), 0);
});

test("people without a record as a notary, and the command line, can do nothing at the desk", async () => {
  const none = await newOperator(running, { roles: ["notary"], environment: "test" });
  const answer = await get("/operator/notary", none);
  assert.equal(answer.status, 403);
});

test("an expiry is mailed 60 days before and when it comes, once each", async () => {
  const { db } = running;
  const clock = (day: string) => () => new Date(`${day}T00:00:00Z`);
  const [before] = (await listNotaries(db)).filter(({ email }) => email === omar.email);
  assert.equal(before?.commissionExpires, "2040-01-31");
  const sent = () => mailsTo(running.service, omar.email).map((mail) => /Subject: (.*)/.exec(mail)?.[1]?.trim());
  const stopping = new AbortController().signal;
  await watchExpiries({ db, clock: clock("2039-12-02") }, stopping);
  await watchExpiries({ db, clock: clock("2039-12-04") }, stopping);
  await watchExpiries({ db, clock: clock("2039-12-05") }, stopping);
  await until(() => sent().length === 2);
  await watchExpiries({ db, clock: clock("2040-02-01") }, stopping);
  await until(() => sent().length === 4);
  assert.equal(sent().filter((subject) => /expires soon/.test(subject ?? "")).length, 2);
  assert.equal(sent().filter((subject) => /has expired/.test(subject ?? "")).length, 2);
});

test("a proof of a notary is a PDF, JPEG or PNG, and nothing else", async () => {
  const admin = await newOperator(running, { roles: ["admin"] });
  const { baseUrl } = running.service;
  const [row] = await running.db.query<{ id: string }>(sql`SELECT id FROM notaries LIMIT 1`);
  const add = async (text: string) => {
    const body = new FormData();
    body.append("label", "Bond");
    body.append("document", new Blob([Buffer.from(text, "latin1")]), "proof.pdf");
    const headers = { cookie: admin.cookie, Origin: baseUrl, Accept: "text/html" };
    const sent = { method: "POST", redirect: "manual", headers, body } as const;
    const answer = await fetch(`${baseUrl}/operator/notaries/${row?.id}/proofs`, sent);
    return { status: answer.status, text: await answer.text() };
  };
  for (const text of ["<html><script>alert(1)</script>", "GIF89a", "\x89PNG", "PK\x03\x04"]) {
    const refused = await add(text);
    assert.equal(refused.status, 400, text);
    assert.match(refused.text, /A proof must be a PDF, JPEG or PNG/);
  }
  for (const text of ["%PDF-1.7\n", "\x89PNG\r\n\x1a\n", "\xff\xd8\xff\xe0"])
    assert.equal((await add(text)).status, 303, text);
});
