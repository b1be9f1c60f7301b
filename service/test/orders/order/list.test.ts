import assert from "node:assert/strict";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { minimal, orderForm } from "@signsealship/testing/inputs/order-form";
import { newPartner, startService, temporaryFolder } from "@signsealship/testing/service";

const folder = temporaryFolder();
const codes: string[] = [];

type Page = {
  orders: { orderCode: string; externalReference: string | null; status: string }[];
  nextCursor: string | null;
  requestId: string;
};

const service = await forTests(startService({ DATA_DIR: folder.path, RATE_LIMITS: "off" }));
const { headers } = await newPartner(service);
for (let n = 0; n < 25; n++) {
  const body = orderForm({ ...minimal, external_reference: n % 5 === 0 ? "five" : `ref-${n}` });
  const response = await fetch(`${service.baseUrl}/api/partner/orders`, { method: "POST", headers, body });
  codes.unshift(((await response.json()) as { orderCode: string }).orderCode);
}

const get = (query: string) => fetch(`${service.baseUrl}/api/partner/orders${query}`, { headers });
const page = async (query: string): Promise<Page> => (await get(query)).json() as Promise<Page>;
const listed = async (query: string): Promise<string[]> => (await page(query)).orders.map(({ orderCode }) => orderCode);

test("lists the newest first, twenty by default, with only the summary's fields", async () => {
  const { orders, nextCursor, requestId } = await page("");
  assert.deepEqual(
    orders.map(({ orderCode }) => orderCode),
    codes.slice(0, 20),
  );
  assert.deepEqual(Object.keys(orders[0] ?? {}).sort(), [
    "createdAt",
    "customerEmail",
    "externalReference",
    "orderCode",
    "services",
    "status",
    "totalCents",
  ]);
  assert.equal(nextCursor, codes[19]);
  assert.match(requestId, /^[0-9a-f-]{36}$/);
});

test("clamps a limit outside 1 to 100", async () => {
  assert.equal((await listed("?limit=0")).length, 1);
  assert.equal((await listed("?limit=-7")).length, 1);
  assert.equal((await listed("?limit=100000")).length, 25);
});

test("refuses a limit that is not a whole number, naming it", async () => {
  for (const limit of ["abc", "1.5", "1e2", "0x10"]) {
    const response = await get(`?limit=${limit}`);
    assert.equal(response.status, 400);
    assert.match(((await response.json()) as { error: string }).error, /^limit must be a whole number/);
  }
});

test("pages by the cursor to the end, each order once", async () => {
  const seen: string[] = [];
  let cursor: string | null = "";
  while (cursor !== null) {
    const next: Page = await page(`?limit=7&cursor=${cursor}`);
    seen.push(...next.orders.map(({ orderCode }) => orderCode));
    cursor = next.nextCursor;
  }
  assert.deepEqual(seen, codes);
});

test("refuses a cursor that it did not issue", async () => {
  for (const cursor of ["x", "0".repeat(40)]) assert.equal((await get(`?cursor=${cursor}`)).status, 400);
});

test("filters by the exact reference and status, and finds nothing for an unknown status", async () => {
  assert.equal((await listed("?external_reference=five")).length, 5);
  assert.equal((await listed("?external_reference=fiv")).length, 0);
  assert.equal((await listed("?status=QuoteReady&external_reference=five&limit=3")).length, 3);
  assert.equal((await listed("?status=quoteready")).length, 0);
  assert.equal((await listed("?status=Nonsense")).length, 0);
});

test("refuses a parameter that is sent twice", async () => {
  const response = await get("?limit=1&limit=2");
  assert.equal(response.status, 400);
  assert.match(((await response.json()) as { error: string }).error, /^limit must be sent once/);
});
