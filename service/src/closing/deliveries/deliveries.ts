/** Finished documents of a closing or an order in one zip: for its firm, and for others by a link that expires. */

export type { CertificateOffer, NoCertificate } from "./certificate.ts";
export { deliveryCodeMail, enterDelivery, mailDeliveryCode } from "./code.ts";
export { downloadMail } from "./download-mail.ts";
export type { DeliveryDeps, Link } from "./link.ts";
export { deliveryDoor, deliveryFile, deliveryProof, deliveryZip, openDelivery } from "./open.ts";
export { writeReceivers } from "./receiver-store.ts";
export { endReceiver, moveInRooms, replaceInRooms, sendToReceivers } from "./receivers.ts";
export {
  deliveriesOf,
  deliveryMail,
  orderZip,
  revokeDelivery,
  roomZip,
  sendDelivery,
} from "./send.ts";
export { protectedTables } from "./store.ts";
