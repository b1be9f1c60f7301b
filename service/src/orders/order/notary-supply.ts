import { hasMoved } from "../../kernel/audit/audit.ts";
import type { Environment } from "../../kernel/identity/identity.ts";
import type { Sql } from "../../kernel/platform/database/database.ts";
import { sql } from "../../kernel/platform/database/sql.ts";
import { invalid } from "../../kernel/platform/errors.ts";

/** The facts about an order that decide which notaries may notarize it. */
export type NotarizationSale = {
  environment: Environment;
  docSlug: string | null;
  signerState: string | null;
  /** True if the document may be notarized electronically, and not only in ink. */
  acceptsSignature: boolean;
};

/**
 * Finds out whether any registered notary may notarize an order's document. The code about notaries is in a higher
 * layer, so the composition root injects this.
 */
export type NotarySupply = {
  /**
   * The reason, as a sentence for the firm, why no notary may notarize the document; null when one may. Always null for
   * a test order. If `refuses` is false, also null while no notary is registered.
   */
  gapOf: (db: Sql, sale: NotarizationSale) => Promise<string | null>;
  /** True to refuse an order for which there is no notary (setting NOTARY_REQUIRED). If false, a person prices it. */
  refuses: boolean;
};

/**
 * The reason why a person must arrange the notarization of a new order. Null for an order without notarization, and
 * when `gapOf` finds no reason.
 * @throws ServiceError naming the field when such orders are refused
 */
export async function notaryGap(
  supply: NotarySupply,
  db: Sql,
  sale: NotarizationSale & { notarize: boolean },
): Promise<string | null> {
  const gap = sale.notarize ? await supply.gapOf(db, sale) : null;
  if (gap === null || !supply.refuses) return gap;
  throw invalid(
    `${sale.docSlug === null ? "svc_notary" : "doc_slug"} asks for a notarization that is not offered. ${gap}`,
  );
}

const isPricedByPerson = hasMoved(sql`orders.id`, "ManualQuoteRequired", "QuoteReady");

/** True if a person priced the order after it was placed. */
export async function wasPricedByPerson(db: Sql, orderId: number): Promise<boolean> {
  const [order] = await db.query<{ isPriced: boolean }>(
    sql`SELECT ${isPricedByPerson} AS "isPriced" FROM orders WHERE id = ${orderId}`,
  );
  return order?.isPriced === true;
}

/**
 * The reason why payment for a quoted order is refused: a suitable notary existed at the quote, but none is left now.
 * Null when the order can be paid. An order that a person priced stays payable, because that person has arranged a
 * notary. Assumes that the document may be notarized electronically, and not only in ink.
 */
export async function notaryGapOfQuote(supply: NotarySupply, db: Sql, orderId: number): Promise<string | null> {
  const [sale] = await db.query<NotarizationSale & { notarize: boolean; isArranged: boolean }>(sql`
    SELECT environment, doc_slug AS "docSlug", signer_state AS "signerState", notarize, true AS "acceptsSignature",
      ${isPricedByPerson} AS "isArranged"
    FROM orders WHERE id = ${orderId}`);
  return sale?.notarize && !sale.isArranged ? supply.gapOf(db, sale) : null;
}
