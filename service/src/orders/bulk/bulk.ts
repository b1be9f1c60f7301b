/** Bulk orders: many orders from one template and one list of people. */
import { rowTable } from "./store.ts";

export { type BulkDeps, cancelBulk, createBulk, ownBulk, retryBulk, rowPage } from "./create.ts";
export { nextPrices, placeRows, sumOfPrices } from "./place.ts";
export { bulkRoutes } from "./routes.ts";
export { type Bulk, isAwaitedByBulks, rowCipher, sweepBulks } from "./store.ts";

export const protectedTables = [rowTable];
