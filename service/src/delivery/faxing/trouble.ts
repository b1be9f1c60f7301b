import type { Tx } from "../platform/database/database.ts";
import { closeTasks, openTask } from "../tasks/tasks.ts";
import { actor } from "./deps.ts";
import type { FaxAttempt } from "./store.ts";

type Fax = Pick<FaxAttempt, "id" | "orderId">;

const kind = "delivery_trouble";
const subjectOf = ({ id }: Fax): string => `fax ${id}`;

/** Has a person find out what became of a fax. */
export async function openTrouble(tx: Tx, fax: Fax, at: Date, reason: string): Promise<void> {
  const { orderId } = fax;
  await tx.query(openTask({ kind, at, environment: "live", orderId, subject: subjectOf(fax), reason }));
}

/** Its end became known. */
export async function closeTrouble(tx: Tx, fax: Fax, at: Date, outcome: string): Promise<void> {
  const which = { orderId: fax.orderId, kinds: [kind], subject: subjectOf(fax) } as const;
  await tx.query(closeTasks(which, { state: "done", at, by: actor, outcome }));
}

/** The far machine has not all of it. */
export async function openShortfall(tx: Tx, fax: Fax, at: Date, pages: { sent: number; confirmed: number }) {
  const { orderId } = fax;
  const reason = `The receiving machine confirmed ${pages.confirmed} of the ${pages.sent} pages that were faxed: ask the recipient`;
  await tx.query(openTask({ kind, at, environment: "live", orderId, subject: `pages of ${subjectOf(fax)}`, reason }));
}
