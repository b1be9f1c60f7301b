import { readAnsweringFirm } from "../../firms/members/members.ts";
import { auditLine } from "../../kernel/audit/audit.ts";
import { actorOf, type Owner, type Principal } from "../../kernel/identity/identity.ts";
import { dayMs } from "../../kernel/platform/clock.ts";
import type { Tx } from "../../kernel/platform/database/database.ts";
import { invalid, ServiceError } from "../../kernel/platform/errors.ts";
import { newUuid } from "../../kernel/platform/ids.ts";
import { zonedText } from "../../kernel/platform/languages.ts";
import { isEmail } from "../../kernel/platform/mail/email.ts";
import { defineMail, type MailDeps } from "../../kernel/platform/mail/mail-jobs.ts";
import { isPlainName, isPlainTitle } from "../../kernel/platform/mail/plain-name.ts";
import { nameIn } from "../../kernel/platform/mail/template.ts";
import { isCode, isPlainText, isUuid, wholeNumberIn } from "../../kernel/platform/text.ts";
import { type EmailMove, hasEmailOf, type MovedInRooms, orderNotFound } from "../../orders/order/order.ts";
import { zoneOrDefault } from "../../orders/payments/payments.ts";
import { certificateOfRoom, wasSealed } from "../closing-passports/closing-passports.ts";
import { type OwnRoom, roomNotFound } from "../rooms/rooms.ts";
import { certificateToSend, offerOf, openedCertificate } from "./certificate.ts";
import { type Deliverable, deliverableOf, deliverablesOf, filesOf, namedFiles, zipOf } from "./contents.ts";
import { type DeliveryDeps, deliveryPath, notFound } from "./link.ts";
import { waitingReceivers } from "./receiver-store.ts";
import * as store from "./store.ts";

const maxInADay = 25;
const [minDays, maxDays] = [1, 90];

async function roomOf({ db }: DeliveryDeps, owner: Owner, roomCode: string): Promise<store.DeliveryRoom> {
  const room = isCode(roomCode) ? await store.roomByCode(db, roomCode, owner) : undefined;
  if (!room) throw roomNotFound();
  return room;
}

const ordersOf = async (deps: DeliveryDeps, room: store.DeliveryRoom): Promise<Deliverable[]> =>
  deliverablesOf(deps, await store.ordersOfRoom(deps.db, room.id), room.reference);

/**
 * The orders that the room's own firm placed, each with its files; the room's deliveries; and the people who wait for
 * the room's documents.
 * @throws ServiceError `unavailable` when the MAC of a document or a delivery is invalid
 */
export async function deliveriesOf(deps: DeliveryDeps, { id, reference, orders: all, ownOrders, versions }: OwnRoom) {
  const rows = [...ownOrders.values()];
  const orders = deliverablesOf(deps, rows, reference);
  const sendable = orders.filter(isSendable);
  const [listed, asked, newest] = await Promise.all([
    store.listDeliveries(deps.db, id),
    waitingReceivers(deps.db, id),
    versions.length > 0 && sendable.length > 0 ? certificateOfRoom(deps, id, null) : null,
  ]);
  const now = deps.clock();
  const waiting = asked.filter(({ isWithdrawn }) => !isWithdrawn);
  return {
    orders,
    sendable,
    waiting,
    certificate: offerOf(
      { newest, versions: versions.length },
      sendable,
      all.map(({ orderCode }) => orderCode),
    ),
    sent: listed.map((one) => ({ ...one, hasEnded: one.expiresAt <= now })),
  };
}

/**
 * One zip of the final documents of all orders that the room's own firm placed, with the room's newest closing
 * certificate.
 * @throws ServiceError while no document is finished
 */
export async function roomZip(deps: DeliveryDeps, owner: Owner, roomCode: string) {
  const room = await roomOf(deps, owner, roomCode);
  const orders = await ordersOf(deps, room);
  const files = namedFiles(orders, orders.flatMap(filesOf));
  if (files.length === 0) throw new ServiceError("conflict", "No document of this room is finished yet.");
  const record = await certificateOfRoom(deps, room.id, null);
  const certificate = await openedCertificate(deps, record);
  const isCertificateLost = certificate === null && (await wasSealed(deps.db, room.id));
  const { name: title, reference } = room;
  return zipOf(deps, { certificate, isCertificateLost, owner: room, title, reference, files });
}

/**
 * Returns one zip of an order's final documents.
 * @throws ServiceError `not_found`, and while the document is not finished
 */
export async function orderZip(deps: DeliveryDeps, owner: Owner, orderCode: string) {
  const [order] = isCode(orderCode) ? await store.orderByCode(deps.db, orderCode, owner) : [];
  if (!order) throw orderNotFound();
  const deliverable = deliverableOf(deps, order, null);
  const files = namedFiles([deliverable], filesOf(deliverable));
  if (files.length === 0) throw new ServiceError("conflict", "The document of this order is not finished yet.");
  const { title, reference } = deliverable;
  const none = { certificate: null, isCertificateLost: false };
  return zipOf(deps, { ...none, owner: order, title: title ?? "Document", reference, files });
}

const isSendable = ({ final }: Deliverable): boolean => final !== null && final.deletedAt === null;

export type NewDelivery = {
  name: string;
  email: string;
  days: string;
  orderCodes: readonly string[];
  /** True if the link asks for a code that is mailed to the recipient. */
  asksCode: boolean;
  /** The version of the closing certificate that is delivered with the documents; null for none. */
  certificateVersion: string | null;
};

/** The faults in the typed values, with the labels of the form's fields. */
function faultsOf({ recipientName, recipientEmail }: Recipient, days: string): string[] {
  const isNamed = recipientName.length >= 1 && recipientName.length <= 200 && isPlainText(recipientName);
  const isInRange = wholeNumberIn(days, minDays, maxDays) !== undefined;
  return [
    isNamed ? [] : "“Name of the recipient” must have 1 to 200 characters, in one line.",
    isEmail(recipientEmail) ? [] : "“Email” must be an email address.",
    isInRange ? [] : `“Days until the link ends” must be a whole number from ${minDays} to ${maxDays}.`,
  ].flat();
}

type Recipient = { recipientName: string; recipientEmail: string };

/**
 * Sends chosen documents of a room to a person by a link that expires. The link delivers only these exact files; a
 * later version of a document needs another delivery.
 * @throws ServiceError naming all wrong fields and their rules; `not_found`. `conflict` for an unfinished document, and
 * in the cases of `certificateToSend`. Also `conflict` for the room's 26th manual delivery in 24 hours
 */
export async function sendDelivery(
  deps: DeliveryDeps,
  principal: Principal,
  roomCode: string,
  { name, email, days, orderCodes, asksCode, certificateVersion }: NewDelivery,
): Promise<string> {
  const room = await roomOf(deps, principal, roomCode);
  const recipient = { recipientName: name.trim(), recipientEmail: email.trim() };
  const orders = await ordersOf(deps, room);
  const chosen = orders.filter(({ code }) => orderCodes.includes(code));
  const faults = [...faultsOf(recipient, days), ...(chosen.length === 0 ? ["Choose at least one document."] : [])];
  if (faults.length > 0) throw invalid(faults.join(" "));
  const unfinished = chosen.find((order) => !isSendable(order));
  if (unfinished)
    throw new ServiceError("conflict", `${unfinished.title ?? "A chosen document"} is not finished, or was deleted.`);
  const certificateSha256 =
    certificateVersion === null
      ? null
      : await certificateToSend(deps, room.id, { version: certificateVersion, orders: chosen });
  return deps.db.transaction(async (tx) => {
    const at = deps.clock();
    await store.lockDeliveries(tx, room.id);
    if ((await store.countManualSince(tx, room.id, new Date(at.getTime() - dayMs))) >= maxInADay)
      throw new ServiceError("conflict", `A firm sends at most ${maxInADay} deliveries of a room in 24 hours.`);
    return writeDelivery(tx, room, chosen, {
      ...recipient,
      days: Number(days),
      asksCode,
      certificateSha256,
      actor: actorOf(principal),
      at,
    });
  });
}

type Sent = Recipient & {
  days: number;
  asksCode: boolean;
  certificateSha256: string | null;
  actor: string;
  at: Date;
};

/**
 * Writes a delivery of finished documents, and queues its mail. The caller must have locked the deliveries of the room.
 */
export async function writeDelivery(
  tx: Tx,
  room: store.DeliveryRoom,
  orders: readonly Deliverable[],
  { days, actor, at, ...sent }: Sent,
): Promise<string> {
  const files = orders.flatMap(filesOf);
  const expiresAt = new Date(at.getTime() + days * dayMs);
  const delivery = { roomId: room.id, files, sentBy: actor, createdAt: at, expiresAt, ...sent };
  return insertAndMail(tx, delivery, { partnerId: room.partnerId, actor });
}

async function insertAndMail(
  tx: Tx,
  delivery: Omit<store.Delivery, "id" | "revokedAt">,
  by: { partnerId: string; actor: string },
): Promise<string> {
  const id = newUuid();
  await store.insertDelivery(tx, { ...delivery, id });
  await deliveryMail.enqueue(tx, { deliveryId: id });
  const { roomId: room, files, createdAt: at, expiresAt, asksCode, certificateSha256 } = delivery;
  const detail = {
    delivery: id,
    room,
    files: files.length,
    expiresAt: expiresAt.toISOString(),
    asksCode,
    ...(certificateSha256 !== null && { certificateSha256 }),
  };
  await tx.query(auditLine({ at, action: "delivery.sent", ...by, detail }));
  return id;
}

/**
 * Ends the links of a room that were mailed to a person's earlier email address. Mails new links for the same files,
 * with the same expiry, to the corrected one. Beyond the day's limit, ends the links without mailing new ones. The
 * caller must have locked the deliveries of the room.
 * @param orderIds if given, replaces only links that open a document of one of these orders
 */
export async function moveDeliveries(
  tx: Tx,
  { id: roomId, partnerId, orderIds = null }: { id: string; partnerId: string; orderIds?: readonly number[] | null },
  move: EmailMove,
  { actor, at }: { actor: string; at: Date },
): Promise<MovedInRooms> {
  const isOfPerson = ({ recipientName: name, recipientEmail: email, files }: store.Delivery) =>
    hasEmailOf(move, { name, email }) && (orderIds === null || files.some((file) => orderIds.includes(file.orderId)));
  let left = maxInADay - (await store.countManualSince(tx, roomId, new Date(at.getTime() - dayMs)));
  let [isMoved, isUnmailed] = [false, false];
  for (const { id, revokedAt: _, ...delivery } of (await store.openDeliveries(tx, roomId, at)).filter(isOfPerson)) {
    if (!(await store.revoke(tx, id, roomId, at))) continue;
    const detail = { delivery: id, room: roomId };
    await tx.query(auditLine({ at, action: "delivery.revoked", actor, partnerId, detail }));
    if (left-- > 0)
      await insertAndMail(tx, { ...delivery, recipientEmail: move.to, createdAt: at }, { partnerId, actor });
    else isUnmailed = true;
    isMoved = true;
  }
  return { isMoved, isUnmailed };
}

/**
 * Ends the link of a delivery, even one that has expired.
 * @throws ServiceError `not_found` for an unknown delivery, and for one whose link was already ended
 */
export async function revokeDelivery(deps: DeliveryDeps, principal: Principal, roomCode: string, id: string) {
  const room = await roomOf(deps, principal, roomCode);
  await deps.db.transaction(async (tx) => {
    const at = deps.clock();
    if (!isUuid(id) || !(await store.revoke(tx, id, room.id, at))) throw notFound();
    const detail = { delivery: id, room: room.id };
    const line = { at, action: "delivery.revoked", actor: actorOf(principal), partnerId: room.partnerId, detail };
    await tx.query(auditLine(line));
  });
}

/** The mail with the link of a delivery. It is not sent if the delivery was ended in the meantime. */
export const deliveryMail = defineMail({
  queue: "delivery-mail",
  async load({ deliveryId }: { deliveryId: string }, deps: MailDeps) {
    const { db, clock } = deps;
    const delivery = await store.selectDelivery(db, deliveryId);
    if (!delivery || delivery.revokedAt !== null || delivery.expiresAt <= clock()) return null;
    const room = await store.roomById(db, delivery.roomId);
    if (!room) return null;
    const zone = await zoneOrDefault(db, room.partnerId);
    return { delivery, room, firm: await readAnsweringFirm(deps, room), zone };
  },
  write({ delivery, room, firm, zone }, _, { baseUrl, secrets }) {
    const by = nameIn(firm, "A firm");
    const { id, recipientName, recipientEmail, files, expiresAt, asksCode } = delivery;
    const count = new Set(files.map(({ orderId }) => orderId)).size;
    const heading = count === 1 ? "A document was sent to you" : `${count} documents were sent to you`;
    const reference = room.reference !== null && isPlainTitle(room.reference) ? room.reference : null;
    return {
      id: `delivery:${id}`,
      to: recipientEmail,
      environment: room.environment,
      isOfFinished: true,
      subject: reference === null ? heading : `${heading}: ${reference}`,
      heading,
      greeting: isPlainName(recipientName) ? `Hello ${recipientName},` : "Hello,",
      lines: [
        `${by} sends you documents of a closing.`,
        `The link works until ${zonedText(expiresAt, zone)}. You need no account.`,
      ],
      facts: isPlainTitle(room.name) ? [["Closing", room.name] as const] : [],
      link: { label: "See the documents", url: `${baseUrl}${deliveryPath(secrets, id)}` },
      caution: asksCode
        ? "The page mails a code to this address before it shows anything."
        : "Anyone who has this link can download the documents, so share it with care.",
      why: `You receive it because ${nameIn(firm, "the firm")} gave this email address.`,
      firm,
    };
  },
});
