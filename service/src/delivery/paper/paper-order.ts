import { type EnvelopeDeps, type OrderDocument, orderDocuments, withOrderDocument } from "../envelopes/envelopes.ts";
import type { Environment, Owner } from "../identity/identity.ts";
import { type OrderState, verifiedOrder } from "../orders/orders.ts";
import type { Sql } from "../platform/database/database.ts";
import { sql } from "../platform/database/sql.ts";
import { ServiceError } from "../platform/errors.ts";
import { isCode } from "../platform/text.ts";
import type { Address } from "../pricing/pricing.ts";

/** An order that somebody prints, ships or faxes for: of its people no more than where the document goes. */
export type PaperOrder = OrderState & {
  id: number;
  code: string;
  partnerId: string;
  environment: Environment;
  firmName: string;
  externalReference: string | null;
  shipMethod: string | null;
  shipTo: Address | null;
  shipFrom: Address | null;
  /** Why EasyPost called the address undeliverable when the order was quoted. */
  addressProblem: string | null;
  faxTo: string | null;
};

/** The statuses in which there is something to print, to hand over or to look after. */
export const paperStatuses = [
  "ShippingPending",
  "Shipped",
  "ShippingFailed",
  "FaxPending",
  "FaxSent",
  "FaxFailed",
] as const;

/** @throws ServiceError `not_found` for an order that needs no paper now, and for one of the other environment */
export async function paperOrder(db: Sql, code: string, environment: Environment): Promise<PaperOrder> {
  const [order] = isCode(code)
    ? await db.query<PaperOrder>(sql`
        SELECT o.id, o.code, o.partner_id AS "partnerId", o.environment, p.name AS "firmName", o.status,
          o.status_before_hold AS "statusBeforeHold", o.sign, o.notarize, o.ship, o.fax,
          o.external_reference AS "externalReference", o.ship_method AS "shipMethod", o.ship_to AS "shipTo",
          o.ship_from AS "shipFrom", o.fax_to AS "faxTo",
          o.carrier_rate ->> 'addressProblem' AS "addressProblem", ${verifiedOrder}
        FROM orders o JOIN partners p ON p.id = o.partner_id
        WHERE o.code = ${code} AND o.environment = ${environment} AND o.status = ANY (${[...paperStatuses]}::text[])`)
    : [];
  if (!order) throw new ServiceError("not_found", "Order not found.");
  return order;
}

/** What is sent: the document as far as it came. */
export type SentDocument = Pick<OrderDocument, "kind" | "sha256"> & { bytes: Buffer };

const furthest = ["notarized", "sealed", "original"] as const;

/** The document as far as it came. @throws ServiceError when there is none */
export function furthestOf(documents: readonly OrderDocument[]): OrderDocument {
  const found = furthest
    .map((kind) => documents.findLast((each) => each.kind === kind))
    .find((each) => each !== undefined);
  if (!found) throw new ServiceError("not_found", "The order has no document.");
  return found;
}

/** Works on the document that is sent. @throws ServiceError when it was deleted, or can't be read now; what the work throws */
export async function withSentDocument<T>(
  deps: Pick<EnvelopeDeps, "db" | "blobs" | "rowMac">,
  order: PaperOrder,
  work: (document: SentDocument) => Promise<T>,
): Promise<T> {
  const owner: Owner = order;
  const { documentId, kind, sha256 } = furthestOf(await orderDocuments(deps.db, order.code, owner));
  return withOrderDocument(deps, { orderCode: order.code, owner, documentId }, (bytes) =>
    work({ kind, sha256, bytes }),
  );
}
