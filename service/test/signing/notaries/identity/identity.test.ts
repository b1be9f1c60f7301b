import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { startIdentity } from "@signsealship/testing/doubles/identity";
import { startQuiz } from "@signsealship/testing/doubles/quiz";
import { forTests } from "@signsealship/testing/for-tests";
import { until } from "@signsealship/testing/until";
import type { Operator } from "../../../../src/firms/operators/operators.ts";
import { isSealed, sql } from "../../../../src/kernel/platform/database/sql.ts";
import { openLog } from "../../../../src/kernel/platform/logs.ts";
import { openSecretsKey } from "../../../../src/kernel/platform/secrets.ts";
import { lockOrder, recordCorrection } from "../../../../src/orders/order/order.ts";
import { quizAccount } from "../../../../src/providers/identity/quiz.ts";
import { stripeIdentityAccount } from "../../../../src/providers/identity/stripe.ts";
import { createCaller, createQuiz, createStripeIdentity } from "../../../../src/providers/providers.ts";
import { waitingOrder } from "../../../../src/signing/notaries/claims/orders.ts";
import { proofingGap } from "../../../../src/signing/notaries/eligibility/online-rules.ts";
import { loadNotaryRules } from "../../../../src/signing/notaries/eligibility/rules.ts";
import { lookAtCredential } from "../../../../src/signing/notaries/identity/proofs.ts";
import { isSameName } from "../../../../src/signing/notaries/identity/results.ts";
import {
  addNotary,
  answerQuiz,
  askIdentity,
  beginCredential,
  beginQuiz,
  type DeskDeps,
  eligibilityReader,
  type IdentityDeps,
  identitiesOf,
} from "../../../../src/signing/notaries/notaries.ts";
import { mailsTo, postForm } from "../../../firms/members/signed-in-member.ts";
import { newOperator } from "../../../firms/operators/console-people.ts";
import { openLiveService } from "../../../orders/fulfilment/live-service.ts";

const rules = loadNotaryRules(fileURLToPath(new URL("../../../../data/notarization-rules.yaml", import.meta.url)));
const log = openLog("silent");
const hour = 3_600_000;

const stripe = await forTests(startIdentity());
const quiz = await forTests(startQuiz());
const running = await forTests(
  openLiveService({
    IDENTITY_API_KEY: "sk_live_double",
    IDENTITY_API_BASE: stripe.url,
    IDENTITY_WEBHOOK_SECRET: stripe.webhookSecret,
    IDENTITY_TERMS_CONFIRMED: "2026-11-01 letter",
    QUIZ_URL: quiz.url,
    QUIZ_API_KEY: "quiz-key",
  }),
);
const { harness, db } = running;
const waiting: string[] = [];
// Places and pays all live orders before a notary is on record. Once notaries are on record, the service quotes only
// acts that one of them may perform.
for (let index = 0; index < 12; index++)
  waiting.push(await running.paidOrder({ svc_notary: "true", name: "Jane Doe", signer_state: "FL" }));
const notaries: Record<string, { operator: Operator; cookie: string }> = {};
for (const state of ["FL", "TX", "WY"]) {
  const person = await newOperator(harness, { roles: ["notary"], passkey: false });
  const commission = {
    commissionName: `Nora ${state}`,
    state,
    county: "Dade",
    commissionNumber: "1",
    status: "active",
    commissionExpires: "2040-01-31",
    ronRegistration: "R",
    ronExpires: "2040-01-31",
  };
  await addNotary({ db, clock: () => new Date() }, person.id, commission, "operator");
  const operator = { id: person.id, actor: `operator:${person.id}`, environment: "live" } as Operator;
  notaries[state] = { operator, cookie: person.cookie };
}
const secrets = await openSecretsKey(`file:${join(harness.service.dataDir, "keys/secrets")}`);
let now = new Date();
const clock = () => now;
const callOf = (account: ReturnType<typeof quizAccount>) =>
  createCaller({ fetch, clock: () => new Date(), log }, account).call;
const desk = {
  db,
  clock,
  log,
  rowMac: harness.rowMac,
  baseUrl: running.url(),
  readEligibility: eligibilityReader({ shipped: rules, clock, notarizationBlocked: () => false }),
  papers: { titleOf: () => null },
} as unknown as DeskDeps;
const account = stripeIdentityAccount({ apiKey: "sk_live_double", apiBase: stripe.url, webhookSecret: null });
const deps: IdentityDeps = {
  desk,
  secrets,
  proofing: createStripeIdentity(callOf(account), "live"),
  quiz: createQuiz(callOf(quizAccount({ url: quiz.url, apiKey: "quiz-key" })), "live"),
};

const who = (state: string) => {
  const notary = notaries[state];
  assert.ok(notary);
  return notary;
};

/** An order that the notary of this US state has claimed. */
async function claimed(state: string): Promise<string> {
  const code = waiting.pop() ?? "";
  const [task] = (await running.tasksOf(code)).filter(({ kind, state }) => kind === "notarize" && state === "open");
  const { cookie } = who(state);
  const answer = await postForm(`${running.url()}/operator/notary/tasks/${task?.id}/claim`, {}, { cookie });
  assert.equal(answer.status, 303);
  return code;
}

const mailed = () => new Set(mailsTo(running.harness.service, "signer@example.com"));
const tokenIn = (mail: string) => /\/identity\/([0-9a-f]{40})/.exec(mail)?.[1];

/** Requests an identity check of the order's signer. @returns the token of the mailed link */
async function asked(state: string, code: string): Promise<string> {
  const earlier = mailed();
  await askIdentity(deps, who(state).operator, code, { person: "1" });
  return until(() => [...mailed()].filter((mail) => !earlier.has(mail)).flatMap((mail) => tokenIn(mail) ?? [])[0]);
}

async function stateOf(code: string) {
  const order = await waitingOrder(deps.desk, "live", code);
  assert.ok(order);
  const [state] = await identitiesOf(deps, order);
  assert.ok(state);
  return state;
}

const newest = (): string => [...stripe.sessions.keys()].at(-1) ?? "";
const person = { address: "1 Main Street, Austin", birth: "1980-01-02" };
const answers = (id: string, right: number) => ({
  quiz: id,
  ...Object.fromEntries(Array.from({ length: 5 }, (_, index) => [`answer_${index + 1}`, index < right ? "2" : "1"])),
});

test("a state whose alternatives can’t be met is not offered, and the missing value is named", async () => {
  const means = { credentials: true, questions: true };
  assert.equal(proofingGap(rules.of("TX").online, means), null);
  assert.match(
    proofingGap(rules.of("TX").online, { ...means, questions: false }) ?? "",
    /a provider of knowledge-based questions is missing/,
  );
  assert.equal(proofingGap(rules.of("FL").online, { ...means, questions: false }), null);
  assert.match(
    proofingGap(rules.of("FL").online, { credentials: false, questions: false }) ?? "",
    /checks credentials/,
  );
  assert.match(proofingGap(rules.of("OR").online, means) ?? "", /the value “Knowledge-based questions” is missing/);
  assert.match(proofingGap(rules.of("WY").online, means) ?? "", /The value “Ways to prove identity online” is missing/);
  assert.match(proofingGap(rules.of("VA").online, means) ?? "", /No alternative of the state can be met by a provider/);
});

test("the desk offers a check if the state’s value is known, and names the missing value otherwise", async () => {
  const code = await claimed("FL");
  const look = async () =>
    (await fetch(`${running.url()}/operator/notary/orders/${code}`, { headers: { cookie: who("FL").cookie } })).text();
  assert.match(await look(), /Ask for a check[\s\S]*of Jane Doe/);
  const path = `${running.url()}/operator/notary/orders/${code}/identity`;
  assert.equal((await postForm(path, { person: "2" }, { cookie: who("FL").cookie })).status, 400);
  assert.equal((await postForm(path, { person: "1" }, { cookie: who("FL").cookie })).status, 303);
  assert.match(await look(), /Asked/);
  assert.equal((await postForm(path, { person: "1" }, { cookie: who("FL").cookie })).status, 409);
  const of = await (
    await fetch(`${running.url()}/operator/notaries/rules/OR`, {
      headers: { cookie: (await newOperator(running.harness, { roles: ["admin"] })).cookie },
    })
  ).text();
  assert.match(of, /Identity checks are not offered[\s\S]*Knowledge-based questions/);
});

test("a credential is checked on the provider’s page; its event, late, twice or forged, ends the check once", async () => {
  const code = await claimed("FL");
  const token = await asked("FL", code);
  const page = `${running.url()}/identity/${token}`;
  assert.match(await (await fetch(page)).text(), /Stripe also compares your face/);
  const begun = await (await postForm(`${page}/credential`, {})).text();
  const id = newest();
  assert.match(begun, new RegExp(`href="${stripe.url}/start/${id}"`));
  assert.equal(await beginCredential(deps, token), `${stripe.url}/start/${id}`);
  stripe.verify(id, { first_name: "Jäne", last_name: "Döe-Smith" });
  const event = stripe.event("verified", id);
  assert.equal((await stripe.deliver(running.url(), event, "whsec_other")).status, 400);
  assert.equal((await stateOf(code)).check?.state, "asked");
  assert.equal((await stripe.deliver(running.url(), event)).status, 200);
  assert.equal((await stripe.deliver(running.url(), event)).status, 200);
  const passed = await until(async () => {
    const state = await stateOf(code);
    return state.check?.state === "passed" ? state : undefined;
  });
  assert.equal(passed.proofs.length, 1);
  assert.deepEqual(passed.proofs[0]?.result?.credential, {
    type: "driving_license",
    issuer: "US",
    issuedOn: "2022-03-04",
    expiresOn: "2030-03-04",
  });
  assert.equal(passed.otherName, "Jäne Döe-Smith");
  assert.match(await (await fetch(page)).text(), /You have done everything/);
  assert.equal((await postForm(`${page}/credential`, {})).status, 409);
  const [lines] = await running.db.query<{ n: number }>(sql`
    SELECT count(*)::int AS n FROM audit_log WHERE action = 'identity.passed' AND detail ->> 'checkId' = ${passed.check?.id ?? ""}`);
  assert.equal(lines?.n, 1);
  const [row] = await running.db.query<{ content: Buffer }>(sql`
    SELECT content FROM identity_proofs WHERE id = ${passed.proofs[0]?.id ?? ""}`);
  assert.doesNotMatch(row?.content.toString("latin1") ?? "", /driving|Smith/);
  now = new Date(now.getTime() + 25 * hour);
  assert.match((await stateOf(code)).problem ?? "", /passed more than 24 hours ago/);
});

test("the link of an identity check goes to the corrected address of a person who signed under an earlier one", async () => {
  const code = await claimed("FL");
  const email = "jane@right.example";
  const [name, earlier] = ["Jane Doe", "signer@example.com"];
  await db.transaction(async (tx) => {
    const order = await lockOrder(tx, code);
    assert.ok(order);
    const [before, after] = [
      { name, email: earlier },
      { name, email, signed: [name] },
    ];
    await recordCorrection(tx, order, { kind: "signer", before, after, actor: "firm", at: new Date() });
  });
  const others = mailed().size;
  await askIdentity(deps, who("FL").operator, code, { person: "1" });
  await until(() => mailsTo(running.harness.service, email).some((mail) => tokenIn(mail)));
  assert.equal(mailed().size, others);
  // The link has expired, so the notary asks again.
  now = new Date(now.getTime() + 8 * 24 * hour);
  await askIdentity(deps, who("FL").operator, code, { person: "1" });
  now = new Date();
  const lines = await db.query(sql`
    SELECT FROM audit_log a JOIN orders o ON o.id = a.order_id
    WHERE ${isSealed(sql`o.code`, "order", code)} AND a.action = 'identity.expired' AND a.actor = 'system'`);
  assert.equal(lines.length, 1);
});

test("an expired document leaves the identity undecided, and may be tried again; a second different face locks the order", async () => {
  now = new Date();
  const code = await claimed("FL");
  const token = await asked("FL", code);
  const refused = async (why: string) => {
    await beginCredential(deps, token);
    stripe.refuse(newest(), why);
    const proof = (await stateOf(code)).proofs.at(-1);
    assert.equal(await lookAtCredential(deps, proof?.id ?? ""), true);
  };
  await refused("document_expired");
  const open = await stateOf(code);
  assert.deepEqual(
    [open.check?.state, open.proofs[0]?.state, open.proofs[0]?.result?.why],
    ["asked", "inconclusive", "document_expired"],
  );
  await refused("selfie_face_mismatch");
  assert.equal(await running.statusOf(code), "NotarizationPending");
  await refused("selfie_face_mismatch");
  assert.equal(await running.statusOf(code), "IdentityLocked");
  const task = (await running.tasksOf(code)).find(({ kind }) => kind === "notarization_exception");
  assert.match(task?.reason ?? "", /The identity check of person 1 failed for good/);
  assert.equal((await fetch(`${running.url()}/identity/${token}`)).status, 404);
  const agent = await newOperator(running.harness, { roles: ["agent"] });
  const moved = await postForm(
    `${running.url()}/operator/orders/${code}/moves/notarization_reopened`,
    {},
    { cookie: agent.cookie },
  );
  assert.equal(moved.status, 303, await moved.text());
  assert.equal(await running.statusOf(code), "NotarizationPending");
});

test("a refused credential can't be tried again in the same session, and counts, before any event", async () => {
  const code = await claimed("FL");
  const token = await asked("FL", code);
  await beginCredential(deps, token);
  const first = newest();
  stripe.refuse(first, "selfie_face_mismatch");
  await beginCredential(deps, token);
  assert.notEqual(newest(), first);
  stripe.refuse(newest(), "selfie_face_mismatch");
  await assert.rejects(beginCredential(deps, token), { code: "conflict" });
  assert.equal(await running.statusOf(code), "IdentityLocked");
});

test("a forged picture locks the order at once", async () => {
  const code = await claimed("FL");
  const token = await asked("FL", code);
  await beginCredential(deps, token);
  stripe.refuse(newest(), "selfie_manipulated");
  await lookAtCredential(deps, (await stateOf(code)).proofs[0]?.id ?? "");
  assert.equal(await running.statusOf(code), "IdentityLocked");
});

test("the provider is asked to delete its findings once the order no longer waits for the notary, and ours go too", async () => {
  const code = await claimed("FL");
  await beginCredential(deps, await asked("FL", code));
  const id = newest();
  const proof = (await stateOf(code)).proofs[0]?.id ?? "";
  const redaction = () => stripe.sessions.get(id)?.["redaction"];
  const jobs = sql`SELECT id FROM jobs WHERE queue = 'identity-forget' AND payload ->> 'proofId' = ${proof}`;
  const jobOf = async () => (await db.query<{ id: number }>(jobs))[0]?.id;
  const before = await jobOf();
  assert.ok(before);
  await running.hurry("identity-forget");
  await until(async () => (await jobOf()) !== before && (await jobOf()));
  assert.equal(redaction(), null, "the notary may still need them");
  stripe.refuse(id, "selfie_manipulated");
  await lookAtCredential(deps, proof);
  assert.equal(await running.statusOf(code), "IdentityLocked");
  const contentOf = async () =>
    (await db.query<{ content: Buffer | null }>(sql`SELECT content FROM identity_proofs WHERE id = ${proof}`))[0]
      ?.content;
  assert.ok(await contentOf());
  await running.hurry("identity-forget");
  await until(async () => (await contentOf()) === null);
  assert.deepEqual(redaction(), { status: "redacted" });
});

test("while the provider is unreachable nothing is decided, and the same check continues afterwards", async () => {
  const code = await claimed("FL");
  const token = await asked("FL", code);
  stripe.isDown = true;
  await assert.rejects(beginCredential(deps, token), { code: "unavailable" });
  stripe.isDown = false;
  const before = stripe.sessions.size;
  await beginCredential(deps, token);
  await beginCredential(deps, token);
  assert.equal(stripe.sessions.size, before + 1);
  assert.equal((await stateOf(code)).proofs.length, 1);
});

test("four of five right answers within two minutes pass; the clock is the service’s", async () => {
  const code = await claimed("TX");
  const token = await asked("TX", code);
  await assert.rejects(
    beginQuiz(deps, token, { address: "", birth: "1980-02-31" }),
    /address is required.*birth must be a day/,
  );
  quiz.next = "fewer questions";
  await assert.rejects(beginQuiz(deps, token, person), { code: "unavailable" });
  const [broken] = (await stateOf(code)).proofs;
  const [line] = await db.query<{ outcome: string }>(sql`
    SELECT detail ->> 'outcome' AS outcome FROM audit_log
    WHERE action = 'identity.proof' AND detail ->> 'proofId' = ${broken?.id ?? ""}`);
  assert.equal(line?.outcome, "inconclusive");
  const asking = await beginQuiz(deps, token, person);
  assert.equal(asking.questions.length, 5);
  assert.deepEqual(quiz.asked.at(-1)?.person, { name: "Jane Doe", address: person.address, dateOfBirth: person.birth });
  await assert.rejects(beginQuiz(deps, token, person), /open in another window/);
  await assert.rejects(answerQuiz(deps, token, { quiz: asking.proofId }), /Each question needs one of its answers/);
  now = new Date(now.getTime() + 119_000);
  const both = await Promise.allSettled([
    answerQuiz(deps, token, answers(asking.proofId, 4)),
    answerQuiz(deps, token, answers(asking.proofId, 4)),
  ]);
  assert.deepEqual(both.map(({ status }) => status).toSorted(), ["fulfilled", "rejected"]);
  const { check, proofs } = await stateOf(code);
  assert.equal(check?.state, "asked");
  assert.deepEqual(
    proofs.map(({ state, correct }) => [state, correct]),
    [
      ["inconclusive", null],
      ["passed", 4],
    ],
  );
  await beginCredential(deps, token);
  stripe.verify(newest());
  await lookAtCredential(deps, (await stateOf(code)).proofs.find(({ kind }) => kind === "credential")?.id ?? "");
  assert.equal((await stateOf(code)).check?.state, "passed");
  const [kept] = await running.db.query<{ text: string }>(
    sql`SELECT string_agg(p::text, ' ') AS text FROM identity_proofs p`,
  );
  assert.doesNotMatch(kept?.text ?? "", /Austin|1980-|Street/);
});

test("questions that never reached the person are not a failure, and a late answer of the provider changes nothing", async () => {
  now = new Date();
  const code = await claimed("TX");
  const token = await asked("TX", code);
  const stopped = { ...deps, quiz: deps.quiz && { ...deps.quiz, ask: () => new Promise<never>(() => {}) } };
  void beginQuiz(stopped, token, person);
  await until(async () => (await stateOf(code)).proofs.length === 1);
  now = new Date(now.getTime() + 130_000);
  const late = { ...deps, quiz: deps.quiz && { ...deps.quiz, ask: () => answered } };
  let answer: (error: Error) => void = () => {};
  const answered = new Promise<never>((_, reject) => (answer = reject));
  const slow = beginQuiz(late, token, person);
  await until(async () => (await stateOf(code)).proofs.length === 2);
  now = new Date(now.getTime() + 130_000);
  await beginQuiz(deps, token, person);
  answer(new Error("too late"));
  await assert.rejects(slow, /too late/);
  const { proofs } = await stateOf(code);
  assert.deepEqual(
    proofs.map(({ state }) => state),
    ["inconclusive", "inconclusive", "begun"],
  );
});

test("three right answers fail, 121 seconds fail, and a second failure locks for 24 hours with that notary", async () => {
  now = new Date();
  const code = await claimed("TX");
  const token = await asked("TX", code);
  const first = await beginQuiz(deps, token, person);
  assert.equal(await answerQuiz(deps, token, answers(first.proofId, 3)), "failed");
  assert.equal(await running.statusOf(code), "NotarizationPending");
  const second = await beginQuiz(deps, token, person);
  assert.equal(quiz.asked.at(-1)?.repeats?.renewed, 60);
  now = new Date(now.getTime() + 121_000);
  assert.equal(await answerQuiz(deps, token, answers(second.proofId, 5)), "failed");
  assert.equal(await running.statusOf(code), "IdentityLocked");
  await assert.rejects(beginQuiz(deps, token, person), { code: "not_found" });
  const agent = await newOperator(running.harness, { roles: ["agent"] });
  await postForm(`${running.url()}/operator/orders/${code}/moves/notarization_reopened`, {}, { cookie: agent.cookie });
  waiting.push(code);
  await claimed("TX");
  now = new Date(now.getTime() + 23 * hour);
  await assert.rejects(askIdentity(deps, who("TX").operator, code, { person: "1" }), /failed the questions 2 times/);
  now = new Date(now.getTime() + 2 * hour);
  // Waits for this mail. Otherwise the next test could take this mail's link for its own.
  await asked("TX", code);
});

test("a check whose row was altered in the database is neither shown nor used", async () => {
  now = new Date();
  const code = await claimed("FL");
  const token = await asked("FL", code);
  await running.db.query(sql`
    UPDATE identity_checks SET needs = '{biometric}' WHERE id = ${(await stateOf(code)).check?.id ?? ""}`);
  assert.equal((await fetch(`${running.url()}/identity/${token}`)).status, 503);
  assert.equal((await fetch(`${running.url()}/identity/${"0".repeat(40)}`)).status, 404);
});

test("names are compared by their words, without case, accents and order", () => {
  assert.ok(isSameName("Jane  DOE", "Döe, Jané"));
  assert.ok(isSameName("GARCÍA Muñoz", "munoz garcia"));
  assert.ok(!isSameName("Jane Doe", "Jane Q Doe"));
});
