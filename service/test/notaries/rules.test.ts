import assert from "node:assert/strict";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import type { Commission } from "../../src/notaries/commissions/commission.ts";
import { eligibilityFor } from "../../src/notaries/eligibility/eligible.ts";
import { loadNotaryRules, parseNotaryRules } from "../../src/notaries/eligibility/rules.ts";

const shipped = loadNotaryRules(fileURLToPath(new URL("../../data/notarization-rules.yaml", import.meta.url)));

const commission: Commission = {
  commissionName: "Nora Ames",
  state: "OH",
  county: "Franklin",
  commissionNumber: "1",
  commissionExpires: "2030-01-31",
  ronRegistration: "R",
  ronExpires: "2028-01-31",
  tool: null,
  certificate: null,
  certificateChain: null,
  status: "active",
};
const order = { docSlug: null, signerState: null };
const now = new Date("2026-06-01T00:00:00Z");
const modesOf = (change: Partial<Commission>, about: Partial<typeof order> | object = {}, at = now) =>
  eligibilityFor(
    { rules: shipped, notarizationBlocked: (state) => state === "SC" },
    { ...commission, ...change },
    { ...order, ...about },
    at,
  );

test("every value that is shipped says as of when and where it was read; a state that is not known has paper alone", () => {
  assert.deepEqual(shipped.of("WY").modes.value, ["ink"]);
  assert.deepEqual(shipped.of("SC").modes.value, ["ipen", "ink"]);
  assert.match(shipped.of("OH").sentences.ron?.value[0] ?? "", /appearing online using audio-video communication\.$/);
  assert.match(shipped.of("OH").modes.source, /Ohio/);
});

test("without a certificate, a registration or a commission that counts, what needs them is not open, and the desk says why", () => {
  const { modes, obstacles } = modesOf({});
  assert.deepEqual(modes, ["ink"]);
  assert.match(obstacles.join(" "), /by audio and video \(RON\): No certificate is registered/);
  assert.deepEqual(modesOf({}, {}, new Date("2030-02-01T00:00:00Z")).modes, []);
  assert.deepEqual(modesOf({}, {}, new Date("2030-01-31T23:59:59Z")).modes, ["ink"]);
  assert.deepEqual(modesOf({ status: "suspended" }).modes, []);
});

test("a document of an excluded class, and a signer where remote acts are not recognized, leave what is done in person", () => {
  const deed = modesOf({ state: "CT" }, { docSlug: "quitclaim-deed" });
  assert.match(deed.obstacles.join(" "), /CT excludes documents of the class real_estate/);
  assert.match(modesOf({}, { signerState: "SC" }).obstacles.join(" "), /SC, where the signer is, does not recognize/);
});

const whole = (states: string) => `classes: {will: []}
default:
  modes: {value: [ink], asOf: 2026-01-01, source: x}
  acts: {value: [oath], asOf: 2026-01-01, source: x}
states:
${states}`;

for (const [states, problem] of [
  ["  XX: {}", /rules\.yaml:6: states\.XX must be the two-letter code/],
  [
    "  OH: {modes: {value: [video], asOf: 2026-01-01, source: x}}",
    /states\.OH\.modes\.value\[0\] must be one of ron, ipen/,
  ],
  ["  OH: {modes: {value: [ron], asOf: yesterday, source: x}}", /asOf must be a day/],
  ["  OH: {modes: {value: [ron], asOf: 2026-01-01}}", /must have the key source/],
  ["  OH: {modes: {value: [], asOf: 2026-01-01, source: x}}", /must name at least one/],
  ["  OH: {excluded: {value: [cars], asOf: 2026-01-01, source: x}}", /must be one of the classes \(will\)/],
  ["  OH: {fees: 3}", /fees is not a known key/],
] as const)
  test(`a file of rules is refused by line, field and rule: ${states.trim()}`, () => {
    assert.throws(() => parseNotaryRules(whole(states), "rules.yaml"), problem);
  });
