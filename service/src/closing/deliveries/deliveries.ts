/** Finished documents of a closing or an order in one zip: for its firm, and for others by a link that expires. */
export type { Deliverable, NamedFile } from "./contents.ts";
export {
  type DeliveryDeps,
  deliveriesOf,
  deliveryFile,
  deliveryMail,
  deliveryZip,
  openDelivery,
  orderZip,
  revokeDelivery,
  roomZip,
  sendDelivery,
} from "./send.ts";
export { protectedTables } from "./store.ts";
