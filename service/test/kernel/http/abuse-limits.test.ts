import assert from "node:assert/strict";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { newPartner, startService, temporaryFolder } from "@signsealship/testing/service";

const folder = temporaryFolder();

const service = await forTests(startService({ DATA_DIR: folder.path, TRUST_PROXY: "127.0.0.1" }));
const { key } = await newPartner(service);

const get = async (path: string, bearer?: string) => {
  const answer = await fetch(service.baseUrl + path, bearer ? { headers: { Authorization: `Bearer ${bearer}` } } : {});
  return { status: answer.status, body: await answer.text(), retryAfter: answer.headers.get("retry-after") };
};

async function statuses(count: number, path: string, bearer?: string): Promise<Record<number, number>> {
  const counts: Record<number, number> = {};
  for (let sent = 0; sent < count; sent += 20) {
    for (const { status } of await Promise.all(Array.from({ length: 20 }, () => get(path, bearer))))
      counts[status] = (counts[status] ?? 0) + 1;
  }
  return counts;
}

test("a network may try 300 bad keys a minute, and its good keys still work", async () => {
  const bad = `svc_pk_${"a".repeat(52)}`;
  assert.deepEqual(await statuses(340, "/api/partner/orders", bad), { 401: 300, 429: 40 });
  const refused = await get("/api/partner/orders", bad);
  assert.match(refused.body, /^\{"error":"Rate limit exceeded\. Try again in \d+ seconds\."\}$/);
  assert.match(refused.retryAfter ?? "", /^[1-9]\d*$/);
  assert.equal((await get("/api/partner/orders", key)).status, 200);
  // A request without a key is not an attempt to guess a key, so it isn't counted.
  assert.equal((await get("/api/partner/orders")).status, 401);
});

test("the interface's description can be read 240 times a minute by one network", async () => {
  assert.deepEqual(await statuses(260, "/openapi.json"), { 200: 240, 429: 20 });
});

/** The statuses of requests that the trusted proxy forwards, each with its own `X-Forwarded-For`. */
async function forwarded(count: number, headerOf: (n: number) => string, path = verifyPath): Promise<number[]> {
  const ask = async (n: number) => {
    const answer = await fetch(service.baseUrl + path, { headers: { "X-Forwarded-For": headerOf(n) } });
    await answer.arrayBuffer();
    return answer.status;
  };
  const statuses: number[] = [];
  for (let n = 0; n < count; n += 50)
    statuses.push(...(await Promise.all(Array.from({ length: Math.min(50, count - n) }, (_, m) => ask(n + m)))));
  return statuses;
}

const verifyPath = `/api/verify/room/${"a".repeat(26)}`;
const refusals = (statuses: number[]): number => statuses.filter((status) => status === 429).length;

test("ports and brackets that a proxy writes do not count as other callers", async () => {
  assert.equal(refusals(await forwarded(45, (n) => `203.0.113.5:${49_152 + n}`)), 15);
  assert.equal(refusals(await forwarded(45, (n) => `[2001:db8:5:5::${n}]:${1024 + n}`)), 15);
});

test("a forwarded text that is not an address counts as the proxy's own", async () => {
  assert.equal(refusals(await forwarded(45, (n) => `hidden-${n}`)), 15);
  assert.equal(refusals(await forwarded(5, (n) => `198.51.100.${n}, unknown`)), 5);
});

test("an IPv6 site has ten times the limit of one of its networks", async () => {
  const ofSite = await forwarded(320, (n) => `2001:db8:6:${n.toString(16)}::1`);
  assert.equal(refusals(ofSite), 20);
  assert.deepEqual(await forwarded(1, () => "2001:db8:7::1"), [404], "another site");
});

test("refused networks use up nothing of their site", async () => {
  assert.equal(refusals(await forwarded(400, () => "2001:db8:8::1")), 370);
  assert.equal(refusals(await forwarded(270, (n) => `2001:db8:8:${(n + 1).toString(16)}::1`)), 0);
});
