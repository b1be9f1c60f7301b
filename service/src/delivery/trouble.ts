import type { Tx } from "../kernel/platform/database/database.ts";
import { closeTasks, hadTask, openTask } from "../kernel/tasks/tasks.ts";

/** Identifies a fax, a letter or a label in its task. */
type Delivery = { orderId: number; subject: string };

const kind = "delivery_trouble";

/** Opens a task for staff to look into a delivery, unless one is open. */
export const openTrouble = (tx: Tx, delivery: Delivery, at: Date, reason: string): Promise<void> =>
  openTask(tx, { ...delivery, kind, at, environment: "live", reason });

/** Closes the task about a delivery. */
export const closeTrouble = (tx: Tx, delivery: Delivery, end: { at: Date; by: string; outcome: string }) =>
  closeTasks(tx, { ...delivery, kinds: [kind] }, { ...end, state: "done" });

/** True if a task about the delivery was opened since the given time. */
export const hadTrouble = (tx: Tx, delivery: Delivery, since: Date): Promise<boolean> =>
  hadTask(tx, { ...delivery, kind }, since);
