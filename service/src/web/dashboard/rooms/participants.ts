import { emptyState } from "../../ui/components.ts";
import { shortTime } from "../../ui/format.ts";
import { askFirst } from "../../ui/forms/ask-first.ts";
import { hiddenFields } from "../../ui/forms/button-form.ts";
import { checkbox, field } from "../../ui/forms/fields.ts";
import { records } from "../../ui/records.ts";
import { type Html, html } from "../../ui/render.ts";
import { formPath, problemOf, type RoomDetailView, typedInto } from "./view.ts";

/** Who takes part, and a form to name one more. */
export function participantsPart(view: RoomDetailView): Html {
  const typed = typedInto(view, "add-participant");
  return html`<p>Participants are named in the room, with their emails masked. The room’s link is what opens it: email it to them here, or share it yourself.</p>
${problemOf(view, "participants")}
${view.room.participants.length === 0 ? emptyState("No participants yet", "Add the first one below.") : participantTable(view)}
<div class="room-part">
<h3>Add a participant</h3>
${problemOf(view, "add-participant")}
<form class="form" method="post" action="${formPath(view, "participants")}">
${hiddenFields({ submission: view.submission })}${field({ form: "participant", name: "name", label: "Name", value: typed["name"], required: true, maxLength: 200, autocomplete: "off" })}
${field({ form: "participant", name: "email", label: "Email", type: "email", value: typed["email"], required: true, maxLength: 320, autocomplete: "off" })}
${field({ form: "participant", name: "role", label: "Role", value: typed["role"], maxLength: 40, autocomplete: "off", hint: "Buyer, seller, or lender, for example. If you leave it empty: “client”." })}
${checkbox({ form: "participant", name: "invite", label: "Email them the room’s link", checked: isInviting(view), hint: emailHint(view) })}
<div class="form-actions"><button type="submit">Add participant</button></div>
</form>
</div>`;
}

/** Ticked, unless the form was sent without it. */
const isInviting = (view: RoomDetailView): boolean =>
  view.problem?.part !== "add-participant" || view.problem.typed["invite"] !== undefined;

const emailHint = ({ environment }: RoomDetailView): string =>
  environment === "test"
    ? "In test the email is kept in the outbox, and sent to nobody."
    : "At most once a day to the same person.";

const participantTable = (view: RoomDetailView): Html =>
  records(
    "Participants of this room",
    [{ label: "Name" }, { label: "Email" }, { label: "Role" }, { label: "Added", utc: true }, { label: "Action" }],
    view.room.participants.map(({ participantId, name, email, role, createdAt }) => [
      name,
      email,
      role,
      shortTime(new Date(createdAt)),
      askFirst({
        label: "Remove",
        about: name,
        text: "They are no longer listed in the room.",
        confirm: "Remove participant",
        action: formPath(view, `participants/${participantId}/remove`),
      }),
    ]),
  );
