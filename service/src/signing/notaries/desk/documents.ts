import { auditLine } from "../../audit/audit.ts";
import { furthestDocument } from "../../fulfilment/fulfilment.ts";
import type { Operator } from "../../operators/operators.ts";
import { documentMembers, documentUse } from "../../orders/orders.ts";
import { ServiceError } from "../../platform/errors.ts";
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
  const file = await blobs.open(blobKey, documentUse(sha256), partnerId);
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
