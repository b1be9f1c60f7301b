import type { Operator } from "../../../firms/operators/operators.ts";
import { auditLine } from "../../../kernel/audit/audit.ts";
import type { Sql } from "../../../kernel/platform/database/database.ts";
import { AlteredDocumentError, ServiceError } from "../../../kernel/platform/errors.ts";
import { furthestDocument } from "../../../orders/fulfilment/fulfilment.ts";
import { type DocumentFacts, documentMembers } from "../../../orders/order/order.ts";
import { openRoomDocument, openStored, readRoomDocument, withStored } from "../../envelopes/envelopes.ts";
import { type Act, actWords, isOnPaper } from "../acts/act.ts";
import { roomOfAct } from "../sheets/room.ts";
import type { SignedBefore } from "../sheets/steps.ts";
import type { Claimed, DeskDeps } from "./claims.ts";
import type { WaitingOrder } from "./orders.ts";

/** Hex SHA-256 of the document that the notary would receive now. */
export async function currentSha256(db: Sql, orderId: number): Promise<string | undefined> {
  const room = await roomOfAct(db, orderId);
  return room?.head.sha256 ?? (await furthestDocument(db, orderId))?.sha256;
}

/** The document of an order that its signers signed before any act of a notary; null when nobody has signed. */
export async function signedBeforeAct(db: Sql, orderId: number): Promise<SignedBefore | null> {
  const document = await furthestDocument(db, orderId);
  return document && document.kind !== "original" ? { sha256: document.sha256 } : null;
}

/**
 * Returns the document that the signers signed before they signed again on paper. Null if nobody has to sign again.
 * Only for acts without a run sheet (the record of an act's steps).
 *
 * In a jurat and a witnessed signature, the notary must see the signing. So the signers must sign an already signed
 * document again. A run sheet ensures this; without one, the notary confirms it.
 * @param isSignedAgain true if the notary confirmed that everybody signed again
 * @throws ServiceError `conflict` naming what the notary can do instead
 */
export async function signedAgainOnPaper(
  db: Sql,
  { order, eligibility: { modes } }: Pick<Claimed, "order" | "eligibility">,
  { act, mode }: Pick<Act, "act" | "mode">,
  isSignedAgain: boolean,
): Promise<SignedBefore | null> {
  if (act !== "jurat" && act !== "witnessing") return null;
  const before = await signedBeforeAct(db, order.orderId);
  if (before === null || (isSignedAgain && isOnPaper(mode))) return before;
  const ways = [
    ...(modes.includes("ipen") ? ["begin it under “In person, on this device”, where everybody signs again"] : []),
    ...(modes.includes("ron") ? ["open a session under “By audio and video, here”, where everybody signs again"] : []),
    ...(modes.some(isOnPaper)
      ? ["print the document, have everybody sign the print again before you, and tick that in this form"]
      : []),
  ];
  const way = ways.length > 0 ? `You can ${ways.join("; or ")}.` : "No such way is open to you: give the order back.";
  throw new ServiceError(
    "conflict",
    `This document was signed before, and ${actWords[act]} needs signatures that are made before you. ${way}`,
  );
}

async function recordedState({ db, rowMac }: DeskDeps, order: WaitingOrder): Promise<DocumentFacts> {
  const { orderId, code: orderCode, partnerId, environment } = order;
  const found = await furthestDocument(db, orderId);
  if (!found) throw new ServiceError("unavailable", "The order has no document.");
  const { kind, sha256, blobKey, mac } = found;
  const document = { orderCode, partnerId, environment, kind, sha256, blobKey };
  const altered = () => new AlteredDocumentError(`the ${kind} document of order ${orderCode}`);
  rowMac.verify("documents", documentMembers(document), mac, { altered });
  return document;
}

const unreadable = () => new ServiceError("unavailable", "The document can't be read now. Try again later.");

/**
 * Finds the document to notarize: the one that signers sign in the open act, otherwise the latest document of the
 * order.
 * @throws ServiceError `unavailable` when it can't be read
 * @throws AlteredDocumentError when its bytes were altered
 */
export async function documentToNotarize(deps: DeskDeps, order: WaitingOrder) {
  const room = await roomOfAct(deps.db, order.orderId);
  if (room) return openRoomDocument(deps, room.id);
  const document = await recordedState(deps, order);
  const file = await openStored(deps, document);
  if (!file) throw unreadable();
  return { sha256: document.sha256, file };
}

/**
 * Runs work on the bytes of the document to notarize, and reserves memory for them and for one more copy.
 * @throws as `documentToNotarize`
 */
export async function withDocument<T>(
  deps: DeskDeps,
  order: WaitingOrder,
  work: (document: { sha256: string; bytes: Buffer }) => Promise<T>,
): Promise<T> {
  const room = await roomOfAct(deps.db, order.orderId);
  if (room) return readRoomDocument(deps, room.id, ({ bytes, sha256 }) => work({ bytes, sha256 }));
  const document = await recordedState(deps, order);
  const onBytes = async (bytes: Buffer | null) => {
    if (!bytes) throw unreadable();
    return work({ sha256: document.sha256, bytes });
  };
  return withStored(deps, document, onBytes, 2);
}

/** Opens the document to notarize, for the notary to download. The audit log records who read it. */
export async function readForNotary(deps: DeskDeps, operator: Operator, order: WaitingOrder) {
  const document = await documentToNotarize(deps, order);
  const { orderId, partnerId } = order;
  const detail = { sha256: document.sha256 };
  const line = { at: deps.clock(), action: "document.read", actor: operator.actor, partnerId, orderId, detail };
  await deps.db.query(auditLine(line));
  return document;
}
