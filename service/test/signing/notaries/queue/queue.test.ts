import assert from "node:assert/strict";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { openHarness } from "@signsealship/testing/harness";
import { minimal, orderForm } from "@signsealship/testing/inputs/order-form";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { newPartner, temporaryFolder } from "@signsealship/testing/service";
import { until } from "@signsealship/testing/until";
import { isSealed, sql } from "../../../../src/kernel/platform/database/sql.ts";
import { roomEnvelopeOf } from "../../../../src/signing/envelopes/envelopes.ts";
import { addNotary } from "../../../../src/signing/notaries/notaries.ts";
import { estimateOf } from "../../../../src/signing/notaries/queue/estimate.ts";
import { openRequests } from "../../../../src/signing/notaries/schedule/queue.ts";
import { mailsTo, postForm } from "../../../firms/members/signed-in-member.ts";
import { newOperator } from "../../../firms/operators/console-people.ts";
import { certificateFiles } from "../certificate-files.ts";
import { liveSettings } from "../sessions/live-rules.ts";

const folder = await forTests(temporaryFolder());
const running = await forTests(openHarness(liveSettings(folder.path)));
const certificate = certificateFiles(folder.path)("Nora Ames", { key: "p256" }).pem;
const at = (path: string) => running.service.baseUrl + path;

async function newNotary(name: string) {
  const person = await newOperator(running, { roles: ["notary"], environment: "test", passkey: false });
  const commission = {
    commissionName: name,
    state: "OH",
    county: "Franklin",
    commissionNumber: "1",
    status: "active",
    certificate,
    commissionExpires: "2040-01-31",
    ronRegistration: "R",
    ronExpires: "2040-01-31",
  };
  await addNotary({ db: running.db, clock: () => new Date() }, person.id, commission, "operator");
  const post = (path: string, typed: Record<string, string> = {}) =>
    postForm(at(`/operator/notary${path}`), typed, { cookie: person.cookie, Accept: "text/html" });
  return {
    duty: async (verb: "on" | "off") => assert.equal((await post(`/now/${verb}`)).status, 303),
    take: () => post("/now/take"),
    post,
    look: async (path = "") =>
      (await fetch(at(`/operator/notary${path}`), { headers: { cookie: person.cookie } })).text(),
  };
}

const nora = await newNotary("Nora Ames");
const omar = await newNotary("Omar Beck");

const nothing = { method: null, jurisdiction: null, appointmentUtc: null, session: null };

async function notarizationOf(headers: { Authorization: string }, code: string): Promise<object | undefined> {
  const text = await (await fetch(at(`/api/partner/orders/${code}`), { headers })).text();
  assert.doesNotMatch(text, /Nora|Omar|Jane|notary-room/);
  return (JSON.parse(text) as { notarization?: object }).notarization;
}

/**
 * Creates a firm with an order that waits for a notary. Each firm has its own test clock.
 * @returns the order, the path of the signer's appointment page (from the mail), and functions that use the page
 */
async function waitingOrder(email: string) {
  const { headers } = await newPartner(running.service);
  const body = orderForm({ ...minimal, email, svc_notary: "true", name: "Jane Doe" }, makePdf({ text: "Deed" }));
  const placed = await fetch(at("/api/partner/orders"), { method: "POST", headers, body });
  const { orderCode: code } = (await placed.json()) as { orderCode: string };
  assert.deepEqual(await notarizationOf(headers, code), { state: "not_due", ...nothing });
  await fetch(at(`/api/partner/sandbox/orders/${code}/advance`), { method: "POST", headers });
  assert.equal((await postForm(at(`/orders/${code}/appointment`), {})).status, 303);
  const path = await until(
    () => mailsTo(running.service, email).flatMap((mail) => /\/appointments\/[0-9a-f]{40}/.exec(mail)?.[0] ?? [])[0],
  );
  return {
    code,
    notarization: () => notarizationOf(headers, code),
    path,
    look: async () => (await fetch(at(path))).text(),
    place: async () => (await fetch(at(`${path}/now`))).text(),
    ask: () => postForm(at(`${path}/now`), {}),
    leave: () => postForm(at(`${path}/now/leave`), {}),
    mails: (subject: RegExp) => mailsTo(running.service, email).filter((mail) => subject.test(mail)).length,
    async advance(seconds: number) {
      const moved = await fetch(at("/api/partner/sandbox/clock"), {
        method: "POST",
        headers: { ...headers, "Content-Type": "application/json" },
        body: JSON.stringify({ advanceSeconds: seconds }),
      });
      assert.equal(moved.status, 200, await moved.text());
    },
  };
}

const notedAct = {
  act: "acknowledgment",
  mode: "ron",
  document: "Deed",
  venue_state: "OH",
  venue_county: "Franklin",
  started_at: "2026-01-15T14:05",
  ended_at: "2026-01-15T14:35",
  fee: "10.00",
  tool: "T",
  session_id: "S",
  recording_sha256: "ab".repeat(32),
  recording_at: "Vault",
  recording_until: "2036-01-15",
  principal_1_name: "Jane Doe",
  principal_1_address: "1 Main Street",
  principal_1_basis: "personal_knowledge",
  principal_1_city: "Columbus",
  principal_1_region: "Ohio",
  principal_1_country: "US",
};

type Order = Awaited<ReturnType<typeof waitingOrder>>;

async function requestsOf({ code }: Pick<Order, "code">) {
  return running.db.query<{ id: string; state: string; outcome: string | null; askedAt: Date }>(sql`
    SELECT r.id, r.state, r.outcome, r.asked_at AS "askedAt" FROM notary_requests r JOIN orders o ON o.id = r.order_id
    WHERE ${isSealed(sql`o.code`, "order", code)} ORDER BY r.asked_at`);
}

/** The notary's Today page. */
const day = async () => (await nora.look("/../../operator")).replaceAll(/\s+/g, " ");
const rowOf = ({ code }: Pick<Order, "code">, words: string) =>
  new RegExp(`${code.slice(0, 6).toUpperCase()}(?:(?!</tr>).)*${words}`);

const codeIn = (answer: Response) => /orders\/([0-9a-f]{40})/.exec(answer.headers.get("location") ?? "")?.[1];
const claimantOf = async ({ code }: Pick<Order, "code">) =>
  (
    await running.db.query<{ by: string | null }>(sql`
      SELECT t.claimed_by AS by FROM tasks t JOIN orders o ON o.id = t.order_id
      WHERE ${isSealed(sql`o.code`, "order", code)} AND t.kind = 'notarize'`)
  )[0]?.by;

test("an estimate is a median of earlier sessions, and says so when there are too few, or nobody is on duty", () => {
  const minute = 60_000;
  const lengths = [9, 10, 12, 14, 60].map((minutes) => minutes * minute);
  const line = { place: 3, notaries: 2, free: 0, lengths };
  assert.deepEqual(estimateOf(line), { kind: "minutes", minutes: 25, sessions: 5 });
  assert.deepEqual(estimateOf({ ...line, place: 2 }), { kind: "minutes", minutes: 15, sessions: 5 });
  assert.deepEqual(estimateOf({ ...line, place: 2, free: 2 }), { kind: "free" });
  assert.deepEqual(estimateOf({ ...line, lengths: lengths.slice(1) }), { kind: "unknown" });
  assert.deepEqual(estimateOf({ ...line, notaries: 0 }), { kind: "nobody" });
});

test("without a notary on duty nothing is offered and a request is refused, and a stranger’s link can't ask", async () => {
  const order = await waitingOrder("nobody@example.com");
  assert.doesNotMatch(await order.look(), /Meet a notary now/);
  const refused = await order.ask();
  assert.equal(refused.status, 409);
  assert.match(await refused.text(), /can’t be asked now/);
  assert.equal((await requestsOf(order)).length, 0);
  assert.equal((await order.leave()).status, 409);
  await nora.duty("on");
  assert.match(await order.look(), /Meet a notary now[\s\S]*Ask to meet now/);
  const stranger = `/appointments/${"0".repeat(40)}/now`;
  assert.equal((await postForm(at(stranger), {})).status, 404);
  assert.equal((await fetch(at(stranger))).status, 404);
  // Other people also have the order's code, so the code gives no access.
  assert.equal((await postForm(at(`/appointments/${order.code}/now`), {})).status, 404);
  assert.match(await (await fetch(at(`/orders/${order.code}`))).text(), /orders\/[0-9a-f]{40}\/appointment/);
  await nora.duty("off");
  assert.doesNotMatch(await order.look(), /Meet a notary now/);
});

test("people see their position, the notary takes the oldest request first, and the people are called and get their room", async () => {
  const [first, second] = [await waitingOrder("first@example.com"), await waitingOrder("second@example.com")];
  await nora.duty("on");
  for (const order of [first, second, first]) assert.equal((await order.ask()).status, 303);
  assert.equal((await requestsOf(first)).length, 1, "who asks again keeps the place");
  assert.match(await first.place(), /number 1 in the queue[\s\S]*is free now/);
  assert.match(await second.place(), /number 2 in the queue[\s\S]*Too few sessions/);
  assert.match(await nora.look(), /2 orders wait now/);
  assert.equal((await omar.take()).status, 409, "off duty");
  const taken = await nora.take();
  assert.equal(codeIn(taken), first.code);
  const claimed = { state: "claimed", jurisdiction: "OH", appointmentUtc: null };
  assert.deepEqual(await first.notarization(), { ...claimed, method: null, session: "called" });
  assert.deepEqual(await second.notarization(), { ...nothing, state: "waiting", session: "queued" });
  assert.match(await day(), rowOf(first, "You called its people"));
  assert.match(await day(), rowOf(second, "Its people ask for a notary now"));
  assert.match(await first.place(), /Nora Ames has taken your request/);
  assert.match(await second.place(), /number 1 in the queue/);
  await until(() => first.mails(/Subject: .*A notary is ready for you now/) === 1);
  assert.equal((await first.leave()).status, 409);
  assert.match(await (await nora.take()).text(), /called somebody already/);
  assert.equal((await nora.post("/now/off")).status, 409);
  assert.equal((await nora.post(`/orders/${first.code}/session`, { act: "jurat" })).status, 303);
  assert.deepEqual(await first.notarization(), { ...claimed, method: "ron", session: "waiting_room" });
  assert.match(await day(), rowOf(first, "The session is open"));
  assert.match(await first.place(), /notary-room\/[0-9a-f]{40}/);
  assert.deepEqual(
    (await requestsOf(first)).map(({ outcome }) => outcome),
    ["met"],
  );
  assert.match(await (await nora.take()).text(), /You are in a session/);
  assert.match(await second.place(), /Too few sessions/);
  assert.equal((await nora.post(`/orders/${first.code}/session/end`, { outcome: "technical" })).status, 303);
  await until(async () => rowOf(first, "The session came to nothing").test(await day()));
  assert.deepEqual(await first.notarization(), { ...claimed, method: null, session: "ended" });
  assert.equal((await second.leave()).status, 303);
  assert.match(await day(), rowOf(second, "Nobody has it yet"));
  assert.match(await day(), /\d orders wait for a notary\./);
  assert.deepEqual(
    (await requestsOf(second)).map(({ outcome }) => outcome),
    ["left"],
  );
  assert.match(await second.look(), /Ask to meet now/);
  await nora.duty("off");
});

test("only a room may use a camera, and the page of the queue loads nothing from others", async () => {
  const order = await waitingOrder("headers@example.com");
  await nora.duty("on");
  for (const path of ["/", "/verify", `/orders/${order.code}`, order.path, `${order.path}/now`]) {
    const { headers } = await fetch(at(path));
    assert.match(headers.get("permissions-policy") ?? "", /^camera=\(\), geolocation=\(\), microphone=\(\)$/, path);
    const policy = headers.get("content-security-policy") ?? "";
    assert.match(policy, /default-src 'none'.*script-src 'self'/, path);
    assert.doesNotMatch(policy, /https?:|frame-src|media-src/, path);
  }
  await nora.duty("off");
});

test("two notaries who take a request concurrently get different people, and one request goes to one of them", async () => {
  const orders = [await waitingOrder("race1@example.com"), await waitingOrder("race2@example.com")];
  await Promise.all([until(async () => (await nora.look("/now")).includes("Nobody whom you may meet is waiting"))]);
  await nora.duty("on");
  await omar.duty("on");
  for (const order of orders) assert.equal((await order.ask()).status, 303);
  const answers = await Promise.all([nora.take(), omar.take()]);
  assert.deepEqual(answers.map(codeIn).toSorted(), orders.map(({ code }) => code).toSorted());
  // Each notary releases the order, and the request returns to its position in the queue.
  for (const [index, notary] of [nora, omar].entries())
    assert.equal((await notary.post(`/orders/${codeIn(answers[index] as Response)}/release`)).status, 303);
  for (const order of orders) {
    await order.advance(1);
    await until(async () => (await requestsOf(order))[0]?.state === "waiting");
  }
  const [kept, left] = orders as [Order, Order];
  assert.equal((await left.leave()).status, 303);
  const again = await Promise.all([nora.take(), omar.take()]);
  assert.deepEqual(again.map(({ status }) => status).toSorted(), [303, 409]);
  assert.equal(again.map(codeIn).find(Boolean), kept.code);
  await kept.advance(301);
  await until(async () => (await requestsOf(kept))[0]?.state === "waiting");
  assert.equal((await kept.leave()).status, 303);
  // One of the two notaries got no order and is still on duty. So the test takes both off duty.
  for (const notary of [nora, omar]) await notary.post("/now/off");
});

test("a notary who accepts a request and does not join goes off duty, and the people keep their position and can be called by others", async () => {
  const order = await waitingOrder("late@example.com");
  await nora.duty("on");
  assert.equal((await order.ask()).status, 303);
  assert.equal((await nora.take()).status, 303);
  await order.advance(240);
  assert.equal((await requestsOf(order))[0]?.state, "taken");
  await order.advance(61);
  await until(async () => (await requestsOf(order))[0]?.state === "waiting");
  assert.equal(await claimantOf(order), null);
  assert.match(await nora.look(), /You are off duty/);
  assert.match(await order.place(), /number 1 in the queue[\s\S]*No notary who may meet you is on duty/);
  await omar.duty("on");
  assert.equal(codeIn(await omar.take()), order.code);
  assert.equal((await omar.post(`/orders/${order.code}/session`, { act: "jurat" })).status, 303);
  await order.advance(600);
  assert.deepEqual(
    (await requestsOf(order)).map(({ outcome }) => outcome),
    ["met"],
  );
  await omar.duty("off");
});

test("a notary who had claimed an order and does not answer loses it, and another notary answers its people", async () => {
  const [order, pia] = [await waitingOrder("kept@example.com"), await newNotary("Pia Cole")];
  const [task] = await running.db.query<{ id: number }>(sql`
    SELECT t.id FROM tasks t JOIN orders o ON o.id = t.order_id WHERE ${isSealed(sql`o.code`, "order", order.code)} AND t.kind = 'notarize'`);
  assert.equal((await nora.post(`/tasks/${task?.id}/claim`)).status, 303);
  const claimant = await claimantOf(order);
  await nora.duty("on");
  assert.equal((await order.ask()).status, 303);
  assert.equal((await nora.take()).status, 303);
  await order.advance(301);
  await until(async () => (await requestsOf(order))[0]?.state === "waiting");
  assert.ok(claimant);
  assert.equal(await claimantOf(order), null);
  assert.match(await nora.look(), /You are off duty/);
  await pia.duty("on");
  assert.equal(codeIn(await pia.take()), order.code);
  assert.equal((await pia.post(`/orders/${order.code}/release`)).status, 303);
  await order.advance(1);
  await until(async () => (await requestsOf(order))[0]?.state === "waiting");
  assert.equal((await order.leave()).status, 303);
  // A notary on duty claims the order but never calls its people. So the claim ends when the people's request expires.
  assert.equal((await pia.post(`/tasks/${task?.id}/claim`)).status, 303);
  assert.equal((await order.ask()).status, 303);
  await order.advance(1201);
  await until(async () => (await requestsOf(order)).some(({ outcome }) => outcome === "expired"));
  assert.equal(await claimantOf(order), null);
  await until(() => order.mails(/Subject: .*No notary was free/) === 1);
  await pia.duty("off");
  await nora.duty("on");
  assert.equal((await order.ask()).status, 303);
  assert.equal(codeIn(await nora.take()), order.code);
  // Once an act is noted, the order stays with its notary. The act may already be done, with only its file missing.
  assert.equal((await nora.post(`/orders/${order.code}/act`, notedAct)).status, 303);
  await order.advance(301);
  await until(async () => (await requestsOf(order)).every(({ state }) => state === "ended"));
  assert.equal(await claimantOf(order), claimant);
  assert.equal((await nora.post(`/orders/${order.code}/release`)).status, 303);
});

test("an expired request takes no order from a notary who has just claimed it or has an appointment to come, and no draft of another notary keeps it", async () => {
  const [order, rita] = [await waitingOrder("fresh@example.com"), await newNotary("Rita Dunn")];
  const [task] = await running.db.query<{ id: number }>(sql`
    SELECT t.id FROM tasks t JOIN orders o ON o.id = t.order_id WHERE ${isSealed(sql`o.code`, "order", order.code)} AND t.kind = 'notarize'`);
  const claim = async (notary: typeof rita) =>
    assert.equal((await notary.post(`/tasks/${task?.id}/claim`)).status, 303);
  const release = async (notary: typeof rita) =>
    assert.equal((await notary.post(`/orders/${order.code}/release`)).status, 303);
  const expired = async (count: number) => {
    const outcomes = async () => (await requestsOf(order)).filter(({ outcome }) => outcome === "expired");
    await until(async () => (await outcomes()).length === count);
    return claimantOf(order);
  };
  await nora.duty("on");
  await rita.duty("on");
  assert.equal((await order.ask()).status, 303);
  await order.advance(1195);
  await claim(rita);
  const fresh = await claimantOf(order);
  await order.advance(6);
  assert.ok(fresh);
  assert.equal(await expired(1), fresh, "claimed six seconds before the end");

  const meet = async (when: Date) => {
    const typed = { url: "https://meet.example/rita", when: when.toISOString().slice(0, 16) };
    assert.equal((await rita.post(`/orders/${order.code}/appointment`, typed)).status, 303);
    assert.equal((await order.ask()).status, 303);
    await order.advance(1201);
  };
  await meet(new Date(Date.now() + 86_400_000));
  assert.equal(await expired(2), fresh, "an appointment for tomorrow");
  await meet(new Date(Date.now() - 86_400_000));
  assert.equal(await expired(3), null, "an appointment that is past");

  await claim(nora);
  assert.equal((await nora.post(`/orders/${order.code}/act`, notedAct)).status, 303);
  await release(nora);
  await claim(rita);
  assert.equal((await order.ask()).status, 303);
  await order.advance(1201);
  assert.equal(await expired(4), null, "the noted act is of an earlier notary");
  for (const notary of [nora, rita]) await notary.duty("off");
});

test("requests that the service did not write use up no positions", async () => {
  const orders = [await waitingOrder("forged@example.com"), await waitingOrder("behind@example.com")];
  await nora.duty("on");
  for (const order of orders) assert.equal((await order.ask()).status, 303);
  const [forged, behind] = await Promise.all(orders.map(requestsOf));
  const all = () => openRequests(running.db, "test", 1);
  assert.equal((await all())[0]?.id, forged?.[0]?.id);
  await running.db.query(
    sql`UPDATE notary_requests SET asked_at = asked_at - interval '1 s' WHERE id = ${forged?.[0]?.id}`,
  );
  assert.equal((await all())[0]?.id, behind?.[0]?.id);
  await running.db.query(
    sql`UPDATE notary_requests SET asked_at = asked_at + interval '1 s' WHERE id = ${forged?.[0]?.id}`,
  );
  for (const order of orders) assert.equal((await order.leave()).status, 303);
  await nora.duty("off");
});

test("a request that nobody takes ends after 20 minutes, and its people may choose a time or ask again", async () => {
  const order = await waitingOrder("expired@example.com");
  await nora.duty("on");
  assert.equal((await order.ask()).status, 303);
  await order.advance(1199);
  assert.equal((await requestsOf(order))[0]?.state, "waiting");
  await order.advance(2);
  await until(async () => (await requestsOf(order))[0]?.outcome === "expired");
  await until(() => order.mails(/Subject: .*No notary was free/) === 1);
  assert.match(await order.look(), /No notary was free[\s\S]*Ask to meet now[\s\S]*Choose a time/);
  assert.match(await (await nora.take()).text(), /Nobody whom you may meet is waiting/);
  assert.equal((await order.ask()).status, 303);
  const hours = Object.fromEntries(
    ["sun", "mon", "tue", "wed", "thu", "fri", "sat"].map((day) => [`hours_${day}`, "00:00-23:59"]),
  );
  const typed = { zone: "America/Chicago", ...hours, meeting_url: "https://meet.example/nora" };
  assert.equal((await nora.post("/hours", typed)).status, 303);
  const [, slot = ""] = /<option value="(\S+ ron \S+)"/.exec(await order.look()) ?? [];
  assert.equal((await postForm(at(order.path), { slot })).status, 303);
  assert.deepEqual(
    (await requestsOf(order)).map(({ outcome }) => outcome),
    ["expired", "booked"],
  );
  const { session, method, appointmentUtc } = (await order.notarization()) as Record<string, unknown>;
  assert.deepEqual([session, method, appointmentUtc], ["scheduled", "ron", slot.split(" ")[0]]);
  assert.match(await day(), rowOf(order, "Waits for the appointment"));
  // An order with an appointment can't join the queue.
  assert.equal((await order.ask()).status, 409);
  await nora.duty("off");
});

test("an order that only buys a notary may name several people: each is mailed a room, and the document has a place for each", async () => {
  const { headers } = await newPartner(running.service);
  const emails = ["ann@example.com", "bob@example.com"];
  const signers = emails.map((email) => ({ name: `Person ${email.slice(0, 3)}`, email }));
  const place = async (more: Record<string, string>) => {
    const form = { ...minimal, email: "ann@example.com", svc_notary: "true", ...more };
    const placed = await fetch(at("/api/partner/orders"), {
      method: "POST",
      headers,
      body: orderForm(form, makePdf({ text: "Deed" })),
    });
    return { status: placed.status, body: (await placed.json()) as { orderCode: string; error?: unknown } };
  };
  for (const [more, named] of [
    [{ signers: JSON.stringify(signers.map((each) => ({ ...each, auth: "mail_code" }))) }, /signers\[0\]\.auth/],
    [{ signers: JSON.stringify(signers.map((each, n) => ({ ...each, routing: n + 1 }))) }, /signers\[1\]\.routing/],
    [{ signer_auth: "mail_code" }, /signer_auth must be left out unless signing is bought/],
  ] as const) {
    const { status, body } = await place(more);
    assert.equal(status, 400);
    assert.match(JSON.stringify(body), named);
  }
  const { body } = await place({ signers: JSON.stringify(signers) });
  const code = body.orderCode;
  await fetch(at(`/api/partner/sandbox/orders/${code}/advance`), { method: "POST", headers });
  const [task] = await running.db.query<{ id: number; orderId: number }>(sql`
    SELECT t.id, o.id AS "orderId" FROM tasks t JOIN orders o ON o.id = t.order_id
    WHERE ${isSealed(sql`o.code`, "order", code)} AND t.kind = 'notarize'`);
  assert.equal((await omar.post(`/tasks/${task?.id}/claim`)).status, 303);
  assert.equal((await omar.post(`/orders/${code}/session`, { act: "jurat" })).status, 303);
  const rooms = await until(() => {
    const found = emails.map(
      (email) => /notary-room\/[0-9a-f]{40}/.exec(mailsTo(running.service, email).join("\n"))?.[0],
    );
    return found.every(Boolean) ? found : undefined;
  });
  assert.equal(new Set(rooms).size, 2);
  const room = await roomEnvelopeOf(running.db, task?.orderId ?? 0);
  assert.deepEqual(
    room?.signers.map(({ n, name }) => [n, name]),
    signers.map(({ name }, index) => [index + 1, name]),
  );
  assert.equal((await omar.post(`/orders/${code}/session/end`, { outcome: "technical" })).status, 303);
});

test("requests and duty that were altered in the database have no effect", async () => {
  const order = await waitingOrder("altered@example.com");
  await nora.duty("on");
  assert.equal((await order.ask()).status, 303);
  await running.db.query(
    sql`UPDATE notary_requests SET asked_at = asked_at - interval '1 day' WHERE state = 'waiting'`,
  );
  assert.match(await nora.look("/now"), /Nobody whom you may meet is waiting/);
  assert.equal((await nora.take()).status, 409);
  assert.equal((await order.ask()).status, 503);
  await nora.duty("off");
  await running.db.query(sql`UPDATE notary_duty SET until = now() + interval '1 day'`);
  const other = await waitingOrder("altered2@example.com");
  assert.equal((await other.ask()).status, 409);
});
