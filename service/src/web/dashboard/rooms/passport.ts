import { emptyState } from "../../ui/components.ts";
import { shortTime } from "../../ui/format.ts";
import { buttonForm } from "../../ui/forms/button-form.ts";
import { records } from "../../ui/records.ts";
import { type Html, html } from "../../ui/render.ts";
import { formPath, problemOf, type RoomDetailView } from "./view.ts";

/** The sealed versions of the room's passport, and the button for the next. */
export function passportPart(view: RoomDetailView): Html {
  const { versions, nextVersion } = view.passport;
  return html`<p>A seal states the orders of this room and the hashes of their documents as they are now. Anybody can check it, without an account. A version never changes, and each one links to the one before.</p>
${versions.length === 0 ? emptyState("Nothing is sealed yet", "Seal the first version when the documents are as they should be.") : versionTable(view)}
<div class="room-part">
${problemOf(view, "passport")}
${
  nextVersion === null
    ? html`<p>All 20 versions that a room may have are sealed.</p>`
    : html`${buttonForm(formPath(view, "passport"), `Seal version ${nextVersion}`, { fields: { version: String(nextVersion) } })}
<p class="form-note">A room holds 20 versions. Sealing takes some seconds.</p>`
}
</div>`;
}

const versionTable = (view: RoomDetailView): Html =>
  records(
    "Sealed versions, newest first",
    [{ label: "Version" }, { label: "Sealed (UTC)" }, { label: "Manifest SHA-256" }, { label: "Links" }],
    view.passport.versions.map(({ version, verifyCode, manifestSha256, createdAt }) => [
      `Version ${version}`,
      shortTime(createdAt),
      html`<code>${manifestSha256.slice(0, 12)}…</code>`,
      html`<span class="room-links"><a href="/v/room/${verifyCode}">Verify<span class="visually-hidden"> version ${version}</span></a><a href="/api/verify/room/${verifyCode}/pdf" download>Download PDF<span class="visually-hidden"> of version ${version}</span></a></span>`,
    ]),
  );
