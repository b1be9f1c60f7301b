import assert from "node:assert/strict";
import { test } from "node:test";
import { createClient } from "@signsealship/sdk";
import { type Client, newClient } from "@signsealship/testing/client";
import { forTests } from "@signsealship/testing/for-tests";
import { openHarness } from "@signsealship/testing/harness";
import { minimal, orderForm } from "@signsealship/testing/inputs/order-form";
import { makeLive } from "@signsealship/testing/row-mac";
import { newPartner, ownProcess } from "@signsealship/testing/service";
import { until } from "@signsealship/testing/until";
import { isSealed, sql } from "../../../src/kernel/platform/database/sql.ts";
import { inSlice } from "../../../src/kernel/test-clock/advance.ts";
import { newMember, postForm } from "../../firms/members/signed-in-member.ts";

const path = "/api/partner/sandbox/clock";
const [hour, day] = [3_600, 86_400];
const kills = Number(process.env["KILLS"] ?? 1);

type Clock = { status: string; testTime: string; realTime: string; advancedSeconds: number; warnings?: string[] };
type Firm = Client & { partnerId: string; key: string };

const running = await forTests(openHarness({ PLAYBOOKS: "on", ...ownProcess }));

async function firm(): Promise<Firm> {
  const { partnerId, key } = await newPartner(running.service, { tier: "ProOffice" });
  return { ...newClient(running.service.baseUrl, key, (status) => status < 300), partnerId, key };
}

const advance = ({ ok }: Firm, body: object) => ok<Clock>("POST", path, body);
const ready = ({ ok }: Firm) => until(async () => (await ok<Clock>("GET", path)).status === "ready");

async function place({ ok }: Firm, fields: Record<string, string> = {}): Promise<string> {
  const { orderCode } = await ok<{ orderCode: string }>(
    "POST",
    "/api/partner/orders",
    orderForm({ ...minimal, ...fields }),
  );
  return orderCode;
}

type Envelope = { expiresAt: Date; remindAt: Date | null; outcome: string | null };

/** Waits until the envelope of an order is open. @returns the envelope's times and outcome */
const envelopeOf = (code: string) =>
  until(async () => {
    const [found] = await running.db.query<Envelope>(sql`
      SELECT expires_at AS "expiresAt", remind_at AS "remindAt", outcome FROM envelopes
      WHERE order_id = (SELECT id FROM orders WHERE ${isSealed(sql`code`, "order", code)})`);
    return found;
  });

async function toSign(of: Firm): Promise<string> {
  const code = await place(of, { svc_sign: "true" });
  await of.ok("POST", `/api/partner/sandbox/orders/${code}/checkout`);
  await envelopeOf(code);
  return code;
}

/** Turns the order into a live one. */
const asLive = (code: string) => makeLive(running, code);

const trailOf = (code: string) =>
  running.db.query<{ event: string; at: string }>(sql`
    SELECT record::jsonb ->> 'event' AS event, record::jsonb ->> 'at' AS at FROM envelope_events
    WHERE envelope_id = (SELECT e.id FROM envelopes e JOIN orders o ON o.id = e.order_id WHERE ${isSealed(sql`o.code`, "order", code)})
    ORDER BY position`);

const daysUntil = (instant: Date | null | undefined) =>
  instant ? Math.round((instant.getTime() - Date.now()) / (day * 1000)) : null;

test("an advance makes envelopes of only the firm's test orders remind and expire; recorded times are real", async () => {
  const [acme, other] = [await firm(), await firm()];
  const [mine, live, theirs] = [await toSign(acme), await toSign(acme), await toSign(other)];
  await asLive(live);
  const [liveBefore, theirsBefore] = [await envelopeOf(live), await envelopeOf(theirs)];

  const first = await advance(acme, { advanceSeconds: 3 * day });
  assert.equal(first.advancedSeconds, 3 * day);
  assert.equal(Date.parse(first.testTime) - Date.parse(first.realTime), 3 * day * 1000);
  await ready(acme);
  const { expiresAt, remindAt } = await envelopeOf(mine);
  assert.deepEqual([daysUntil(expiresAt), daysUntil(remindAt)], [27, 2]);
  assert.deepEqual((await trailOf(mine)).filter(({ event }) => event === "reminded").length, 1);

  const to = new Date(Date.now() + 31 * day * 1000).toISOString();
  assert.equal(Math.round((await advance(acme, { to })).advancedSeconds / hour), 31 * 24);
  await ready(acme);
  assert.equal((await envelopeOf(mine)).outcome, "Expired");
  assert.equal((await acme.ok<{ status: string }>("GET", `/api/partner/orders/${mine}`)).status, "EsignExpired");
  assert.ok((await trailOf(mine)).every(({ at }) => Date.parse(at) <= Date.now()));
  assert.deepEqual([await envelopeOf(live), await envelopeOf(theirs)], [liveBefore, theirsBefore]);
});

test("an advance ends waiting executions, replaced webhook secrets and idempotency keys, and deletes due documents", async () => {
  const [acme, other] = [await firm(), await firm()];
  const run = async ({ ok }: Firm) => {
    const body = new URLSearchParams({ kind: "closing", subjectId: "FILE-1" });
    const { executionName } = await ok<{ executionName: string }>(
      "POST",
      "/api/partner/playbooks/approval_gate/run",
      body,
    );
    return executionName.slice("executions/".length);
  };
  const [mine, live, theirs] = [await run(acme), await run(acme), await run(other)];
  await running.db.query(sql`UPDATE playbook_executions SET environment = 'live' WHERE id = ${live}`);
  const hook = async ({ ok }: Firm) => {
    const made = { url: "https://hooks.example.com/", topics: ["order.created"] };
    const { id } = await ok<{ id: string }>("POST", "/api/partner/webhooks", made);
    await ok("POST", `/api/partner/webhooks/${id}/rotate`);
    return id;
  };
  const [myHook, theirHook] = [await hook(acme), await hook(other)];
  const [old, kept, foreign] = [await place(acme), await place(acme), await place(other)];
  await asLive(kept);
  const placeOnce = async ({ key }: Firm) => {
    const headers = { Authorization: `Bearer ${key}`, "Idempotency-Key": "once-a-day" };
    const body = orderForm(minimal);
    const response = await fetch(`${running.service.baseUrl}/api/partner/orders`, { method: "POST", headers, body });
    return ((await response.json()) as { orderCode: string }).orderCode;
  };
  const [first, theirFirst] = [await placeOnce(acme), await placeOnce(other)];
  assert.equal(await placeOnce(acme), first);

  await advance(acme, { advanceSeconds: 31 * day });
  await ready(acme);
  const outcome = async (id: string) =>
    (
      await running.db.query<{ outcome: string | null }>(sql`SELECT outcome FROM playbook_executions WHERE id = ${id}`)
    )[0]?.outcome;
  assert.deepEqual([await outcome(mine), await outcome(live), await outcome(theirs)], ["expired", null, null]);
  const signing = async (id: string) =>
    (
      await running.db.query(sql`
        SELECT FROM webhook_secrets WHERE webhook_id = ${id} AND (expires_at IS NULL OR expires_at > now())`)
    ).length;
  assert.deepEqual([await signing(myHook), await signing(theirHook)], [1, 2]);
  const deleted = async (code: string) =>
    (
      await running.db.query(sql`
        SELECT FROM documents d JOIN deleted_blobs b ON b.blob_key = d.blob_key
        WHERE d.order_id = (SELECT id FROM orders WHERE ${isSealed(sql`code`, "order", code)})`)
    ).length;
  assert.deepEqual([await deleted(old), await deleted(kept), await deleted(foreign)], [1, 0, 0]);
  const again = await placeOnce(acme);
  assert.notEqual(again, first);
  assert.equal(await placeOnce(other), theirFirst);

  // Objects that are created after an advance begin to age at their creation.
  await advance(acme, { advanceSeconds: day });
  await ready(acme);
  assert.deepEqual([await deleted(again), await deleted(await place(acme))], [0, 0]);
});

test("concurrent advances add up, on the clock and on the moved times", async () => {
  const acme = await firm();
  const code = await toSign(acme);
  const before = (await envelopeOf(code)).expiresAt.getTime();
  const { clock } = createClient({ baseUrl: running.service.baseUrl, key: acme.key }).sandbox;
  await Promise.all(Array.from({ length: 6 }, () => clock.advance({ advanceSeconds: hour })));
  assert.equal((await clock.get()).advancedSeconds, 6 * hour);
  assert.equal(before - (await envelopeOf(code)).expiresAt.getTime(), 6 * hour * 1000);
  await ready(acme);

  const reset = await clock.reset();
  assert.deepEqual([reset.advancedSeconds, reset.testTime], [0, reset.realTime]);
  assert.equal(before - (await envelopeOf(code)).expiresAt.getTime(), 6 * hour * 1000);
  const lines = await running.db.query<{ action: string; detail: object | null }>(sql`
    SELECT action, detail FROM audit_log WHERE partner_id = ${acme.partnerId} AND action LIKE 'test\_clock.%' ORDER BY id`);
  assert.deepEqual(
    lines.map(({ action }) => action),
    [...Array(6).fill("test_clock.advanced"), "test_clock.reset"],
  );
  assert.deepEqual(lines[0]?.detail, { seconds: hour });
});

test("a clock that a killed service was advancing becomes ready with the next one", async () => {
  const acme = await firm();
  for (let kill = 0; kill < kills; kill++) {
    const code = await toSign(acme);
    await advance(acme, { advanceSeconds: 31 * day });
    await running.service.kill();
    running.service = await running.service.restart();
    await ready(acme);
    assert.equal((await envelopeOf(code)).outcome, "Expired");
  }
});

test("a sweep that takes too long is stopped and left to later ones; one that fails in time fails the advance", async () => {
  const never = new AbortController().signal;
  const untilStopped = (_: string, stopping: AbortSignal) =>
    new Promise((_resolve, reject) => stopping.addEventListener("abort", () => reject(new Error("ended"))));
  await inSlice(untilStopped, "firm", never, 10);
  await assert.rejects(
    inSlice(() => Promise.reject(new Error("broken")), "firm", never),
    /broken/,
  );
});

test("after a reset the clock counts from real time, and earlier leaps are not repeated", async () => {
  const acme = await firm();
  await advance(acme, { advanceSeconds: day });
  await advance(acme, { advanceSeconds: day });
  await acme.ok("DELETE", path);
  assert.equal((await acme.ok<Clock>("DELETE", path)).advancedSeconds, 0);
  assert.equal((await advance(acme, { advanceSeconds: hour })).advancedSeconds, hour);
  const rows = await running.db.query<{ total: number }>(sql`
    SELECT total_seconds AS total FROM test_clock_advances WHERE partner_id = ${acme.partnerId} ORDER BY id`);
  assert.deepEqual(
    rows.map(({ total }) => total),
    [day, 2 * day, 2 * day + hour],
  );
});

test("a clock only goes forward, by five years at most, and only for test keys; wrong input is named", async () => {
  const acme = await firm();
  const refusals: [unknown, RegExp][] = [
    [undefined, /^advanceSeconds or to is required/],
    [{}, /^advanceSeconds or to is required/],
    [{ advanceSeconds: 1, to: "2099-01-01T00:00:00Z" }, /exclude each other/],
    ...[0, -1, 1.5, "60", 1e300, true, [1]].map((advanceSeconds): [unknown, RegExp] => [
      { advanceSeconds },
      /^advanceSeconds must be a whole number of seconds, at least 1\.$/,
    ]),
    ...["tomorrow", "2099-01-01", "2099-13-01T00:00:00Z", 7].map((to): [unknown, RegExp] => [
      { to },
      /^to must be an ISO 8601 time/,
    ]),
    [{ to: new Date(Date.now() - 1000).toISOString() }, /^to must be later than the test clock's time/],
    [{ advanceSeconds: 5 * 365 * day + 1 }, /^The test clock must not be more than 5 years ahead/],
    [{ to: "9999-01-01T00:00:00Z" }, /5 years/],
  ];
  for (const [body, said] of refusals) assert.match(await acme.refused(400, "POST", path, body), said);
  assert.equal((await acme.ok<Clock>("GET", path)).advancedSeconds, 0);
  const misspelt = await advance(acme, { advanceSeconds: 5 * 365 * day, advanceSecond: 1 });
  assert.match(misspelt.warnings?.[0] ?? "", /did you mean "advanceSeconds"/);
  assert.match(await acme.refused(400, "POST", path, { advanceSeconds: 1 }), /5 years/);

  const { key } = await newPartner(running.service, { live: true });
  const live = newClient(running.service.baseUrl, key);
  for (const method of ["GET", "DELETE"])
    assert.match(await live.refused(409, method, path), /^The test clock is for test keys only\.$/);
  await live.refused(409, "POST", path, { advanceSeconds: 60 });
  await newClient(running.service.baseUrl, "svc_pk_test_none").refused(401, "GET", path);
});

test("a member sees the clock in test, advances and resets it; live has none", async () => {
  const acme = await firm();
  const code = await toSign(acme);
  const { service } = running;
  const { headers } = await newMember(service, "clock@example.com", acme.key);
  const page = async () => (await fetch(`${service.baseUrl}/dashboard`, { headers })).text();
  const send = (what: string, fields = {}) =>
    postForm(`${service.baseUrl}/dashboard/test-clock/${what}`, fields, headers);
  assert.match(await page(), /<h2[^>]*>Test clock<\/h2>[\s\S]*\(real time\)/);
  const moved = await send("advance", { seconds: String(3 * day) });
  assert.deepEqual(
    [moved.status, moved.headers.get("location")],
    [303, "/dashboard?done=test-clock-advanced#test-clock"],
  );
  await ready(acme);
  assert.equal(daysUntil((await envelopeOf(code)).expiresAt), 27);
  assert.match(await page(), /Back to real time/);
  await advance(acme, { advanceSeconds: 5 * 365 * day - 3 * day });
  const refused = await send("advance", { seconds: String(day) });
  assert.equal(refused.status, 400);
  assert.match(await refused.text(), /role="alert"[\s\S]*not be more than 5 years ahead/);
  await send("reset");
  assert.equal((await acme.ok<Clock>("GET", path)).advancedSeconds, 0);

  const live = await newPartner(service, { live: true });
  const owner = await newMember(service, "live-clock@example.com", live.key);
  const shown = await (await fetch(`${service.baseUrl}/dashboard`, { headers: owner.headers })).text();
  assert.ok(!shown.includes("test-clock"));
  const there = await postForm(`${service.baseUrl}/dashboard/test-clock/reset`, {}, owner.headers);
  assert.equal(there.status, 409);
});
