import type { Environment } from "../../../kernel/identity/identity.ts";
import type { Clock } from "../../../kernel/platform/clock.ts";
import type { Database } from "../../../kernel/platform/database/database.ts";
import { invalid, ServiceError } from "../../../kernel/platform/errors.ts";
import type { RowMac } from "../../../kernel/platform/row-mac.ts";
import { wholeNumberIn } from "../../../kernel/platform/text.ts";
import { lockOrder } from "../../../orders/order/order.ts";
import type { Notary } from "../commissions/store.ts";
import { accepted, formReader, type Typed } from "../form-reader.ts";
import { appendEntry, findEntry } from "./journal.ts";

/**
 * Corrects an entry of the notary's own journal by appending an entry that refers to it. The old entry stays unchanged.
 * @throws ServiceError naming the field and the rule, or `not_found` for an unknown entry
 */
export async function correctEntry(
  { db, clock, rowMac }: { db: Database; clock: Clock; rowMac: RowMac },
  notary: Notary,
  typed: Typed,
  actor: string,
): Promise<void> {
  const read = formReader(typed);
  const correction = accepted(
    read.done({
      entry: read.required("entry", { max: 9 }),
      words: read.required("words", { max: 2000, lines: true }),
    }),
  );
  const corrects = wholeNumberIn(correction.entry, 1, 999_999_999);
  if (corrects === undefined) throw invalid("entry must be the number of an entry.");
  const corrected = await findEntry(db, notary.id, corrects);
  if (!corrected) throw new ServiceError("not_found", `There is no entry ${corrects}.`);
  const { orderCode, environment } = JSON.parse(corrected.record) as {
    orderCode: string;
    environment: Environment;
  };
  await db.transaction(async (tx) => {
    // Locks the order before the notary, like every other writer of the journal.
    await lockOrder(tx, orderCode);
    const frame = {
      journal: notary.id,
      notary,
      orderCode,
      environment,
      at: clock(),
      orderId: corrected.orderId,
      actor,
    };
    await appendEntry(tx, rowMac, frame, { kind: "correction", corrects, words: correction.words });
  });
}
