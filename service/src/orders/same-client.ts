import type { Owner } from "../identity/identity.ts";
import type { Sql } from "../platform/database/database.ts";
import { sql } from "../platform/database/sql.ts";
import type { Address } from "../pricing/pricing.ts";
import type { OrderSigner } from "./form/signers.ts";
import { verifiedOrders } from "./order-mac.ts";

/** What an order says that the next one for the same client says again. */
export type SameClient = {
  customerEmail: string;
  customerName: string | null;
  signerState: string | null;
  externalReference: string | null;
  /** Null: the client signs. */
  signers: readonly OrderSigner[] | null;
  shipTo: Address | null;
  shipFrom: Address | null;
};

/** Of an order of this partner in this environment; undefined for any other. */
export async function sameClient(
  db: Sql,
  code: string,
  { partnerId, environment }: Owner,
): Promise<SameClient | undefined> {
  const [order] = await db.query<SameClient>(sql`
SELECT customer_email AS "customerEmail", customer_name AS "customerName", signer_state AS "signerState",
  external_reference AS "externalReference", signers, ship_to AS "shipTo", ship_from AS "shipFrom", ${verifiedOrders}
FROM orders WHERE code = ${code} AND partner_id = ${partnerId} AND environment = ${environment}`);
  return order;
}
