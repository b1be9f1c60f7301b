import { sealReasons } from "@signsealship/evidence/seal";
import { type SealDocument, sealOwnDocument } from "../../evidence/seals/seals.ts";
import { joinFirm, verifiedFirm } from "../../firms/partners/partners.ts";
import { auditLine } from "../../kernel/audit/audit.ts";
import type { Environment } from "../../kernel/identity/identity.ts";
import { type Blobs, orDiscard } from "../../kernel/platform/blobs/blobs.ts";
import { type Clock, minuteMs } from "../../kernel/platform/clock.ts";
import type { Database } from "../../kernel/platform/database/database.ts";
import { sql } from "../../kernel/platform/database/sql.ts";
import type { RowMac } from "../../kernel/platform/row-mac.ts";
import { shortCode } from "../../kernel/platform/text.ts";
import { ownBuffer, type Task, type Workers } from "../../kernel/platform/workers/task.ts";
import { type SealedDocument, storeSealed } from "../../orders/fulfilment/fulfilment.ts";
import { fromOrders, insertSealedDocument, verifiedOrder } from "../../orders/order/order.ts";
import { type Providers, providerNames } from "../../providers/providers.ts";
import type { DrawnReceipt, ReceiptSource } from "./content.ts";
import type { ReceiptOf } from "./enqueue.ts";

export type MakeDeps = {
  db: Database;
  clock: Clock;
  blobs: Blobs;
  rowMac: RowMac;
  workers: Workers;
  sealDocument: SealDocument;
  providers: Pick<Providers, "rawEvents">;
};

type Order = { code: string; partnerId: string; firmName: string; environment: Environment };

const drawing: Task<DrawnReceipt, Uint8Array> = {
  name: "draw a receipt",
  module: import.meta.resolve("./draw-task.ts"),
  limitMs: minuteMs,
};

/**
 * Draws, seals and stores a receipt. Does nothing if its subject already has a receipt, or if the reported event no
 * longer applies. Safe to repeat and to run concurrently.
 */
export async function makeReceipt(deps: MakeDeps, source: ReceiptSource, of: ReceiptOf): Promise<void> {
  const { db, clock, blobs, workers, sealDocument, providers } = deps;
  const { orderId, kind, subject } = of;
  const existing = await db.query(
    sql`SELECT FROM receipts WHERE order_id = ${orderId} AND kind = ${kind} AND subject = ${subject}`,
  );
  if (existing.length > 0) return;
  const [order] = await db.query<Order>(sql`
    SELECT o.code AS "code@order", o.partner_id AS "partnerId", p.name AS "firmName", o.environment, ${verifiedOrder}, ${verifiedFirm}
    ${fromOrders} ${joinFirm(sql`o.partner_id`)} WHERE o.id = ${orderId}`);
  const content = order && (await source(db, orderId, subject));
  if (!content) return;
  const events = (await providers.rawEvents(db, content.events)).map((event) => ({
    ...event,
    providerName: providerNames[event.provider],
  }));
  const { partnerId, firmName, code: orderCode, environment } = order;
  const input = {
    ...content,
    kind,
    order: shortCode(orderCode),
    firmName,
    environment,
    createdAt: clock(),
    events,
  };
  const drawn = await workers.run(drawing, { holder: partnerId, input });
  const sealed = await sealOwnDocument(sealDocument, {
    bytes: ownBuffer(drawn),
    holder: partnerId,
    reason: sealReasons.receipt[environment],
  });
  const document = await storeSealed(deps, sealed, { orderCode, partnerId, environment }, kind);
  await orDiscard(blobs, document.blobKey, () => record(deps, of, order, document));
}

/**
 * Stores the receipt.
 * @returns false when another node stored the receipt first
 */
const record = (
  { db, clock }: MakeDeps,
  { orderId, kind, subject }: ReceiptOf,
  { partnerId, environment }: Order,
  document: SealedDocument,
): Promise<boolean> =>
  db.transaction(async (tx) => {
    const at = clock();
    const { sha256 } = document;
    const inserted = await tx.query(sql`
      INSERT INTO receipts (order_id, kind, subject, sha256, created_at)
      VALUES (${orderId}, ${kind}, ${subject}, ${sha256}, ${at}) ON CONFLICT DO NOTHING RETURNING subject`);
    if (inserted.length === 0) return false;
    await tx.query(insertSealedDocument(orderId, document, environment, at));
    const detail = { document: `${kind}-${sha256}` };
    await tx.query(auditLine({ at, action: "document.added", actor: "system", partnerId, orderId, detail }));
    return true;
  });
