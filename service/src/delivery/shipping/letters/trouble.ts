import type { Tx } from "../../../kernel/platform/database/database.ts";
import { closeTasks, hadTask, openTask } from "../../../kernel/tasks/tasks.ts";
import { actor } from "./deps.ts";
import type { Letter } from "./store.ts";

type Which = Pick<Letter, "orderId" | "letterId">;

/** Opens a task to look into a letter, unless one is open. */
export const openTrouble = (tx: Tx, { orderId, letterId: subject }: Which, at: Date, reason: string) =>
  openTask(tx, { kind: "delivery_trouble", at, environment: "live", orderId, subject, reason });

/** Closes the task about the letter. */
export const closeTrouble = (tx: Tx, { orderId, letterId: subject }: Which, at: Date, outcome: string) =>
  closeTasks(tx, { orderId, kinds: ["delivery_trouble"], subject }, { state: "done", at, by: actor, outcome });

/** True if a task about the letter was opened since the given time. */
export const hadTrouble = (tx: Tx, { orderId, letterId }: Which, since: Date): Promise<boolean> =>
  hadTask(tx, { kind: "delivery_trouble", orderId, subject: letterId }, since);
