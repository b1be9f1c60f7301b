import { timingSafeEqual } from "node:crypto";
import { readMailFirm } from "../../firms/partners/partners.ts";
import { auditLine } from "../../kernel/audit/audit.ts";
import { actorOf, type Owner, type Principal } from "../../kernel/identity/identity.ts";
import { type Clock, dayMs } from "../../kernel/platform/clock.ts";
import type { Database } from "../../kernel/platform/database/database.ts";
import { invalid, ServiceError } from "../../kernel/platform/errors.ts";
import { newUuid } from "../../kernel/platform/ids.ts";
import { isEmail } from "../../kernel/platform/mail/email.ts";
import { defineMail, type MailDeps } from "../../kernel/platform/mail/mail-jobs.ts";
import { isPlainName, isPlainTitle } from "../../kernel/platform/mail/plain-name.ts";
import { nameIn } from "../../kernel/platform/mail/template.ts";
import { derivedToken, deriveKey, keysOf, type SecretBytes } from "../../kernel/platform/secrets.ts";
import { isCode, isPlainText, isUuid } from "../../kernel/platform/text.ts";
import { openOrderDocument } from "../../signing/envelopes/envelopes.ts";
import { roomNotFound } from "../rooms/rooms.ts";
import { type Deliverable, deliverableOf, filesOf, namedFiles, type ZipDeps, zipOf } from "./contents.ts";
import * as store from "./store.ts";

export type DeliveryDeps = Omit<ZipDeps, "db"> & { db: Database; clock: Clock; secrets: SecretBytes };

const mostInADay = 25;
const [leastDays, mostDays] = [1, 90];

const notFound = () => new ServiceError("not_found", "Not found.");

async function roomOf({ db }: DeliveryDeps, owner: Owner, roomCode: string): Promise<store.DeliveryRoom> {
  const room = isCode(roomCode) ? await store.roomByCode(db, roomCode, owner) : undefined;
  if (!room) throw roomNotFound();
  return room;
}

const ordersOf = async (deps: DeliveryDeps, room: store.DeliveryRoom): Promise<Deliverable[]> =>
  Promise.all((await store.ordersOfRoom(deps.db, room.id)).map((order) => deliverableOf(deps, order, room.reference)));

/** The room's own orders with their files, and its deliveries. @throws ServiceError `not_found` */
export async function deliveriesOf(deps: DeliveryDeps, owner: Owner, roomCode: string) {
  const room = await roomOf(deps, owner, roomCode);
  const [orders, listed] = await Promise.all([ordersOf(deps, room), store.listDeliveries(deps.db, room.id)]);
  const now = deps.clock();
  return { orders, sent: listed.map((one) => ({ ...one, hasEnded: one.expiresAt <= now })) };
}

/** One zip of all final documents that the room's own firm ordered. @throws ServiceError while there is none */
export async function roomZip(deps: DeliveryDeps, owner: Owner, roomCode: string) {
  const room = await roomOf(deps, owner, roomCode);
  const orders = await ordersOf(deps, room);
  const files = namedFiles(orders, orders.flatMap(filesOf));
  if (files.length === 0) throw new ServiceError("conflict", "No document of this room is finished yet.");
  return zipOf(deps, { room, owner: room, title: room.name, reference: room.reference, files });
}

/**
 * Returns one zip of an order's final documents. @throws ServiceError `not_found`, and while the document is not
 * finished
 */
export async function orderZip(deps: DeliveryDeps, owner: Owner, orderCode: string) {
  const [order] = isCode(orderCode) ? await store.orderByCode(deps.db, orderCode, owner) : [];
  if (!order) throw new ServiceError("not_found", "Order not found.");
  const deliverable = await deliverableOf(deps, order, null);
  const files = namedFiles([deliverable], filesOf(deliverable));
  if (files.length === 0) throw new ServiceError("conflict", "The document of this order is not finished yet.");
  const { title, reference } = deliverable;
  return zipOf(deps, { room: null, owner: order, title: title ?? "Document", reference, files });
}

export type NewDelivery = { name: string; email: string; days: string; orderCodes: readonly string[] };

/**
 * Sends chosen documents of a room to a person by a link that expires. Their hashes are fixed: a later document needs
 * another delivery.
 * @throws ServiceError naming the field and its rule, `not_found`, and for the 26th delivery in 24 hours
 */
export async function sendDelivery(
  deps: DeliveryDeps,
  principal: Principal,
  roomCode: string,
  { name: typedName, email: typedEmail, days, orderCodes }: NewDelivery,
): Promise<string> {
  const room = await roomOf(deps, principal, roomCode);
  const recipientName = typedName.trim();
  const recipientEmail = typedEmail.trim();
  if (recipientName.length < 1 || recipientName.length > 200 || !isPlainText(recipientName))
    throw invalid("name must have 1 to 200 characters, in one line.");
  if (!isEmail(recipientEmail)) throw invalid("email must be an email address.");
  if (!/^\d{1,2}$/.test(days) || Number(days) < leastDays || Number(days) > mostDays)
    throw invalid(`days must be a whole number from ${leastDays} to ${mostDays}.`);
  const orders = await ordersOf(deps, room);
  const chosen = orders.filter(({ code }) => orderCodes.includes(code));
  if (chosen.length === 0) throw invalid("Choose at least one document.");
  const unfinished = chosen.find(({ final }) => final === null || final.deletedAt !== null);
  if (unfinished)
    throw new ServiceError("conflict", `${unfinished.title ?? "A chosen document"} is not finished, or was deleted.`);
  const id = newUuid();
  await deps.db.transaction(async (tx) => {
    const at = deps.clock();
    await store.lockDeliveries(tx, room.id);
    if ((await store.countSince(tx, room.id, new Date(at.getTime() - dayMs))) >= mostInADay)
      throw new ServiceError("conflict", `At most ${mostInADay} deliveries of a room are sent in 24 hours.`);
    const actor = actorOf(principal);
    const files = chosen.flatMap(filesOf);
    const expiresAt = new Date(at.getTime() + Number(days) * dayMs);
    const delivery = {
      id,
      roomId: room.id,
      recipientName,
      recipientEmail,
      files,
      sentBy: actor,
      createdAt: at,
      expiresAt,
    };
    await store.insertDelivery(tx, delivery);
    await deliveryMail.enqueue(tx, { deliveryId: id });
    const detail = { delivery: id, room: room.id, files: files.length, expiresAt: expiresAt.toISOString() };
    await tx.query(auditLine({ at, action: "delivery.sent", actor, partnerId: room.partnerId, detail }));
  });
  return id;
}

/** Ends the link of a delivery. @throws ServiceError `not_found` for an unknown delivery and for one that has ended */
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

const tokenUnder = (key: SecretBytes, id: string): string => derivedToken(deriveKey(key, "closing-delivery"), id);

export const deliveryPath = (secrets: SecretBytes, id: string): string =>
  `/deliveries/${id}/${tokenUnder(secrets, id)}`;

const isToken = (secrets: SecretBytes, id: string, token: string): boolean =>
  isCode(token) && keysOf(secrets).some((key) => timingSafeEqual(Buffer.from(tokenUnder(key, id)), Buffer.from(token)));

export type Link = { id: string; token: string };

/**
 * A delivery, for a holder of its link.
 * @throws ServiceError `not_found` for a wrong link; the message is the same for a link that was ended or has expired
 */
export async function openDelivery(deps: DeliveryDeps, { id, token }: Link) {
  const delivery = isUuid(id) && isToken(deps.secrets, id, token) ? await store.selectDelivery(deps.db, id) : undefined;
  if (!delivery || delivery.revokedAt !== null || delivery.expiresAt <= deps.clock()) throw notFound();
  const room = await store.roomById(deps.db, delivery.roomId);
  if (!room) throw notFound();
  const rows = await store.ordersById(
    deps.db,
    [...new Set(delivery.files.map(({ orderId }) => orderId))],
    room.partnerId,
  );
  const orders = await Promise.all(rows.map((order) => deliverableOf(deps, order, room.reference)));
  return { delivery, room, files: namedFiles(orders, delivery.files) };
}

/**
 * The zip of a delivery. Records that the download began. @throws ServiceError as `openDelivery`, and for a file that
 * was deleted
 */
export async function deliveryZip(deps: DeliveryDeps, link: Link, network: string | null) {
  const { delivery, room, files } = await openDelivery(deps, link);
  const { name: title, reference } = room;
  const zip = await zipOf(deps, { room: null, owner: room, title, reference, files });
  await store.insertUse(deps.db, delivery.id, { at: deps.clock(), file: null, network });
  return zip;
}

/** One file of a delivery. Records that the download began. @throws ServiceError as `openDelivery` */
export async function deliveryFile(deps: DeliveryDeps, link: Link & { documentId: string }, network: string | null) {
  const { delivery, room, files } = await openDelivery(deps, link);
  const wanted = files.find(({ kind, sha256 }) => `${kind}-${sha256}` === link.documentId);
  if (!wanted) throw notFound();
  const { path, orderCode } = wanted;
  const { file } = await openOrderDocument(deps, { orderCode, owner: room, documentId: link.documentId });
  await store.insertUse(deps.db, delivery.id, { at: deps.clock(), file: path, network });
  return { name: path.slice(path.lastIndexOf("/") + 1), file };
}

/** The mail with the link of a delivery. It is not sent if the delivery was ended in the meantime. */
export const deliveryMail = defineMail({
  queue: "delivery-mail",
  async load({ deliveryId }: { deliveryId: string }, { db, clock }: MailDeps) {
    const delivery = await store.selectDelivery(db, deliveryId);
    if (!delivery || delivery.revokedAt !== null || delivery.expiresAt <= clock()) return null;
    const room = await store.roomById(db, delivery.roomId);
    return room ? { delivery, room, firm: await readMailFirm(db, room.partnerId) } : null;
  },
  write({ delivery, room, firm }, _, { baseUrl, secrets }) {
    const by = nameIn(firm, "A firm");
    const { id, recipientName, recipientEmail, files, expiresAt } = delivery;
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
        `${by} sends you documents of a closing, with the certificates that prove them.`,
        `The link works until ${expiresAt.toISOString().slice(0, 10)}. You need no account.`,
      ],
      facts: isPlainTitle(room.name) ? [["Closing", room.name] as const] : [],
      link: { label: "See the documents", url: `${baseUrl}${deliveryPath(secrets, id)}` },
      caution: "Anyone who has this link can download the documents, so share it with care.",
      why: `You receive it because ${nameIn(firm, "the firm")} gave this email address.`,
      firm,
    };
  },
});
