import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  isFinal,
  type LetterProgress,
  mailedAt,
  meaningOf,
  meaningOfTracking,
  stageOf,
  withHappening,
} from "../../../../src/delivery/shipping/letters/progress.ts";

const runs = Number(process.env["RUNS"] ?? 500);
const base = Date.UTC(2026, 10, 20);

const types = [
  "letter.created",
  "letter.rendered_pdf",
  "letter.mailed",
  "letter.in_transit",
  "letter.certified.mailed",
  "letter.certified.in_local_area",
  "letter.certified.re-routed",
  "letter.certified.issue",
  "letter.certified.pickup_available",
  "letter.certified.delivered",
  "letter.returned_to_sender",
  "letter.failed",
  "letter.deleted",
];

/** A linear congruential generator of whole numbers below `below`, which repeats the same numbers for the same seed. */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

type Event = { type: string; at: Date };

const after = (events: readonly Event[]): LetterProgress =>
  events.reduce<LetterProgress>((progress, { type, at }) => {
    const what = meaningOf(type);
    return what ? withHappening(progress, what, at) : progress;
  }, {});

describe("a letter's progress", () => {
  test("is the same in any order and with any repetition of its events", () => {
    for (let run = 0; run < runs; run++) {
      const below = numbers(run + 1);
      const events = Array.from({ length: 1 + below(8) }, () => ({
        type: types[below(types.length)] ?? "",
        at: new Date(base + below(1000) * 60_000),
      }));
      const shuffled = [...events, ...events.filter(() => below(2) === 0)]
        .map((event) => ({ event, key: below(1 << 30) }))
        .sort((a, b) => a.key - b.key)
        .map(({ event }) => event);
      const [one, other] = [after(events), after(shuffled)];
      const seed = `run ${run}: ${JSON.stringify(shuffled)}`;
      assert.deepEqual(other, one, seed);
      assert.equal(stageOf(other), stageOf(one), seed);
      assert.deepEqual(mailedAt(other), mailedAt(one), seed);
    }
  });

  test("never goes back, whatever follows", () => {
    const rank = ["accepted", "mailed", "delivered", "returned", "failed", "cancelled"];
    for (let run = 0; run < runs; run++) {
      const below = numbers(run + 1);
      let progress: LetterProgress = {};
      let reached = 0;
      for (let step = 0; step < 8; step++) {
        const what = meaningOf(types[below(types.length)] ?? "");
        if (what) progress = withHappening(progress, what, new Date(base + below(1000)));
        const now = rank.indexOf(stageOf(progress));
        assert.ok(now >= reached);
        reached = now;
      }
    }
  });

  const stageAfter = (...events: string[]) => stageOf(after(events.map((type) => ({ type, at: new Date(base) }))));

  test("counts as mailed after its first scan, and after any report that only the post can make", () => {
    assert.equal(stageAfter("letter.created", "letter.rendered_pdf"), "accepted");
    for (const type of ["mailed", "in_transit", "processed_for_delivery", "re-routed", "certified.issue"])
      assert.equal(stageAfter(`letter.${type}`), "mailed", type);
  });

  test("ends delivered, returned, failed or canceled", () => {
    assert.equal(stageAfter("letter.certified.delivered", "letter.certified.mailed"), "delivered");
    assert.equal(stageAfter("letter.certified.returned_to_sender"), "returned");
    assert.equal(stageAfter("letter.rejected"), "failed");
    assert.equal(stageAfter("letter.deleted"), "cancelled");
    assert.deepEqual(
      ["accepted", "mailed", "delivered"].map((stage) => isFinal(stage as "mailed")),
      [false, false, true],
    );
  });

  test("knows tracking events by the names in lists of letters", () => {
    assert.equal(meaningOfTracking("In Transit"), "mailed");
    assert.equal(meaningOfTracking("Re-Routed"), "rerouted");
    assert.equal(meaningOfTracking("Returned to Sender"), "returned");
    assert.equal(meaningOfTracking("Pickup Available"), "trouble");
    assert.equal(meaningOfTracking("constructor"), undefined);
    assert.equal(meaningOf("postcard.mailed"), undefined);
    assert.equal(meaningOf("letter.return_envelope.in_transit"), undefined);
  });
});
