import { parcelQueue } from "../../orders/orders.ts";
import type { Tx } from "../../platform/database/database.ts";
import { enqueue } from "../../platform/jobs/jobs.ts";

/** Has the labels of an order looked at again: whether the order follows its parcel, and whether some will never be used. */
export const reviewLater = (tx: Tx, orderId: number): Promise<void> => enqueue(tx, parcelQueue, { orderId });
