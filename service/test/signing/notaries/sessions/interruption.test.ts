import assert from "node:assert/strict";
import { test } from "node:test";
import { isBroken, phaseOf, restartAfter } from "../../../../src/signing/notaries/sessions/interruption.ts";
import { liveGap } from "../../../../src/signing/notaries/sessions/offered.ts";

const known = <T>(value: T) => ({ value, asOf: "2026-11-26", source: "made up" });
const minutes = 60_000;

test("nobody can sign after 3 seconds without packets, and after 12 seconds a person is away", () => {
  assert.deepEqual([0, 2_999, 3_000, 11_999, 12_000].map(phaseOf), ["here", "here", "frozen", "frozen", "away"]);
});

test("a short gap changes nothing; after a longer one the act begins again, unless the state is known to allow it", () => {
  assert.equal(restartAfter(11_999, {}), null);
  assert.equal(restartAfter(12_000, {}), "act");
  assert.equal(restartAfter(12_000, { resumeSeconds: known(60) }), null);
  assert.equal(restartAfter(60_001, { resumeSeconds: known(60) }), "act");
  assert.equal(restartAfter(60_001, { resumeSeconds: known(60), restart: known("identity" as const) }), "identity");
  assert.equal(restartAfter(60_001, { restart: known("resume" as const) }), null);
});

test("a session ends after 15 minutes without the notary, 30 without a signer, and 8 hours in total", () => {
  const after = (person: string, ms: number, lasts = 0) => isBroken(new Map([[person, ms]]), lasts);
  assert.deepEqual([after("notary", 15 * minutes - 1), after("notary", 15 * minutes)], [false, true]);
  assert.deepEqual([after("signer-2", 30 * minutes - 1), after("signer-2", 30 * minutes)], [false, true]);
  assert.deepEqual([after("notary", 0, 480 * minutes - 1), after("notary", 0, 480 * minutes)], [false, true]);
});

test("a session is offered only if the state's values are known, and the operator has confirmed the state's requirement for the tool", () => {
  const none = { credentials: false, questions: false };
  const now = new Date("2026-11-26T12:00:00Z");
  const gap = (online: Parameters<typeof liveGap>[0], means = none) => liveGap(online, means, now);
  const knows = { personalKnowledge: known(true) };
  const confirmed = (on: string) => ({ platformConfirmed: known({ reference: "filing 1", on }) });
  assert.match(gap({}) ?? "", /“The tool has to be” is missing/);
  assert.match(gap({ ...knows, platform: known("approved" as const) }) ?? "", /or older than a year/);
  const approved = { ...knows, platform: known("approved" as const) };
  assert.match(gap({ ...approved, ...confirmed("2025-11-20") }) ?? "", /or older than a year/);
  assert.match(gap({ ...approved, ...confirmed("2026-12-01") }) ?? "", /or older than a year/);
  assert.equal(gap({ ...approved, ...confirmed("2026-11-01") }), null);
  assert.equal(gap({ ...knows, platform: known("none" as const) }), null);
  assert.match(gap({ platform: known("none" as const) }) ?? "", /“Ways to prove identity online” is missing/);
  const proofing = known([["credential_analysis" as const, "biometric" as const]]);
  assert.match(
    gap({ platform: known("none" as const), proofing }) ?? "",
    /a provider that checks credentials is missing/,
  );
  assert.equal(gap({ platform: known("none" as const), proofing }, { credentials: true, questions: false }), null);
  assert.match(
    gap({ ...knows, platform: known("none" as const), certificateOf: known("service" as const) }) ?? "",
    /this one has none/,
  );
});
