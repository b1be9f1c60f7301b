import { type Tier, tierOf } from "../../partners/partners.ts";
import type { ColumnCipher } from "../../platform/column-cipher.ts";
import type { Sql } from "../../platform/database/database.ts";
import { sql } from "../../platform/database/sql.ts";
import type { Log } from "../../platform/logs.ts";

/** Where a subscription's events go; `keys` are the hashes of the secrets that sign, newest first. */
export type Destination = { url: string; deleted: boolean; tier: Tier; keys: Buffer[] };

type DestinationRow = { id: string; url: string; deleted: boolean; tier: string; hashes: Buffer[] };

const selectDestinations = (db: Sql, webhookIds: readonly string[], now: Date) =>
  db.query<DestinationRow>(sql`
SELECT webhooks.id, url, deleted_at IS NOT NULL AS deleted, tier, array(
  SELECT hash FROM webhook_secrets WHERE webhook_id = webhooks.id AND (expires_at IS NULL OR expires_at > ${now})
  ORDER BY id DESC
) AS hashes
FROM webhooks JOIN partners ON partners.id = partner_id WHERE webhooks.id = ANY (${webhookIds}::uuid[])`);

/** The destinations of subscriptions, by id; without those whose secrets cannot be decrypted, which are logged. */
export async function readDestinations(
  { db, log, secretCipher }: { db: Sql; log: Log; secretCipher: ColumnCipher },
  webhookIds: Iterable<string>,
  now: Date,
): Promise<Map<string, Destination>> {
  const ids = [...new Set(webhookIds)];
  const rows = ids.length === 0 ? [] : await selectDestinations(db, ids, now);
  const destinations = new Map<string, Destination>();
  for (const { id, url, deleted, tier, hashes } of rows) {
    try {
      destinations.set(id, {
        url,
        deleted,
        tier: tierOf(tier),
        keys: hashes.map((hash) => secretCipher.decrypt(hash, id)),
      });
    } catch (error) {
      log.error(
        { err: error, webhook: id },
        "the secret of a webhook cannot be decrypted: is SECRETS_KEY the right one?",
      );
    }
  }
  return destinations;
}
