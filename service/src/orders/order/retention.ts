import { type Statement, sql } from "../../kernel/platform/database/sql.ts";
import { marked } from "../../kernel/platform/database/state-mac.ts";
import { ruled, type SourceOf, undueIn, unnamedIn } from "../../kernel/retention/retention.ts";
import { leapt } from "../../kernel/test-clock/test-clock.ts";
import { orderState } from "./order-mac.ts";

/** SQL expressions, each for an order's id, that determine how long the order's documents are needed. */
export type Payable = {
  /** The time when the last of the order's checkouts expires. */
  lastCheckoutEnd: (orderId: Statement) => Statement;
  /** SQL condition: true if the order has a payment that was not refunded. */
  isPaid: (orderId: Statement) => Statement;
  /** Selects the column `isAuthentic`: false when one of the order's payments fails its MAC. */
  authentic: (orderId: Statement) => Statement;
};

/** The retention rule for the documents of orders. */
export const documentSource =
  ({ lastCheckoutEnd, isPaid, authentic }: Payable): SourceOf =>
  ({ test, live }) => {
    // A checkout can be paid until it expires, but the order's own row doesn't show that a checkout exists. So the
    // retention period begins at the later of the order's last change and its last checkout's end.
    const since = sql`greatest(o.updated_at, ${lastCheckoutEnd(sql`o.id`)})`;
    const { deletableAt, rule } = ruled([
      {
        name: "test.orderDocuments",
        holds: sql`o.environment = 'test'`,
        days: test.orderDocuments,
        since: leapt(since, sql`o.partner_id`),
      },
      { name: "live.finishedOrders", holds: sql`o.status = 'Completed'`, days: live.finishedOrders, since },
      { name: "live.refundedOrders", holds: sql`o.status = 'Refunded'`, days: live.refundedOrders, since },
      {
        name: "live.unpaidOrders",
        holds: sql`o.status IN ('Created', 'QuoteReady', 'ManualQuoteRequired', 'AwaitingPayment', 'PaymentFailed', 'Cancelled')
          AND NOT ${isPaid(sql`o.id`)}`,
        days: live.unpaidOrders,
        since,
      },
    ]);
    const rows = sql`documents d JOIN orders o ON o.id = d.order_id`;
    const blobKey = sql`d.blob_key`;
    return {
      table: "documents",
      rows,
      partnerId: sql`o.partner_id`,
      environment: sql`o.environment`,
      id: sql`d.id`,
      first: "0",
      lock: sql`FOR NO KEY UPDATE OF o SKIP LOCKED`,
      lockAll: sql`ORDER BY o.id FOR NO KEY UPDATE OF o`,
      blobKey,
      authentic: sql`${marked(orderState, sql`o`)}, ${authentic(sql`o.id`)}`,
      deletableAt,
      rule,
      sharesBlobs: true,
      unshared: (now) => sql`
        ${unnamedIn(sql`fill_documents`, sql`AND used_at IS NULL`)}
        AND ${undueIn({ rows, blobKey, deletableAt }, now)}`,
    };
  };
