import assert from "node:assert/strict";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { openRowMac } from "../../../../src/kernel/platform/row-mac.ts";
import { secretBytes } from "../../../../src/kernel/platform/secrets.ts";
import { nextEntry } from "../../../../src/signing/notaries/acts/entry.ts";
import { journalMembers, rowsFault } from "../../../../src/signing/notaries/acts/journal.ts";
import type { Commission } from "../../../../src/signing/notaries/commissions/commission.ts";
import { outsideOf } from "../../../../src/signing/notaries/desk/act-checks.ts";
import { readTypedChange, typedRules } from "../../../../src/signing/notaries/eligibility/changes/typed.ts";
import { eligibilityFor } from "../../../../src/signing/notaries/eligibility/eligible.ts";
import {
  loadNotaryRules,
  parseNotaryRules,
  parseStateRules,
  rulesText,
} from "../../../../src/signing/notaries/eligibility/rules.ts";
import { formReader } from "../../../../src/signing/notaries/form-reader.ts";
import { blockLines } from "../../../../src/signing/notaries/signing/block.ts";

const shipped = loadNotaryRules(fileURLToPath(new URL("../../../../data/notarization-rules.yaml", import.meta.url)));

const commission: Commission = {
  commissionName: "Nora Ames",
  state: "OH",
  county: "Franklin",
  commissionNumber: "1",
  commissionStarts: null,
  commissionExpires: "2030-01-31",
  ronRegistration: "R",
  ronStarts: null,
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

test("every shipped value states its day and source; an unknown state offers only paper", () => {
  assert.deepEqual(shipped.of("WY").modes.value, ["ink"]);
  assert.deepEqual(shipped.of("SC").modes.value, ["ipen", "ink"]);
  assert.match(shipped.of("OH").sentences.ron?.value[0] ?? "", /appearing online using audio-video communication\.$/);
  assert.match(shipped.of("OH").modes.source, /Ohio/);
});

test("states whose law of remote acts is known offer them, and tell the notary the requirements, each with its source", () => {
  for (const [state, source, identity] of [
    ["FL", /^Fla\. Stat\. 117\.201/, /credential analysis and identity proofing/],
    ["HI", /456-23/, /two different types/],
    ["IA", /9B\.14A/, /two different types/],
    ["NV", /^NRS 240\.1995/, /knowledge-based/],
    ["OR", /160-100-0805/, /knowledge-based/],
    ["PA", /306\.1/, /two different types/],
    ["TX", /^1 TAC 87/, /5 questions/],
    ["VA", /HB 2064/, /two of: credential analysis/],
  ] as const) {
    const { modes, terms } = shipped.of(state);
    assert.deepEqual(modes.value, ["ron", "ink"], state);
    assert.match(modes.source, source);
    assert.match(terms.identity?.value ?? "", identity);
    for (const term of Object.values(terms)) assert.match(`${term.asOf} ${term.source}`, /^20\d\d-\d\d-\d\d \S/, state);
  }
});

const nora = { ...commission, id: "n", operatorId: "o", operatorName: "Nora", email: "nora@example.com" };
const known = { basis: "personal_knowledge", credential: null } as const;
const passport = {
  basis: "credential",
  credential: { type: "U.S. passport", issuer: "US", issuedOn: "", expiresOn: "", resultReference: null, last4: null },
} as const;

function linesOf(state: string, about: Partial<Parameters<typeof blockLines>[0]["act"]>, zone: string | null = null) {
  const venue = { state, county: "Franklin" };
  const act = { act: "acknowledgment", mode: "ron", venue, startedAt: "2026-11-27T02:30:00Z" } as const;
  const principals = [{ name: "Ann Lee", ...known }];
  return blockLines({ act: { ...act, principals, ...about }, notary: nora, rules: shipped.of(state), zone });
}

test("a block has the words of the state's own certificate, by act and mode, with the date at the notary's place, names and identity", () => {
  assert.deepEqual(linesOf("OH", { act: "jurat", mode: "ipen" }, "America/New_York").slice(0, 3), [
    "State of Ohio, County of Franklin",
    "Sworn to or affirmed and subscribed before me by Ann Lee this date of November 26, 2026.",
    "This certificate pertains to an electronic notarial act performed with the principal(s) in my physical presence",
  ]);
  const two = [
    { name: "Ann Lee", ...known },
    { name: "Bo Roe", ...passport },
  ];
  const florida = linesOf("FL", { principals: two }, "America/New_York").join("\n");
  assert.match(
    florida,
    /acknowledged before me by means of online notarization, this November 26, 2026, by Ann Lee and Bo Roe /,
  );
  assert.match(florida, /\(Ann Lee: personally known; Bo Roe: produced identification: U\.S\. passport\)/);
  assert.match(linesOf("FL", { mode: "ipen" }).join(" "), /by means of physical presence/);
  assert.match(linesOf("TX", {}).join(" "), /by Ann Lee\. This notarization is an online notarization\./);
  assert.match(linesOf("PA", {}).join(" "), /This notarial act involved the use of communication technology\./);
  // Without the notary's time zone, the local day may differ, so the block names UTC.
  assert.match(linesOf("IA", {}).join(" "), /acknowledged before me on November 27, 2026 \(UTC\) by Ann Lee/);
});

test("if a state's words are unknown, a block has the facts of the act and no wording", () => {
  const [, facts, ...rest] = linesOf("VA", {}, "America/New_York");
  assert.equal(facts, "Acknowledgment, by audio and video, on November 26, 2026: Ann Lee");
  assert.doesNotMatch(rest.join(" "), /before me/);
  assert.match(linesOf("TX", { act: "jurat" }).join(" "), /Jurat, by audio and video/);
});

test("the words of a certificate are refused without their slots, with an unknown slot, for an unknown mode and when empty", () => {
  const file = (certificates: string) =>
    `classes: {}\ndefault: {modes: {value: [ink], asOf: 2026-01-01, source: s}, acts: {value: [jurat], asOf: 2026-01-01, source: s}}\nstates: {OH: {certificates: ${certificates}}}`;
  const refusal = (certificates: string) => {
    try {
      parseNotaryRules(file(certificates), "rules.yaml");
      return "none";
    } catch (error) {
      return (error as Error).message;
    }
  };
  const jurat = (value: string) => `{jurat: {value: ${value}, asOf: 2026-01-01, source: s}}`;
  assert.equal(refusal(jurat('{ron: "On {date} by {names}."}')), "none");
  assert.match(refusal(jurat('{ron: "On {date}."}')), /must have \{names\}/);
  assert.match(refusal(jurat('{ron: "By {names}."}')), /must have \{date\}/);
  assert.match(refusal(jurat('{ron: "On {date} by {names} {seal}."}')), /\{seal\}, which is not one of the slots/);
  assert.match(refusal(jurat('{ron: "On {date} by {names} {"}')), /not one of the slots/);
  assert.match(refusal(jurat('{ink: "On {date} by {names}."}')), /ink/);
  assert.match(refusal(jurat("{}")), /must have words for one of ron, ipen/);
  assert.match(refusal("{blessing: {value: {}, asOf: 2026-01-01, source: s}}"), /blessing/);
});

test("the form of a change shows the words of certificates, keeps unchanged ones, and names the faults of others", () => {
  const rules = shipped.of("FL");
  const typed = {
    ...typedRules(rules),
    source_url: "https://law.example/1",
    read_on: "2026-06-01",
    effective_on: "2026-06-01",
  };
  const before = { rules, classes: shipped.classes, today: "2026-06-01" };
  const same = readTypedChange(typed, before);
  assert.ok("value" in same);
  assert.deepEqual(same.value.rules.certificates, rules.certificates);
  assert.deepEqual(parseStateRules(rulesText(same.value.rules), "v1", shipped).certificates, rules.certificates);
  const changed = readTypedChange({ ...typed, certificate_jurat_ron: "Sworn on {date} by {names}." }, before);
  assert.ok("value" in changed);
  assert.deepEqual(
    [changed.value.rules.certificates.jurat?.value.ron, changed.value.rules.certificates.jurat?.source],
    ["Sworn on {date} by {names}.", "https://law.example/1"],
  );
  const wrong = readTypedChange({ ...typed, certificate_oath_ipen: "Sworn by {names}." }, before);
  assert.ok("faults" in wrong);
  assert.equal(wrong.faults["certificate_oath_ipen"], "must have {date}");
});

test("without a valid certificate, registration or commission, the acts that need them are unavailable, and the desk states the reason", () => {
  const { modes, obstacles } = modesOf({});
  assert.deepEqual(modes, ["ink"]);
  assert.match(obstacles.join(" "), /by audio and video \(RON\): No certificate is registered/);
  assert.deepEqual(modesOf({}, {}, new Date("2030-02-01T00:00:00Z")).modes, []);
  assert.deepEqual(modesOf({}, {}, new Date("2030-01-31T23:59:59Z")).modes, ["ink"]);
  assert.deepEqual(modesOf({ status: "suspended" }).modes, []);
});

test("before the first day of the commission no act is available; before that of the registration only acts in person are", () => {
  const before = (change: Partial<Commission>, at: string) => modesOf(change, {}, new Date(at));
  // Until 10:00 UTC, it is still the day before in Hawaii.
  const early = before({ commissionStarts: "2026-06-02" }, "2026-06-02T09:59:59Z");
  assert.deepEqual(early.modes, []);
  assert.match(early.obstacles.join(" "), /Not in person, in ink: Your commission begins on 2026-06-02\./);
  assert.deepEqual(before({ commissionStarts: "2026-06-02" }, "2026-06-02T10:00:00Z").modes, ["ink"]);
  const unregistered = before({ ronStarts: "2026-06-02" }, "2026-06-02T09:59:59Z");
  assert.deepEqual(unregistered.modes, ["ink"]);
  assert.match(unregistered.obstacles.join(" "), /\(RON\): Your registration for remote acts begins on 2026-06-02\./);
  assert.doesNotMatch(modesOf({ ronStarts: "2026-05-31" }).obstacles.join(" "), /begins/);
});

test("a document of an excluded class, and a signer in a state that does not recognize remote acts, leave only acts in person", () => {
  const deed = modesOf({ state: "CT" }, { docSlug: "quitclaim-deed" });
  assert.match(deed.obstacles.join(" "), /CT excludes documents of the class real_estate/);
  assert.match(modesOf({}, { signerState: "SC" }).obstacles.join(" "), /SC, where the signer is, does not recognize/);
});

test("if a state excludes documents from remote acts, the notary is asked about one of unknown class, and not about others", () => {
  const unclassed = (state: string, docSlug: string | null) =>
    eligibilityFor(
      { rules: shipped, notarizationBlocked: () => false },
      { ...commission, state },
      { docSlug, signerState: null },
      now,
    ).unclassed;
  assert.deepEqual(unclassed("LA", null), ["will"]);
  assert.deepEqual(unclassed("LA", "affidavit"), ["will"]);
  assert.deepEqual(unclassed("LA", "quitclaim-deed"), []);
  assert.deepEqual(unclassed("MO", null), []);
});

const noted = { mode: "ron", startedAt: "2026-01-15T14:05:00.000Z", endedAt: "2026-01-15T14:35:00.000Z" } as const;

test("an act is within the known days of the commission, and of the registration if it is remote", () => {
  for (const [change, problem] of [
    [{}, null],
    [{ commissionStarts: "2026-01-15", commissionExpires: "2026-01-15", ronExpires: "2026-01-15" }, null],
    [{ commissionStarts: "2026-01-16" }, "started_at must not be before your commission began, on 2026-01-16."],
    [{ commissionExpires: "2026-01-14" }, "ended_at must not be after your commission expired, on 2026-01-14."],
    [
      { ronStarts: "2026-01-16" },
      "started_at must not be before your registration for remote acts began, on 2026-01-16.",
    ],
    [
      { ronExpires: "2026-01-14" },
      "ended_at must not be after your registration for remote acts expired, on 2026-01-14.",
    ],
  ] as const)
    assert.equal(outsideOf({ ...commission, ...change }, noted), problem);
  assert.equal(outsideOf({ ...commission, ronExpires: "2026-01-14" }, { ...noted, mode: "ink" }), null);
  const first = { ...commission, commissionStarts: "2026-01-15" };
  assert.match(outsideOf(first, { ...noted, startedAt: "2026-01-15T09:59:59.000Z" }) ?? "", /commission began/);
  assert.equal(outsideOf(first, { ...noted, startedAt: "2026-01-15T10:00:00.000Z" }), null);
});

test("a form accepts existing days and times, from 1900 to 2200", () => {
  const faultOf = (kind: "date" | "instant", value: string) => {
    const read = formReader({ value });
    read[kind]("value");
    return !read.done(null).ok;
  };
  for (const day of ["1900-01-01", "2024-02-29", "2200-12-31"]) {
    assert.equal(faultOf("date", day), false, day);
    assert.equal(faultOf("instant", `${day}T23:59`), false, day);
  }
  for (const day of [
    "0000-01-01",
    "1899-12-31",
    "2201-01-01",
    "9999-12-31",
    "2026-02-29",
    "2026-02-31",
    "2026-13-01",
  ]) {
    assert.equal(faultOf("date", day), true, day);
    assert.equal(faultOf("instant", `${day}T10:00`), true, day);
  }
  for (const time of ["24:00", "23:60", "10:00:61"]) assert.equal(faultOf("instant", `2026-01-31T${time}`), true, time);
});

test("a journal whose record was altered, with its hash and MAC unchanged, is detected", () => {
  const rowMac = openRowMac(secretBytes(Buffer.alloc(32, 7)));
  const frame = { journal: "j", notary: commission, orderCode: "c", environment: "test", at: now } as const;
  const refusal = { kind: "refusal", reason: "no_show", words: "x", act: null } as const;
  const first = nextEntry(undefined, frame, refusal);
  const rows = [first, nextEntry(first, frame, refusal)].map((entry) => ({
    ...entry,
    orderId: 1,
    corrects: null,
    mac: rowMac.of("notary_journal", journalMembers({ notaryId: "j", ...entry })),
  }));
  assert.equal(rowsFault(rowMac, "j", rows), null);
  for (const record of [first.record.replace('"x"', '"y"'), "{"]) {
    const altered = rows.map((row, index) => (index === 0 ? { ...row, record } : row));
    assert.match(rowsFault(rowMac, "j", altered) ?? "", /Entry 1 of the journal/);
  }
  assert.match(rowsFault(rowMac, "j", rows.slice(1)) ?? "", /Entry 1 of the journal/);
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

const typedChange = (change: Record<string, string>) => ({
  ...typedRules(shipped.of("TX")),
  source_url: "https://law.example/1",
  read_on: "2026-06-01",
  effective_on: "2026-06-01",
  ...change,
});
const readChangeOf = (change: Record<string, string>) =>
  readTypedChange(typedChange(change), { rules: shipped.of("TX"), classes: shipped.classes, today: "2026-06-01" });

test("values of online acts are typed as the form writes them, and unchanged ones keep their source", () => {
  const read = readChangeOf({ online_proofing: "kba\r\ncredential_analysis + biometric", online_restart: "identity" });
  assert.ok(read.ok);
  const { online } = parseStateRules(rulesText(read.value.rules), "typed", shipped);
  assert.deepEqual(online.proofing?.value, [["kba"], ["credential_analysis", "biometric"]]);
  assert.equal(online.proofing?.source, "https://law.example/1");
  assert.deepEqual(online.kba, shipped.of("TX").online.kba);
  assert.equal(online.restart?.value, "identity");
  const cleared = readChangeOf({
    online_kba: "",
    online_platformConfirmed: "2026-05-01 filing 4711",
    online_signerAbroad: "no",
  });
  assert.ok(cleared.ok);
  assert.equal(cleared.value.rules.online.kba, undefined);
  assert.deepEqual(cleared.value.rules.online.platformConfirmed?.value, { on: "2026-05-01", reference: "filing 4711" });
  assert.equal(cleared.value.rules.online.signerAbroad?.value, false);
});

test("a malformed value is refused with its required form", () => {
  const faultOf = (name: string, value: string) => {
    const read = readChangeOf({ [name]: value });
    assert.ok(!read.ok, `${name}: ${value}`);
    return read.faults[name];
  };
  for (const value of ["selfie", "kba + ", "kba + kba", "kba, biometric"])
    assert.match(faultOf("online_proofing", value) ?? "", /must be in this form: One a line/);
  for (const value of ["5", "questions 5, choices 5, percent 180, seconds 120, retakes 1, hours 24, renewed 60"])
    assert.match(faultOf("online_kba", value) ?? "", /must be in this form: Such as/);
  assert.match(faultOf("online_recordingYears", "ten") ?? "", /whole number up to 100/);
  assert.match(faultOf("online_restart", "never") ?? "", /must be one of act, identity, resume/);
  assert.match(faultOf("online_platformConfirmed", "2026-02-31 filing") ?? "", /It counts for a year/);
  const file = (online: string) => () =>
    parseStateRules(`online: { ${online}: { value: [], asOf: 2026-01-01, source: x } }`, "rules.yaml", shipped);
  assert.throws(file("proofing"), /online\.proofing\.value must name at least one alternative/);
  assert.throws(file("selfie"), /online\.selfie/);
});
