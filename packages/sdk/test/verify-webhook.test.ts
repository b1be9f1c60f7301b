import assert from "node:assert/strict";
import { createHash, createHmac } from "node:crypto";
import { test } from "node:test";
import { verifyWebhook } from "@signsealship/sdk";
import fc from "fast-check";

const secret = `svc_whsec_${"a2".repeat(26)}`;
const other = `svc_whsec_${"b3".repeat(26)}`;
const body = '{"type":"order.created","id":"order.created:é","data":{}}';
const t = 1_772_600_767;
const now = new Date(t * 1000);

/** The scheme written out once more, from the contract. */
function v1(key: string, at: number | string, bytes: string | Uint8Array): string {
  const hash = createHash("sha256").update(key).digest("hex");
  return createHmac("sha256", Buffer.from(hash, "utf8"))
    .update(Buffer.concat([Buffer.from(`${at}.`), Buffer.from(bytes)]))
    .digest("hex");
}
const header = (key = secret, at = t, bytes: string | Uint8Array = body) => `t=${at},v1=${v1(key, at, bytes)}`;

test("accepts what was signed with the secret, as bytes and as text", () => {
  assert.equal(verifyWebhook(body, header(), secret, { now }), true);
  assert.equal(verifyWebhook(Buffer.from(body), header(), secret, { now }), true);
  assert.equal(verifyWebhook(new Uint8Array(Buffer.from(body)), header(), secret, { now: now.getTime() }), true);
});

test("accepts known figures", () => {
  const known = "t=1772600767,v1=0000";
  assert.equal(verifyWebhook("", known, secret, { now }), false);
  const [, hex] = header(secret, t, "").split("v1=");
  assert.equal(hex, v1(secret, t, ""));
  assert.equal(verifyWebhook("", header(secret, t, ""), secret, { now }), true);
});

test("signs bytes, not characters: a body that is no UTF-8 is judged as it came", () => {
  const bytes = Buffer.from([0xff, 0xfe, 0x00, 0x80]);
  assert.equal(verifyWebhook(bytes, header(secret, t, bytes), secret, { now }), true);
  assert.equal(verifyWebhook(bytes.toString(), header(secret, t, bytes), secret, { now }), false);
});

test("during a rotation any entry may match, wherever it stands", () => {
  const both = `t=${t},v1=${v1(other, t, body)},v1=${v1(secret, t, body)}`;
  for (const key of [secret, other]) assert.equal(verifyWebhook(body, both, key, { now }), true);
  assert.equal(verifyWebhook(body, `v1=${v1(secret, t, body)}, t=${t}`, secret, { now }), true);
  assert.equal(verifyWebhook(body, `${header()},v2=later,x`, secret, { now }), true);
});

test("tolerates five minutes in both directions and not a second more", () => {
  for (const seconds of [-300, -299, 0, 299, 300])
    assert.equal(verifyWebhook(body, header(), secret, { now: (t + seconds) * 1000 }), true, `${seconds}`);
  for (const seconds of [-301, 301, 86_400, -86_400])
    assert.equal(verifyWebhook(body, header(), secret, { now: (t + seconds) * 1000 }), false, `${seconds}`);
  assert.equal(verifyWebhook(body, header(), secret, { now: new Date(Number.NaN) }), false);
});

test("takes the system's clock when no instant is given", () => {
  const at = Math.floor(Date.now() / 1000);
  assert.equal(verifyWebhook(body, header(secret, at), secret), true);
  assert.equal(verifyWebhook(body, header(), secret), false);
});

test("refuses another secret, another body, another time, and the secret itself as key", () => {
  assert.equal(verifyWebhook(body, header(other), secret, { now }), false);
  assert.equal(verifyWebhook(`${body} `, header(), secret, { now }), false);
  assert.equal(verifyWebhook(body, header().replace(String(t), String(t + 1)), secret, { now }), false);
  const naive = createHmac("sha256", secret).update(`${t}.${body}`).digest("hex");
  assert.equal(verifyWebhook(body, `t=${t},v1=${naive}`, secret, { now }), false);
});

test("refuses a malformed header", () => {
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
  for (const value of bad) assert.equal(verifyWebhook(body, value, secret, { now }), false, String(value));
});

test("no text that is not the signature is accepted, and none makes it throw", () => {
  const alphabet = fc.constantFrom("t=", "v1=", ",", "=", " ", String(t), v1(secret, t, "x"), "a", "\0", "é");
  fc.assert(
    fc.property(
      fc.array(alphabet, { maxLength: 12 }),
      (parts) => verifyWebhook(body, parts.join(""), secret, { now }) === false,
    ),
  );
  fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => verifyWebhook(body, text, secret, { now }) === false));
});

test("one changed bit of the body or of the signature is refused", () => {
  const bytes = Buffer.from(body);
  fc.assert(
    fc.property(fc.nat(bytes.length * 8 - 1), (bit) => {
      const changed = Buffer.from(bytes);
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      return !verifyWebhook(changed, header(), secret, { now });
    }),
  );
});
