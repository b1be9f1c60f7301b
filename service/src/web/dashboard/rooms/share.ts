import { codeText } from "../../ui/components.ts";
import { askFirst } from "../../ui/forms/ask-first.ts";
import { buttonForm } from "../../ui/forms/button-form.ts";
import { type Html, html } from "../../ui/render.ts";
import { formPath, problemOf, type RoomDetailView } from "./view.ts";

/** The public link, and a new one in its place. */
export function sharePart(view: RoomDetailView): Html {
  const path = `/rooms/${view.room.roomCode}`;
  return html`<p>Anyone with this link can see the room without signing in: its orders and their status, its people, and the sealed record of its documents.</p>
${problemOf(view, "share")}
${codeText(view.baseUrl + path, "the public link")}
<div class="room-part share-actions"><a href="${path}">Open the public page</a>
${askFirst({
  label: "Replace the link",
  about: "of this room",
  text: "The room gets a new link, and the old one stops working immediately for everyone. Verification links of sealed versions keep working.",
  confirm: "Replace the link now",
  action: formPath(view, "rotate"),
  fields: { submission: view.submission },
})}</div>`;
}

/** Closing, or opening again. */
export function statePart(view: RoomDetailView): Html {
  const closed = view.room.status === "closed";
  return html`${problemOf(view, "state")}
<p>${
    closed
      ? "The room takes orders again and counts toward your open rooms."
      : "A closed room takes no new orders and does not count toward your open rooms. Its public page stays up, and you can reopen it."
  }</p>
${closed ? buttonForm(formPath(view, "reopen"), "Reopen the room") : buttonForm(formPath(view, "close"), "Close the room", { kind: "quiet-button" })}`;
}
