import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { forTests } from "@signsealship/testing/for-tests";
import fc from "fast-check";
import { sql } from "../../../src/kernel/platform/database/sql.ts";
import { ServiceError } from "../../../src/kernel/platform/errors.ts";
import { windowDays } from "../../../src/orders/analytics/days.ts";
import { analyticsReader, bucketOf } from "../../../src/orders/analytics/snapshot.ts";
import { orderStatuses } from "../../../src/orders/order/transitions/statuses.ts";
import { addOrder, newPartnerRow, openData } from "./orders-database.ts";

const now = new Date("2026-03-15T12:00:00.000Z");
const hour = 3_600_000;
const day = 24 * hour;
const ago = (ms: number) => new Date(now.getTime() - ms);

const data = await forTests(openData());

const snapshot = (partnerId: string, days = 90, environment: "live" | "test" = "live") =>
  analyticsReader({ db: data.db, clock: () => now })({ partnerId, environment }, days);

test("a partner without orders gets zeroes and no months", async () => {
  assert.deepEqual(await snapshot(await newPartnerRow(data.db)), {
    windowDays: 90,
    volumeByMonth: [],
    funnel: { created: 0, paid: 0, inProgress: 0, completed: 0, problem: 0 },
    turnaroundHours: { median: 0, p90: 0 },
    serviceMix: { sign: 0, notarize: 0, ship: 0, fax: 0 },
    evidence: { totalCompleted: 0, sealedDocumentCount: 0, deliveredWithProofCount: 0 },
    revenueCents: 0,
    generatedAt: "2026-03-15T12:00:00.000Z",
  });
});

test("the cohort contains the orders from now minus the days to now, both included, in one environment", async () => {
  const partnerId = await newPartnerRow(data.db);
  const add = (createdAt: Date, environment: "live" | "test" = "live") =>
    addOrder(data.db, partnerId, { status: "Paid", createdAt, environment });
  await add(now);
  await add(ago(7 * day));
  await add(ago(7 * day + 1));
  await add(ago(-1));
  await add(ago(day), "test");
  await addOrder(data.db, await newPartnerRow(data.db), { status: "Paid", createdAt: ago(day) });
  assert.equal((await snapshot(partnerId, 7)).funnel.paid, 2);
  assert.equal((await snapshot(partnerId, 8)).funnel.paid, 3);
  assert.equal((await snapshot(partnerId, 7, "test")).funnel.paid, 1);
});

test("every status is in its bucket of the contract, an unknown one in problem, and the five sum to the cohort", async () => {
  const table = {
    created: "Created QuoteReady AwaitingPayment",
    paid: "Paid",
    inProgress:
      "EsignPending EsignComplete NotarizationPending NotarizationComplete ShippingPending Shipped Delivered FaxPending FaxSent FaxDelivered",
    completed: "Completed",
    problem:
      "PaymentFailed EsignDeclined EsignExpired NotarizationFailed IdentityLocked ManualQuoteRequired OnHold ShippingFailed RefundPending Refunded Cancelled FaxFailed Teleported completed constructor",
  };
  const partnerId = await newPartnerRow(data.db);
  const statuses = Object.values(table).flatMap((names) => names.split(" "));
  assert.deepEqual(new Set(statuses), new Set([...orderStatuses, "Teleported", "completed", "constructor"]));
  for (const [bucket, names] of Object.entries(table))
    for (const name of names.split(" ")) assert.equal(bucketOf(name), bucket, name);
  for (const status of statuses) await addOrder(data.db, partnerId, { status, createdAt: ago(day), totalCents: 100 });
  const { funnel, revenueCents, evidence } = await snapshot(partnerId);
  assert.deepEqual(funnel, { created: 3, paid: 1, inProgress: 10, completed: 1, problem: 15 });
  assert.equal(revenueCents, 1200);
  assert.equal(evidence.totalCompleted, 1);
});

test("months are UTC, oldest first, without the empty ones; completed means Completed", async () => {
  const partnerId = await newPartnerRow(data.db);
  const add = (createdAt: string, status: string) =>
    addOrder(data.db, partnerId, { status, createdAt: new Date(createdAt) });
  await add("2026-03-01T00:00:00.000Z", "Completed");
  await add("2026-02-28T23:59:59.999Z", "Delivered");
  await add("2025-12-31T23:59:59.999Z", "Completed");
  await add("2025-12-01T00:00:00.000Z", "Completed");
  await add("2025-12-10T00:00:00.000Z", "Refunded");
  await add("2025-03-14T12:00:00.000Z", "Completed");
  assert.deepEqual((await snapshot(partnerId, 366)).volumeByMonth, [
    { month: "2025-03", createdCount: 1, completedCount: 1 },
    { month: "2025-12", createdCount: 3, completedCount: 2 },
    { month: "2026-02", createdCount: 1, completedCount: 0 },
    { month: "2026-03", createdCount: 1, completedCount: 1 },
  ]);
});

test("services, sealed and notarized documents, delivered shipments and revenue are counted as records", async () => {
  const partnerId = await newPartnerRow(data.db);
  const add = (order: object) => addOrder(data.db, partnerId, { status: "Completed", createdAt: ago(day), ...order });
  await add({ sign: true, notarize: true, documents: ["original", "sealed", "notarized", "custody_certificate"] });
  await add({ ship: true, fax: true, sign: true, shipments: ["Delivered", "Failed", "Delivered"], totalCents: 5000 });
  await add({ status: "Refunded", documents: ["sealed"], shipments: ["Delivered", "Shipped"], totalCents: 7000 });
  await add({ createdAt: ago(91 * day), sign: true, documents: ["sealed"], shipments: ["Delivered"] });
  const { serviceMix, evidence, revenueCents } = await snapshot(partnerId);
  assert.deepEqual(serviceMix, { sign: 2, notarize: 1, ship: 1, fax: 1 });
  assert.deepEqual(evidence, { totalCompleted: 2, sealedDocumentCount: 3, deliveredWithProofCount: 3 });
  assert.equal(revenueCents, 6200);
});

test("turnaround runs from the earliest payment of completed orders and ignores earlier ends", async () => {
  const partnerId = await newPartnerRow(data.db);
  const add = (hours: number, more: object = {}) => {
    const paid = ago(10 * day);
    const updatedAt = new Date(paid.getTime() + hours * hour);
    return addOrder(data.db, partnerId, {
      status: "Completed",
      createdAt: ago(11 * day),
      updatedAt,
      paidAt: [paid],
      ...more,
    });
  };
  await add(5, { status: "Delivered" });
  await add(5, { paidAt: [] });
  await add(-1);
  assert.deepEqual((await snapshot(partnerId)).turnaroundHours, { median: 0, p90: 0 });
  await add(10, { paidAt: [ago(9 * day), ago(10 * day), ago(8 * day)] });
  assert.deepEqual((await snapshot(partnerId)).turnaroundHours, { median: 10, p90: 10 });
  await add(0);
  assert.deepEqual((await snapshot(partnerId)).turnaroundHours, { median: 5, p90: 9 });
  await add(1 / 3);
  assert.deepEqual((await snapshot(partnerId)).turnaroundHours, { median: 0.33, p90: 8.07 });
});

test("percentiles are continuous and rounded to two decimals, for any sample", async () => {
  const expected = (hours: number[], fraction: number): number => {
    const sorted = [...hours].sort((a, b) => a - b);
    const place = fraction * (sorted.length - 1);
    const [low = 0, high = low] = [sorted[Math.floor(place)], sorted[Math.ceil(place)]];
    return low + (high - low) * (place - Math.floor(place));
  };
  const seconds = fc.array(fc.integer({ min: 0, max: 10 ** 7 }), { minLength: 1, maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(seconds, async (sample) => {
      const partnerId = await newPartnerRow(data.db);
      const paid = ago(100 * day);
      for (const s of sample) {
        const updatedAt = new Date(paid.getTime() + s * 1000);
        await addOrder(data.db, partnerId, { status: "Completed", createdAt: paid, updatedAt, paidAt: [paid] });
      }
      const { median, p90 } = (await snapshot(partnerId, 366)).turnaroundHours;
      const hours = sample.map((s) => s / 3600);
      assert.ok(Math.abs(median - expected(hours, 0.5)) < 0.00501, `${median}`);
      assert.ok(Math.abs(p90 - expected(hours, 0.9)) < 0.00501, `${p90}`);
      assert.ok([median, p90].every((value) => /^\d+(\.\d{1,2})?$/.test(String(value))));
    }),
    { numRuns: 25 },
  );
});

test("days is an integer, 90 when absent, and clamped to 1-366", () => {
  for (const [days, effective] of [
    [undefined, 90],
    ["1", 1],
    ["0", 1],
    ["-5", 1],
    ["+30", 30],
    ["007", 7],
    ["366", 366],
    ["367", 366],
    ["99999999999999999999", 366],
    ["-99999999999999999999", 1],
  ] as const)
    assert.equal(windowDays(days), effective, days);
  for (const days of ["", " ", "abc", "1.5", "1e2", "0x10", "1,000", "٣", "NaN", ["1", "2"], " 7"])
    assert.throws(
      () => windowDays(days),
      (error) => error instanceof ServiceError && error.code === "validation" && error.message.startsWith("days "),
    );
});

test("callers that wait for the same figures share a read that begins after they came; other figures have their own", async () => {
  const partnerId = await newPartnerRow(data.db);
  let reads = 0;
  const read = analyticsReader({
    db: data.db,
    clock: () => {
      reads++;
      return now;
    },
  });
  const caller = { partnerId, environment: "live" } as const;
  const first = read(caller, 90);
  while (reads === 0) await sleep(1);
  await addOrder(data.db, partnerId, { status: "Paid", createdAt: ago(day) });
  const later = await Promise.all([read(caller, 90), read(caller, 90), read(caller, 90), read(caller, 30)]);
  await first;
  assert.deepEqual(
    later.map(({ funnel, windowDays: days }) => [funnel.paid, days]),
    [
      [1, 90],
      [1, 90],
      [1, 90],
      [1, 30],
    ],
  );
  assert.equal(reads <= 4, true, `${reads} reads for five callers`);
});

test("a read that takes too long fails as unavailable, and the next one is served", async () => {
  const partnerId = await newPartnerRow(data.db);
  const read = analyticsReader({ db: data.db, clock: () => now }, 200);
  const caller = { partnerId, environment: "live" } as const;
  await data.db.transaction(async (tx) => {
    await tx.query(sql`LOCK TABLE workflow_events IN ACCESS EXCLUSIVE MODE`);
    await assert.rejects(read(caller, 90), { code: "unavailable" });
  });
  assert.equal((await read(caller, 90)).windowDays, 90);
});
