import { sealReasons } from "@signsealship/evidence/seal";
import { auditLine } from "../audit/audit.ts";
import { insertDocument, type SealedDocument, storeSealed } from "../fulfilment/fulfilment.ts";
import type { Environment } from "../identity/identity.ts";
import { verifiedOrder } from "../orders/orders.ts";
import type { Blobs } from "../platform/blobs/blobs.ts";
import type { Clock } from "../platform/clock.ts";
import type { Database } from "../platform/database/database.ts";
import { sql } from "../platform/database/sql.ts";
import { isOutcomeUnknown } from "../platform/database/sql-errors.ts";
import type { RowMac } from "../platform/row-mac.ts";
import type { Task, Workers } from "../platform/workers/task.ts";
import { type Providers, providerNames } from "../providers/providers.ts";
import { type SealDocument, sealOwnDocument } from "../seals/seals.ts";
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
  limitMs: 60_000,
};

/** Draws, seals and stores a receipt, unless there is one of its subject. Safe to repeat, and beside itself. */
export async function makeReceipt(deps: MakeDeps, source: ReceiptSource, of: ReceiptOf): Promise<void> {
  const { db, clock, blobs, workers, sealDocument, providers } = deps;
  const { orderId, kind, subject } = of;
  const made = await db.query(
    sql`SELECT FROM receipts WHERE order_id = ${orderId} AND kind = ${kind} AND subject = ${subject}`,
  );
  if (made.length > 0) return;
  const [order] = await db.query<Order>(sql`
    SELECT o.code, o.partner_id AS "partnerId", p.name AS "firmName", o.environment, ${verifiedOrder}
    FROM orders o JOIN partners p ON p.id = o.partner_id WHERE o.id = ${orderId}`);
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
    order: orderCode.slice(0, 6).toUpperCase(),
    firmName,
    environment,
    madeAt: clock(),
    events,
  };
  const drawn = await workers.run(drawing, { holder: partnerId, input });
  const bytes = Buffer.from(drawn.buffer, drawn.byteOffset, drawn.length);
  const sealed = await sealOwnDocument(sealDocument, {
    bytes,
    holder: partnerId,
    reason: sealReasons.receipt[environment],
  });
  const document = await storeSealed(deps, sealed, { orderCode, partnerId, environment }, kind);
  const isKept = await record(deps, of, order, document).catch(async (error) => {
    if (!isOutcomeUnknown(error)) await blobs.discard(document.blobKey);
    throw error;
  });
  if (!isKept) await blobs.discard(document.blobKey);
}

/** @returns false when another node's was first */
const record = (
  { db, clock }: MakeDeps,
  { orderId, kind, subject }: ReceiptOf,
  { partnerId }: Order,
  document: SealedDocument,
): Promise<boolean> =>
  db.transaction(async (tx) => {
    const at = clock();
    const { sha256 } = document;
    const kept = await tx.query(sql`
      INSERT INTO receipts (order_id, kind, subject, sha256, created_at)
      VALUES (${orderId}, ${kind}, ${subject}, ${sha256}, ${at}) ON CONFLICT DO NOTHING RETURNING subject`);
    if (kept.length === 0) return false;
    await insertDocument(tx, orderId, document, at);
    const detail = { document: `${kind}-${sha256}` };
    await tx.query(auditLine({ at, action: "document.added", actor: "system", partnerId, orderId, detail }));
    return true;
  });
