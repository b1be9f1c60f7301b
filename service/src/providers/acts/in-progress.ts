import type { Sql } from "../../platform/database/database.ts";
import { sql } from "../../platform/database/sql.ts";
import { ServiceError } from "../../platform/errors.ts";
import { type ProviderName, providerNames } from "../names.ts";

/** What is to be said while a provider may be doing for the order what people would do; null when none is. */
export async function actUnderWay(db: Sql, orderId: number): Promise<string | null> {
  const [found] = await db.query<{ act: string; provider: ProviderName; state: string }>(sql`
    SELECT act, provider, state FROM provider_calls
    WHERE order_id = ${orderId} AND state IN ('begun', 'unknown') AND NOT is_beside ORDER BY id LIMIT 1`);
  if (!found) return null;
  const name = providerNames[found.provider];
  return found.state === "begun"
    ? `${name} is doing this now (${found.act}): wait until that has ended.`
    : `Nobody knows yet whether ${name} did this (${found.act}): say so in the task first.`;
}

/** @throws ServiceError `conflict` while a provider may be doing for the order what a person says was done by hand */
export async function requireNoActUnderWay(db: Sql, orderId: number): Promise<void> {
  const words = await actUnderWay(db, orderId);
  if (words !== null) throw new ServiceError("conflict", words);
}
