import { connectionTo, databaseOf } from "@signsealship/testing/database";
import { sealMadeCodes } from "@signsealship/testing/sealed-orders";
import { newPartner, startService, temporaryFolder } from "@signsealship/testing/service";
import pg from "pg";
import { sql } from "../service/src/kernel/platform/database/sql.ts";
import { atLeast, type Result } from "./result.ts";
import { get, interleave, type Target } from "./support/http-load.ts";

const fill = (partnerId: string, orders: number) => `
SET session_replication_role = replica;
INSERT INTO price_books (sha256, content) VALUES ('bench', '{}') ON CONFLICT DO NOTHING;
INSERT INTO orders (code, code_start, partner_id, environment, status, sign, notarize, ship, fax, external_reference, customer_email,
  lines, subtotal_cents, discount_cents, total_cents, price_book_version, created_at, updated_at)
SELECT 'c1.' || encode(sha256(('${partnerId}' || n)::bytea), 'hex')::char(40), 'c1.', '${partnerId}', 'test',
  CASE WHEN n % 10 = 0 THEN 'Completed' ELSE 'QuoteReady' END,
  true, false, false, false, 'ref-' || n / 4, 'a@example.com', '[]', 0, 0, 0, 1, t, t
FROM (SELECT n, timestamptz '2026-01-01' + n * interval '10 seconds' AS t FROM generate_series(1, ${orders}) n) s;
RESET session_replication_role;`;

const listed = (partnerId: string) => sql`id IN (SELECT id FROM orders
  WHERE partner_id = ${partnerId} AND environment = 'test' AND status = 'Completed' ORDER BY created_at DESC, id DESC LIMIT 20)`;

/** The order list by status, for a partner with a million orders compared with a partner with a thousand. */
export async function run(): Promise<Result[]> {
  const folder = temporaryFolder();
  const service = await startService({ DATA_DIR: folder.path, RATE_LIMITS: "off" });
  const [large, small] = [await newPartner(service), await newPartner(service)];
  const session = new pg.Client(connectionTo(folder.path, "owner"));
  await session.connect();
  const db = await databaseOf(folder.path);
  try {
    await session.query(fill(large.partnerId, 1_000_000));
    await session.query(fill(small.partnerId, 1_000));
    await session.query("VACUUM ANALYZE");
    for (const { partnerId } of [large, small]) await sealMadeCodes(db, listed(partnerId));
    const port = Number(new URL(service.baseUrl).port);
    const target = ({ headers }: typeof large): Target => {
      const request = get("/api/partner/orders?status=Completed&limit=20", headers);
      return { port, request: () => request };
    };
    const options = { rounds: 7, connections: 16, ms: 1000, expect: 200 };
    const rates = await interleave(target(large), target(small), options);
    return [atLeast("order list, 1,000,000 orders beside 1,000", rates.ours, rates.other, "req/s", 0.8)];
  } finally {
    await session.end();
    await db.close();
    await service.stop();
    folder.remove();
  }
}
