import { generateKeyPairSync, sign } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { databaseOf } from "@signsealship/testing/database";
import { freePort } from "@signsealship/testing/free-port";
import { authenticateOrders } from "@signsealship/testing/row-mac";
import { newPartner, startService, temporaryFolder } from "@signsealship/testing/service";
import type { Database } from "../service/src/kernel/platform/database/database.ts";
import { sql } from "../service/src/kernel/platform/database/sql.ts";
import { atLeast, atMost, type Result } from "./result.ts";
import { get, load, type Target } from "./support/http-load.ts";
import { p95 } from "./support/times.ts";

const measured = Number(process.env["EVENTS"] ?? 200);
const [rounds, roundMs, eventsPerMinute] = [5, 3_000, 1_000];
const p95BudgetMs = 300;

const keys = generateKeyPairSync("ed25519");
const publicKey = keys.publicKey.export({ format: "der", type: "spki" }).subarray(-32).toString("base64");

/** Live orders whose fax is queued at Telnyx. The event that `eventOf` makes says that the fax is being sent. */
const fill = (partnerId: string, count: number) => sql`
  WITH book AS (INSERT INTO price_books (sha256, content) VALUES ('bench', '{}') RETURNING version), placed AS (
    INSERT INTO orders (code, code_start, partner_id, environment, status, sign, notarize, ship, fax, fax_to, customer_email,
      lines, subtotal_cents, discount_cents, total_cents, price_book_version, created_at, updated_at)
    SELECT 'c1.' || encode(sha256(n::text::bytea), 'hex')::char(40), 'c1.', ${partnerId}::uuid, 'live', 'FaxPending', false, false, false,
      true, '+12125550123', 'a@example.com', '[]', 0, 0, 0, book.version, now(), now()
    FROM book, generate_series(1, ${count}::int) AS n RETURNING id)
  INSERT INTO fax_attempts (order_id, attempt, state, retries, due_at, fax_to, fax_from, client_state, fax_id, created_at)
  SELECT id, 1, 'queued', 0, now(), '+12125550123', '+13125550100', 'bench-' || id, 'fax_' || id, now() FROM placed`;

function eventOf(orderId: number) {
  const payload = {
    fax_id: `fax_${orderId}`,
    status: "sending",
    client_state: `bench-${orderId}`,
    direction: "outbound",
  };
  const about = { id: `event-${orderId}`, event_type: "fax.sending.started", occurred_at: new Date().toISOString() };
  const body = JSON.stringify({ data: { ...about, record_type: "event", payload } });
  const timestamp = String(Math.floor(Date.now() / 1000));
  const signature = sign(null, Buffer.from(`${timestamp}|${body}`), keys.privateKey).toString("base64");
  const headers = { "telnyx-timestamp": timestamp, "telnyx-signature-ed25519": signature };
  return { body, headers: { ...headers, "content-type": "application/json" } };
}

async function deliver(baseUrl: string, event: ReturnType<typeof eventOf>): Promise<void> {
  const answer = await fetch(`${baseUrl}/api/providers/telnyx/webhook`, { method: "POST", ...event });
  if (answer.status !== 200) throw new Error(`the event was answered ${answer.status}`);
}

/** Milliseconds from just before the event is sent until the order's status has changed. */
async function movedAfter(db: Database, baseUrl: string, orderId: number): Promise<number> {
  const started = performance.now();
  await deliver(baseUrl, eventOf(orderId));
  const moved = sql`SELECT FROM orders WHERE id = ${orderId} AND status <> 'FaxPending'`;
  while ((await db.query(moved)).length === 0) {
    if (performance.now() - started > 10_000) throw new Error("the order did not move");
    await sleep(2);
  }
  return performance.now() - started;
}

/** Sends `eventsPerMinute` events a minute until the returned function is called. */
function beat(baseUrl: string, next: () => ReturnType<typeof eventOf> | undefined) {
  const sent: Promise<void>[] = [];
  const timer = setInterval(() => {
    const event = next();
    if (event) sent.push(deliver(baseUrl, event));
  }, 60_000 / eventsPerMinute);
  return async () => {
    clearInterval(timer);
    await Promise.all(sent);
  };
}

/**
 * Provider events: how long an order takes to change its status, and how much 1,000 events a minute slow down API
 * callers.
 */
export async function run(): Promise<Result[]> {
  const folder = temporaryFolder();
  const service = await startService({
    DATA_DIR: folder.path,
    RATE_LIMITS: "off",
    TELNYX_API_KEY: "bench",
    TELNYX_PUBLIC_KEY: publicKey,
    TELNYX_API_BASE: `http://127.0.0.1:${await freePort()}`,
    TELNYX_FAX_APP: "bench",
    TELNYX_FAX_FROM: "+13125550100",
  });
  const { partnerId, headers } = await newPartner(service, { live: true });
  const db = await databaseOf(folder.path);
  try {
    const perRound = Math.ceil((eventsPerMinute / 60_000) * roundMs) + 5;
    await db.query(fill(partnerId, measured + 20 + rounds * perRound));
    await authenticateOrders(db, sql`true`);
    const ids = (await db.query<{ id: number }>(sql`SELECT id FROM orders ORDER BY id`)).map(({ id }) => id);
    for (let n = 0; n < 20; n++) await movedAfter(db, service.baseUrl, ids.shift() ?? 0);
    const times: number[] = [];
    for (let n = 0; n < measured; n++) times.push(await movedAfter(db, service.baseUrl, ids.shift() ?? 0));
    // The events are signed in advance, because signing is Telnyx's work.
    const events = ids.map(eventOf);
    const request = get("/api/partner/orders?limit=20", headers);
    const target: Target = { port: Number(new URL(service.baseUrl).port), request: () => request };
    // With one request at a time, the caller's latency is 1 divided by the rate.
    const options = { connections: 1, ms: roundMs, expect: 200 };
    await load(target, options);
    const rates = { beside: [] as number[], alone: [] as number[] };
    for (let round = 0; round < rounds; round++) {
      rates.alone.push(await load(target, options));
      const stop = beat(service.baseUrl, () => events.shift());
      rates.beside.push(await load(target, options));
      await stop();
    }
    return [
      atMost("inbound event to status, p95 of the budget", [p95(times)], [p95BudgetMs], "ms", 1),
      atLeast("API latency beside 1,000 events a minute", rates.beside, rates.alone, "req/s", 0.7),
    ];
  } finally {
    await db.close();
    await service.stop();
    folder.remove();
  }
}
