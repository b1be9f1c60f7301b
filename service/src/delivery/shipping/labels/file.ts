import { hash } from "node:crypto";
import { documentMembers, documentUse } from "../../orders/orders.ts";
import { sql } from "../../platform/database/sql.ts";
import { isOutcomeUnknown } from "../../platform/database/sql-errors.ts";
import type { Jobs } from "../../platform/jobs/jobs.ts";
import { easypostBase, fetchLabelFile } from "../../providers/providers.ts";
import type { LabelDeps } from "./deps.ts";
import { lockLabel, updateLabel } from "./store.ts";

/** The queue of labels whose PDF is to be fetched; payload `{labelId}`. */
export const fileQueue = "label-file";

/** Of the document that a label's PDF is; firms and clients are not shown it. */
export const labelDocumentKind = "shipping_label";
const kind = labelDocumentKind;

/** Keeps the PDF of a label that was bought: a document of its order, encrypted as the others are. */
export function fileJobs(jobs: Jobs, deps: LabelDeps): void {
  jobs.work<{ labelId: number }>(fileQueue, ({ labelId }) => keepFile(deps, labelId), { maxAttempts: 30 });
}

async function keepFile({ db, clock, blobs, rowMac, fetch, easypost }: LabelDeps, labelId: number): Promise<void> {
  const [label] = await db.query<{ labelUrl: string | null; fileSha256: string | null }>(sql`
    SELECT label_url AS "labelUrl", file_sha256 AS "fileSha256" FROM labels WHERE id = ${labelId}`);
  if (!label?.labelUrl || label.fileSha256 !== null) return;
  const bytes = await fetchLabelFile(fetch, easypost?.apiBase ?? easypostBase, label.labelUrl);
  const sha256 = hash("sha256", bytes);
  const blobKey = await blobs.put(bytes, documentUse(sha256));
  let isKept = false;
  try {
    isKept = await db.transaction(async (tx) => {
      const locked = await lockLabel(tx, labelId);
      if (!locked || locked.label.fileSha256 !== null) return false;
      const { id: orderId, code: orderCode, partnerId, environment } = locked.order;
      const document = { orderCode, partnerId, environment, kind, sha256, blobKey };
      const mac = rowMac.of("documents", documentMembers(document));
      await tx.query(sql`
        INSERT INTO documents (order_id, kind, sha256, bytes, blob_key, created_at, row_mac)
        VALUES (${orderId}, ${kind}, ${sha256}, ${bytes.length}, ${blobKey}, ${clock()}, ${mac})`);
      await updateLabel(tx, labelId, sql`file_sha256 = ${sha256}`);
      return true;
    });
  } catch (error) {
    if (!isOutcomeUnknown(error)) await blobs.discard(blobKey);
    throw error;
  }
  if (!isKept) await blobs.discard(blobKey);
}
