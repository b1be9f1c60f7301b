import { joinFirm, verifiedFirm } from "../../firms/partners/partners.ts";
import type { Environment, Owner } from "../../kernel/identity/identity.ts";
import type { Sql } from "../../kernel/platform/database/database.ts";
import { sql } from "../../kernel/platform/database/sql.ts";
import { ServiceError } from "../../kernel/platform/errors.ts";
import { isCode } from "../../kernel/platform/text.ts";
import { fromOrders, hasOrderCode, type OrderState, orderNotFound, verifiedOrder } from "../../orders/order/order.ts";
import type { Address } from "../../orders/pricing/pricing.ts";
import {
  type OrderDocument,
  orderDocuments,
  type StoredDeps,
  withOrderDocument,
} from "../../signing/envelopes/envelopes.ts";

/** An order to print, ship or fax. Its only personal data are those of the destination and the sender. */
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
  /** The reason why EasyPost called the address undeliverable when the order was quoted. */
  addressProblem: string | null;
  faxTo: string | null;
};

/** The statuses in which staff have to print, ship, fax or track something. */
export const paperStatuses = [
  "ShippingPending",
  "Shipped",
  "ShippingFailed",
  "FaxPending",
  "FaxSent",
  "FaxFailed",
] as const;

/**
 * Finds an order of any firm that staff have to print, ship, fax or track now. Either its status is in `paperStatuses`,
 * or it is a live Delivered order with a fax.
 * @throws ServiceError `not_found` for an order in another status, and for one in the other environment
 */
export async function paperOrder(db: Sql, code: string, environment: Environment): Promise<PaperOrder> {
  const [order] = isCode(code)
    ? await db.query<PaperOrder>(sql`
        SELECT o.id, o.code AS "code@order", o.partner_id AS "partnerId", o.environment, p.name AS "firmName", o.status,
          o.status_before_hold AS "statusBeforeHold", o.sign, o.notarize, o.ship, o.fax,
          o.external_reference AS "externalReference", o.ship_method AS "shipMethod", o.ship_to AS "shipTo",
          o.ship_from AS "shipFrom", o.fax_to AS "faxTo",
          o.carrier_rate ->> 'addressProblem' AS "addressProblem", ${verifiedOrder}, ${verifiedFirm}
        ${fromOrders} ${joinFirm(sql`o.partner_id`)}
        WHERE ${hasOrderCode(code)} AND o.environment = ${environment} AND (o.status = ANY (${[...paperStatuses]}::text[])
          OR o.status = 'Delivered' AND o.fax AND o.environment = 'live')`)
    : [];
  if (!order) throw orderNotFound();
  return order;
}

/** The document to send, in its latest version. */
export type SentDocument = Pick<OrderDocument, "kind" | "sha256"> & { bytes: Buffer };

const furthest = ["notarized", "sealed", "original"] as const;

/**
 * The version to send: the last notarized one, or else the last sealed one, or else the original.
 * @throws ServiceError when the order has no document
 */
export function furthestOf(documents: readonly OrderDocument[]): OrderDocument {
  const found = furthest
    .map((kind) => documents.findLast((each) => each.kind === kind))
    .find((each) => each !== undefined);
  if (!found) throw new ServiceError("not_found", "The order has no document.");
  return found;
}

/**
 * Calls `work` with the document to send.
 * @throws ServiceError when the document was deleted or can't be read now; also rethrows the errors of `work`
 */
export async function withSentDocument<T>(
  deps: StoredDeps,
  order: PaperOrder,
  work: (document: SentDocument) => Promise<T>,
): Promise<T> {
  const owner: Owner = order;
  const { documentId, kind, sha256 } = furthestOf(await orderDocuments(deps, order.code, owner));
  return withOrderDocument(deps, { orderCode: order.code, owner, documentId }, (bytes) =>
    work({ kind, sha256, bytes }),
  );
}
