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
  if (chosen !== "" && typed !== "") throw invalid("Choose one of your orders or give a code, not both.");
  if (chosen === "" && typed === "") throw invalid("Choose one of your orders or give a code.");
  return chosen || (/\/orders\/([0-9a-f]{40})(?=$|[/?#])/.exec(typed)?.[1] ?? typed);
}

/** The orders of a room, and a form to attach one more. */
export function ordersPart(view: RoomDetailView): Html {
  const { orders, status } = view.room;
  return html`${problemOf(view, "orders")}
${orders.length === 0 ? emptyState("No orders yet", "Attach the first one here.") : orderTable(view, orders)}
<div class="room-part">
<h3>Attach an order</h3>
${status === "closed" ? html`<p>This room is closed: it takes no new orders. Open it again first.</p>` : attachForm(view)}
</div>`;
}

const orderTable = (view: RoomDetailView, orders: readonly OrderCard[]): Html =>
  records(
    "Orders in this room",
    [{ label: "Order" }, { label: "Status" }, { label: "Services" }, { label: "Added (UTC)" }, { label: "Change" }],
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
          label: "Detach",
          about: name,
          text: "It leaves this room and stays as it is otherwise. You may attach it again.",
          confirm: "Detach it",
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
${field({ form: "attach", name: "orderCode", label: hasChoice ? "Or an order by its code" : "Order code", value: typed["orderCode"], required: !hasChoice, maxLength: 300, autocomplete: "off", hint: "40 characters, or the address of the order’s page. Another firm’s order may be attached by its code, too." })}
${field({ form: "attach", name: "label", label: "Label", value: typed["label"], maxLength: 200, autocomplete: "off", hint: "What it is called in this room, like “Deed of trust”." })}
<div class="form-actions"><button type="submit">Attach the order</button></div>
</form>`;
}

const choiceText = ({
  orderCode,
  externalReference,
  customerEmail,
  status,
}: RoomDetailView["orders"][number]): string =>
  [shortCode(orderCode), externalReference, customerEmail, statusWords(status).label].filter(Boolean).join(" · ");
