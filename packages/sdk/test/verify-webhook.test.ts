import assert from "node:assert/strict";
import { createHash, createHmac } from "node:crypto";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { parseWebhook, signWebhook, verifyWebhook, WebhookRefusal } from "@signsealship/sdk";
import { anyCharacter } from "@signsealship/testing/inputs/any-character";
import fc from "fast-check";

const secret = `svc_whsec_${"a2".repeat(26)}`;
const other = `svc_whsec_${"b3".repeat(26)}`;
const body = '{"type":"order.created","id":"order.created:é","data":{}}';
const t = 1_772_600_767;
const now = new Date(t * 1000);

/** An independent implementation of the signature scheme, written from the API contract alone. */
function v1(key: string, at: number | string, bytes: string | Uint8Array): string {
  const hash = createHash("sha256").update(key).digest("hex");
  return createHmac("sha256", Buffer.from(hash, "utf8"))
    .update(Buffer.concat([Buffer.from(`${at}.`), Buffer.from(bytes)]))
    .digest("hex");
}
const header = (key = secret, at = t, bytes: string | Uint8Array = body) => `t=${at},v1=${v1(key, at, bytes)}`;

test("accepts a body that was signed with the secret, as bytes and as text", async () => {
  assert.equal(await verifyWebhook(body, header(), secret, { now }), true);
  assert.equal(await verifyWebhook(Buffer.from(body), header(), secret, { now }), true);
  assert.equal(await verifyWebhook(new Uint8Array(Buffer.from(body)), header(), secret, { now: now.getTime() }), true);
});

test("accepts known signatures", async () => {
  const known = "t=1772600767,v1=0000";
  assert.equal(await verifyWebhook("", known, secret, { now }), false);
  const [, hex] = header(secret, t, "").split("v1=");
  assert.equal(hex, v1(secret, t, ""));
  assert.equal(await verifyWebhook("", header(secret, t, ""), secret, { now }), true);
});

test("signs bytes, not characters: a body that is not UTF-8 is judged as received", async () => {
  const bytes = Buffer.from([0xff, 0xfe, 0x00, 0x80]);
  assert.equal(await verifyWebhook(bytes, header(secret, t, bytes), secret, { now }), true);
  assert.equal(await verifyWebhook(bytes.toString(), header(secret, t, bytes), secret, { now }), false);
});

test("during a rotation any entry may match, at any position", async () => {
  const both = `t=${t},v1=${v1(other, t, body)},v1=${v1(secret, t, body)}`;
  for (const key of [secret, other]) assert.equal(await verifyWebhook(body, both, key, { now }), true);
  assert.equal(await verifyWebhook(body, `v1=${v1(secret, t, body)}, t=${t}`, secret, { now }), true);
  assert.equal(await verifyWebhook(body, `${header()},v2=later,x`, secret, { now }), true);
});

test("tolerates five minutes in both directions and no more", async () => {
  for (const seconds of [-300, -299, 0, 299, 300])
    assert.equal(await verifyWebhook(body, header(), secret, { now: (t + seconds) * 1000 }), true, `${seconds}`);
  for (const seconds of [-301, 301, 86_400, -86_400])
    assert.equal(await verifyWebhook(body, header(), secret, { now: (t + seconds) * 1000 }), false, `${seconds}`);
  assert.equal(await verifyWebhook(body, header(), secret, { now: new Date(Number.NaN) }), false);
});

test("uses the system's clock when no instant is given", async () => {
  const at = Math.floor(Date.now() / 1000);
  assert.equal(await verifyWebhook(body, header(secret, at), secret), true);
  assert.equal(await verifyWebhook(body, header(), secret), false);
});

test("refuses another secret, another body, another time, and the secret itself as key", async () => {
  assert.equal(await verifyWebhook(body, header(other), secret, { now }), false);
  assert.equal(await verifyWebhook(`${body} `, header(), secret, { now }), false);
  assert.equal(await verifyWebhook(body, header().replace(String(t), String(t + 1)), secret, { now }), false);
  const naive = createHmac("sha256", secret).update(`${t}.${body}`).digest("hex");
  assert.equal(await verifyWebhook(body, `t=${t},v1=${naive}`, secret, { now }), false);
});

test("refuses a malformed header", async () => {
  const hex = v1(secret, t, body);
  const bad = [
    undefined,
    null,
    "",
    "t=",
    `t=${t}`,
    `v1=${hex}`,
    `t=x,v1=${hex}`,
    `t=-${t},v1=${hex}`,
    `t=${t},t=${t},v1=${hex}`,
    `t=${t},v1=${hex.slice(1)}`,
    `t=${t},v1=${hex}0`,
    `t=${t},v1=${hex.toUpperCase()}`,
    `t=${t}.0,v1=${hex}`,
    `t=${t};v1=${hex}`,
  ];
  for (const value of bad) assert.equal(await verifyWebhook(body, value, secret, { now }), false, String(value));
});

test("no text that is not the signature is accepted, and none makes it throw", async () => {
  const alphabet = fc.constantFrom("t=", "v1=", ",", "=", " ", String(t), v1(secret, t, "x"), "a", "\0", "é");
  const isRefused = async (text: string) => !(await verifyWebhook(body, text, secret, { now }));
  await fc.assert(fc.asyncProperty(fc.array(alphabet, { maxLength: 12 }), (parts) => isRefused(parts.join(""))));
  await fc.assert(fc.asyncProperty(fc.string({ unit: anyCharacter }), isRefused));
});

test("one changed bit of the body or of the signature is refused", async () => {
  const bytes = Buffer.from(body);
  await fc.assert(
    fc.asyncProperty(fc.nat(bytes.length * 8 - 1), async (bit) => {
      const changed = Buffer.from(bytes);
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      return !(await verifyWebhook(changed, header(), secret, { now }));
    }),
  );
});

test("returns a verified delivery as the signed event; a refusal names its reason", async () => {
  assert.deepEqual(await parseWebhook(body, header(), secret, { now }), JSON.parse(body));
  const utf8 = Buffer.from([0x7b, 0xff, 0x7d]);
  const cases = [
    ["missing_signature", body, undefined],
    ["missing_signature", body, ""],
    ["malformed_signature", body, "t=1"],
    ["malformed_signature", body, `v1=${v1(secret, t, body)}`],
    ["outside_tolerance", body, header(secret, t + 301)],
    ["wrong_signature", `${body} `, header()],
    ["wrong_signature", body, header(other)],
    ["not_json", "{", header(secret, t, "{")],
    ["not_json", utf8, header(secret, t, utf8)],
  ] as const;
  for (const [reason, bytes, given] of cases)
    await assert.rejects(parseWebhook(bytes, given, secret, { now }), (error) => {
      assert.ok(error instanceof WebhookRefusal);
      assert.equal(error.reason, reason);
      return true;
    });
});

test("signs as the service does, for a receiver's own tests", async () => {
  const headers = await signWebhook(body, secret, { now });
  assert.deepEqual(headers, { "Content-Type": "application/json", "Service-Signature": header() });
  const fresh = await signWebhook(Buffer.from(body), secret);
  assert.equal(await verifyWebhook(body, fresh["Service-Signature"], secret), true);
});

test("an empty secret, with which anybody could sign, is an error; too many signatures are malformed", async () => {
  await assert.rejects(verifyWebhook(body, header(), "", { now }), /secret is empty/);
  await assert.rejects(signWebhook(body, ""), /secret is empty/);
  const many = `t=${t}${`,v1=${v1(secret, t, body)}`.repeat(11)}`;
  await assert.rejects(parseWebhook(body, many, secret, { now }), { reason: "malformed_signature" });
});

type Vector = {
  says: string;
  body: string;
  signature: string | null;
  secret: string;
  now: number;
  reason: string | null;
};

test("judges the vectors that the libraries in other languages also use", async () => {
  const vectors: Vector[] = JSON.parse(readFileSync(new URL("vectors/webhooks.json", import.meta.url), "utf8"));
  assert.ok(vectors.length > 30);
  for (const { says, body, signature, secret: key, now: seconds, reason } of vectors) {
    const judged = await parseWebhook(Buffer.from(body, "base64"), signature, key, { now: seconds * 1000 }).then(
      () => null,
      (error: WebhookRefusal) => error.reason,
    );
    assert.equal(judged, reason, says);
  }
});
