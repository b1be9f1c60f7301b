import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { sourcesOf } from "../../../../testing/table-owners.ts";

/** Functions that write a MAC for the current content of a row. */
const writers = /\b(writeStateMacs|writeRoomMac|vouchForFirm|vouchForSigners|vouchForEnvelopes)\(/;

/** A read that locks rows, or a function with such a read. */
const locks = /FOR (NO KEY )?UPDATE\b|\bawait (\w+\.)?lock\w+\(/;
const changes = /\bUPDATE (?!OF\b)[\w$]/;

const ofRoom = "beginChange has locked and verified the room; triggers change its row with its orders and people";
const ofOrder = "the caller has the order from lockOrder, which locks and verifies it";
const wrapper = "its callers are checked";
const overwrites = "it overwrites all columns that the MAC covers";
/** Functions without a lock of their own, and the reason why they never write a MAC for a forged value. */
const excepted: Readonly<Record<string, string>> = {
  "closing/deliveries/code-store.ts updateCode": "the caller has the code from lockCode",
  "closing/rooms/attachments/store.ts deleteAttachment": ofRoom,
  "closing/rooms/attachments/store.ts insertAttachment": ofRoom,
  "closing/rooms/participants/store.ts markInvited": ofRoom,
  "closing/rooms/participants/store.ts markRemoved": ofRoom,
  "closing/rooms/participants/store.ts changeAddress": ofRoom,
  "closing/rooms/store.ts changeClosesOn": ofRoom,
  "closing/rooms/store.ts changeCode": ofRoom,
  "closing/rooms/store.ts changeStatus": ofRoom,
  "closing/rooms/store.ts writeRoomMac": wrapper,
  "firms/partners/firm-mac.ts vouchForFirm": wrapper,
  "kernel/platform/database/state-mac.ts writeStateMacs": wrapper,
  "orders/order/correct-order.ts moveEmail": ofOrder,
  "orders/order/correct-order.ts replaceOriginal": ofOrder,
  "orders/order/correct-order.ts setFaxTo": ofOrder,
  "orders/order/correct-order.ts setPayer": ofOrder,
  "orders/order/correct-order.ts setShipTo": ofOrder,
  "orders/order/store.ts addAdjustment": ofOrder,
  "orders/order/store.ts forgetDocumentNames": "alteredAmong of the retention plan has locked and verified the orders",
  "orders/order/store.ts markHandedIn": ofOrder,
  "orders/order/store.ts setEnvelopeStatus": ofOrder,
  "orders/order/transitions/apply.ts applyTransition": ofOrder,
  "orders/payments/records/payments.ts recordOutcome": "the same transaction has inserted the event",
  "providers/acts/store.ts updateIntent": "the caller has the intent from lockIntent",
  "signing/envelopes/records/envelope.ts endEnvelope": "the caller has the envelope from lockEnvelope",
  "signing/envelopes/records/envelope.ts vouchForEnvelopes": wrapper,
  "signing/envelopes/records/envelope.ts vouchForSigners": wrapper,
  "signing/notaries/schedule/hours-store.ts writeHours": overwrites,
  "signing/notaries/commissions/store.ts updateNotary": "the caller has the notary from lockNotary",
  "signing/notaries/schedule/queue.ts writeDuty": overwrites,
  "signing/notaries/recordings/store.ts changeRecording": "the caller has the recording from lockRecording",
  "signing/notaries/sessions/store.ts updateLive": "the caller has the session from lockLive",
};

/** The top-level declarations of a file, by name. */
const declarationsIn = (source: string): [name: string, text: string][] =>
  source.split(/^(?=(?:export )?(?:async )?(?:function|const) )/m).map((text) => {
    const [, name = ""] = /(?:function|const) (\w+)/.exec(text) ?? [];
    return [name, text];
  });

/** The functions of a file that change a row and write its MAC, without locking the row first. */
const unlockedIn = (file: string, source: string): string[] =>
  declarationsIn(source)
    .filter(
      ([, text]) => writers.test(text) && !locks.test(text) && (changes.test(text) || !/\bINSERT INTO\b/.test(text)),
    )
    .map(([name]) => `${file} ${name}`);

test("each function that writes a row's MAC again has locked and verified the row, or says why it need not", () => {
  const files = sourcesOf(join(import.meta.dirname, "../../../src"));
  const unlocked = files.flatMap(({ file, source }) => unlockedIn(file, source));
  assert.deepEqual(unlocked.sort(), Object.keys(excepted).sort());
});

const insert = "await tx.query(sql`INSERT INTO rows (id) VALUES (1)`);\n  await writeStateMacs(tx, state, which);";
const update = "await tx.query(sql`UPDATE rows SET n = 1`);\n  await writeStateMacs(tx, state, which);";
const inFunction = (body: string) => `export async function f(tx: Tx) {\n  ${body}\n}\n`;

for (const [name, body] of Object.entries({
  "an insert": insert,
  "a change after a locking read": `await tx.query(sql\`SELECT n FROM rows FOR NO KEY UPDATE\`);\n  ${update}`,
  "a change after a function that locks": `await lockRow(tx);\n  ${update}`,
}))
  test(`accepts ${name}`, () => assert.deepEqual(unlockedIn("a.ts", inFunction(body)), []));

for (const [name, body] of Object.entries({
  "a change without a lock": update,
  "an insert that may change a row": `${insert.replace("(1)", "(1) ON CONFLICT (id) DO UPDATE SET n = 1")}`,
  "a MAC without a statement": "await writeStateMacs(tx, state, which);",
}))
  test(`refuses ${name}`, () => assert.deepEqual(unlockedIn("a.ts", inFunction(body)), ["a.ts f"]));
