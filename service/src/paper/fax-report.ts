import { hash } from "node:crypto";
import { auditLine } from "../audit/audit.ts";
import type { EnvelopeDeps } from "../envelopes/envelopes.ts";
import { documentMembers, documentUse } from "../orders/orders.ts";
import { sql } from "../platform/database/sql.ts";
import { isOutcomeUnknown } from "../platform/database/sql-errors.ts";
import { invalid, ServiceError } from "../platform/errors.ts";
import type { PaperOrder } from "./paper-order.ts";

const kind = "fax_report";
// Readers look for the header in the first kilobyte (ISO 32000-2, annex I).
const headerBytes = 1024;

/**
 * Keeps what a fax machine printed about a fax, as it was scanned.
 * @param actor who uploads it, for the audit log
 * @throws ServiceError for what is no PDF, and for a report that is kept already
 */
export async function keepFaxReport(
  deps: EnvelopeDeps,
  order: PaperOrder,
  bytes: Buffer,
  actor: string,
): Promise<void> {
  const { db, clock, blobs, rowMac } = deps;
  if (!order.fax) throw new ServiceError("conflict", "This order is not faxed.");
  if (!bytes.subarray(0, headerBytes).includes("%PDF-")) throw invalid("document must be a PDF.");
  const sha256 = hash("sha256", bytes);
  const blobKey = await blobs.put(bytes, documentUse(sha256));
  const { id: orderId, code: orderCode, partnerId, environment } = order;
  const mac = rowMac.of("documents", documentMembers({ orderCode, partnerId, environment, kind, sha256, blobKey }));
  try {
    await db.transaction(async (tx) => {
      const at = clock();
      const kept = await tx.query(sql`
        INSERT INTO documents (order_id, kind, sha256, bytes, blob_key, created_at, row_mac)
        SELECT ${orderId}, ${kind}, ${sha256}, ${bytes.length}, ${blobKey}, ${at}, ${mac}
        WHERE NOT EXISTS (SELECT FROM documents WHERE order_id = ${orderId} AND kind = ${kind} AND sha256 = ${sha256})
        RETURNING id`);
      if (kept.length === 0) throw new ServiceError("conflict", "This report is kept already.");
      await tx.query(
        auditLine({
          at,
          action: "document.added",
          actor,
          partnerId,
          orderId,
          detail: { document: `${kind}-${sha256}` },
        }),
      );
    });
  } catch (error) {
    if (!isOutcomeUnknown(error)) await blobs.discard(blobKey);
    throw error;
  }
}
