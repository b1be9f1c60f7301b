import { listKeys, type Partner, requirePartner } from "../partners/partners.ts";
import type { Sql } from "../platform/database/database.ts";
import { nothing, sql } from "../platform/database/sql.ts";
import { invalid, ServiceError } from "../platform/errors.ts";
import { isUuid } from "../platform/text.ts";

type Firm = Pick<Partner, "partnerId" | "name" | "tier" | "liveEnabled" | "contactEmail" | "createdAt">;

const columns = sql`id AS "partnerId", name, tier, live_enabled AS "liveEnabled", contact_email AS "contactEmail",
  created_at AS "createdAt"`;

/** Firms by name, a part of it at least where one is given; at most `limit`. @throws ServiceError naming the rule */
export async function findFirms(db: Sql, typed: string, limit: number): Promise<Firm[]> {
  const text = typed.trim().toLowerCase();
  if (text.length > 200 || text.includes("\0")) throw invalid("name must have at most 200 characters.");
  const pattern = `%${text.replaceAll(/[\\%_]/g, (character) => `\\${character}`)}%`;
  const named = text === "" ? nothing : sql`WHERE lower(name) LIKE ${pattern}`;
  return db.query<Firm>(sql`SELECT ${columns} FROM partners ${named} ORDER BY lower(name), id LIMIT ${limit}`);
}

/** A webhook of a firm, and how its latest deliveries went. */
export type WebhookHealth = {
  webhookId: string;
  environment: string;
  url: string;
  topics: string[];
  /** Of the latest 100 deliveries that ended. */
  delivered: number;
  failed: number;
  pending: number;
  lastReason: string | null;
};

/** A firm with its keys and its webhooks. */
export type FirmRecord = { firm: Firm; keys: Awaited<ReturnType<typeof listKeys>>; webhooks: WebhookHealth[] };

/** @throws ServiceError `not_found` */
export async function firmRecord(db: Sql, partnerId: string): Promise<FirmRecord> {
  if (!isUuid(partnerId)) throw new ServiceError("not_found", "No such firm.");
  await requirePartner({ db }, partnerId);
  const [[firm], keys, webhooks] = await Promise.all([
    db.query<Firm>(sql`SELECT ${columns} FROM partners WHERE id = ${partnerId}`),
    listKeys({ db }, partnerId),
    db.query<WebhookHealth>(sql`
      SELECT w.id AS "webhookId", w.environment, w.url, w.topics, (count(*) FILTER (WHERE d.state = 'delivered'))::int AS delivered,
        (count(*) FILTER (WHERE d.state = 'failed'))::int AS failed, (count(*) FILTER (WHERE d.state = 'pending'))::int AS pending,
        (array_agg(d.reason ORDER BY d.seq DESC) FILTER (WHERE d.state = 'failed'))[1] AS "lastReason"
      FROM webhooks w LEFT JOIN LATERAL (
        SELECT seq, state, reason FROM webhook_deliveries WHERE webhook_id = w.id ORDER BY seq DESC LIMIT 100) d ON true
      WHERE w.partner_id = ${partnerId} AND w.deleted_at IS NULL GROUP BY w.id ORDER BY w.created_at, w.id`),
  ]);
  if (!firm) throw new ServiceError("not_found", "No such firm.");
  return { firm, keys, webhooks };
}
