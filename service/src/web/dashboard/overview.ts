import type { FirmOrder } from "../../order-search/order-search.ts";
import type { TitleOf } from "../../orders/orders.ts";
import { card, statusBadge } from "../ui/components.ts";
import { ifUtc, shortTime } from "../ui/format.ts";
import { statusWords } from "../ui/orders/status-words.ts";
import { type Html, html } from "../ui/render.ts";
import { countIn, shownCount } from "./orders/list/body.ts";
import { type Group, groups } from "./orders/list/groups.ts";
import { orderName } from "./orders/words.ts";

export type OverviewView = {
  /** How many orders of each status there are. */
  counts: ReadonlyMap<string, number>;
  /** The latest that need somebody, and the latest that changed. */
  attention: readonly FirmOrder[];
  changed: readonly FirmOrder[];
  titleOf: TitleOf;
};

const path = "/dashboard/orders";
const tiles = ["attention", "payment", "signing", "working"] as const satisfies readonly Group[];

/** What waits for whom, what needs somebody, and what is new. */
export const overview = ({ counts, attention, changed, titleOf }: OverviewView): Html => html`${tileList(counts)}
${attention.length > 0 && card("attention", groups.attention.label, orderLines(attention, titleOf))}
${card("changed", "What is new", html`${orderLines(changed, titleOf)}<p><a href="${path}">All orders</a></p>`)}`;

const tileList = (counts: OverviewView["counts"]): Html =>
  html`<ul class="count-tiles">${tiles.map((name) => {
    const { label, statuses } = groups[name];
    const count = countIn(counts, statuses);
    return html`<li class="${count > 0 && name === "attention" ? "attention" : ""}"><a href="${path}?status=${name}"><strong>${shownCount(count)}</strong> ${label}</a></li>`;
  })}</ul>`;

const orderLines = (orders: readonly FirmOrder[], titleOf: TitleOf): Html =>
  html`<ul class="order-lines">${orders.map((order) => {
    const { tone, label } = statusWords(order.status);
    return html`<li><span><a class="row-title" href="${path}/${order.code}">${orderName({ order, title: titleOf(order) })}</a><br><span class="second-line breakable">${order.customerName ?? order.customerEmail}${order.externalReference !== null && ` · ${order.externalReference}`}</span></span><span class="line-end">${statusBadge(tone, label)}<span class="second-line">${shortTime(order.updatedAt)}${ifUtc}</span></span></li>`;
  })}</ul>`;
