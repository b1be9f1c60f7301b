import type { Snapshot } from "../../../../orders/analytics/analytics.ts";
import { type Html, html } from "../../../ui/render.ts";
import { type BarRow, barRows, rowHeight } from "./bar-rows.ts";
import { chartFigure } from "./figure.ts";
import { percentage, percentages, percentText } from "./shares.ts";
import { count, counted } from "./words.ts";

type Share = { label: string; orders: number; percent: string; kind: string };

const asRow = ({ label, orders, percent, kind }: Share): BarRow => ({
  label,
  value: orders,
  figure: count(orders),
  aside: percent,
  kind,
});

const shareTable = (caption: string, first: string, shares: readonly Share[]) => ({
  caption,
  head: [first, "Orders", "Share"],
  rows: shares.map(({ label, orders, percent }) => [label, count(orders), percent]),
});

const sharesText = (shares: readonly Share[]): string =>
  shares.map(({ label, orders, percent }) => `${label}: ${count(orders)}, ${percent}`).join("; ");

const buckets = [
  { name: "created", label: "Not paid yet", kind: "idle" },
  { name: "paid", label: "Paid, not started", kind: "under-way" },
  { name: "inProgress", label: "In progress", kind: "under-way" },
  { name: "completed", label: "Completed", kind: "finished" },
  { name: "problem", label: "Problem", kind: "trouble" },
] as const;

/** The current states of the orders in the chosen period, in five groups. Each order is in one group. */
export function funnelFigure(funnel: Snapshot["funnel"], total: number): Html {
  const percents = percentages(buckets.map(({ name }) => funnel[name]));
  const shares = buckets.map(({ name, label, kind }, at) => {
    const orders = funnel[name];
    return { label, orders, percent: percentText(percents[at] ?? 0, orders, total), kind };
  });
  return chartFigure(
    {
      id: "funnel",
      title: "Orders by status",
      description: `Five bars. Of ${counted(total, "order")}: ${sharesText(shares)}.`,
      height: rowHeight * shares.length,
      drawing: barRows(shares.map(asRow), total),
    },
    html`Each order counts once, by its current status.`,
    shareTable("Orders by current status", "Status", shares),
  );
}

const services = [
  { name: "sign", label: "Signing" },
  { name: "notarize", label: "Notarization" },
  { name: "ship", label: "Shipping" },
  { name: "fax", label: "Fax" },
] as const;

/**
 * A chart with a bar for each service: the number of the period's orders that include it. One order can include several
 * services.
 */
export function mixFigure(serviceMix: Snapshot["serviceMix"], total: number): Html {
  const shares = services.map(({ name, label }) => {
    const orders = serviceMix[name];
    return { label, orders, percent: percentText(percentage(orders, total), orders, total), kind: "under-way" };
  });
  return chartFigure(
    {
      id: "mix",
      title: "Orders by service",
      description: `Four bars, which overlap. Of ${counted(total, "order")}: ${sharesText(shares)}.`,
      height: rowHeight * shares.length,
      drawing: barRows(shares.map(asRow), total),
    },
    html`An order can have several services, so the shares can add up to more than 100%.`,
    shareTable("Orders with each service", "Service", shares),
  );
}
