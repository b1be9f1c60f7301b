import type { Operator } from "../../../firms/operators/operators.ts";
import { auditLine } from "../../../kernel/audit/audit.ts";
import { memoryHolder } from "../../../kernel/platform/bounds/memory-budget.ts";
import { ServiceError } from "../../../kernel/platform/errors.ts";
import { furthestDocument } from "../../../orders/fulfilment/fulfilment.ts";
import { documentMembers, documentUse } from "../../../orders/order/order.ts";
import type { DeskDeps } from "./desk.ts";
import type { WaitingOrder } from "./orders.ts";

/** The document that a notary is to notarize: the furthest of the order. @throws ServiceError `unavailable` when it can't be read */
export async function documentToNotarize({ db, blobs, rowMac }: DeskDeps, order: WaitingOrder) {
  const { orderId, code, partnerId, environment } = order;
  const document = await furthestDocument(db, orderId);
  if (!document) throw new ServiceError("unavailable", "The order has no document.");
  const { kind, sha256, blobKey, mac } = document;
  if (
    !rowMac.holds("documents", documentMembers({ orderCode: code, partnerId, environment, kind, sha256, blobKey }), mac)
  )
    throw new Error(`the ${kind} document of order ${code} is not what was written`);
  const file = await blobs.open(blobKey, documentUse(sha256), memoryHolder(order));
  if (!file) throw new ServiceError("unavailable", "The document can't be read now. Try again later.");
  return { sha256, file };
}

/** The same, for the notary to keep: who read it is in the audit log. */
export async function readForNotary(deps: DeskDeps, operator: Operator, order: WaitingOrder) {
  const document = await documentToNotarize(deps, order);
  const { orderId, partnerId } = order;
  const detail = { sha256: document.sha256 };
  const line = { at: deps.clock(), action: "document.read", actor: operator.actor, partnerId, orderId, detail };
  await deps.db.query(auditLine(line));
  return document;
}
