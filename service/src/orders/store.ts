import type { KeyClaim } from "../http/idempotency.ts";
import { actorOf, type Owner, type Principal } from "../identity/identity.ts";
import type { Sql } from "../platform/database.ts";
import type { OrderForm } from "./form/form.ts";
import type { OrderStatus } from "./transitions/statuses.ts";
import type { OrderRow, OrderSummaryRow, PublicOrderRow } from "./views.ts";

export type Statement = { text: string; values: unknown[] };

export type NewOrder = OrderRow & {
  status: Extract<OrderStatus, "QuoteReady" | "ManualQuoteRequired">;
  principal: Principal;
  form: OrderForm;
  priceBookVersion: number;
  document: OriginalDocument;
};

/** A document in the blob store; `sha256` in hex, `bytes` its length. */
export type StoredDocument = { sha256: string; bytes: number; blobKey: string };

/** The document that an order was placed with. */
export type OriginalDocument = StoredDocument & { pages: number };

/** The claim of an Idempotency-Key, kept with the answer that it will replay. */
export type Claim = KeyClaim & {
  body: string;
  /** Set while the body is not final yet: until then twins wait for it. */
  pendingUntil: Date | null;
};

// A claim of the same key that is in flight makes this statement wait for its end; one that is kept makes it do nothing.
const claimCte = `claim AS (
  INSERT INTO idempotency_keys (caller_id, route, idempotency_key, fingerprint, status, body, created_at, pending_until)
  VALUES ($32, $33, $34, $35, 201, $36, $28, $38)
  ON CONFLICT (caller_id, route, idempotency_key) DO UPDATE
    SET fingerprint = excluded.fingerprint, status = excluded.status, body = excluded.body, created_at = excluded.created_at,
      pending_until = excluded.pending_until
    WHERE idempotency_keys.created_at < $37
  RETURNING 1
), `;

const insertion = (claimed: boolean) => `
WITH ${claimed ? claimCte : ""}new_order AS (
  INSERT INTO orders (code, partner_id, environment, status, sign, notarize, ship, fax, envelope_status, external_reference,
    customer_email, customer_name, doc_slug, signer_state, dest_state, ship_method, ship_to, ship_from, fax_to, lines,
    subtotal_cents, discount_cents, total_cents, price_book_version, created_at, updated_at)
  SELECT $1, $2::uuid, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17::jsonb, $18::jsonb, $19, $20::jsonb,
    $21, $22, $23, $24, $28, $28
  ${claimed ? "FROM claim" : ""}
  RETURNING id
), document AS (
  INSERT INTO documents (order_id, kind, sha256, bytes, pages, blob_key, created_at)
  SELECT id, 'original', $25, $26, $27, $29, $28 FROM new_order
), audit AS (
  INSERT INTO audit_log (occurred_at, action, actor, partner_id, order_id, from_status, to_status)
  SELECT $28, step.action, $30, $2::uuid, id, step.from_status, step.to_status FROM new_order,
    (VALUES (1, 'order.created', NULL, 'Created'), (2, 'order.transition', 'Created', $4)) AS step (n, action, from_status, to_status)
  ORDER BY step.n
), event AS (
  INSERT INTO events (occurred_at, topic, event_id, partner_id, environment, subject)
  SELECT $28, 'order.created', $31, $2::uuid, $3, $1 FROM new_order
)
SELECT id FROM new_order`;

const insertPlain = insertion(false);
const insertClaimed = insertion(true);

/** The one statement that writes an order; apart from its running, so that a bench can run it bare. */
export function insertStatement(order: NewOrder, claim: Claim | null): Statement {
  const { form, principal, document } = order;
  const values: unknown[] = [
    order.code,
    principal.partnerId,
    principal.environment,
    order.status,
    order.sign,
    order.notarize,
    order.ship,
    order.fax,
    order.envelopeStatus,
    order.externalReference,
    order.customerEmail,
    form.name,
    form.docSlug,
    form.signerState,
    form.destState,
    form.shipMethod,
    form.shipTo && JSON.stringify(form.shipTo),
    form.shipFrom && JSON.stringify(form.shipFrom),
    order.faxTo,
    JSON.stringify(order.lines),
    order.subtotalCents,
    order.discountCents,
    order.totalCents,
    order.priceBookVersion,
    document.sha256,
    document.bytes,
    document.pages,
    order.createdAt,
    document.blobKey,
    actorOf(principal),
    `order.created:${order.code}`,
  ];
  if (claim) {
    const { callerId, route, key, fingerprint, body, expiredBefore, pendingUntil } = claim;
    values.push(callerId, route, key, fingerprint, body, expiredBefore, pendingUntil);
  }
  return { text: claim ? insertClaimed : insertPlain, values };
}

/**
 * Writes the order, its document, audit lines and event in one statement, with the claim of its Idempotency-Key.
 * @returns false when the key was taken by an earlier request: then nothing was written.
 */
export async function insertOrder(sql: Sql, order: NewOrder, claim: Claim | null): Promise<boolean> {
  const { text, values } = insertStatement(order, claim);
  return (await sql.rows(text, values)).length === 1;
}

const summaryColumns = `code, status, sign, notarize, ship, fax, total_cents AS "totalCents",
  external_reference AS "externalReference", customer_email AS "customerEmail", created_at AS "createdAt"`;

const detailColumns = `${summaryColumns}, envelope_status AS "envelopeStatus", fax_to AS "faxTo", lines,
  subtotal_cents AS "subtotalCents", discount_cents AS "discountCents"`;

const selectOwn = `SELECT ${detailColumns} FROM orders WHERE code = $1 AND partner_id = $2 AND environment = $3`;
const selectPublic = `SELECT ${detailColumns}, environment, status_before_hold AS "statusBeforeHold"
  FROM orders WHERE code = $1`;

export const ownOrderStatement = (code: string, of: Owner): Statement => ({
  text: selectOwn,
  values: [code, of.partnerId, of.environment],
});

/** An order of this partner in this environment, or undefined. */
export async function findOwnOrder(sql: Sql, code: string, of: Owner) {
  const { text, values } = ownOrderStatement(code, of);
  const [order] = await sql.rows<OrderRow>(text, values);
  return order;
}

/** Any order, for whoever holds its code. */
export async function findOrder(sql: Sql, code: string) {
  const [order] = await sql.rows<PublicOrderRow>(selectPublic, [code]);
  return order;
}

export type ListFilter = {
  status: string | null;
  externalReference: string | null;
  after: string | null;
  limit: number;
};

// One statement per combination of filters, so that each has the plan of its own index.
const listTexts = [0, 1, 2, 3, 4, 5, 6, 7].map((bits) => {
  const [byStatus, byReference, paged] = [bits & 1, bits & 2, bits & 4];
  let n = 3;
  return `SELECT ${summaryColumns} FROM orders WHERE partner_id = $1 AND environment = $2
    ${byStatus ? `AND status = $${++n}` : ""} ${byReference ? `AND external_reference = $${++n}` : ""}
    ${paged ? `AND (created_at, id) < (SELECT created_at, id FROM orders WHERE code = $${++n} AND partner_id = $1 AND environment = $2)` : ""}
    ORDER BY created_at DESC, id DESC LIMIT $3`;
});

/** Statement and values of a page; apart from its running, so that its plan can be looked at. */
export function listStatement(of: Owner, filter: ListFilter): Statement {
  const { status, externalReference, after, limit } = filter;
  const bits = (status === null ? 0 : 1) | (externalReference === null ? 0 : 2) | (after === null ? 0 : 4);
  const values = [status, externalReference, after].filter((value) => value !== null);
  return { text: listTexts[bits] ?? "", values: [of.partnerId, of.environment, limit, ...values] };
}

/** Newest first. */
export function listOrders(sql: Sql, of: Owner, filter: ListFilter) {
  const { text, values } = listStatement(of, filter);
  return sql.rows<OrderSummaryRow>(text, values);
}
