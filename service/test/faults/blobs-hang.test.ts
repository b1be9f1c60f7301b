import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { after, test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { minimal, orderForm } from "@signsealship/testing/inputs/order-form";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { newPartner, startService, temporaryFolder } from "@signsealship/testing/service";

const folder = temporaryFolder();
const connections = new Set<Socket>();
// A server that accepts connections and never responds.
const store = createServer((socket) => {
  connections.add(socket);
  socket.on("error", () => {}).resume();
});

await once(store.listen(0, "127.0.0.1"), "listening");
const { port } = store.address() as AddressInfo;
const service = await forTests(
  startService({
    DATA_DIR: folder.path,
    BLOB_URL: `s3://documents/test?region=us-east-1&endpoint=http://127.0.0.1:${port}`,
    AWS_ACCESS_KEY_ID: "test",
    AWS_SECRET_ACCESS_KEY: "test",
    RATE_LIMITS: "off",
  }),
);
const { headers } = await newPartner(service);
after(() => {
  for (const socket of connections) socket.destroy();
  store.close();
});

test("while the blob store hangs, /readyz reports it in time and probes it only once, however often it is called", async () => {
  const ready = async () => {
    const begun = performance.now();
    const answer = await fetch(`${service.baseUrl}/readyz`);
    assert.ok(performance.now() - begun < 3_000);
    return { code: answer.status, ...((await answer.json()) as object) };
  };
  const expected = {
    code: 200,
    status: "degraded",
    checks: { database: "ok", blobs: "failed", "seal key": "ok", "signer authority": "ok", log: "ok" },
  };
  assert.deepEqual(await ready(), expected);
  const asked = connections.size;
  await new Promise((resolve) => setTimeout(resolve, 1_100));
  for (const answer of await Promise.all(Array.from({ length: 20 }, ready))) assert.deepEqual(answer, expected);
  assert.equal(connections.size, asked);
});

test("an order whose document cannot be stored in time gets a 503 with the time to retry, and leaves no data", async () => {
  const begun = performance.now();
  const answer = await fetch(`${service.baseUrl}/api/partner/orders`, {
    method: "POST",
    headers,
    body: orderForm(minimal, makePdf()),
  });
  assert.ok(performance.now() - begun < 10_000);
  assert.equal(answer.status, 503);
  assert.match(answer.headers.get("retry-after") ?? "", /^[1-9]\d*$/);
  assert.deepEqual(await answer.json(), { error: "Documents can't be stored now. Try again later." });
  const list = await fetch(`${service.baseUrl}/api/partner/orders`, { headers });
  assert.deepEqual(((await list.json()) as { orders: unknown[] }).orders, []);
});
