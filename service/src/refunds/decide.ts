import { perform } from "../fulfilment/fulfilment.ts";
import {
  type Operator,
  requirePasskeyOf,
  requirePermission,
  requireRefusedByAnother,
  requireSecondPerson,
  requireText,
} from "../operators/operators.ts";
import { ServiceError } from "../platform/errors.ts";
import { end, lockOpen } from "./request.ts";
import { areSame, heldFor, type RefundDeps, refusalOf, requirePersonOfRefund } from "./rules.ts";

/** The person who decides. @throws ServiceError without the permission, or a passkey shown lately */
function requireApprover({ clock }: RefundDeps, operator: Operator): string {
  requirePermission(operator, ["money.decide"]);
  const by = requirePersonOfRefund(operator);
  requirePasskeyOf(operator, clock());
  return by;
}

/**
 * Approves a refund that another operator asked for: the order is in RefundPending, and the processor is asked for the money.
 * @throws ServiceError for one's own request, unless the service is set up for one person and an hour has passed; when the order or what
 * is held for it has changed; and for a request that has ended: of two who approve at once one does
 */
export async function approveRefund(deps: RefundDeps, operator: Operator, id: string): Promise<void> {
  const by = requireApprover(deps, operator);
  await deps.db.transaction(async (tx) => {
    const at = deps.clock();
    const { order, request } = await lockOpen(tx, operator, id);
    const solo = requireSecondPerson(deps.refundApproval, operator, request, "refund", at);
    const held = await heldFor(tx, order.id);
    const refusal = refusalOf(order, held);
    if (refusal !== null) throw new ServiceError("conflict", refusal);
    if (!areSame(held, request.payments))
      throw new ServiceError(
        "conflict",
        "What is held for this order has changed. Refuse this request, and ask again.",
      );
    await end(tx, operator, order, id, { state: "approved", by, at, solo, note: null });
    const { reason } = request;
    await perform(tx, order, "refund_requested", { reason }, { actor: operator.actor, at, log: deps.log });
  });
}

/** Refuses a refund that another operator asked for, with why. @throws ServiceError as for approving */
export async function refuseRefund(deps: RefundDeps, operator: Operator, id: string, typed: string): Promise<void> {
  const by = requireApprover(deps, operator);
  const note = requireText("note", typed);
  await deps.db.transaction(async (tx) => {
    const { order, request } = await lockOpen(tx, operator, id);
    requireRefusedByAnother(operator, request, "refund", deps.clock());
    await end(tx, operator, order, id, { state: "refused", by, at: deps.clock(), note });
  });
}
