/** Work on paper by people: what is printed for an order, and the packet that is sent. */
import { auditLine } from "../audit/audit.ts";
import type { EnvelopeDeps } from "../envelopes/envelopes.ts";
import { ServiceError } from "../platform/errors.ts";
import { type Task, tooCostly } from "../platform/workers/task.ts";
import { sheetsOf } from "./contents.ts";
import type { PacketInput } from "./packet-task.ts";
import { type PaperOrder, sentDocument } from "./paper-order.ts";

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
export { type PaperOrder, paperOrder, paperStatuses, sentDocument } from "./paper-order.ts";

export type PaperDeps = EnvelopeDeps;

const packing: Task<PacketInput, Uint8Array | { refused: string }> = {
  name: "put sheets before a document",
  module: import.meta.resolve("./packet-task.ts"),
  limitMs: 30_000,
};

/** What of a packet is printed: all of it in its order, the sheets alone, or the document alone. */
export type Print = "packet" | "sheets" | "document";

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
  const { db, clock, workers, baseUrl } = deps;
  const { kind, sha256, bytes } = await sentDocument(deps, order);
  const { id: orderId, partnerId } = order;
  const detail = { document: `${kind}-${sha256}`, print: what };
  await db.query(auditLine({ at: clock(), action: "document.read", actor, partnerId, orderId, detail }));
  if (what === "document") return bytes;
  const input = {
    sheets: sheetsOf(order, { kind, sha256 }, { baseUrl, hasLabel }),
    docSha256: sha256,
    onBothSides: !order.status.startsWith("Fax"),
  };
  const call = { holder: partnerId, bytes: what === "packet" ? bytes : Buffer.alloc(0), input };
  const printed = await workers.run(packing, call).catch((error: unknown) => {
    if (!tooCostly(error)) throw error;
    return { refused: "reading the document takes too long" };
  });
  if ("refused" in printed)
    throw new ServiceError(
      "conflict",
      `The sheets can’t be put before this document (${printed.refused}). Print the sheets and the document by themselves.`,
    );
  return Buffer.from(printed);
}
