import { createHash } from "node:crypto";
import { hex, instant, type Statement, sql } from "../../kernel/platform/database/sql.ts";
import {
  MacOfState,
  markedAll,
  type StateMac,
  textOf,
  verified,
  verifiedAll,
} from "../../kernel/platform/database/state-mac.ts";
import { documentNameColumn } from "../../kernel/platform/document-name.ts";
import { stateRows } from "../../kernel/platform/protected-data.ts";
import { codeStartLength } from "../../kernel/platform/text.ts";
import { coveredColumns } from "./columns.ts";

const coveredLast = (
  o: Statement,
): Statement => sql`${o}.envelope_status, (extract(epoch FROM ${o}.updated_at) * 1000)::bigint, ${o}.document_name IS NOT NULL,
    ${o}.document_notices IS NOT NULL, ${o}.taken_in, ${o}.state_version`;

/**
 * The order columns that the service acts on or shows, and that the order's MAC covers. Signing facts have a MAC of
 * their own (`signing-row.ts`).
 */
export const orderState: StateMac = {
  table: sql`orders`,
  key: sql`id`,
  mac: sql`state_mac`,
  covered: (o) => sql`${coveredColumns(o)}, ${coveredLast(o)}`,
  opened: { column: sql`code`, kind: "order" },
};

/** The columns that later releases added to the MAC, the latest first. */
const addedColumns = ["pay_by"];

/**
 * The data that the order MACs of earlier releases covered, the latest release first.
 * @param code the plain code, which the oldest MACs covered
 */
export const earlierOrderStates = (code: Statement): readonly StateMac[] => [
  ...addedColumns.map((_, n) => ({
    ...orderState,
    covered: (o: Statement) => sql`${coveredColumns(o, addedColumns.slice(0, n + 1))}, ${coveredLast(o)}`,
  })),
  ...[coveredLast, (o: Statement) => sql`${o}.state_version`].map((last) => ({
    table: orderState.table,
    key: orderState.key,
    mac: orderState.mac,
    covered: (o: Statement) => sql`${code}, ${coveredColumns(o, addedColumns)}, ${last(o)}`,
  })),
];

const ofCode = { use: documentNameColumn, context: sql`code`, as: sql`"context@order"` } as const;
const byId = { by: sql`id`, isNumbered: true } as const;

export const orderRows = stateRows(orderState, {
  backfill: { set: "orders" },
  ciphers: [
    { ...ofCode, column: sql`document_name` },
    { ...ofCode, column: sql`document_notices`, after: "/notices" },
  ],
  texts: [
    { ...byId, kind: "order", column: sql`code`, constraint: "orders_code_sealed" },
    {
      ...byId,
      kind: "orderStart",
      column: sql`code_start`,
      constraint: "orders_code_start_sealed",
      text: sql`left(code, ${codeStartLength}::int)`,
    },
  ],
});

/** The MAC covers the columns of an envelope's signer, except the counts of codes and the time of the last reminder. */
export const signerState: StateMac = {
  table: sql`envelope_signers`,
  key: sql`id`,
  mac: sql`row_mac`,
  covered: (s) => sql`${s}.id, ${s}.envelope_id, ${s}.n, ${s}.name, ${s}.email, ${s}.phone, ${s}.language, ${s}.routing,
    ${s}.auth, ${s}.access_code_hash, ${s}.link_id, ${hex(sql`${s}.token_sha256`)}, ${instant(sql`${s}.issued_at`)},
    ${instant(sql`${s}.opened_at`)}, ${s}.code_id, ${instant(sql`${s}.code_sent_at`)}, ${s}.failures,
    ${instant(sql`${s}.locked_at`)}, ${hex(sql`${s}.session_sha256`)}, ${instant(sql`${s}.session_expires_at`)},
    ${s}.consent, ${instant(sql`${s}.signed_at`)}, ${s}.proposal, ${s}.state_version`,
};

/**
 * A column for the SELECT list of a query on `envelope_signers s`. It makes the query throw on a signer whose MAC is
 * invalid.
 */
export const verifiedSigner: Statement = verified(signerState, sql`s`);

/**
 * For ORDER BY: the latest envelope of an order comes first. But the envelope of a notarial act comes last until the
 * notary has signed. Until then, the signatures in the order's sealed document are those of an earlier envelope.
 */
export const latestFirst = (e: Statement): Statement => sql`(${e}.outcome IS DISTINCT FROM 'Completed'
  AND EXISTS (SELECT FROM envelope_rooms room WHERE room.envelope_id = ${e}.id)), ${e}.attempt DESC`;

/**
 * SQL condition: true if an operator handed in the document of this kind for the order `o`, because it was signed or
 * notarized elsewhere.
 * @param kind a column or a literal
 */
export const isHandedIn = (kind: Statement): Statement => sql`${kind} = ANY (o.taken_in)`;

/**
 * SQL condition: true if the sandbox completed the signing of the order `o`. Then nobody's signature is in the
 * document, and earlier signatures were discarded.
 */
export const isSigningSimulated: Statement = sql`(o.environment = 'test' AND o.envelope_status = 'Completed'
  AND NOT ${isHandedIn(sql`'sealed'`)}
  AND NOT EXISTS (SELECT FROM envelopes done WHERE done.order_id = o.id AND done.outcome = 'Completed'))`;

const latestSigners = (orders: Statement): Statement => sql`
  FROM (SELECT DISTINCT o.id FROM ${orders}) AS shown JOIN LATERAL (
    SELECT e.id FROM envelopes e WHERE e.order_id = shown.id ORDER BY ${latestFirst(sql`e`)} LIMIT 1
  ) latest ON true JOIN envelope_signers s ON s.envelope_id = latest.id`;

/**
 * For a SELECT list: verifies all signers of the latest envelope of each order.
 * @param orders the text after FROM, with a WHERE that selects orders `o`
 */
export const verifiedSignersOf = (orders: Statement): Statement =>
  verifiedAll(signerState, sql`s`, latestSigners(orders));

/**
 * For a SELECT list on orders `o`: the member `isAuthentic`, which is true if the MACs of all signers of the order's
 * latest envelope are valid.
 */
export const markedSigners: Statement = markedAll(signerState, sql`s`, latestSigners(sql`(SELECT o.id) AS o`));

/** The MAC covers all columns of a shipment. */
export const shipmentState: StateMac = {
  table: sql`shipments`,
  key: sql`id`,
  mac: sql`row_mac`,
  covered: (
    s,
  ) => sql`${s}.id, ${s}.order_id, ${s}.status, ${s}.carrier, ${s}.tracking_number, ${instant(sql`${s}.shipped_at`)},
    ${instant(sql`${s}.delivered_at`)}, ${s}.state_version`,
};

/** For a SELECT list: verifies all shipments of an order. */
export const verifiedShipmentsOf = (orderId: Statement): Statement =>
  verifiedAll(shipmentState, sql`sent`, sql`FROM shipments sent WHERE sent.order_id = ${orderId}`);

/**
 * Columns for the SELECT list of a query on `orders`, or on `orders o`. They make the query throw on an order whose MAC
 * is invalid.
 */
export const verifiedOrders: Statement = verified(orderState, sql`orders`);
export const verifiedOrder: Statement = verified(orderState, sql`o`);

const firstVersion = 1;

/**
 * The MAC of a new order, computed for its insert.
 * @param covered the values that the MAC covers, in the sequence of the columns in `orderState`
 */
export const macOfNewOrder = (code: string, covered: readonly unknown[]): MacOfState =>
  new MacOfState(
    orderState.table.text,
    createHash("sha256")
      .update(textOf([...covered, firstVersion]))
      .digest("hex"),
    code,
  );
