import type { OpenRoom, RoomOfOrder } from "../../../closing/rooms/rooms.ts";
import { invalid } from "../../../kernel/platform/errors.ts";
import type { PublicOrderRow } from "../../../orders/order/order.ts";
import { hiddenFields } from "../../ui/forms/button-form.ts";
import { field, select } from "../../ui/forms/fields.ts";
import type { FormValues } from "../../ui/forms/form-body.ts";
import { type Html, html } from "../../ui/render.ts";

/** How many of the latest open rooms the form offers. Other rooms can be entered by their code. */
export const roomsToChooseFrom = 50;

export type OrderRoomsView = {
  order: Pick<PublicOrderRow, "code">;
  rooms: readonly RoomOfOrder[];
  /** The firm's latest open rooms, to choose from. */
  openRooms: readonly OpenRoom[];
  submission: string;
  /** The values of the rejected form. */
  typed?: FormValues;
};

/**
 * The code of the chosen room, or the typed code. People may also paste the URL of a room's page, which contains the
 * code.
 */
export function roomCodeOf({ chosen = "", roomCode = "" }: FormValues): string {
  const typed = roomCode.trim();
  if (chosen !== "" && typed !== "") throw invalid("Choose one of your rooms or enter a code, not both.");
  if (chosen === "" && typed === "") throw invalid("Choose one of your rooms or enter a code.");
  return chosen || (/\/rooms\/([0-9a-f]{40})(?=$|[/?#])/.exec(typed)?.[1] ?? typed);
}

/** The rooms that contain this order, and a form that attaches it to another room. */
export function roomPart({ order, rooms, openRooms, submission, typed }: OrderRoomsView): Html {
  const list =
    rooms.length > 0 &&
    html`<ul class="order-rooms">${rooms.map(({ code, name, status }) => html`<li><a href="/dashboard/rooms/${code}">${name}</a>${status === "closed" && " (closed)"}</li>`)}</ul>`;
  const inside = new Set(rooms.map(({ code }) => code));
  const options = openRooms.filter(({ code }) => !inside.has(code)).map(roomChoice);
  const hasChoice = options.length > 0;
  if (!hasChoice && rooms.length > 0 && openRooms.length < roomsToChooseFrom) return html`${list}`;
  if (!hasChoice && openRooms.length < roomsToChooseFrom)
    return html`<p>This order is not in any room yet, and you have no open room. <a href="/dashboard/rooms">Create a room</a></p>`;
  return html`${list}<form class="form" method="post" action="/dashboard/orders/${order.code}/attach">
${hiddenFields({ submission })}${hasChoice && select({ name: "chosen", label: "Add to a room", required: "sometimes", value: typed?.["chosen"], options: [{ value: "", label: "None of these" }, ...options] })}
${field({
  name: "roomCode",
  label: hasChoice ? "Or enter a room code" : "Add to a room by its code",
  value: typed?.["roomCode"],
  required: hasChoice ? "sometimes" : true,
  maxLength: 300,
  autocomplete: "off",
  hint: "The 40-character code, or the address of the room’s page.",
})}
${field({ name: "label", label: "Label in the room", value: typed?.["label"], maxLength: 200, hint: "Everyone with the room’s link sees it. If you leave it empty: the name of the document." })}
<div class="form-actions"><button type="submit" class="quiet-button">Add to room</button></div>
</form>`;
}

export const roomChoice = ({ code, name, reference, orderCount }: OpenRoom) => ({
  value: code,
  label: `${name}${reference === null ? "" : ` (${reference})`}: ${orderCount === 1 ? "1 order" : `${orderCount} orders`}`,
});
