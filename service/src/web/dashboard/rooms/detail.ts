import { card, pageHead } from "../../ui/components.ts";
import { inThisRoom, progressMeters } from "../../ui/orders/progress.ts";
import { type Html, html } from "../../ui/render.ts";
import { ordersPart } from "./orders.ts";
import { participantsPart } from "./participants.ts";
import { passportPart } from "./passport.ts";
import { sharePart, statePart } from "./share.ts";
import { openOrClosed, type RoomDetailView } from "./view.ts";

/** A room for its owner, part by part. */
export function roomBody(view: RoomDetailView): Html {
  const { name, reference, status, roomCode } = view.room;
  const lead = html`<span class="room-lead">${openOrClosed(status)}<span class="breakable">${reference === null ? "No reference" : `Reference ${reference}`}</span></span>`;
  const links = html`<p class="room-links"><a href="/dashboard/rooms">All rooms</a><a href="/rooms/${roomCode}">Open the public page</a></p>`;
  return html`${pageHead(name, lead, links)}
<div class="panels">
${card("glance", "At a glance", html`<p class="lead">${inThisRoom(view.room)}</p>${progressMeters(view.room)}`)}
${card("orders", "Orders", ordersPart(view))}
${card("passport", "Closing passport", passportPart(view))}
${card("share", "Share", sharePart(view))}
${card("participants", "Participants", participantsPart(view))}
${card("state", status === "closed" ? "Reopen the room" : "Close the room", statePart(view))}
</div>`;
}
