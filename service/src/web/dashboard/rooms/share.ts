import { codeText } from "../../ui/components.ts";
import { askFirst } from "../../ui/forms/ask-first.ts";
import { buttonForm } from "../../ui/forms/button-form.ts";
import { type Html, html } from "../../ui/render.ts";
import { formPath, problemOf, type RoomDetailView } from "./view.ts";

/** The public link, and a new one in its place. */
export function sharePart(view: RoomDetailView): Html {
  const path = `/rooms/${view.room.roomCode}`;
  return html`<p>Whoever has this link sees the room, without signing in: its orders and where they stand, its people, its passport.</p>
${problemOf(view, "share")}
${codeText(view.baseUrl + path, "the public link")}
<div class="room-part share-actions"><a href="${path}">Open the public page</a>
${askFirst({
  label: "Replace the link",
  about: "of this room",
  text: "The room gets a new link and the old one stops working at once, for everybody who has it. Verify links of sealed versions stay as they are.",
  confirm: "Replace it now",
  action: formPath(view, "rotate"),
})}</div>`;
}

/** Closing, or opening again. */
export function statePart(view: RoomDetailView): Html {
  const closed = view.room.status === "closed";
  return html`${problemOf(view, "state")}
<p>${
    closed
      ? "The room takes orders again, and counts among your open rooms."
      : "It takes no new orders then, and does not count among your open rooms. Its public page stays, and you can open it again."
  }</p>
${closed ? buttonForm(formPath(view, "reopen"), "Open the room again") : buttonForm(formPath(view, "close"), "Close the room", { kind: "quiet-button" })}`;
}
