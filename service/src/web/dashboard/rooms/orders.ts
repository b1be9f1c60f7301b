import { invalid } from "../../../platform/errors.ts";
import type { OrderCard } from "../../../rooms/rooms.ts";
import { emptyState, statusBadge } from "../../ui/components.ts";
import { shortCode, shortTime } from "../../ui/format.ts";
import { askFirst } from "../../ui/forms/ask-first.ts";
import { field, select } from "../../ui/forms/fields.ts";
import type { FormValues } from "../../ui/forms/form-body.ts";
import { nameOf, servicesText } from "../../ui/orders/room-words.ts";
import { statusWords } from "../../ui/orders/status-words.ts";
import { records } from "../../ui/records.ts";
import { type Html, html } from "../../ui/render.ts";
import { formPath, problemOf, type RoomDetailView, typedInto } from "./view.ts";

/** The order that the form means: a chosen one, or a code, which may come inside the address of the order's page. */
export function orderCodeOf({ chosen = "", orderCode = "" }: FormValues): string {
  const typed = orderCode.trim();
  if (chosen !== "" && typed !== "") throw invalid("Choose one of your orders or enter a code, not both.");
  if (chosen === "" && typed === "") throw invalid("Choose one of your orders or enter a code.");
  return chosen || (/\/orders\/([0-9a-f]{40})(?=$|[/?#])/.exec(typed)?.[1] ?? typed);
}

/** The orders of a room, and a form to attach one more. */
export function ordersPart(view: RoomDetailView): Html {
  const { orders, status } = view.room;
  return html`${problemOf(view, "orders")}
${orders.length === 0 ? emptyState("No orders yet", "Add the first one below.") : orderTable(view, orders)}
<div class="room-part">
<h3>Add an order</h3>
${status === "closed" ? html`<p>This room is closed and takes no new orders. Reopen it first.</p>` : attachForm(view)}
</div>`;
}

const orderTable = (view: RoomDetailView, orders: readonly OrderCard[]): Html =>
  records(
    "Orders in this room",
    [
      { label: "Order" },
      { label: "Status" },
      { label: "Services" },
      { label: "Added", utc: true },
      { label: "Action" },
    ],
    orders.map((order) => {
      const { tone, label } = statusWords(order.status);
      const name = nameOf(order);
      const isOwn = view.room.ownOrders.has(order.orderCode);
      return [
        html`<a href="${isOwn ? "/dashboard" : ""}/orders/${order.orderCode}">${name}</a>${!isOwn && html` <span class="quiet-text">Another firm’s order</span>`}`,
        statusBadge(tone, label),
        servicesText(order.services),
        shortTime(new Date(order.attachedAt)),
        askFirst({
          label: "Remove",
          about: name,
          text: "This takes the order out of this room only. You can add it again.",
          confirm: "Remove the order",
          action: formPath(view, `orders/${order.orderCode}/detach`),
        }),
      ];
    }),
  );

function attachForm(view: RoomDetailView): Html {
  const typed = typedInto(view, "attach");
  const attached = new Set(view.room.orders.map(({ orderCode }) => orderCode));
  const options = view.orders
    .filter(({ orderCode }) => !attached.has(orderCode))
    .map((order) => ({ value: order.orderCode, label: choiceText(order) }));
  const hasChoice = options.length > 0;
  return html`${problemOf(view, "attach")}
<form class="form" method="post" action="${formPath(view, "orders")}">
${hasChoice && select({ form: "attach", name: "chosen", label: "One of your latest orders", value: typed["chosen"], options: [{ value: "", label: "None of these" }, ...options] })}
${field({ form: "attach", name: "orderCode", label: hasChoice ? "Or enter an order code" : "Order code", value: typed["orderCode"], required: !hasChoice, maxLength: 300, autocomplete: "off", hint: "The 40-character code, or the address of the order’s page. You can also add another firm’s order by its code." })}
${field({ form: "attach", name: "label", label: "Label", value: typed["label"], maxLength: 200, autocomplete: "off", hint: "What the order is called in this room. For example: “Deed of trust”." })}
<div class="form-actions"><button type="submit">Add order</button></div>
</form>`;
}

const choiceText = ({
  orderCode,
  externalReference,
  customerEmail,
  status,
}: RoomDetailView["orders"][number]): string =>
  [shortCode(orderCode), externalReference, customerEmail, statusWords(status).label].filter(Boolean).join(" · ");
