import { emptyState } from "../../ui/components.ts";
import { shortTime } from "../../ui/format.ts";
import { buttonForm } from "../../ui/forms/button-form.ts";
import { records } from "../../ui/records.ts";
import { type Html, html } from "../../ui/render.ts";
import { formPath, problemOf, type RoomDetailView } from "./view.ts";

/** The sealed versions of the room's passport, and the button for the next. */
export function passportPart(view: RoomDetailView): Html {
  const { versions, nextVersion } = view.passport;
  return html`<p>A seal records this room’s orders and the hashes of their documents as they are now. Anyone can check it without an account. A version never changes, and each one links to the previous one.</p>
${view.retention && html`<p>${view.retention}</p>`}
${versions.length === 0 ? emptyState("Not sealed yet", "Seal the first version once the documents are final.") : versionTable(view)}
<div class="room-part">
${problemOf(view, "passport")}
${
  nextVersion === null
    ? html`<p>This room has reached the limit of 20 versions.</p>`
    : html`${buttonForm(formPath(view, "passport"), `Seal version ${nextVersion}`, { fields: { version: String(nextVersion), submission: view.submission } })}
<p class="form-note">A room can have 20 versions. Sealing takes a few seconds.</p>`
}
</div>`;
}

const versionTable = (view: RoomDetailView): Html =>
  records(
    "Sealed versions, newest first",
    [{ label: "Version" }, { label: "Sealed", utc: true }, { label: "Manifest SHA-256" }, { label: "Links" }],
    view.passport.versions.map(({ version, verifyCode, manifestSha256, createdAt }) => [
      `Version ${version}`,
      shortTime(createdAt),
      html`<code>${manifestSha256.slice(0, 12)}…</code>`,
      html`<span class="room-links"><a href="/v/room/${verifyCode}">Verify<span class="visually-hidden"> version ${version}</span></a><a href="/api/verify/room/${verifyCode}/pdf" download>Download PDF<span class="visually-hidden"> of version ${version}</span></a></span>`,
    ]),
  );
