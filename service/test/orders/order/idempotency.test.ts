import assert from "node:assert/strict";
import { after, test } from "node:test";
import { databaseOfRunning } from "@signsealship/testing/database";
import { repeats } from "@signsealship/testing/inputs/fuzz";
import { examplePdf, minimal, orderForm } from "@signsealship/testing/inputs/order-form";
import { rowMacOf } from "@signsealship/testing/row-mac";
import { newPartner, ownProcess, startService, temporaryFolder } from "@signsealship/testing/service";
import { issueKey } from "../../../src/firms/partners/partners.ts";
import { systemClock } from "../../../src/kernel/platform/clock.ts";

const folder = temporaryFolder();
let service = await startService({ DATA_DIR: folder.path, RATE_LIMITS: "off", ...ownProcess });
after(() => service.stop());
const { partnerId: firm, ...partner } = await newPartner(service);
let { headers } = partner;

async function post(key: string, fields: Record<string, string> = {}, document: Uint8Array | null = examplePdf) {
  const response = await fetch(`${service.baseUrl}/api/partner/orders`, {
    method: "POST",
    headers: { ...headers, "Idempotency-Key": key },
    body: orderForm({ ...minimal, ...fields }, document),
  });
  return {
    status: response.status,
    replayed: response.headers.get("idempotent-replayed"),
    requestId: response.headers.get("request-id"),
    body: await response.text(),
  };
}

async function anotherKey(): Promise<string> {
  const db = databaseOfRunning(folder.path);
  const rowMac = await rowMacOf(folder.path);
  db.useRowMac(rowMac);
  const { key } = await issueKey({ db, clock: systemClock, rowMac }, firm, "test");
  await db.close();
  return key;
}

async function orderCount(reference: string): Promise<number> {
  const response = await fetch(`${service.baseUrl}/api/partner/orders?limit=100&external_reference=${reference}`, {
    headers,
  });
  return ((await response.json()) as { orders: unknown[] }).orders.length;
}

test("fifty duplicates create one order and get fifty equal answers", async () => {
  const answers = await Promise.all(
    Array.from({ length: 50 }, () => post("fifty-duplicates", { external_reference: "duplicates" })),
  );
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([201]));
  assert.equal(new Set(answers.map(({ body }) => body)).size, 1);
  assert.equal(answers.filter(({ replayed }) => replayed === "true").length, 49);
  assert.equal(await orderCount("duplicates"), 1);
});

test("a replay has the first request's id in its body, and its own in the header", async () => {
  const [first, second] = [await post("two-request-ids"), await post("two-request-ids")];
  const { requestId } = JSON.parse(second.body) as { requestId: string };
  assert.equal(requestId, first.requestId);
  assert.match(second.requestId ?? "", /^[0-9a-f-]{36}$/);
  assert.notEqual(second.requestId, requestId);
});

test("a key that was used with another body, another document or other fields gets a 409 that says so", async () => {
  assert.equal((await post("one-key-one-body")).status, 201);
  const otherDocument = Buffer.concat([examplePdf, Buffer.from("\n")]);
  for (const answer of [
    await post("one-key-one-body", { name: "Other" }),
    await post("one-key-one-body", {}, otherDocument),
  ]) {
    assert.equal(answer.status, 409);
    assert.equal(answer.body, '{"error":"This Idempotency-Key was used before with another body."}');
  }
});

test("a different order of the fields is the same body", async () => {
  const first = await post("field-order", { name: "A", external_reference: "B" });
  const second = await post("field-order", { external_reference: "B", name: "A" });
  assert.equal(second.body, first.body);
});

test("a retry with the firm's rotated key is still a retry", async () => {
  const first = await post("rotated-between", { external_reference: "rotated" });
  const rotated = headers;
  headers = { Authorization: `Bearer ${await anotherKey()}` };
  const second = await post("rotated-between", { external_reference: "rotated" });
  assert.deepEqual([second.status, second.replayed, second.body], [201, "true", first.body]);
  assert.equal(await orderCount("rotated"), 1);
  assert.equal((await post("rotated-between", { external_reference: "other" })).status, 409);
  headers = rotated;
});

test("keys of different firms are separate", async () => {
  const other = await newPartner(service);
  const mine = await post("shared-name");
  const response = await fetch(`${service.baseUrl}/api/partner/orders`, {
    method: "POST",
    headers: { ...other.headers, "Idempotency-Key": "shared-name" },
    body: orderForm(minimal),
  });
  assert.equal(response.status, 201);
  assert.notEqual(await response.text(), mine.body);
});

test("a refusal is not stored: the corrected request with the same key succeeds", async () => {
  assert.equal((await post("corrected-later", { signer_state: "XX" })).status, 400);
  assert.equal((await post("corrected-later")).status, 201);
});

test("a key shorter than 8 or longer than 255 characters gets a 400", async () => {
  for (const key of ["short", "x".repeat(256)]) {
    const answer = await post(key);
    assert.equal(answer.status, 400);
    assert.match(answer.body, /Idempotency-Key must have 8 to 255 characters/);
  }
  assert.equal((await post("x".repeat(255))).status, 201);
  assert.equal((await post("12345678")).status, 201);
});

test("kill -9 during duplicates and a restart leave one order and equal answers", async () => {
  for (const round of [1, 2, 3].slice(-repeats(3, 1))) {
    const key = `killed-in-round-${round}`;
    const reference = `killed-${round}`;
    const early = Array.from({ length: 30 }, () => post(key, { external_reference: reference }).catch(() => null));
    await new Promise((resolve) => setTimeout(resolve, 10 * round));
    await service.kill();
    const before = (await Promise.all(early)).filter((answer) => answer !== null);
    service = await service.restart();
    const later = await Promise.all(Array.from({ length: 20 }, () => post(key, { external_reference: reference })));
    const bodies = new Set([...before, ...later].map(({ status, body }) => `${status} ${body}`));
    assert.equal(bodies.size, 1, [...bodies].join("\n"));
    assert.equal(await orderCount(reference), 1);
  }
});

test("two services on one database answer duplicates equally", async () => {
  const second = await startService({ DATA_DIR: folder.path, RATE_LIMITS: "off" });
  const send = (baseUrl: string) =>
    fetch(`${baseUrl}/api/partner/orders`, {
      method: "POST",
      headers: { ...headers, "Idempotency-Key": "two-services" },
      body: orderForm({ ...minimal, external_reference: "two-services" }),
    }).then((response) => response.text());
  const bodies = await Promise.all(
    Array.from({ length: 40 }, (_, n) => send(n % 2 ? second.baseUrl : service.baseUrl)),
  );
  assert.equal(new Set(bodies).size, 1);
  assert.equal(await orderCount("two-services"), 1);
  await second.stop();
});
