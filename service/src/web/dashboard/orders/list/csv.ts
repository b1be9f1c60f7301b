import type { FirmOrder } from "../../../../order-search/order-search.ts";
import { serviceFlags, type TitleOf } from "../../../../orders/orders.ts";
import { csv } from "../../../ui/csv.ts";
import { statusWords } from "../../../ui/orders/status-words.ts";

const head = [
  "Order code",
  "Document",
  "Status",
  "Services",
  "Client",
  "Email",
  "Reference",
  "Total (USD)",
  "Placed (UTC)",
  "Last changed (UTC)",
];

/** A firm's orders as a file for spreadsheets. */
export const ordersCsv = (orders: readonly FirmOrder[], titleOf: TitleOf): string =>
  csv([
    head,
    ...orders.map((order) => [
      order.code,
      titleOf(order) ?? "",
      statusWords(order.status).label,
      serviceFlags(order),
      order.customerName ?? "",
      order.customerEmail,
      order.externalReference ?? "",
      (order.totalCents / 100).toFixed(2),
      order.createdAt.toISOString(),
      order.updatedAt.toISOString(),
    ]),
  ]);
