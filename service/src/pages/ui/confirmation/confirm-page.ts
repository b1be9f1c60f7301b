import type { Session } from "../../../kernel/identity/identity.ts";
import { accountNav } from "../account-nav.ts";
import type { Assets } from "../assets/assets.ts";
import { hiddenFields } from "../forms/button-form.ts";
import { errorSummary, field } from "../forms/fields.ts";
import type { FormValues } from "../forms/form-body.ts";
import { passkeyForm } from "../forms/passkey-form.ts";
import { layout } from "../layout.ts";
import { type Html, html } from "../render.ts";

/** The names of the fields that the confirmation page adds to the fields of the original form. */
export const confirmFields = { passkey: "confirm_passkey", code: "confirm_code", another: "confirm_another" } as const;

/** The area of the product whose forms are confirmed: a firm's dashboard, or the operators' console. */
export type ConfirmArea = {
  /** The path prefix of all pages of the area. */
  path: "/dashboard" | "/operator";
  back: { path: string; label: string };
  /** The sentence that explains why only a passkey is accepted, without the period at its end. */
  onlyPasskey: string;
};

/** The URL from which the page gets the options for a passkey. */
export const confirmOptionsPath = ({ path }: ConfirmArea): string => `${path}/confirm/options`;

export type ConfirmView = {
  area: ConfirmArea;
  session: Session;
  /** The URL to which the form was sent, and to which it is sent again. */
  action: string;
  form: FormValues;
  error: string | undefined;
  /** True if only a passkey is accepted here as proof. */
  onlyPasskey: boolean;
};

/** Asks the signed-in person to confirm the action of a form. */
export function confirmPage(assets: Pick<Assets, "url">, view: ConfirmView): string {
  const { area, session, error, onlyPasskey } = view;
  const { hasPasskey } = session.proof;
  if (onlyPasskey && !hasPasskey) return passkeyMissingPage(assets, view);
  return page(
    assets,
    session,
    "Confirm that it is you",
    html`${errorSummary(error)}${hasPasskey ? byPasskey(view) : byMailedCode(view)}
<p class="quiet">Nothing is changed until you confirm. <a href="${area.back.path}">${area.back.label}</a></p>`,
  );
}

const page = (assets: Pick<Assets, "url">, { email }: Session, title: string, body: Html): string =>
  layout(assets, {
    title,
    headerNav: accountNav(email),
    body: html`<div class="narrow"><h1>${title}</h1>${body}</div>`,
    scripts: ["passkey.js"],
  });

const byPasskey = ({ area, action, form, onlyPasskey }: ConfirmView): Html =>
  html`<p class="lead">${onlyPasskey ? `${area.onlyPasskey}.` : "This changes who and what has access, so we ask for your passkey."}</p>
${passkeyForm({
  kind: "show",
  action,
  options: confirmOptionsPath(area),
  answer: confirmFields.passkey,
  carried: form,
  label: "Confirm with your passkey",
})}
${
  !onlyPasskey &&
  html`<details class="question"><summary>Use a recovery code</summary><div>
<form class="form" method="post" action="${action}">
${hiddenFields(form)}
${field({ name: confirmFields.code, label: "Recovery code", hint: "Each works once.", required: true, maxLength: 60, autocomplete: "off" })}
<div class="form-actions"><button type="submit" class="quiet-button">Confirm and continue</button></div>
</form></div></details>`
}`;

const byMailedCode = ({ session, action, form }: ConfirmView): Html =>
  html`<p class="lead">You signed in a while ago, and this changes who and what has access. We emailed a code to <strong class="breakable">${session.email}</strong>. It works once, within 10 minutes, in this browser.</p>
<form class="form" method="post" action="${action}">
${hiddenFields(form)}
${field({ name: confirmFields.code, label: "Code", hint: "Six digits. After five wrong ones you are signed out.", required: true, maxLength: 12, autocomplete: "one-time-code" })}
<div class="form-actions"><button type="submit">Confirm and continue</button><button type="submit" class="quiet-button" name="${confirmFields.another}" value="1" formnovalidate>Email me another code</button></div>
</form>`;

/** The page for a person without a passkey, when only a passkey is accepted. */
const passkeyMissingPage = (assets: Pick<Assets, "url">, { area, session }: ConfirmView): string =>
  page(
    assets,
    session,
    "This needs a passkey",
    html`<p class="lead">${area.onlyPasskey}, and you have none yet.</p>
<p><a href="${area.path}/security" class="button">Add a passkey</a></p>`,
  );
