import type { Tx } from "../../kernel/platform/database/database.ts";
import { closeTasks, openTask } from "../../kernel/tasks/tasks.ts";
import { actor } from "./deps.ts";
import type { FaxAttempt } from "./store.ts";

type Fax = Pick<FaxAttempt, "id" | "orderId">;

const kind = "delivery_trouble";
const subjectOf = ({ id }: Fax): string => `fax ${id}`;

/** Opens a task for staff to find out what happened to a fax. */
export async function openTrouble(tx: Tx, fax: Fax, at: Date, reason: string): Promise<void> {
  const { orderId } = fax;
  await openTask(tx, { kind, at, environment: "live", orderId, subject: subjectOf(fax), reason });
}

/** Closes the task about a fax when the fax has ended. */
export async function closeTrouble(tx: Tx, fax: Fax, at: Date, outcome: string): Promise<void> {
  const which = { orderId: fax.orderId, kinds: [kind], subject: subjectOf(fax) } as const;
  await closeTasks(tx, which, { state: "done", at, by: actor, outcome });
}

/** Opens a task about a fax of which the receiving machine confirmed fewer pages than were sent. */
export async function openShortfall(tx: Tx, fax: Fax, at: Date, pages: { sent: number; confirmed: number }) {
  const { orderId } = fax;
  const reason = `The receiving machine confirmed ${pages.confirmed} of the ${pages.sent} pages that were faxed: ask the recipient`;
  await openTask(tx, { kind, at, environment: "live", orderId, subject: `pages of ${subjectOf(fax)}`, reason });
}
