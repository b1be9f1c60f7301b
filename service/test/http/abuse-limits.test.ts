import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { newPartner, type Service, startService, temporaryFolder } from "@signsealship/testing/service";

const folder = temporaryFolder();
let service: Service;
let key: string;

before(async () => {
  service = await startService({ DATA_DIR: folder.path });
  ({ key } = await newPartner(service));
});
after(async () => {
  await service.stop();
  folder.remove();
});

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

test("a network may try 300 bad keys a minute, and its good keys work on all the same", async () => {
  const bad = `svc_pk_${"a".repeat(52)}`;
  assert.deepEqual(await statuses(340, "/api/partner/orders", bad), { 401: 300, 429: 40 });
  const refused = await get("/api/partner/orders", bad);
  assert.match(refused.body, /^\{"error":"Rate limit exceeded\. Try again in \d+ seconds\."\}$/);
  assert.match(refused.retryAfter ?? "", /^[1-9]\d*$/);
  assert.equal((await get("/api/partner/orders", key)).status, 200);
  // Without a key nothing is tried.
  assert.equal((await get("/api/partner/orders")).status, 401);
});

test("the interface's description is read 240 times a minute by one network", async () => {
  assert.deepEqual(await statuses(260, "/openapi.json"), { 200: 240, 429: 20 });
});
