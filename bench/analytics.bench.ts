import { connectionTo } from "@signsealship/testing/database";
import { newPartner, type Service, startService, temporaryFolder } from "@signsealship/testing/service";
import pg from "pg";
import { atLeast, type Result } from "./result.ts";
import { get, load } from "./support/http-load.ts";

const orders = 1_000_000;
const rounds = 7;

// The SQL that inserts the orders. Of every ten, seven are completed, paid and sealed, and two of those seven are also
// delivered. Triggers are disabled, because running them for every order would take minutes.
const fill = (partnerId: string) => `
SET session_replication_role = replica;
INSERT INTO price_books (sha256, content) VALUES ('bench', '{}') ON CONFLICT DO NOTHING;
INSERT INTO orders (code, code_start, partner_id, environment, status, sign, notarize, ship, fax, customer_email, lines,
  subtotal_cents, discount_cents, total_cents, price_book_version, created_at, updated_at)
SELECT 'c1.' || encode(sha256(n::text::bytea), 'hex')::char(40), 'c1.', '${partnerId}', 'test',
  CASE WHEN n % 10 < 7 THEN 'Completed' ELSE (ARRAY['QuoteReady', 'AwaitingPayment', 'Paid', 'EsignPending', 'Shipped',
    'Cancelled', 'PaymentFailed', 'OnHold'])[1 + n / 10 % 8] END,
  n % 2 = 0, n % 3 = 0, n % 4 = 0, n % 25 = 0, 'signer' || n || '@example.com',
  '[{"type": "WorkflowFee", "label": "Document workflow", "amountCents": 1200}]', 1200, 0, 1200, 1, t,
  t + n % 5000 * interval '1 minute'
FROM (SELECT n, now() - interval '365 days' + n * interval '31.5 seconds' AS t FROM generate_series(1, ${orders}) n) s;
INSERT INTO documents (order_id, kind, sha256, bytes, blob_key, created_at)
SELECT id, kind, repeat('0', 64), 1000, 'k', created_at FROM orders CROSS JOIN (VALUES ('original'), ('sealed')) k (kind)
WHERE kind = 'original' OR status = 'Completed';
INSERT INTO shipments (order_id, status, carrier, tracking_number, shipped_at)
SELECT id, 'Delivered', 'USPS', '1', created_at FROM orders WHERE ship AND status = 'Completed';
INSERT INTO workflow_events (order_id, name, occurred_at)
SELECT id, 'payment.cleared', created_at + interval '5 minutes' FROM orders WHERE status IN ('Completed', 'Paid', 'Shipped');
RESET session_replication_role;`;

/** The rival: the fastest handwritten SQL statement that we found for the figures that the analytics API returns. */
const byHand = (partnerId: string) => `
WITH cohort AS NOT MATERIALIZED (
  SELECT * FROM orders WHERE partner_id = '${partnerId}' AND environment = 'test'
    AND created_at BETWEEN now() - interval '366 days' AND now()
)
SELECT
  (SELECT json_agg(v) FROM (
    SELECT month, by_status.* FROM generate_series(date_trunc('month', now() - interval '366 days'), now(), '1 month') month,
      LATERAL (SELECT status, count(*), sum(total_cents), count(*) FILTER (WHERE sign), count(*) FILTER (WHERE notarize),
          count(*) FILTER (WHERE ship), count(*) FILTER (WHERE fax)
        FROM cohort WHERE created_at >= month AND created_at < month + interval '1 month' GROUP BY status) by_status) v),
  (SELECT count(*) FROM cohort JOIN documents d ON d.order_id = cohort.id WHERE d.kind IN ('sealed', 'notarized')),
  (SELECT count(*) FROM cohort JOIN shipments s ON s.order_id = cohort.id WHERE s.status = 'Delivered'),
  (SELECT percentile_cont(ARRAY[0.5, 0.9]) WITHIN GROUP (ORDER BY hours) FROM (
    SELECT DISTINCT ON (w.order_id) date_part('epoch', updated_at - occurred_at) / 3600 AS hours
    FROM cohort JOIN workflow_events w ON w.order_id = cohort.id
    WHERE cohort.status = 'Completed' AND name = 'payment.cleared' ORDER BY w.order_id, occurred_at) t WHERE hours >= 0)`;

async function seconds(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return (performance.now() - began) / 1000;
}

async function read(service: Service, headers: Record<string, string>): Promise<void> {
  const response = await fetch(`${service.baseUrl}/api/partner/analytics?days=366`, { headers });
  const { funnel } = (await response.json()) as { funnel: Record<string, number> };
  const counted = Object.values(funnel).reduce((sum, each) => sum + each, 0);
  if (counted !== orders) throw new Error(`${counted} of ${orders} orders were counted`);
}

/**
 * The latency of one API caller while ten others request analytics in a loop. It is compared with the latency of the
 * same caller alone.
 */
async function beside(service: Service, headers: Record<string, string>): Promise<Result> {
  const target = { port: Number(new URL(service.baseUrl).port), request: () => get("/api/partner/me", headers) };
  const options = { connections: 1, ms: 1500, expect: 200 };
  const rates = { beside: [] as number[], alone: [] as number[] };
  for (let round = 0; round < rounds; round++) {
    rates.alone.push(await load(target, options));
    let asking = true;
    const askers = Array.from({ length: 10 }, async () => {
      while (asking) await read(service, headers);
    });
    rates.beside.push(await load(target, options));
    asking = false;
    await Promise.all(askers);
  }
  return atLeast("me, one caller, beside analytics", rates.beside, rates.alone, "answers/s", 0.5);
}

/**
 * Analytics over a million orders of one partner through the API, compared with a handwritten SQL statement in a plain
 * database session.
 */
export async function run(): Promise<Result[]> {
  const folder = temporaryFolder();
  const service = await startService({ DATA_DIR: folder.path, RATE_LIMITS: "off" });
  const { partnerId, headers } = await newPartner(service);
  const session = new pg.Client(connectionTo(folder.path, "owner"));
  await session.connect();
  try {
    await session.query(fill(partnerId));
    await session.query("VACUUM ANALYZE");
    const hand = byHand(partnerId);
    const rates = { ours: [] as number[], hand: [] as number[] };
    await read(service, headers);
    await session.query(hand);
    for (let round = 0; round < rounds; round++) {
      rates.ours.push(1 / (await seconds(() => read(service, headers))));
      rates.hand.push(1 / (await seconds(() => session.query(hand))));
    }
    return [
      atLeast("analytics, 366 days, 1,000,000 orders", rates.ours, rates.hand, "reads/s", 0.9),
      await beside(service, headers),
    ];
  } finally {
    await session.end();
    await service.stop();
    folder.remove();
  }
}
