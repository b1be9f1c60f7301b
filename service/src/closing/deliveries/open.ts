import { existingProofs, type ProofForm } from "../../evidence/transparency-log/transparency-log.ts";
import { ServiceError } from "../../kernel/platform/errors.ts";
import { maskEmail } from "../../kernel/platform/mail/mask-email.ts";
import { openOrderDocument, orderDocumentProof } from "../../signing/envelopes/envelopes.ts";
import { certificateOfRoom, closingLogProof, logEntryOf } from "../closing-passports/closing-passports.ts";
import { certificateEntry, type OpenedCertificate, openedCertificate } from "./certificate.ts";
import * as codes from "./code-store.ts";
import { deliverablesOf, namedFiles, zipOf } from "./contents.ts";
import { noteDownload } from "./download-mail.ts";
import { type DeliveryDeps, isSession, type Link, linkedDelivery, notFound } from "./link.ts";
import * as store from "./store.ts";

/**
 * The content of the page that asks for a delivery's code: the room of the documents, the recipient's masked email
 * address, and the state of the code. A holder of the link may see this without the code.
 */
export async function deliveryDoor(deps: DeliveryDeps, link: Link) {
  const delivery = await linkedDelivery(deps, link);
  const room = await store.roomById(deps.db, delivery.roomId);
  if (!room) throw notFound();
  const isOpen = !delivery.asksCode || isSession(deps, delivery.id, link.session);
  const code = isOpen ? undefined : await codes.selectCode(deps.db, delivery.id);
  const to = maskEmail(delivery.recipientEmail);
  return { isOpen, to, isLocked: code?.lockedAt != null, isMailed: code?.codeId != null, room };
}

/**
 * Opens a delivery for a person with its link. If the link asks for a code, the person must also have entered it.
 * @throws ServiceError `not_found` for an unknown or ended link, `conflict` without the code
 */
export async function openDelivery(deps: DeliveryDeps, link: Link) {
  const delivery = await linkedDelivery(deps, link);
  const room = await store.roomById(deps.db, delivery.roomId);
  if (!room) throw notFound();
  if (delivery.asksCode && !isSession(deps, delivery.id, link.session))
    throw new ServiceError("conflict", "Type the code first that was mailed to the recipient.");
  const rows = await store.ordersById(
    deps.db,
    [...new Set(delivery.files.map(({ orderId }) => orderId))],
    room.partnerId,
  );
  const orders = deliverablesOf(deps, rows, room.reference);
  const simulated = new Set(rows.flatMap(({ id, isSimulated }) => (isSimulated ? [id] : [])));
  const files = namedFiles(orders, delivery.files).map((file) => ({
    ...file,
    /** True if the sandbox completed the signing, so that nobody's signature is in this file. */
    isSimulated: file.kind === "sealed" && simulated.has(file.orderId),
  }));
  const certificate = await listedCertificate(deps, delivery);
  const logged = certificate?.record ? logEntryOf(certificate.record) : null;
  const proofs = await existingProofs(
    deps.db,
    room.environment,
    files.map(({ sha256 }) => sha256),
    logged ? [logged] : [],
  );
  return { delivery, room, files, certificate, listed: [...files, ...(certificate ? [certificate] : [])], proofs };
}

/**
 * The closing certificate in the list of a delivery; null for none. A missing or altered certificate is still listed,
 * and does not block the documents.
 */
async function listedCertificate(deps: DeliveryDeps, { roomId, certificateSha256: sha256 }: store.Delivery) {
  if (sha256 === null) return null;
  const record = await certificateOfRoom(deps, roomId, sha256);
  return { ...certificateEntry({ sha256, deletedAt: record?.deletedAt ?? null }), record };
}

/**
 * Opens the certificate that a delivery lists.
 * @throws ServiceError `unavailable` for a certificate that is missing or altered
 */
async function openListed(
  deps: DeliveryDeps,
  { record }: NonNullable<Awaited<ReturnType<typeof listedCertificate>>>,
): Promise<OpenedCertificate> {
  const certificate = await openedCertificate(deps, record);
  if (!certificate)
    throw new ServiceError(
      "unavailable",
      "The certificate of this delivery is not on record any more. Ask its sender.",
    );
  return certificate;
}

/**
 * The zip of a delivery. Records that the download began. A missing or altered certificate does not block the
 * documents: the zip states that it is missing.
 * @throws ServiceError as `openDelivery`, and `conflict` when the zip would be too large
 */
export async function deliveryZip(deps: DeliveryDeps, link: Link, network: string | null) {
  const { delivery, room, files, certificate: listed } = await openDelivery(deps, link);
  const { name: title, reference } = room;
  const certificate = listed && (await openedCertificate(deps, listed.record));
  const isCertificateLost = listed !== null && certificate === null;
  const zip = await zipOf(deps, { certificate, isCertificateLost, owner: room, title, reference, files });
  await noteDownload(deps, { delivery, room }, { file: null, network });
  return zip;
}

/**
 * One file of a delivery. Records that the download began.
 * @throws ServiceError as `openDelivery`, and for a file that was deleted
 */
export async function deliveryFile(deps: DeliveryDeps, link: Link & { documentId: string }, network: string | null) {
  const { delivery, room, wanted } = await openWanted(deps, link);
  const file =
    "orderCode" in wanted
      ? (await openOrderDocument(deps, { orderCode: wanted.orderCode, owner: room, documentId: link.documentId })).file
      : (await openListed(deps, wanted)).file;
  if (!file) throw notFound();
  await noteDownload(deps, { delivery, room }, { file: wanted.path, network });
  return { name: wanted.path.slice(wanted.path.lastIndexOf("/") + 1), file };
}

/**
 * The transparency log's proof for one file of a delivery.
 * @throws ServiceError as `deliveryFile`; `unavailable` or `conflict` while the log has no proof
 */
export async function deliveryProof(deps: DeliveryDeps, link: Link & { documentId: string; form: ProofForm }) {
  const { room, wanted } = await openWanted(deps, link);
  const proof =
    "orderCode" in wanted
      ? await orderDocumentProof(
          deps,
          { orderCode: wanted.orderCode, owner: room, documentId: link.documentId },
          link.form,
        )
      : wanted.record && (await closingLogProof(deps, wanted.record.verifyCode, link.form));
  if (!proof) throw notFound();
  return { name: `${wanted.path.slice(wanted.path.lastIndexOf("/") + 1)}.${link.form}`, proof };
}

/**
 * Opens a delivery, and finds one of its files.
 * @throws ServiceError in the same cases as `openDelivery`; `not_found` for a file that is not in the delivery
 */
async function openWanted(deps: DeliveryDeps, link: Link & { documentId: string }) {
  const { delivery, room, listed } = await openDelivery(deps, link);
  const wanted = listed.find(({ kind, sha256 }) => `${kind}-${sha256}` === link.documentId);
  if (!wanted) throw notFound();
  return { delivery, room, wanted };
}
