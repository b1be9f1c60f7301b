import type { Session } from "../../../identity/identity.ts";
import { accountNav } from "../../ui/account-nav.ts";
import type { Assets } from "../../ui/assets.ts";
import { hiddenFields } from "../../ui/forms/button-form.ts";
import { errorSummary, field } from "../../ui/forms/fields.ts";
import type { FormValues } from "../../ui/forms/form-body.ts";
import { passkeyForm } from "../../ui/forms/passkey-form.ts";
import { layout } from "../../ui/layout.ts";
import { type Html, html } from "../../ui/render.ts";

/** What the page sends beside the form's own fields. */
export const confirmFields = { passkey: "confirm_passkey", code: "confirm_code", another: "confirm_another" } as const;

/** Where the page gets what a passkey is shown for. */
export const confirmOptionsPath = "/dashboard/confirm/options";

export type ConfirmView = {
  session: Session;
  /** Where the form was sent, and goes again. */
  action: string;
  /** What was typed into it. */
  form: FormValues;
  error: string | undefined;
  /** Whether the firm asks for a passkey here, and nothing else will do. */
  onlyPasskey: boolean;
};

/** Asks who is signed in to confirm what a form is about to do. */
export function confirmPage(assets: Pick<Assets, "url">, view: ConfirmView): string {
  const { session, error, onlyPasskey } = view;
  const { hasPasskey } = session.proof;
  if (onlyPasskey && !hasPasskey) return passkeyMissingPage(assets, session);
  return page(
    assets,
    session,
    "Confirm that it is you",
    html`${errorSummary(error)}${hasPasskey ? byPasskey(view) : byMailedCode(view)}
<p class="quiet">Nothing is changed until you confirm. <a href="/dashboard/settings">Back to the settings</a></p>`,
  );
}

const page = (assets: Pick<Assets, "url">, { email }: Session, title: string, body: Html): string =>
  layout(assets, {
    title,
    headerNav: accountNav(email),
    body: html`<div class="narrow"><h1>${title}</h1>${body}</div>`,
    scripts: ["passkey.js"],
  });

const byPasskey = ({ action, form, onlyPasskey }: ConfirmView): Html =>
  html`<p class="lead">${onlyPasskey ? "Your firm asks for a passkey before anything live is changed." : "This changes who and what has access, so we ask for your passkey."}</p>
${passkeyForm({
  kind: "show",
  action,
  options: confirmOptionsPath,
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

/** For who has none, where the firm asks for one. */
const passkeyMissingPage = (assets: Pick<Assets, "url">, session: Session): string =>
  page(
    assets,
    session,
    "This needs a passkey",
    html`<p class="lead">Your firm asks for a passkey before anything live is changed, and you have none yet.</p>
<p><a href="/dashboard/security" role="button">Add a passkey</a></p>`,
  );
