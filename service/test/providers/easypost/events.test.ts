import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { test } from "node:test";
import { easypostVerifier, trackingOfEvent } from "../../../src/providers/easypost/account.ts";

// NFKD normalization changes the letters of this name.
const secret = "ﬁne-sécret";
const now = new Date("2026-11-22T12:00:00Z");
const tracker = {
  id: "trk_1",
  object: "Tracker",
  tracking_code: "9400",
  status: "delivered",
  weight: 4,
  signed_by: "J DOE",
  updated_at: "2026-11-22T11:59:00Z",
};
const event = {
  id: "evt_1",
  object: "Event",
  description: "tracker.updated",
  created_at: "2026-11-22T11:59:01Z",
  result: tracker,
};

const signed = (body: string, key = secret.normalize("NFKD")) =>
  `hmac-sha256-hex=${createHmac("sha256", key).update(body).digest("hex")}`;
const verify = (body: string, signature: string | undefined) =>
  easypostVerifier(secret)(Buffer.from(body), signature === undefined ? {} : { "x-hmac-signature": signature }, now);

test("accepts an event with the signature over its bytes", () => {
  const body = JSON.stringify(event).replace('"weight":4', '"weight":4.0');
  const verified = verify(body, signed(body));
  assert.ok(verified.ok);
  assert.deepEqual([verified.eventId, verified.type, verified.objectId], ["evt_1", "tracker.updated", "trk_1"]);
  assert.equal(verified.occurredAt.toISOString(), "2026-11-22T11:59:01.000Z");
  const tracking = trackingOfEvent(verified.body);
  assert.deepEqual([tracking?.trackerId, tracking?.status, tracking?.signedBy], ["trk_1", "delivered", "J DOE"]);
  assert.equal(trackingOfEvent({ ...event, result: { id: "rfnd_1", object: "Refund" } }), null);
});

test("refuses an event with another secret, other bytes or without a signature", () => {
  const body = JSON.stringify(event);
  for (const signature of [
    signed(body, "another"),
    signed(body, secret),
    signed(`${body} `),
    signed(body).toUpperCase(),
    signed(body).replace("hmac-sha256-hex=", ""),
    "",
    undefined,
  ])
    assert.equal(verify(body, signature).ok, false, signature);
});

test("refuses a signed body that is not an event", () => {
  for (const body of [
    "",
    "{",
    "[]",
    "null",
    JSON.stringify({ ...event, created_at: "soon" }),
    JSON.stringify({ ...event, id: 7 }),
  ])
    assert.equal(verify(body, signed(body)).ok, false, body);
});
