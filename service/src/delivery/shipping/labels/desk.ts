import { auditLine } from "../../../kernel/audit/audit.ts";
import type { Owner } from "../../../kernel/identity/identity.ts";
import type { StoredFile } from "../../../kernel/platform/blobs/stored-file.ts";
import type { Sql } from "../../../kernel/platform/database/database.ts";
import { sql } from "../../../kernel/platform/database/sql.ts";
import { AlteredDocumentError, ServiceError } from "../../../kernel/platform/errors.ts";
import { documentMembers, joinDocuments, lockOrderById } from "../../../orders/order/order.ts";
import { openStored, type StoredDeps } from "../../../signing/envelopes/envelopes.ts";
import type { LabelDeps } from "./deps.ts";
import { labelDocumentKind } from "./file.ts";
import { isHandedOver } from "./progress.ts";
import { buyAnyway } from "./queue-purchase.ts";
import { findLabelOrder, type Label, labelsOf, shippingAttempt, verifiedLabel } from "./store.ts";

/** A label as the operator's pages show it. */
export type ShownLabel = Pick<
  Label,
  "number" | "state" | "carrier" | "service" | "cents" | "trackingNumber" | "why" | "refundState"
> & {
  hasFile: boolean;
  /**
   * True if a parcel can be handed over with this label now. The label was bought for the order's current shipment and
   * not used, and no refund was requested.
   */
  isForNow: boolean;
  /** The latest report on the parcel; null without one. */
  lastSeen: string | null;
  /**
   * The price in US cents of the newest label, if that label was not bought automatically. While the order is in
   * ShippingPending, staff can buy the label at this price. Null for other labels, without a rate, and for a label of
   * an earlier shipment.
   */
  offerCents: number | null;
  /** True if the price in `offerCents` is far above the quoted postage, or if no postage was quoted. */
  isFarDearer: boolean;
};

/** Staff with only the shipping role may accept a label's price up to this multiple of the quote. */
const farDearer = 2;

/** The labels of an order, newest first. Leaves out labels that were withdrawn before they were bought. */
export async function shownLabels(db: Sql, orderId: number): Promise<ShownLabel[]> {
  const labels = (await labelsOf(db, orderId)).filter(({ state }) => state !== "withdrawn").reverse();
  if (labels.length === 0) return [];
  const attempt = await shippingAttempt(db, orderId);
  const quotedCents = (await findLabelOrder(db, orderId))?.quotedCents ?? 0;
  return labels.map((label, i) => ({
    ...label,
    isForNow: isUsable(label) && label.attempt === attempt,
    isFarDearer: (label.cents ?? 0) > quotedCents * farDearer,
    hasFile: label.fileSha256 !== null,
    lastSeen: label.seen.at(-1) ?? null,
    offerCents: i === 0 && label.state === "not_bought" && label.attempt === attempt ? label.cents : null,
  }));
}

const isUsable = ({ state, refundState, seen }: Label): boolean =>
  state === "bought" && refundState === null && !isHandedOver(new Set(seen));

export type DeskOrder = Owner & { id: number; code: string };

/**
 * Opens the PDF of a label for printing.
 * @param actor for the audit log
 * @throws ServiceError `not_found` for a file that is missing or was deleted
 * @throws AlteredDocumentError when the bytes or the row were altered
 */
export async function openLabelFile(
  deps: StoredDeps,
  { id: orderId, code: orderCode, partnerId, environment }: DeskOrder,
  { number, actor }: { number: number; actor: string },
): Promise<StoredFile> {
  const { db, clock, rowMac } = deps;
  const kind = labelDocumentKind;
  const [row] = await db.query<{ sha256: string; blobKey: string; mac: Buffer | null }>(sql`
    SELECT d.sha256, d.blob_key AS "blobKey", d.row_mac AS mac, ${verifiedLabel(sql`l`)}
    FROM labels l ${joinDocuments(sql`l.order_id`)} AND d.kind = ${kind} AND d.sha256 = l.file_sha256
    WHERE l.order_id = ${orderId} AND l.number = ${number} ORDER BY d.id DESC LIMIT 1`);
  if (!row) throw new ServiceError("not_found", "There is no such label to print.");
  const { sha256, blobKey, mac } = row;
  const document = { orderCode, partnerId, environment, kind, sha256, blobKey };
  const altered = () => new AlteredDocumentError(`the label of order ${orderCode}`);
  rowMac.verify("documents", documentMembers(document), mac, { altered });
  const file = await openStored(deps, document);
  if (!file) throw new ServiceError("not_found", "The label was deleted.");
  const detail = { document: `${kind}-${sha256}`, print: "label" };
  await db.query(auditLine({ at: clock(), action: "document.read", actor, partnerId, orderId, detail }));
  return file;
}

/**
 * Buys a label about which staff had to decide.
 * @param most the price that the person saw, in US cents; a label that costs more is not bought
 * @param mayExceed whether this person may also accept a price far above the quote
 * @throws ServiceError when the offer has changed or ended; `role_required` for a price that requires another role
 */
export async function buyShownLabel(
  { db, clock }: Pick<LabelDeps, "db" | "clock">,
  { id: orderId }: Pick<DeskOrder, "id">,
  { most, operator, mayExceed }: { most: string; operator: string; mayExceed: boolean },
): Promise<void> {
  await db.transaction(async (tx) => {
    const order = await lockOrderById(tx, orderId);
    const [shown] = await shownLabels(tx, orderId);
    const mostCents = shown?.offerCents ?? null;
    if (!order || !shown || mostCents === null || String(mostCents) !== most)
      throw new ServiceError("conflict", "The offer has changed. Check it again.");
    if (shown.isFarDearer && !mayExceed)
      throw new ServiceError(
        "role_required",
        "This price is far above the quote. Only a person who works on orders may accept it.",
      );
    await buyAnyway(tx, order, { mostCents, operator, at: clock() });
  });
}
