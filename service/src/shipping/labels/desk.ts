import { auditLine } from "../../audit/audit.ts";
import { documentMembers, documentUse } from "../../orders/orders.ts";
import type { Sql } from "../../platform/database/database.ts";
import { sql } from "../../platform/database/sql.ts";
import { ServiceError } from "../../platform/errors.ts";
import type { LabelDeps } from "./deps.ts";
import { labelDocumentKind } from "./file.ts";
import { lockOrderById } from "./follow.ts";
import { type Label, labelsOf } from "./store.ts";
import { buyAnyway } from "./take.ts";

/** A label as people see it. */
export type ShownLabel = Pick<
  Label,
  "number" | "state" | "carrier" | "service" | "cents" | "trackingNumber" | "why" | "refundState"
> & {
  /** Whether its PDF can be printed. */
  hasFile: boolean;
  /** What was said of the parcel last; null before anything was. */
  lastSeen: string | null;
  /** What a person may still have it bought for, US cents; null where there is nothing to decide. */
  offerCents: number | null;
};

/** The labels of an order, the newest first; those that were withdrawn before anything was bought are left out. */
export async function shownLabels(db: Sql, orderId: number): Promise<ShownLabel[]> {
  const labels = (await labelsOf(db, orderId)).filter(({ state }) => state !== "withdrawn").reverse();
  return labels.map((label, i) => ({
    ...label,
    hasFile: label.fileSha256 !== null,
    lastSeen: label.seen.at(-1) ?? null,
    offerCents: i === 0 && label.state === "not_bought" ? label.cents : null,
  }));
}

export type DeskOrder = { id: number; code: string; partnerId: string };

/**
 * The PDF of a label, to print.
 * @param actor who prints, for the audit log
 * @throws ServiceError `not_found` for one that is not there, or was deleted
 */
export async function readLabelFile(
  { db, clock, blobs, rowMac }: Pick<LabelDeps, "db" | "clock" | "blobs" | "rowMac">,
  { id: orderId, code: orderCode, partnerId }: DeskOrder,
  { number, actor }: { number: number; actor: string },
): Promise<Buffer> {
  const kind = labelDocumentKind;
  const [row] = await db.query<{ sha256: string; blobKey: string; mac: Buffer | null }>(sql`
    SELECT d.sha256, d.blob_key AS "blobKey", d.row_mac AS mac
    FROM labels l JOIN documents d ON d.order_id = l.order_id AND d.kind = ${kind} AND d.sha256 = l.file_sha256
    WHERE l.order_id = ${orderId} AND l.number = ${number} ORDER BY d.id DESC LIMIT 1`);
  if (!row) throw new ServiceError("not_found", "There is no such label to print.");
  const { sha256, blobKey, mac } = row;
  if (!rowMac.holds("documents", documentMembers({ orderCode, kind, sha256, blobKey }), mac))
    throw new Error(`the label of order ${orderCode} is not what was written`);
  const bytes = await blobs.get(blobKey, documentUse(sha256));
  if (!bytes) throw new ServiceError("not_found", "The label was deleted.");
  const detail = { document: `${kind}-${sha256}`, print: "label" };
  await db.query(auditLine({ at: clock(), action: "document.read", actor, partnerId, orderId, detail }));
  return bytes;
}

/**
 * Has the label bought that nobody was to buy without a person's word.
 * @param most what the person was shown, US cents: it is bought for no more
 * @throws ServiceError when there is nothing to buy any more
 */
export async function buyShownLabel(
  { db, clock }: Pick<LabelDeps, "db" | "clock">,
  { id: orderId }: Pick<DeskOrder, "id">,
  { most, operator }: { most: string; operator: string },
): Promise<void> {
  await db.transaction(async (tx) => {
    const order = await lockOrderById(tx, orderId);
    const [shown] = await shownLabels(tx, orderId);
    if (!order || shown?.offerCents === undefined || String(shown.offerCents) !== most)
      throw new ServiceError("conflict", "The offer is another by now. Look at it again.");
    await buyAnyway(tx, order, { mostCents: shown.offerCents ?? 0, operator, at: clock() });
  });
}
