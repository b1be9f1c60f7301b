/** Finds orders by their identifiers, people or titles, and lists a firm's orders. */

export { foundStatement, ordersByCodeStart, ordersByTitle, type SearchMethod, searchText } from "./find-orders.ts";
export {
  countFirmOrders,
  countFirmOrdersOutside,
  dayOf,
  type FirmOrder,
  type FirmOrdersPage,
  type FirmOrdersQuery,
  firmOrders,
  maxCounted,
} from "./firm-orders.ts";
export type { OrderSort } from "./sorts.ts";
