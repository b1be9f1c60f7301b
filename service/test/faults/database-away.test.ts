import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { newClient } from "@signsealship/testing/client";
import { prepareDatabase } from "@signsealship/testing/data-template";
import { startSeverableProxy } from "@signsealship/testing/doubles/severable-proxy";
import { minimal, orderForm } from "@signsealship/testing/inputs/order-form";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { rowMacOf } from "@signsealship/testing/row-mac";
import { ownProcess, startService, temporaryFolder } from "@signsealship/testing/service";
import { createPartner, issueKey } from "../../src/firms/partners/partners.ts";
import { systemClock } from "../../src/kernel/platform/clock.ts";
import { openDatabase } from "../../src/kernel/platform/database/database.ts";
import { sql } from "../../src/kernel/platform/database/sql.ts";
import { openEmbeddedPostgres } from "../../src/kernel/platform/postgres/embedded.ts";
import { openSealedTexts } from "../../src/kernel/platform/sealed-text.ts";
import { openSecretsKey } from "../../src/kernel/platform/secrets.ts";

const folder = temporaryFolder();
const document = makePdf();

await prepareDatabase(join(folder.path, "db"));
const server = await openEmbeddedPostgres(join(folder.path, "db"));
const { host, port, user, password, database } = server.owner;
const proxy = await startSeverableProxy(join(host, `.s.PGSQL.${port}`));
const service = await startService({
  DATA_DIR: join(folder.path, "var"),
  DATABASE_URL: `postgresql://${user}:${password}@127.0.0.1:${proxy.port}/${database}`,
  RATE_LIMITS: "off",
  ...ownProcess,
});
/** A direct connection to the server, without the proxy. */
const db = openDatabase(server.owner, () => {}, { poolSize: 2 });
const deps = { db, clock: systemClock, rowMac: await rowMacOf(join(folder.path, "var")) };
db.useRowMac(deps.rowMac);
db.useSealedTexts(openSealedTexts(await openSecretsKey(`file:${join(folder.path, "var/keys/secrets")}`)));
const { partnerId } = await createPartner(deps, { name: "Acme", tier: "trial", live: false });
const { key } = await issueKey(deps, partnerId, "test");
after(async () => {
  await service.stop();
  await proxy.sever();
  await db.close();
  await server.release();
});

const call = (path: string, init: RequestInit = {}) =>
  fetch(service.baseUrl + path, { ...init, headers: { Authorization: `Bearer ${key}`, ...init.headers } });

const placeOrder = (reference: string) =>
  call("/api/partner/orders", {
    method: "POST",
    body: orderForm({ ...minimal, external_reference: reference }, document),
  });

test("while the database is unreachable every request gets a 503 with the time to retry, and soon afterwards all works", async () => {
  assert.equal((await call("/api/partner/me")).status, 200);
  await proxy.sever();
  const answers = [
    await call("/api/partner/me"),
    await call("/api/partner/orders"),
    await placeOrder("away"),
    await call(`/api/rooms/${"0".repeat(40)}`),
  ];
  for (const answer of answers) {
    assert.equal(answer.status, 503, answer.url);
    assert.match(answer.headers.get("retry-after") ?? "", /^[1-9]\d*$/);
    assert.deepEqual(await answer.json(), { error: "The service is briefly unavailable. Try again in a moment." });
  }
  const problem = await call("/api/partner/me", { headers: { Accept: "application/problem+json" } });
  const { status, code } = (await problem.json()) as Record<string, unknown>;
  assert.deepEqual([status, code], [503, "unavailable"]);
  assert.equal((await call(`/orders/${"0".repeat(40)}`)).status, 503);
  assert.equal((await call("/readyz")).status, 503);
  assert.equal((await call("/healthz")).status, 200);

  await proxy.restore();
  while ((await call("/readyz")).status !== 200) await new Promise((resolve) => setTimeout(resolve, 50));
  assert.equal((await call("/api/partner/me")).status, 200);
  assert.equal((await placeOrder("back")).status, 201);
});

test("connections that break at any moment end no process and cause no 500, and acknowledged work is kept", async () => {
  const acknowledged: string[] = [];
  const statuses = new Set<number>();
  const client = newClient(service.baseUrl, key, () => true);
  let going = true;
  const caller = async (name: string) => {
    for (let n = 0; going; n++) {
      const answer = await client.call(
        "POST",
        "/api/partner/orders",
        orderForm({ ...minimal, external_reference: `${name}-${n}` }, document),
      );
      statuses.add(answer.status);
      if (answer.status === 201) acknowledged.push(String(answer.body["orderCode"]));
    }
  };
  const callers = ["a", "b", "c", "d"].map(caller);
  // A busy machine may need many rounds to place one order.
  for (let round = 0; round < 30 || (acknowledged.length === 0 && round < 200); round++) {
    await new Promise((resolve) => setTimeout(resolve, 20 + Math.random() * Math.max(60, 10 * round)));
    proxy.cut();
  }
  going = false;
  await Promise.all(callers);
  assert.deepEqual(
    [...statuses].filter((status) => status !== 201 && status !== 503),
    [],
  );
  assert.equal(service.process().exitCode, null);
  const kept = await db.query<{ code: string; blobKey: string }>(sql`
    SELECT code AS "code@order", blob_key AS "blobKey" FROM orders JOIN documents ON documents.order_id = orders.id`);
  const codes = new Set(kept.map(({ code }) => code));
  assert.deepEqual(
    acknowledged.filter((code) => !codes.has(code)),
    [],
  );
  assert.ok(acknowledged.length > 0);
  // Every stored order must have its blob, even one whose caller got no response: the caller may repeat the request
  // with its Idempotency-Key.
  const missing = kept.filter(({ blobKey }) => !existsSync(join(folder.path, "var/blobs", blobKey)));
  assert.deepEqual(missing, []);
});
