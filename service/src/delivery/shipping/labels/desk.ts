import { auditLine } from "../../audit/audit.ts";
import type { Owner } from "../../identity/identity.ts";
import { documentMembers, documentUse } from "../../orders/orders.ts";
import type { StoredFile } from "../../platform/blobs/stored-file.ts";
import type { Sql } from "../../platform/database/database.ts";
import { sql } from "../../platform/database/sql.ts";
import { ServiceError } from "../../platform/errors.ts";
import type { LabelDeps } from "./deps.ts";
import { labelDocumentKind } from "./file.ts";
import { lockOrderById } from "./follow.ts";
import { isHandedOver } from "./progress.ts";
import { findLabelOrder, type Label, labelsOf, shippingAttempt } from "./store.ts";
import { buyAnyway } from "./take.ts";

/** A label as people see it. */
export type ShownLabel = Pick<
  Label,
  "number" | "state" | "carrier" | "service" | "cents" | "trackingNumber" | "why" | "refundState"
> & {
  /** Whether its PDF can be printed. */
  hasFile: boolean;
  /** Whether it is for the parcel that is still to be handed over. */
  isForNow: boolean;
  /** What was said of the parcel last; null before anything was. */
  lastSeen: string | null;
  /** What a person may still have it bought for, US cents; null where there is nothing to decide. */
  offerCents: number | null;
  /** Whether that is far more than was quoted for it, or nothing was. */
  isFarDearer: boolean;
};

/** Above so much of what was quoted a price is no longer whoever ships the parcel's to accept. */
const farDearer = 2;

/** The labels of an order, the newest first; those that were withdrawn before anything was bought are left out. */
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
    offerCents: i === 0 && label.state === "not_bought" ? label.cents : null,
  }));
}

const isUsable = ({ state, refundState, seen }: Label): boolean =>
  state === "bought" && refundState === null && !isHandedOver(new Set(seen));

export type DeskOrder = Owner & { id: number; code: string };

/**
 * The PDF of a label, to print.
 * @param actor who prints, for the audit log
 * @throws ServiceError `not_found` for one that is not there, or was deleted
 */
export async function openLabelFile(
  { db, clock, blobs, rowMac }: Pick<LabelDeps, "db" | "clock" | "blobs" | "rowMac">,
  { id: orderId, code: orderCode, partnerId, environment }: DeskOrder,
  { number, actor }: { number: number; actor: string },
): Promise<StoredFile> {
  const kind = labelDocumentKind;
  const [row] = await db.query<{ sha256: string; blobKey: string; mac: Buffer | null }>(sql`
    SELECT d.sha256, d.blob_key AS "blobKey", d.row_mac AS mac
    FROM labels l JOIN documents d ON d.order_id = l.order_id AND d.kind = ${kind} AND d.sha256 = l.file_sha256
    WHERE l.order_id = ${orderId} AND l.number = ${number} ORDER BY d.id DESC LIMIT 1`);
  if (!row) throw new ServiceError("not_found", "There is no such label to print.");
  const { sha256, blobKey, mac } = row;
  if (!rowMac.holds("documents", documentMembers({ orderCode, partnerId, environment, kind, sha256, blobKey }), mac))
    throw new Error(`the label of order ${orderCode} is not what was written`);
  const file = await blobs.open(blobKey, documentUse(sha256), partnerId);
  if (!file) throw new ServiceError("not_found", "The label was deleted.");
  const detail = { document: `${kind}-${sha256}`, print: "label" };
  await db.query(auditLine({ at: clock(), action: "document.read", actor, partnerId, orderId, detail }));
  return file;
}

/**
 * Has the label bought that nobody was to buy without a person's word.
 * @param most what the person was shown, US cents: it is bought for no more
 * @param mayExceed whether the person may also accept what is far dearer than quoted
 * @throws ServiceError when there is nothing to buy any more, and `role_required` for a price that is another's to accept
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
      throw new ServiceError("conflict", "The offer is another by now. Look at it again.");
    if (shown.isFarDearer && !mayExceed)
      throw new ServiceError("role_required", "This is far dearer than quoted: it is for who works on orders to buy.");
    await buyAnyway(tx, order, { mostCents, operator, at: clock() });
  });
}
