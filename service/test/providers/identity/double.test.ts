import assert from "node:assert/strict";
import { test } from "node:test";
import { startIdentity } from "@signsealship/testing/doubles/identity";
import { forTests } from "@signsealship/testing/for-tests";
import { Stripe } from "stripe";
import { stripeVerifier } from "../../../src/providers/identity/stripe.ts";

const double = await forTests(startIdentity());
const { hostname, port } = new URL(double.url);
const client = new Stripe("sk_test_double", { host: hostname, port, protocol: "http", maxNetworkRetries: 0 });
const { verificationSessions } = client.identity;
const created = (idempotencyKey: string) =>
  verificationSessions.create(
    { type: "document", client_reference_id: "c1", options: { document: { require_matching_selfie: true } } },
    { idempotencyKey },
  );

// Stripe's own client proves that the double speaks Stripe's protocol.
test("begins a session once for one key, and finds it with its page", async () => {
  const [first, again] = [await created("one"), await created("one")];
  assert.equal(first.id, again.id);
  const found = await verificationSessions.retrieve(first.id);
  assert.deepEqual([found.status, found.client_reference_id], ["requires_input", "c1"]);
  assert.match(found.url ?? "", /^http/);
  await assert.rejects(verificationSessions.retrieve("vs_none"), { statusCode: 404 });
});

test("shows the outputs and the report on request, and nothing after the redaction", async () => {
  const { id } = await created("two");
  double.verify(id);
  const expand = ["verified_outputs", "last_verification_report"];
  const found = await verificationSessions.retrieve(id, { expand });
  const report = found.last_verification_report as Stripe.Identity.VerificationReport;
  assert.deepEqual(
    [found.status, found.verified_outputs?.first_name, report.selfie?.status],
    ["verified", "Jane", "verified"],
  );
  assert.equal(report.document?.expiration_date?.year, 2030);
  await verificationSessions.redact(id);
  const redacted = await verificationSessions.retrieve(id, { expand });
  assert.deepEqual([redacted.redaction?.status, redacted.verified_outputs], ["redacted", null]);
});

test("reports a refusal with Stripe’s code", async () => {
  const { id } = await created("three");
  double.refuse(id, "selfie_face_mismatch");
  const found = await verificationSessions.retrieve(id);
  assert.deepEqual([found.status, found.last_error?.code], ["requires_input", "selfie_face_mismatch"]);
});

test("Stripe’s signature is accepted for five minutes and for the exact bytes", () => {
  const at = new Date();
  const body = JSON.stringify({ id: "evt_1", type: "identity.x", created: 1, data: { object: { id: "vs_1" } } });
  const signature = client.webhooks.generateTestHeaderString({
    payload: body,
    secret: "whsec_1",
    timestamp: Math.floor(at.getTime() / 1000),
  });
  const verify = stripeVerifier("whsec_1");
  const outcome = (raw: string, header: string | undefined, now = at) =>
    verify(Buffer.from(raw), header === undefined ? {} : { "stripe-signature": header }, now);
  const held = outcome(body, signature);
  assert.ok(held.ok);
  assert.deepEqual([held.eventId, held.type, held.objectId], ["evt_1", "identity.x", "vs_1"]);
  assert.equal(outcome(`${body} `, signature).ok, false);
  assert.equal(outcome(body, undefined).ok, false);
  assert.equal(outcome(body, signature.replace("v1=", "v0=")).ok, false);
  assert.equal(outcome(body, signature, new Date(at.getTime() + 301_000)).ok, false);
  assert.equal(stripeVerifier("whsec_2")(Buffer.from(body), { "stripe-signature": signature }, at).ok, false);
  const unread = client.webhooks.generateTestHeaderString({
    payload: "{}",
    secret: "whsec_1",
    timestamp: Math.floor(at.getTime() / 1000),
  });
  assert.equal(outcome("{}", unread).ok, false);
});
