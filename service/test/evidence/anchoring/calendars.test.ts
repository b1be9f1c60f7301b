import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { after, test } from "node:test";
import { EvidenceError } from "@signsealship/evidence/errors";
import { parseDetached, verifyOts } from "@signsealship/evidence/ots";
import { type CalendarMode, startCalendar } from "@signsealship/testing/doubles/calendar";
import { python } from "@signsealship/testing/tools/python";
import { needs } from "@signsealship/testing/tools/tools";
import { bitcoinHeights, pendingAttestations } from "../../../src/evidence/anchoring/attestations.ts";
import {
  type CalendarRefusal,
  type CalendarsDeps,
  createCalendarSubmission,
} from "../../../src/evidence/anchoring/calendars.ts";
import { upgradeProof } from "../../../src/evidence/anchoring/upgrade-proof.ts";

const [first, second] = [await startCalendar(), await startCalendar()];
const aggregator = await startCalendar({ uri: "https://alice.btc.calendar.opentimestamps.org" });
const stranger = await startCalendar({ uri: "https://calendar.example" });
const all = [first, second, aggregator, stranger];
after(() => Promise.all(all.map((calendar) => calendar.close())));

const digest = createHash("sha256").update("a sealed document").digest();
const urls = [first.url, second.url];

function client(settings: Partial<CalendarsDeps> = {}) {
  const refusals: CalendarRefusal[] = [];
  const submit = createCalendarSubmission({
    calendars: urls,
    fetch,
    clock: () => new Date(),
    onRefusal: (refusal) => refusals.push(refusal),
    ...settings,
  });
  return { submit, refusals };
}

function orderAll(mode: CalendarMode): void {
  for (const calendar of all) calendar.order(mode);
}

test("submits the digest itself to every calendar and merges their attestations into one proof of it", async () => {
  orderAll("proper");
  const { submit, refusals } = client();
  const outcome = await submit(digest);
  assert.ok(outcome);
  assert.deepEqual(refusals, []);
  assert.deepEqual(outcome.calendars, urls);
  for (const calendar of [first, second]) assert.deepEqual(calendar.submitted.at(-1), digest.toString("hex"));
  const proof = parseDetached(outcome.proof);
  assert.deepEqual(proof.digest, new Uint8Array(digest));
  assert.deepEqual((await pendingAttestations(proof)).map((each) => each.calendar).sort(), [...urls].sort());
});

const foreignReader = `
import sys, binascii
from opentimestamps.core.serialize import BytesDeserializationContext
from opentimestamps.core.timestamp import DetachedTimestampFile
detached = DetachedTimestampFile.deserialize(BytesDeserializationContext(sys.stdin.buffer.read()))
print(binascii.hexlify(detached.file_digest).decode())
for message, attestation in detached.timestamp.all_attestations():
    print(type(attestation).__name__)
`;

test(
  "the reference library reads every branch of the proof, before and after blocks",
  needs("opentimestamps"),
  async () => {
    orderAll("proper");
    const outcome = await client().submit(digest);
    assert.ok(outcome);
    const read = (proof: Uint8Array) =>
      execFileSync(python, ["-c", foreignReader], { input: proof }).toString().trim().split("\n").sort();
    assert.deepEqual(read(outcome.proof), ["PendingAttestation", "PendingAttestation", digest.toString("hex")].sort());
    first.mine();
    second.mine();
    const { proof } = await upgradeProof({ calendars: urls, fetch }, outcome.proof);
    const kinds = [
      "BitcoinBlockHeaderAttestation",
      "BitcoinBlockHeaderAttestation",
      "PendingAttestation",
      "PendingAttestation",
    ];
    assert.deepEqual(read(proof), [...kinds, digest.toString("hex")].sort());
  },
);

const failures: readonly [CalendarMode, RegExp][] = [
  ["server-error", /HTTP status 500/],
  ["redirect", /HTTP status 302/],
  ["hang-up", /./],
  ["garbage", /can't be read/],
  ["trailing-bytes", /can't be read/],
  ["oversize", /longer than 10000 bytes/],
  ["only-unknown", /attests nothing/],
];

for (const [mode, why] of failures) {
  test(`a calendar that is ${mode} is reported and costs only its own branch`, async () => {
    first.order(mode);
    second.order("proper");
    const { submit, refusals } = client();
    const outcome = await submit(digest);
    assert.deepEqual(outcome?.calendars, [second.url]);
    assert.deepEqual(
      refusals.map((refusal) => refusal.calendar),
      [first.url],
    );
    assert.match(refusals[0]?.why ?? "", why);
  });
}

test("a slow calendar is awaited only until its time-out", async () => {
  first.order("slow");
  second.order("proper");
  const { submit, refusals } = client({ timeoutMs: 100 });
  assert.deepEqual((await submit(digest))?.calendars, [second.url]);
  assert.match(refusals[0]?.why ?? "", /no answer within 100 ms/);
});

test("returns null when no calendar accepts the digest, and when there is none", async () => {
  orderAll("server-error");
  assert.equal(await client().submit(digest), null);
  assert.equal(await client({ calendars: [] }).submit(digest), null);
});

test("skips a calendar that failed three times in a row until the cool-down is over", async () => {
  let now = 0;
  first.order("server-error");
  second.order("proper");
  const { submit } = client({ clock: () => new Date(now) });
  const before = first.requests.length;
  for (let i = 0; i < 5; i++) await submit(digest);
  assert.equal(first.requests.length - before, 3);
  now += 60_000;
  first.order("proper");
  assert.deepEqual((await submit(digest))?.calendars, urls);
});

async function submitted(calendars: readonly string[] = urls): Promise<Uint8Array> {
  orderAll("proper");
  const outcome = await client({ calendars }).submit(digest);
  assert.ok(outcome);
  return outcome.proof;
}

test("a proof that waits for its block stays unchanged", async () => {
  const proof = await submitted();
  const upgrade = await upgradeProof({ calendars: urls, fetch }, proof);
  assert.deepEqual(
    upgrade.attestations.map((each) => each.state),
    ["pending", "pending"],
  );
  assert.equal(upgrade.changed, false);
  assert.equal(upgrade.proof, proof);
});

test("a block is merged in, and the evidence package verifies the proof against its header", async () => {
  const proof = await submitted();
  const block = first.mine();
  const upgrade = await upgradeProof({ calendars: urls, fetch }, proof);
  assert.equal(upgrade.changed, true);
  const confirmed = upgrade.attestations.find((each) => each.calendar === first.url);
  assert.deepEqual(confirmed && "height" in confirmed && confirmed.height, block.height);
  assert.equal(upgrade.attestations.find((each) => each.calendar === second.url)?.state, "pending");
  assert.deepEqual(bitcoinHeights(parseDetached(upgrade.proof).timestamp), [block.height]);
  const headers = new Map([[block.height, block.header]]);
  const claims = await verifyOts({ proof: upgrade.proof, digest, headers });
  assert.equal(claims.find((claim) => claim.name === "ots.bitcoin")?.state, "holds");
});

test("a confirmed attestation is not requested again", async () => {
  const proof = await submitted();
  first.mine();
  second.mine();
  const once = await upgradeProof({ calendars: urls, fetch }, proof);
  const before = first.requests.length + second.requests.length;
  const twice = await upgradeProof({ calendars: urls, fetch }, once.proof);
  assert.equal(first.requests.length + second.requests.length, before);
  assert.equal(twice.changed, false);
  assert.deepEqual(twice.attestations, once.attestations);
});

test("a calendar that has lost a digest is reported, and the other calendar's block is kept", async () => {
  const proof = await submitted();
  first.mine();
  second.mine();
  first.order("forgets");
  const upgrade = await upgradeProof({ calendars: urls, fetch }, proof);
  const states = new Map(upgrade.attestations.map((each) => [each.calendar, each.state]));
  assert.equal(states.get(first.url), "forgotten");
  assert.equal(states.get(second.url), "confirmed");
});

for (const [mode, why] of failures.filter(([mode]) => mode !== "trailing-bytes" && mode !== "only-unknown")) {
  test(`a calendar that is ${mode} at a later request leaves the proof unchanged`, async () => {
    const proof = await submitted([first.url]);
    first.order(mode);
    const upgrade = await upgradeProof({ calendars: urls, fetch, timeoutMs: 1_000 }, proof);
    const [each] = upgrade.attestations;
    assert.equal(each?.state, "failed");
    assert.match(each && "why" in each ? each.why : "", why);
    assert.equal(upgrade.proof, proof);
  });
}

test("a public calendar behind an aggregator is asked under its own name", async () => {
  const proof = await submitted([aggregator.url]);
  aggregator.mine();
  const asked: string[] = [];
  const routed = (url: string, init: RequestInit) => {
    asked.push(url);
    return fetch(url.replace("https://alice.btc.calendar.opentimestamps.org", aggregator.url), init);
  };
  const upgrade = await upgradeProof({ calendars: [aggregator.url], fetch: routed }, proof);
  assert.equal(upgrade.attestations[0]?.state, "confirmed");
  assert.match(asked[0] ?? "", /^https:\/\/alice\.btc\.calendar\.opentimestamps\.org\/timestamp\/[0-9a-f]{88}$/);
});

test("a calendar that only the proof names is never asked", async () => {
  const proof = await submitted([stranger.url]);
  const upgrade = await upgradeProof({ calendars: [stranger.url], fetch: () => assert.fail("asked") }, proof);
  assert.equal(upgrade.attestations[0]?.state, "unlisted");
});

test("throws for a proof that can't be read", async () => {
  await assert.rejects(upgradeProof({ calendars: urls, fetch }, Buffer.from("no proof")), EvidenceError);
});
