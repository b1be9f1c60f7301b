import type { OrderCard } from "../../../closing/rooms/rooms.ts";
import { invalid } from "../../../kernel/platform/errors.ts";
import type { FirmOrder } from "../../../orders/search/search.ts";
import { emptyState, statusBadge } from "../../ui/components.ts";
import { shortCode, shortTime } from "../../ui/format.ts";
import { askFirst } from "../../ui/forms/ask-first.ts";
import { hiddenFields } from "../../ui/forms/button-form.ts";
import { checkbox, field } from "../../ui/forms/fields.ts";
import type { FormValues } from "../../ui/forms/form-body.ts";
import { nameOf, servicesText } from "../../ui/orders/room-words.ts";
import { statusWords } from "../../ui/orders/status-words.ts";
import { records } from "../../ui/records.ts";
import { type Html, html } from "../../ui/render.ts";
import { orderName } from "../orders/words.ts";
import { formPath, problemOf, type RoomDetailView, typedInto } from "./view.ts";

/**
 * The selected orders, and the typed code. People may also paste the URL of an order's page, which contains the code.
 */
export function orderCodesOf(form: FormValues): string[] {
  const ticked = Object.keys(form).flatMap((name) => /^order-([0-9a-f]{40})$/.exec(name)?.[1] ?? []);
  const typed = form["orderCode"]?.trim() ?? "";
  const named = /\/orders\/([0-9a-f]{40})(?=$|[/?#])/.exec(typed)?.[1] ?? typed;
  const codes = [...new Set(typed === "" ? ticked : [...ticked, named])];
  if (codes.length === 0) throw invalid("Tick one of your orders, or enter a code.");
  if (codes.length > maxAtOnce) throw invalid(`At most ${maxAtOnce} orders are added at once.`);
  if (codes.length > 1 && form["label"]?.trim())
    throw invalid("Label is for one order: tick one alone, or leave it empty.");
  return codes;
}

const maxAtOnce = 50;

/** The orders of a room, and a form that attaches another one. */
export function ordersPart(view: RoomDetailView): Html {
  const { orders, status } = view.room;
  return html`${problemOf(view, "orders")}
${orders.length === 0 ? emptyState("No orders yet", "Add the first one below.") : orderTable(view, orders)}
<div class="room-part">
<h3>Add an order</h3>
${status === "closed" ? html`<p>This room is closed and takes no new orders. Reopen it first.</p>` : html`<p><a href="/dashboard/orders/new?room=${view.room.roomCode}">Place a new order in this room</a></p>${attachForm(view)}`}
</div>`;
}

/**
 * The name of an order in the room: its label, otherwise the title of its document, otherwise the name from `nameOf`.
 * The titles of other firms' documents are not used.
 */
export function orderTitle({ room, titleOf }: RoomDetailView, order: OrderCard): string {
  const own = room.ownOrders.get(order.orderCode);
  return order.label ?? (own && titleOf(own)) ?? nameOf(order);
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
      const own = view.room.ownOrders.get(order.orderCode);
      const name = orderTitle(view, order);
      return [
        html`<a href="${own ? "/dashboard" : ""}/orders/${order.orderCode}">${name}</a>${!own && html` <span class="quiet-text">Another firm’s order</span>`}`,
        html`${statusBadge(tone, label)}${order.carrier !== null && html` <span class="quiet-text breakable">${[order.carrier, order.trackingNumber].filter(Boolean).join(" ")}</span>`}`,
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
  const free = view.orders.filter(({ code }) => !attached.has(code));
  const isOfFile = ({ externalReference }: FirmOrder) => externalReference === view.room.reference;
  const choices =
    view.room.reference === null ? free : [...free].sort((a, b) => Number(isOfFile(b)) - Number(isOfFile(a)));
  const hasChoice = choices.length > 0;
  return html`${problemOf(view, "attach")}
<form class="form" method="post" action="${formPath(view, "orders")}">
${hiddenFields({ submission: view.submission })}${hasChoice && html`<fieldset class="order-choices"><legend>Your latest orders</legend>${choices.map((order) => orderChoice(view, order, typed))}</fieldset>`}
${field({
  form: "attach",
  name: "orderCode",
  label: hasChoice ? "Or enter an order code" : "Order code",
  value: typed["orderCode"],
  required: !hasChoice,
  maxLength: 300,
  autocomplete: "off",
  hint: "The 40-character code, or the address of the order’s page. You can also add another firm’s order by its code.",
})}
${field({
  form: "attach",
  name: "label",
  label: "Label",
  value: typed["label"],
  maxLength: 200,
  autocomplete: "off",
  hint: "What the order is called in this room, for everyone with its link. If you leave it empty: the name of its document.",
})}
<div class="form-actions"><button type="submit">Add order</button></div>
</form>`;
}

function orderChoice({ titleOf }: RoomDetailView, order: FirmOrder, typed: FormValues): Html {
  const { code, customerName, customerEmail, externalReference, status } = order;
  const about = [customerName ?? customerEmail, externalReference, shortCode(code), statusWords(status).label];
  return checkbox({
    form: "attach",
    name: `order-${code}`,
    label: orderName({ order, title: titleOf(order) }),
    checked: typed[`order-${code}`] !== undefined,
    hint: about.filter(Boolean).join(" · "),
  });
}
