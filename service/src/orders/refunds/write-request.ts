import { auditLine } from "../../kernel/audit/audit.ts";
import type { Tx } from "../../kernel/platform/database/database.ts";
import { ServiceError } from "../../kernel/platform/errors.ts";
import { newUuid } from "../../kernel/platform/ids.ts";
import { openTask } from "../../kernel/tasks/tasks.ts";
import { dollars } from "../dollars.ts";
import type { LockedOrder } from "../order/order.ts";
import { type Held, insertRequest } from "./store.ts";

type RequestToWrite = {
  /** The payments that the refund returns, each with the amount held now or, for a partial refund, the part. */
  payments: readonly Held[];
  /** True if only a part of the held money is refunded. */
  isPart: boolean;
  reason: string;
  /** The person who requests the refund; as a rule, another operator approves it. */
  requestedBy: string;
  actor: string;
  at: Date;
};

/**
 * Writes a refund request for a locked order, with the task for its approval and its audit line. Nothing else writes
 * requests.
 * @returns the request's id
 * @throws ServiceError `conflict` while another request for the order is open
 */
export async function writeRequest(
  tx: Tx,
  { id: orderId, environment, partnerId }: LockedOrder,
  { payments, isPart, reason, requestedBy, actor, at }: RequestToWrite,
): Promise<string> {
  const id = newUuid();
  if (!(await insertRequest(tx, { id, orderId, reason, payments, part: isPart, requestedBy, at })))
    throw new ServiceError(
      "conflict",
      isPart ? "Another refund of this order waits for its decision." : "A refund of this order was asked for already.",
    );
  await openTask(tx, { kind: "refund_approval", at, environment, orderId, reason: withSum(payments, reason) });
  const detail = { requestId: id, reason, payments, ...(isPart && { part: true }) };
  await tx.query(auditLine({ at, action: "refund.requested", actor, partnerId, orderId, detail }));
  return id;
}

/**
 * Puts the amount before the reason, for the task that asks for the refund's approval. Omits the amount if a payment is
 * not in US dollars.
 */
const withSum = (payments: readonly Held[], reason: string): string => {
  const cents = dollarsOf(payments);
  return cents === null ? reason : `${dollars(cents)}: ${reason}`;
};

/** The sum of the payments in cents; null if one of them is not in US dollars. */
export const dollarsOf = (payments: readonly Held[]): number | null =>
  payments.every(({ currency }) => currency === "usd")
    ? payments.reduce((sum, { amountCents }) => sum + amountCents, 0)
    : null;
