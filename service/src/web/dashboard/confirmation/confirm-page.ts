import type { Session } from "../../../identity/identity.ts";
import { accountNav } from "../../ui/account-nav.ts";
import type { Assets } from "../../ui/assets.ts";
import { hiddenFields } from "../../ui/forms/button-form.ts";
import { errorSummary, field } from "../../ui/forms/fields.ts";
import type { FormValues } from "../../ui/forms/form-body.ts";
import { layout } from "../../ui/layout.ts";
import { html } from "../../ui/render.ts";

export const codeField = "confirm_code";
export const anotherField = "confirm_another";

export type ConfirmView = {
  session: Session;
  /** Where the form was sent, and goes again. */
  action: string;
  /** What was typed into it. */
  form: FormValues;
  error: string | undefined;
};

/** Asks who is signed in to confirm what a form is about to do. */
export const confirmPage = (assets: Pick<Assets, "url">, { session, action, form, error }: ConfirmView): string =>
  layout(assets, {
    title: "Confirm that it is you",
    headerNav: accountNav(session.email),
    body: html`<div class="narrow"><h1>Confirm that it is you</h1>
<p class="lead">You signed in a while ago, and this changes who and what has access. We emailed a code to <strong class="breakable">${session.email}</strong>. It works once, within 10 minutes, in this browser.</p>
${errorSummary(error)}
<form class="form" method="post" action="${action}">
${hiddenFields(form)}
${field({ name: codeField, label: "Code", hint: "Six digits. After five wrong ones you are signed out.", required: true, maxLength: 12, autocomplete: "one-time-code" })}
<div class="form-actions"><button type="submit">Confirm and continue</button><button type="submit" class="quiet-button" name="${anotherField}" value="1" formnovalidate>Email me another code</button></div>
</form>
<p class="quiet">Nothing is changed until you confirm. <a href="/dashboard/settings">Back to the settings</a></p></div>`,
  });
