import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { startWitness } from "@signsealship/testing/doubles/witness";
import { forTests } from "@signsealship/testing/for-tests";
import { openHarness } from "@signsealship/testing/harness";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { newPartner, temporaryFolder } from "@signsealship/testing/service";
import { until } from "@signsealship/testing/until";
import { createLogWaits } from "../../../src/evidence/transparency-log/published.ts";
import { lineState } from "../../../src/evidence/transparency-log/transparency-log.ts";
import { preferredWait } from "../../../src/kernel/http/prefer.ts";
import { sql } from "../../../src/kernel/platform/database/sql.ts";
import { logWords } from "../../../src/pages/ui/proof-record.ts";
import { fileForm, postSeal, type SealAnswer } from "../proof-passports/seal-document.ts";

const folder = await forTests(temporaryFolder());
const witness = await forTests(startWitness("one.example.com/witness"));
const policy = join(folder.path, "witnesses");
writeFileSync(policy, `witness one ${witness.key} ${witness.url}\nquorum one\n`);
const { service, db } = await forTests(openHarness({ LOG_POLICY: policy, WITNESS_INTERVAL: "1" }));
const keys = { live: await newPartner(service, { live: true }), test: await newPartner(service) };

let sealed = 0;
const seal = async (log: "live" | "test", headers: Record<string, string>) => {
  const caller = { baseUrl: service.baseUrl, headers: { ...keys[log].headers, ...headers } };
  const response = await postSeal(caller, fileForm(makePdf({ text: `Document ${sealed++}` })));
  assert.equal(response.status, 200);
  return { applied: response.headers.get("preference-applied"), answer: (await response.json()) as SealAnswer };
};

test("reads the first wait that a caller prefers, up to ten seconds, and nothing else", () => {
  const cases = {
    "wait=3": 3,
    "wait=11": 10,
    "wait=0": 0,
    "respond-async, WAIT = 5; x": 5,
    "wait=2, wait=9": 2,
    'wait="4"': 4,
    "wait=-1": null,
    "wait=1.5": null,
    "wait=": null,
    waiting: null,
  };
  for (const [prefer, seconds] of Object.entries(cases))
    assert.equal(preferredWait({ headers: { prefer } }), seconds, prefer);
  assert.equal(preferredWait({ headers: {} }), null);
});

test("answers at once without the header, and with it once the log has the seal", async () => {
  const plain = await seal("test", {});
  assert.deepEqual([plain.applied, plain.answer.log.state], [null, "queued"]);
  const waited = await seal("test", { prefer: "wait=10" });
  assert.deepEqual([waited.applied, waited.answer.log.state], ["wait=10", "logged"]);
});

test("waits for the witnesses of the live log, at most as long as requested", async () => {
  await seal("live", { prefer: "wait=10" });
  const { answer } = await seal("live", { prefer: "wait=10" });
  assert.equal(answer.log.state, "witnessed");
  witness.order("server-error");
  const late = await seal("live", { prefer: "wait=1" });
  witness.order("proper");
  assert.deepEqual([late.applied, ["queued", "logged"].includes(late.answer.log.state)], ["wait=1", true]);
});

test("answers at once, without applying the wait, when a firm or all firms have too many waiting requests", async () => {
  const waits = createLogWaits({ ofFirm: 1, inAll: 2 });
  let isGone = false;
  const applied: string[] = [];
  const line = { db, log: "test", entry: { kind: "seal/v1", sealedSha256: "f".repeat(64) } } as const;
  const ask = (partnerId: string) =>
    waits(line, partnerId, () => {
      applied.push(partnerId);
      return { seconds: 10, isGone: () => isGone };
    });
  const waiting = [ask("acme"), ask("other")];
  assert.deepEqual(await Promise.all([ask("acme"), ask("third")]), [null, null]);
  assert.equal(await waits(line, "third", () => null), null);
  assert.deepEqual(applied, ["acme", "other"]);
  isGone = true;
  assert.deepEqual(await Promise.all(waiting), ["queued", "queued"]);
  assert.equal(await ask("third"), "queued");
});

test("reports how many of the log's witnesses cosigned a line", () => {
  const words = (cosignatures: number, witnesses: number) => logWords({ state: "logged", cosignatures, witnesses });
  assert.match(words(2, 3), / 2 of 3 independent witnesses signed/);
  assert.match(words(3, 3), / 3 independent witnesses signed/);
  assert.match(words(1, 1), / 1 independent witness signed/);
  assert.doesNotMatch(words(0, 3), /witness/);
});

test("shows on the page of a closing how far its version is", async () => {
  const room = await fetch(`${service.baseUrl}/api/rooms`, {
    method: "POST",
    headers: { ...keys.test.headers, "content-type": "application/json" },
    body: JSON.stringify({ name: "12 Elm Street" }),
  });
  const { roomCode } = (await room.json()) as { roomCode: string };
  const headers = { ...keys.test.headers, prefer: "wait=10" };
  const sealing = await fetch(`${service.baseUrl}/api/rooms/${roomCode}/passport`, { method: "POST", headers });
  const { verifyUrl, log } = (await sealing.json()) as { verifyUrl: string; log: { state: string } };
  assert.equal(log.state, "logged");
  const page = await fetch(`${service.baseUrl}${verifyUrl}`, { headers: { accept: "text/html" } });
  assert.match(await page.text(), /Transparency log.*Entered in a public list that nobody can change unseen\./s);
});

test("stores the answer for a repeated request, which shows the present state when it waits", async () => {
  const headers = { "idempotency-key": "a-seal-that-waits" };
  const body = () => fileForm(makePdf({ text: "Once" }));
  const caller = { baseUrl: service.baseUrl, headers: { ...keys.test.headers, ...headers } };
  const first = (await (await postSeal(caller, body())).json()) as SealAnswer;
  const waiting = { ...caller, headers: { ...caller.headers, prefer: "wait=10" } };
  const again = (await (await postSeal(waiting, body())).json()) as SealAnswer;
  assert.deepEqual(again, { ...first, log: { ...first.log, state: "logged" } });
  assert.deepEqual(await (await postSeal(caller, body())).json(), first);
});

test("shows on the page how far a seal is", async () => {
  const { answer } = await seal("live", { prefer: "wait=10" });
  const page = async () =>
    (await fetch(`${service.baseUrl}/verify/${answer.verifyCode}`, { headers: { accept: "text/html" } })).text();
  await until(async () => (await page()).includes("1 independent witness signed that they saw it there."));
  const entry = { kind: "seal/v1", sealedSha256: answer.sealedSha256 } as const;
  assert.equal((await lineState(db, "live", entry)).state, "witnessed");
  await db.query(sql`
    INSERT INTO log_anchors (log, size, source, chosen_at, status, proof, anchored_at)
    SELECT 'live', max(size), 'https://one.example', now(), 'stamped', '\\x00', now() FROM log_checkpoints WHERE log = 'live'`);
  assert.equal((await lineState(db, "live", entry)).state, "anchored");
  assert.match(await page(), /and anchored: independent parties confirmed when\./);
  const unknown = { kind: "seal/v1", sealedSha256: "0".repeat(64) } as const;
  assert.equal((await lineState(db, "live", unknown)).state, "queued");
});
