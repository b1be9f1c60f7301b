import { soloWaitMinutes } from "../../../firms/operators/operators.ts";
import type { Held, RefundDeps, RefundRequest } from "../../../orders/refunds/refunds.ts";
import { notice, statusBadge, type Tone } from "../../ui/components.ts";
import { moneyIn } from "../../ui/format.ts";
import type { Html } from "../../ui/render.ts";

/** The text of a rejected form, and the error. */
export type Typed = { error: string; text: string; amount?: string | undefined };

/** The totals of payments, one for each currency. */
export function sums(payments: readonly Held[]): string {
  const byCurrency = new Map<string, number>();
  for (const { currency, amountCents } of payments)
    byCurrency.set(currency, (byCurrency.get(currency) ?? 0) + amountCents);
  return [...byCurrency].map(([currency, amount]) => moneyIn(amount, currency)).join(" and ") || "Nothing";
}

const states: Readonly<Record<RefundRequest["state"], readonly [Tone, string]>> = {
  requested: ["waiting", "Waits for a decision"],
  approved: ["done", "Approved"],
  refused: ["stopped", "Refused"],
  withdrawn: ["stopped", "Withdrawn"],
  closed: ["stopped", "Closed"],
};

export const stateBadge = (state: RefundRequest["state"]): Html => statusBadge(...states[state]);

/**
 * The notice of an installation where one person may both request and approve a refund. The list of refunds and the
 * page of each request show it.
 */
export const soloBanner = ({ refundApproval }: Pick<RefundDeps, "refundApproval">): Html | "" =>
  refundApproval === "solo"
    ? notice(
        "attention",
        "One person may refund alone here",
        `This service is set up for a single person (REFUND_APPROVAL=solo): the person who asks for a refund may approve it after a new sign-in, ${soloWaitMinutes} minutes later.`,
      )
    : "";
