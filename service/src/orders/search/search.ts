/** Finding orders: by whatever is known of them, and as a firm's list. */

export { ordersByTitle } from "./by-title.ts";
export { foundStatement, searchText } from "./find-orders.ts";
export {
  countedMost,
  countFirmOrders,
  dayOf,
  type FirmOrder,
  type FirmOrdersPage,
  type FirmOrdersQuery,
  firmOrders,
} from "./firm-orders.ts";
export type { OrderSort } from "./sorts.ts";
