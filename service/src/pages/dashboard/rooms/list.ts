import { dayWords, type OpenClosing, type roomPage } from "../../../closing/rooms/rooms.ts";
import { openRoomQuota, tierOf } from "../../../firms/partners/partners.ts";
import { card, emptyState, pageHead, statusBadge } from "../../ui/components.ts";
import { shortTime } from "../../ui/format.ts";
import { errorSummary, field } from "../../ui/forms/fields.ts";
import type { FormValues } from "../../ui/forms/form-body.ts";
import { records } from "../../ui/records.ts";
import { type Html, html } from "../../ui/render.ts";
import { type FormSubmission, submissionFields } from "../submit-once.ts";
import { openOrClosed } from "./view.ts";

/** The reason why a form was rejected, and its typed values. */
export type RoomsProblem = { error: string; typed: FormValues };

type Page = Awaited<ReturnType<typeof roomPage>>;

export type RoomsView = Page &
  FormSubmission & {
    isFirstPage: boolean;
    /** For each room's code: when the room last changed. */
    lastChanges: ReadonlyMap<string, Date>;
    /** The open closings that `openClosings` selects, at most 50, sorted by due date. Empty after the first page. */
    closings: readonly OpenClosing[];
    /** How many of the firm's rooms are open. */
    openRooms: number;
    tier: string;
    problem: RoomsProblem | undefined;
  };

const path = "/dashboard/rooms";

/** All rooms of the firm, and a form that creates one. */
export function roomsBody(view: RoomsView): Html {
  return html`${pageHead("Rooms", "A room is one page for everyone in a closing, with its orders, their status, and the evidence.", html`<a class="button" href="/dashboard/closings/new">New closing</a>`)}
<div class="panels">
${view.closings.length > 0 && card("closings", "Open closings", closingTable(view.closings))}
${card("rooms", "Your rooms", list(view))}
${card("new-room", "Create a room", newRoom(view))}
</div>`;
}

function list({ rooms, nextCursor, isFirstPage, lastChanges }: RoomsView): Html {
  if (rooms.length === 0)
    return isFirstPage
      ? emptyState("No rooms yet", "Create your first room below, then add orders to it.")
      : html`<p>There are no more rooms. <a href="${path}">Back to the newest</a></p>`;
  return html`${roomTable(rooms, lastChanges)}
${
  (nextCursor !== null || !isFirstPage) &&
  html`<nav class="pager" aria-label="More rooms">${!isFirstPage && html`<a href="${path}">Newest rooms</a>`}${
    nextCursor !== null && html`<a href="${path}?cursor=${nextCursor}" rel="next">Older rooms</a>`
  }</nav>`
}`;
}

/** The open closings by due date, each with the order that blocks it and the firm's next step. */
const closingTable = (closings: readonly OpenClosing[]): Html =>
  records(
    "Open closings, those due first at the top",
    [
      { label: "Closing" },
      { label: "Closes on" },
      { label: "Complete", number: true },
      { label: "What waits" },
      { label: "Next step" },
    ],
    closings.map((closing) => [
      html`<a href="${path}/${closing.roomCode}">${closing.name}</a>${closing.reference !== null && html` <span class="quiet-text breakable">${closing.reference}</span>`}`,
      dayCell(closing),
      `${closing.done} of ${closing.orders}`,
      closing.reason,
      stepCell(closing),
    ]),
  );

function dayCell({ closesOn, due }: OpenClosing): Html | string {
  if (closesOn === null) return html`<span class="quiet-text">Not set</span>`;
  const day = html`<time datetime="${closesOn}">${dayWords(closesOn)}</time>`;
  if (due === "overdue") return html`${day} ${statusBadge("stopped", "Overdue")}`;
  return due === "today" ? html`${day} ${statusBadge("attention", "Today")}` : day;
}

/** The button labels for an order that is stuck, by its status. Orders in other statuses wait for an operator. */
const fixWords: Readonly<Record<string, string>> = {
  PaymentFailed: "Get it paid",
  EsignDeclined: "Put it right",
  EsignExpired: "Put it right",
  NotarizationFailed: "Put it right",
  ShippingFailed: "Put it right",
  FaxFailed: "Put it right",
};

function stepCell({ step, roomCode, name }: OpenClosing): Html {
  if (step === null) return html`<span class="quiet-text">Nothing to do</span>`;
  const button = (label: string, to: string) =>
    html`<a class="button quiet-button" href="${to}">${label}<span class="visually-hidden"> in ${name}</span></a>`;
  if (step.do === "fix") return button(fixWords[step.status] ?? "See why", `/dashboard/orders/${step.orderCode}`);
  if (step.do === "pay") return button("Pay", `${path}/${roomCode}#payment`);
  if (step.do === "simulate") return button("Simulate what follows", `${path}/${roomCode}#sandbox`);
  return step.do === "add"
    ? button("Add orders", `${path}/${roomCode}#orders`)
    : button("See who must act", `${path}/${roomCode}`);
}

const roomTable = (rooms: Page["rooms"], lastChanges: RoomsView["lastChanges"]): Html =>
  records(
    "Your rooms, newest first",
    [
      { label: "Room" },
      { label: "File number" },
      { label: "Status" },
      { label: "Orders", number: true },
      { label: "Last change", utc: true },
    ],
    rooms.map(({ roomCode, name, reference, status, orderCount, updatedAt }) => [
      html`<a href="${path}/${roomCode}">${name}</a>`,
      reference ?? html`<span class="quiet-text">None</span>`,
      openOrClosed(status),
      String(orderCount),
      shortTime(lastChanges.get(roomCode) ?? new Date(updatedAt)),
    ]),
  );

function newRoom(view: RoomsView): Html {
  const { problem, openRooms, tier } = view;
  const { typed } = problem ?? {};
  return html`<p>${quotaText(openRooms, tier)}</p>
${errorSummary(problem?.error)}
<form class="form" method="post" action="${path}">
${submissionFields(view)}
${field({ name: "name", label: "Name", value: typed?.["name"], required: true, maxLength: 200, autocomplete: "off", hint: "Everyone in the room sees it. For example: “12 Elm Street”." })}
${field({ name: "reference", label: "File number", value: typed?.["reference"], maxLength: 200, autocomplete: "off", hint: "Your own number of the closing. It is also shown in the room." })}
<div class="form-actions"><button type="submit">Create room</button></div>
</form>`;
}

function quotaText(openRooms: number, tier: string): string {
  const quota = openRoomQuota(tierOf(tier));
  const open = openRooms === 1 ? "1 room is open" : `${openRooms} rooms are open`;
  if (quota === null) return `${open}. Your ${tier} tier has no limit.`;
  const more = openRooms >= quota ? " Close one to open another." : "";
  return `${open}. Your ${tier} tier allows ${quota}.${more}`;
}
