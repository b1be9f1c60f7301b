import { hash } from "node:crypto";
import { orDiscard } from "../../../kernel/platform/blobs/blobs.ts";
import { sql } from "../../../kernel/platform/database/sql.ts";
import type { Jobs } from "../../../kernel/platform/jobs/jobs.ts";
import { documentMembers, documentUse, insertDocument } from "../../../orders/order/order.ts";
import { easypostBase, fetchLabelFile } from "../../../providers/providers.ts";
import type { LabelDeps } from "./deps.ts";
import { findLabel, lockLabel, updateLabel } from "./store.ts";

/** The queue of labels whose PDF is downloaded; payload `{labelId}`. */
export const fileQueue = "label-file";

/** The document kind of a label's PDF. Firms and clients don't see documents of this kind. */
export const labelDocumentKind = "shipping_label";
const kind = labelDocumentKind;

/** The job that stores the PDF of a bought label as an encrypted document of its order. */
export function fileJobs(jobs: Jobs, deps: LabelDeps): void {
  jobs.work<{ labelId: number }>(fileQueue, ({ labelId }) => keepFile(deps, labelId), { maxAttempts: 30 });
}

async function keepFile({ db, clock, blobs, rowMac, easypost }: LabelDeps, labelId: number): Promise<void> {
  const label = await findLabel(db, labelId);
  if (!label?.labelUrl || label.fileSha256 !== null) return;
  const bytes = await fetchLabelFile(easypost.fetch, easypost.settings?.apiBase ?? easypostBase, label.labelUrl);
  const sha256 = hash("sha256", bytes);
  const blobKey = await blobs.put(bytes, documentUse(sha256));
  await orDiscard(blobs, blobKey, () =>
    db.transaction(async (tx) => {
      const locked = await lockLabel(tx, labelId);
      if (!locked || locked.label.fileSha256 !== null) return false;
      const { id: orderId, code: orderCode, partnerId, environment } = locked.order;
      const document = { orderCode, partnerId, environment, kind, sha256, blobKey };
      const mac = rowMac.of("documents", documentMembers(document));
      await tx.query(insertDocument(orderId, { kind, sha256, bytes: bytes.length, blobKey, rowMac: mac }, clock()));
      await updateLabel(tx, labelId, sql`file_sha256 = ${sha256}`);
      return true;
    }),
  );
}
