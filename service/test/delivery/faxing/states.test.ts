import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { decide, type FaxAttemptState } from "../../../src/delivery/faxing/decide.ts";
import { isPassing, reasonWords } from "../../../src/delivery/faxing/reasons.ts";
import {
  advance,
  type FaxProgress,
  type FaxReport,
  type FaxState,
  isUnderWay,
} from "../../../src/delivery/faxing/states.ts";

const runs = Number(process.env["RUNS"] ?? 1000);
const waiting: FaxProgress = {
  state: "waiting",
  reason: null,
  pages: null,
  seconds: null,
  startedAt: null,
  endedAt: null,
};

const count = fc.option(fc.nat(400));
const report: fc.Arbitrary<FaxReport> = fc.record({
  state: fc.constantFrom("queued", "media.processed", "originated", "sending", "delivered", "failed"),
  reason: fc.option(fc.constantFrom("user_busy", "receiver_no_answer", "destination_invalid")),
  pages: count,
  seconds: count,
  at: fc.date({ min: new Date("2026-01-01"), max: new Date("2026-12-31"), noInvalidDate: true }),
});
const all = (reports: readonly FaxReport[]) => reports.reduce(advance, waiting);

describe("the reports about a fax", () => {
  test("lead to the same state in any order and with repetitions", () => {
    fc.assert(
      fc.property(
        fc.array(report, { minLength: 1, maxLength: 8 }).chain((reports) =>
          fc.tuple(
            fc.constant(reports),
            fc.shuffledSubarray([...reports, ...reports], {
              minLength: reports.length * 2,
              maxLength: reports.length * 2,
            }),
          ),
        ),
        ([reports, mixed]) => assert.deepEqual(all(mixed), all(reports)),
      ),
      { numRuns: runs },
    );
  });

  test("never move it back", () => {
    const order = ["queued", "media.processed", "originated", "sending", "failed", "delivered"];
    fc.assert(
      fc.property(fc.array(report), report, (before, next) => {
        const known = all(before);
        assert.ok(order.indexOf(advance(known, next).state) >= order.indexOf(known.state));
      }),
      { numRuns: runs },
    );
  });

  test("about a delivery after a failure make it delivered", () => {
    const at = new Date("2026-06-01T12:00:00Z");
    const failed = advance(waiting, { state: "failed", reason: "carrier_lost", pages: null, seconds: null, at });
    assert.deepEqual([failed.state, failed.reason], ["failed", "carrier_lost"]);
    const delivered = advance(failed, { state: "delivered", reason: null, pages: 3, seconds: 60, at });
    assert.deepEqual([delivered.state, delivered.reason, delivered.pages], ["delivered", null, 3]);
  });
});

describe("the consequences for the order", () => {
  const now = new Date("2026-06-01T12:00:00Z");
  const attempt = (state: FaxState, more: Partial<FaxAttemptState> = {}): FaxAttemptState => ({
    state,
    reason: null,
    endedAt: state === "failed" ? now : null,
    retries: 0,
    dueAt: now,
    isCanceled: false,
    isSettled: false,
    ...more,
  });
  const later = (minutes: number) => new Date(now.getTime() + minutes * 60_000);

  test("a temporary failure leads to three more attempts, after 5, 15 and 60 minutes", () => {
    const after = (retries: number) => decide("FaxSent", [attempt("failed", { reason: "user_busy", retries })], now);
    assert.deepEqual(after(0), { do: "attempt", retries: 1, dueAt: later(5) });
    assert.deepEqual(after(1), { do: "attempt", retries: 2, dueAt: later(15) });
    assert.deepEqual(after(2), { do: "attempt", retries: 3, dueAt: later(60) });
    assert.deepEqual(after(3), { do: "move", on: "fax_failed", reason: "the line was busy (after 4 attempts)" });
  });

  test("any other failure, and an unknown one, leads to none", () => {
    for (const [reason, words] of [
      ["receiver_unallocated_number", "the number is not in use"],
      ["something_new", "something_new"],
      [null, "Telnyx gave no reason"],
    ] as const) {
      assert.equal(isPassing(reason), false);
      assert.equal(reasonWords(reason), words);
      assert.deepEqual(decide("FaxSent", [attempt("failed", { reason })], now), {
        do: "move",
        on: "fax_failed",
        reason: words,
      });
    }
    assert.equal(reasonWords("constructor"), "constructor");
  });

  test("an attempt is sent when it is due, and only for an order that is faxed", () => {
    assert.deepEqual(decide("FaxPending", [attempt("waiting")], now), { do: "send" });
    assert.equal(decide("FaxSent", [attempt("waiting", { dueAt: later(1) })], now), null);
    assert.equal(decide("OnHold", [attempt("waiting")], now), null);
    assert.deepEqual(decide("RefundPending", [attempt("waiting")], now), { do: "withdraw" });
  });

  test("a fax in progress is canceled when the order is held or refunded, and sent again after the hold", () => {
    for (const status of ["OnHold", "RefundPending"] as const)
      assert.deepEqual(decide(status, [attempt("sending")], now), { do: "cancel" });
    assert.deepEqual(
      decide("OnHold", [attempt("sending", { isCanceled: true })], now),
      { do: "cancel" },
      "until it is",
    );
    const canceled = attempt("failed", { reason: "sender_canceled", isCanceled: true });
    assert.equal(decide("OnHold", [canceled], now), null);
    assert.deepEqual(decide("FaxSent", [canceled], now), { do: "attempt", retries: 0, dueAt: now });
    assert.equal(decide("FaxSent", [{ ...canceled, isCanceled: false }], now)?.do, "move", "by somebody else");
  });

  test("an order whose fax failed before its request was answered counts as faxed", () => {
    for (const state of ["queued", "sending", "failed"] as const) {
      const out = attempt(state, { reason: "user_busy" });
      assert.deepEqual(decide("FaxPending", [out], now), { do: "move", on: "fax_sent" }, state);
      assert.notDeepEqual(decide("FaxSent", [out], now), { do: "move", on: "fax_sent" }, state);
    }
    const canceled = attempt("failed", { reason: "sender_canceled", isCanceled: true });
    assert.equal(decide("FaxPending", [canceled], now)?.do, "attempt");
  });

  test("a failure that already made the order fail has no further effect, and a fax that was never sent becomes a person's task", () => {
    for (const state of ["failed", "refused"] as const)
      for (const status of ["FaxPending", "FaxSent"] as const)
        assert.equal(decide(status, [attempt(state, { reason: "user_busy", isSettled: true })], now), null);
    for (const state of ["refused", "withdrawn"] as const)
      assert.equal(decide("FaxPending", [attempt(state)], now), null);
    assert.deepEqual(decide("FaxSent", [attempt("withdrawn")], now), { do: "attempt", retries: 0, dueAt: now });
  });

  test("nothing is sent for an order that a person faxed", () => {
    assert.deepEqual(decide("FaxedByHand", [attempt("waiting")], now), { do: "withdraw" });
    assert.equal(decide("FaxedByHand", [attempt("withdrawn")], now), null);
    assert.deepEqual(decide("FaxedByHand", [attempt("queued")], now), { do: "cancel" });
  });

  test("nothing is ever sent while a fax is in progress, and nothing after a delivered one", () => {
    const states = fc.constantFrom<FaxState>(
      "waiting",
      "withdrawn",
      "refused",
      "queued",
      "sending",
      "failed",
      "delivered",
    );
    const attempts = fc.array(
      fc.record({ state: states, reason: fc.constantFrom("user_busy", "x", null), retries: fc.nat(4) }),
      { minLength: 1 },
    );
    const statuses = fc.constantFrom("FaxPending", "FaxSent", "OnHold", "FaxDelivered", "FaxFailed", "Refunded");
    fc.assert(
      fc.property(statuses, attempts, (status, made) => {
        const rows = made.map(({ state, ...more }) => attempt(state, more));
        const step = decide(status, rows, now);
        if (step?.do !== "send" && step?.do !== "attempt") return;
        assert.ok(status === "FaxPending" || status === "FaxSent");
        assert.ok(!rows.some(({ state }) => state === "delivered"));
        assert.ok(!isUnderWay(rows.at(-1)?.state ?? "queued"));
      }),
      { numRuns: runs },
    );
  });
});
