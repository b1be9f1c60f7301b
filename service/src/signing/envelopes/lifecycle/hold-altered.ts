import type { AlteredDocumentError } from "../../../kernel/platform/errors.ts";
import { perform } from "../../../orders/fulfilment/fulfilment.ts";
import { lockOrder } from "../../../orders/order/order.ts";
import type { EnvelopeDeps } from "../records/deps.ts";

/**
 * Puts an order that waits for signatures on hold, because its stored document was altered. During the hold nobody can
 * sign, and the signers' pages say that the document waits. The operators' task about the hold names the order and the
 * document. After they have restored the document and ended the hold, the order continues with the signatures that it
 * has.
 */
export async function holdAltered(
  { db, clock, log }: Pick<EnvelopeDeps, "db" | "clock" | "log">,
  orderCode: string,
  error: AlteredDocumentError,
): Promise<void> {
  log.error({ err: error }, "a document that people sign was altered");
  await db.transaction(async (tx) => {
    const order = await lockOrder(tx, orderCode);
    if (order?.status !== "EsignPending") return;
    await perform(tx, order, "held", { reason: error.message }, { actor: "system", at: clock(), log });
  });
}
