/** The end of an act in person without the notary's signature: by the notary, or together with its order. */
import type { Operator } from "../../../firms/operators/operators.ts";
import { auditLine } from "../../../kernel/audit/audit.ts";
import { lockOrder } from "../../../orders/order/order.ts";
import { claimedOrder, type DeskDeps } from "../claims/claims.ts";
import { endWithoutAct, outcomeWithOrder } from "../sheets/room.ts";
import { findSheet, lockSheet, orderCodeOf, sheetsToEnd } from "../sheets/store.ts";
import { closeHandOver, handOverOfSheet } from "./hand-overs.ts";
import { atSheet, type SheetDeps } from "./ipen.ts";

/**
 * Ends an act in person without refusing the order. Signatures that were made during the act are voided.
 * @throws ServiceError
 */
export async function abandonAct(deps: SheetDeps, operator: Operator, code: string): Promise<void> {
  const claimed = await claimedOrder(deps.desk, operator, code);
  await atSheet(deps, operator, claimed, async (tx, { sheet }, { at, order }) => {
    const by = { by: operator.actor, at };
    const open = await handOverOfSheet(tx, sheet.id);
    if (open) await closeHandOver(tx, open.id, "sign_in", at);
    await endWithoutAct(tx, deps.desk.rowMac, order, "abandoned", by);
    const detail = { sheet: sheet.id };
    const { partnerId, orderId } = order;
    await tx.query(
      auditLine({ at, action: "notary.act_abandoned", actor: operator.actor, partnerId, orderId, detail }),
    );
  });
}

type SweepDeps = Pick<DeskDeps, "db" | "clock" | "rowMac" | "log">;

/**
 * Ends the acts in person whose order no longer waits for a notary, because it was put on hold, locked or refunded. The
 * notary can't end them. After a hold, people must be identified again.
 */
export async function sweepActs(deps: SweepDeps, stopping: AbortSignal): Promise<void> {
  for (const { id } of await sheetsToEnd(deps.db)) {
    if (stopping.aborted) return;
    await endWithOrder(deps, id).catch((error: unknown) =>
      deps.log.error({ err: error, id }, "an act in person stays open, although its order does not wait for a notary"),
    );
  }
}

/**
 * Ends the act unless its order waits again. The hand-over of the device stays open, so that the notary gets the device
 * back by PIN.
 */
async function endWithOrder({ db, clock, rowMac }: SweepDeps, id: string): Promise<void> {
  await db.transaction(async (tx) => {
    const seen = await findSheet({ db: tx, rowMac }, id);
    const order = seen && (await lockOrder(tx, await orderCodeOf(tx, seen)));
    if (!order || order.status === "NotarizationPending") return;
    const sheet = await lockSheet(tx, rowMac, id);
    if (sheet?.endedAt !== null) return;
    const at = clock();
    const by = { by: "system", at };
    await endWithoutAct(tx, rowMac, sheet, outcomeWithOrder(order.status), by);
    const { id: orderId, partnerId } = order;
    const line = { at, action: "notary.act_abandoned", actor: "system", partnerId, orderId, detail: { sheet: id } };
    await tx.query(auditLine(line));
  });
}
