import { numberedNames, type TitleOf } from "../../../orders/order/order.ts";
import type { Closing, ClosingsOf } from "./join-session.ts";

/** The functions that mails and pages need to name documents: one returns a title, the other an order's closings. */
export type Naming = { titleOf: TitleOf; closingsOf: ClosingsOf };

/**
 * Returns a function that names a document by its title. If another of the documents has the same title, the label that
 * the document has in the closing's room is added. Names that are the same even then are numbered in the closing's
 * order.
 */
export function distinctNames<One extends { orderId: number }>(
  documents: readonly One[],
  titleOf: (one: One) => string,
  closing: Closing | null | undefined,
): (one: One) => string {
  const holders = Map.groupBy(documents, titleOf);
  const labels = new Map(closing?.orders.map((orderId, index) => [orderId, closing.labels[index]]));
  const labeled = (one: One) => {
    const [title, label] = [titleOf(one), labels.get(one.orderId)];
    // Several envelopes of one order are the same document, sent again. They don't make its title ambiguous.
    const isShared = holders.get(title)?.some(({ orderId }) => orderId !== one.orderId) ?? false;
    return isShared && label && label !== title ? `${title} (${label})` : title;
  };
  const positions = [...labels.keys()];
  const byOrder = new Map(documents.map((one) => [one.orderId, one]));
  const sorted = [...byOrder.values()].sort((a, b) => positions.indexOf(a.orderId) - positions.indexOf(b.orderId));
  const numbered = numberedNames(sorted.map(labeled));
  const names = new Map(sorted.map(({ orderId }, index) => [orderId, numbered[index]]));
  return (one) => names.get(one.orderId) ?? labeled(one);
}
