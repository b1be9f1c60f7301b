/**
 * The form that names a third person, such as a witness or an interpreter: for the waiting room of a session, or for an
 * appointment.
 */
import { languageNames, languages } from "../../../kernel/platform/languages.ts";
import {
  type Claimed,
  type Guest,
  roleObstacle,
  roleWords,
  type Typed,
  thirdRoles,
} from "../../../signing/notaries/notaries.ts";
import { buttonForm } from "../../ui/forms/button-form.ts";
import { field, select } from "../../ui/forms/fields.ts";
import { type Html, html } from "../../ui/render.ts";
import { orderPath } from "./order-path.ts";
import { capital } from "./sheet-page.ts";

type Form = { claimed: Claimed; form: string; action: string; button: string };

/** Names the roles that the rules of the notary's U.S. state exclude, and shows a form for the other roles. */
export function thirdPersonForm({ claimed, form, action, button }: Form, typed: Typed): Html {
  const { online } = claimed.eligibility.rules;
  const offered = thirdRoles.filter((role) => roleObstacle(role, online) === null);
  const why = thirdRoles.flatMap((role) => {
    const obstacle = roleObstacle(role, online);
    return obstacle === null ? [] : [html`<li>${capital(roleWords[role])}: ${obstacle}</li>`];
  });
  const text = (name: string, label: string) =>
    field({ form, name, label, required: true, maxLength: 200, value: typed[name] });
  const signers = claimed.order.signers.map(({ name }, index) => ({ value: String(index + 1), label: name }));
  return html`${why.length > 0 && html`<ul class="hint">${why}</ul>`}
${
  offered.length > 0 &&
  html`<form class="form" method="post" action="${action}">
${select({ form, name: "role", label: "Role", required: true, options: offered.map((value) => ({ value, label: capital(roleWords[value]) })) })}
${text("name", "Full name")}${text("email", "Email")}
${select({ form, name: "language", label: "Language of the page", required: true, options: languages.map((value) => ({ value, label: languageNames[value] })) })}
${select({ form, name: "for_signer", label: "For a credible witness: whom they know", options: signers })}
<div class="form-actions"><button type="submit" class="secondary">${button}</button></div></form>`
}`;
}

/** The people who are expected at the order's appointment besides the signers. */
export function guestsPart(claimed: Claimed, guests: readonly Guest[], typed: Typed): Html {
  const path = orderPath(claimed.order.code, "/guests");
  const list = guests.map(
    ({ id, name, email, role, forSigner }) =>
      html`<li>${name}, ${roleWords[role]}${forSigner !== null && html` for ${claimed.order.signers[forSigner - 1]?.name ?? ""}`} <span class="quiet-text">${email}</span>
${buttonForm(`${path}/remove`, "Not expected any more", { fields: { guest: id }, about: name, kind: "quiet-button" })}</li>`,
  );
  return html`<h3>Somebody else at the appointment</h3>
<p>They are mailed the time with a link of their own, and the link of the room when you open the session.</p>
${list.length > 0 && html`<ul>${list}</ul>`}
${thirdPersonForm({ claimed, form: "guests", action: path, button: "Add the person" }, typed)}`;
}
