import { createHash } from "node:crypto";
import { type Statement, sql } from "../platform/database/sql.ts";
import { MacOfState, type StateMac, textOf, verified } from "../platform/database/state-mac.ts";

/** An order's columns that the service acts on or shows; those of its signers have a MAC of their own (`signing-row.ts`). */
export const orderState: StateMac = {
  table: sql`orders`,
  key: sql`id`,
  mac: sql`state_mac`,
  covered: (o) => sql`${o}.code, ${o}.partner_id, ${o}.environment, ${o}.status, ${o}.status_before_hold, ${o}.sign,
    ${o}.notarize, ${o}.ship, ${o}.fax, ${o}.external_reference, ${o}.customer_email, ${o}.customer_name, ${o}.doc_slug,
    ${o}.signer_state, ${o}.dest_state, ${o}.ship_method, ${o}.ship_to, ${o}.ship_from, ${o}.fax_to, ${o}.lines,
    ${o}.subtotal_cents, ${o}.discount_cents, ${o}.total_cents, ${o}.price_book_version, ${o}.carrier_rate,
    ${o}.state_version`,
};

/** For the select list of a statement that reads `orders`, and one that reads `orders o`. */
export const verifiedOrders: Statement = verified(orderState, sql`orders`);
export const verifiedOrder: Statement = verified(orderState, sql`o`);

/** The covered values of a new order, in the order of `orderState`. */
export type NewOrderState = readonly unknown[];

const firstVersion = 1;

/** The MAC of an order that its first statement writes. */
export const macOfNewOrder = (covered: NewOrderState): MacOfState =>
  new MacOfState(
    orderState.table.text,
    createHash("sha256")
      .update(textOf([...covered, firstVersion]))
      .digest("hex"),
  );
