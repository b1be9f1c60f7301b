import type { Tx } from "../../platform/database/database.ts";
import { openTask } from "../../tasks/tasks.ts";
import type { Label } from "./store.ts";

/** Has a person look after a parcel, or after what was paid for it. */
export const openTrouble = (tx: Tx, { id, orderId }: Pick<Label, "id" | "orderId">, at: Date, reason: string) =>
  tx.query(openTask({ kind: "delivery_trouble", at, environment: "live", orderId, subject: `label ${id}`, reason }));
