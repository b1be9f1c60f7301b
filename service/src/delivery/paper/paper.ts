/** Work on paper by people: what is printed for an order, and the packet that is sent. */
import { auditLine } from "../audit/audit.ts";
import { type EnvelopeDeps, openOrderDocument, orderDocuments } from "../envelopes/envelopes.ts";
import type { StoredFile } from "../platform/blobs/stored-file.ts";
import { ServiceError } from "../platform/errors.ts";
import { type Task, tooCostly } from "../platform/workers/task.ts";
import { sheetsOf } from "./contents.ts";
import type { PacketInput } from "./packet-task.ts";
import { furthestOf, type PaperOrder, withSentDocument } from "./paper-order.ts";

export { addressLines } from "./contents.ts";
export { keepFaxReport } from "./fax-report.ts";
export type { FinishedCheck, FinishedReport } from "./finished/check.ts";
export {
  approveFinished,
  type FinishedConfirmation,
  type FinishedDeps,
  type Finishing,
  finishings,
  reportOnFinished,
  takeFinished,
} from "./finished/finished.ts";
export { type ApprovalDeps, endTakingIn, openTakingIn, type TakingIn } from "./finished/second-person.ts";
export { type PaperOrder, paperOrder, paperStatuses, withSentDocument } from "./paper-order.ts";

export type PaperDeps = EnvelopeDeps;

const packing: Task<PacketInput, Uint8Array | { refused: string }> = {
  name: "put sheets before a document",
  module: import.meta.resolve("./packet-task.ts"),
  limitMs: 30_000,
};

/** The printed part of a packet: all of it in its order, or the sheets alone. */
export type Print = "packet" | "sheets";

/** The document of an order alone, to print. @throws ServiceError when it was deleted */
export async function openToPrint(deps: PaperDeps, order: PaperOrder, actor: string): Promise<StoredFile> {
  const { kind, sha256, documentId } = furthestOf(await orderDocuments(deps.db, order.code, order));
  const { file } = await openOrderDocument(deps, { orderCode: order.code, owner: order, documentId });
  await deps.db.query(printLine(deps, order, `${kind}-${sha256}`, "document", actor));
  return file;
}

function printLine({ clock }: PaperDeps, order: PaperOrder, document: string, print: string, actor: string) {
  const { id: orderId, partnerId } = order;
  return auditLine({ at: clock(), action: "document.read", actor, partnerId, orderId, detail: { document, print } });
}

/**
 * A PDF to print for an order. It is no evidence: sheets before a document end what its signatures say of the whole file.
 * @param hasLabel whether a carrier's label goes on it
 * @param actor who prints, for the audit log
 * @throws ServiceError when the document was deleted, or can't be continued by sheets
 */
export async function printFor(
  deps: PaperDeps,
  order: PaperOrder,
  { what, hasLabel = false, actor }: { what: Print; hasLabel?: boolean; actor: string },
): Promise<Buffer> {
  const { db, workers, baseUrl } = deps;
  const printed = await withSentDocument(deps, order, async ({ kind, sha256, bytes }) => {
    await db.query(printLine(deps, order, `${kind}-${sha256}`, what, actor));
    const input = {
      sheets: sheetsOf(order, { kind, sha256 }, { baseUrl, hasLabel }),
      docSha256: sha256,
      onBothSides: !order.status.startsWith("Fax"),
    };
    const call = { holder: order.partnerId, bytes: what === "packet" ? bytes : Buffer.alloc(0), input };
    return workers.run(packing, call).catch((error: unknown) => {
      if (!tooCostly(error)) throw error;
      return { refused: "reading the document takes too long" };
    });
  });
  if ("refused" in printed)
    throw new ServiceError(
      "conflict",
      `The sheets can’t be put before this document (${printed.refused}). Print the sheets and the document by themselves.`,
    );
  return Buffer.from(printed);
}
