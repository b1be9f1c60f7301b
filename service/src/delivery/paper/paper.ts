import { hash } from "node:crypto";
import { auditLine } from "../../kernel/audit/audit.ts";
/** Makes the files that people print to ship or fax an order by hand, and the packet that providers send. */
import { orDiscard } from "../../kernel/platform/blobs/blobs.ts";
import type { StoredFile } from "../../kernel/platform/blobs/stored-file.ts";
import { invalid, ServiceError } from "../../kernel/platform/errors.ts";
import { runOr, type Task } from "../../kernel/platform/workers/task.ts";
import { documentMembers, documentUse, insertDocument } from "../../orders/order/order.ts";
import {
  type EnvelopeDeps,
  openOrderDocument,
  orderDocuments,
  type StoredDeps,
} from "../../signing/envelopes/envelopes.ts";
import type { PacketInput } from "./packet-task.ts";
import { furthestOf, type PaperOrder, withSentDocument } from "./paper-order.ts";
import { sheetsOf } from "./sheet.ts";

export type { FinishedCheck, FinishedReport } from "./finished/check.ts";
export {
  acceptFinished,
  approveFinished,
  type FinishedDeps,
  type Finishing,
  finishings,
  reportOnFinished,
} from "./finished/finished.ts";
export {
  type AcceptanceRequest,
  type ApprovalDeps,
  endAcceptance,
  openAcceptance,
  protectedTables,
} from "./finished/second-person.ts";
export { type PaperOrder, paperOrder, paperStatuses, withSentDocument } from "./paper-order.ts";
export { addressLines } from "./sheet.ts";

export type PaperDeps = StoredDeps & Pick<EnvelopeDeps, "workers"> & { baseUrl: string };

const packing: Task<PacketInput, Uint8Array | { refused: string }> = {
  name: "put sheets before a document",
  module: import.meta.resolve("./packet-task.ts"),
  limitMs: 30_000,
};

/**
 * `packet`: sheets and document. `sheets`: the sheets alone. The order's status decides whether the sheets are for a
 * fax. `fax`: the packet for a fax, whatever the order's status.
 */
export type Print = "packet" | "sheets" | "fax";

/**
 * Opens an order's document for printing, without sheets.
 * @throws ServiceError when it was deleted or can't be read now
 */
export async function openToPrint(deps: PaperDeps, order: PaperOrder, actor: string): Promise<StoredFile> {
  const { kind, sha256, documentId } = furthestOf(await orderDocuments(deps, order.code, order));
  const { file } = await openOrderDocument(deps, { orderCode: order.code, owner: order, documentId });
  await deps.db.query(printLine(deps, order, `${kind}-${sha256}`, "document", actor));
  return file;
}

function printLine({ clock }: PaperDeps, order: PaperOrder, document: string, print: string, actor: string) {
  const { id: orderId, partnerId } = order;
  return auditLine({ at: clock(), action: "document.read", actor, partnerId, orderId, detail: { document, print } });
}

/**
 * Makes a PDF to print for an order. The PDF is not evidence: the document's signatures cover the whole file, so the
 * sheets before the document invalidate them.
 * @param hasLabel whether a carrier's label will be on the packet
 * @param actor for the audit log
 * @throws ServiceError when the document was deleted or can't be read now, or sheets can't be added to it
 */
export async function printFor(
  deps: PaperDeps,
  order: PaperOrder,
  { what, hasLabel = false, actor }: { what: Print; hasLabel?: boolean; actor: string },
): Promise<Buffer> {
  const { db, workers, baseUrl } = deps;
  const printed = await withSentDocument(deps, order, async ({ kind, sha256, bytes }) => {
    await db.query(printLine(deps, order, `${kind}-${sha256}`, what, actor));
    const isFax = what === "fax" || order.status.startsWith("Fax");
    const input = {
      sheets: sheetsOf(order, { kind, sha256 }, { baseUrl, hasLabel, isFax }),
      docSha256: sha256,
      onBothSides: !isFax,
    };
    const call = { holder: order.partnerId, bytes: what === "sheets" ? Buffer.alloc(0) : bytes, input };
    return runOr(workers, packing, call, () => ({ refused: "reading the document takes too long" }));
  });
  if ("refused" in printed)
    throw new ServiceError(
      "conflict",
      `The sheets can’t be put before this document (${printed.refused}). Print the sheets and the document by themselves.`,
    );
  return Buffer.from(printed);
}

const kind = "fax_report";
// PDF readers look for the header in the first kilobyte (ISO 32000-2, annex I).
const headerBytes = 1024;

/**
 * Stores a scan of the report that a fax machine printed.
 * @param actor for the audit log
 * @throws ServiceError for an order without a fax, a file that is not a PDF, and a report that is already stored
 */
export async function keepFaxReport(deps: PaperDeps, order: PaperOrder, bytes: Buffer, actor: string): Promise<void> {
  const { db, clock, blobs, rowMac } = deps;
  if (!order.fax) throw new ServiceError("conflict", "This order is not faxed.");
  if (!bytes.subarray(0, headerBytes).includes("%PDF-")) throw invalid("document must be a PDF.");
  const sha256 = hash("sha256", bytes);
  const blobKey = await blobs.put(bytes, documentUse(sha256));
  const { id: orderId, code: orderCode, partnerId, environment } = order;
  const mac = rowMac.of("documents", documentMembers({ orderCode, partnerId, environment, kind, sha256, blobKey }));
  await orDiscard(blobs, blobKey, () =>
    db.transaction(async (tx) => {
      const at = clock();
      const document = { kind, sha256, bytes: bytes.length, blobKey, rowMac: mac };
      const inserted = await tx.query(insertDocument(orderId, document, at, true));
      if (inserted.length === 0) throw new ServiceError("conflict", "This report is stored already.");
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
    }),
  );
}
