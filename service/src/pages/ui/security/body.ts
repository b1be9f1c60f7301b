import type { Passkey } from "../../../firms/members/members.ts";
import { card, emptyState, notice, pageHead } from "../components.ts";
import { shortTime } from "../format.ts";
import { askFirst } from "../forms/ask-first.ts";
import { errorSummary, field } from "../forms/fields.ts";
import type { FormValues } from "../forms/form-body.ts";
import { passkeyForm } from "../forms/passkey-form.ts";
import { records } from "../records.ts";
import { type Html, html } from "../render.ts";

export type SecurityView = {
  /** The path of the page. */
  path: string;
  passkeys: readonly Passkey[];
  codesLeft: number;
  /** True if the service has a host name, which passkeys need. */
  isPossible: boolean;
  error?: string;
  /** Values of the rejected form. */
  typed?: FormValues;
  /** True if the person has just confirmed their identity, in order to add a passkey. */
  isConfirmed?: boolean;
  /** Further content of the page. */
  more?: Html | "";
};

/** A person's passkeys and recovery codes. */
export function securityBody(view: SecurityView): Html {
  const { path, passkeys, codesLeft, isPossible, error, isConfirmed, more = "" } = view;
  const lead =
    "A passkey is your second step after the emailed link: your fingerprint, face or PIN on a device of yours.";
  return html`${pageHead("Sign-in and security", lead)}
${errorSummary(error)}
${isConfirmed && notice("info", "Thank you", "Now add your passkey.")}
<div class="panels">
${card("passkeys", "Your passkeys", passkeys.length === 0 ? emptyState("No passkeys", "Anyone who reads your email can sign in as you.") : passkeyTable(path, passkeys))}
${card("add-passkey", "Add a passkey", isPossible ? addForm(view) : html`<p>This service is reached by a bare address. Passkeys need a host name.</p>`)}
${passkeys.length > 0 && card("recovery-codes", "Recovery codes", codesPart(path, codesLeft))}
${more}
</div>`;
}

const passkeyTable = (path: string, passkeys: readonly Passkey[]): Html =>
  records(
    "Your passkeys, the oldest first",
    [{ label: "Name" }, { label: "Added", utc: true }, { label: "Last used", utc: true }, { label: "Action" }],
    passkeys.map(({ id, name, createdAt, lastUsedAt }) => [
      html`<span class="breakable">${name}</span>`,
      shortTime(createdAt),
      lastUsedAt ? shortTime(lastUsedAt) : "Never",
      askFirst({
        label: "Remove",
        about: name,
        text:
          passkeys.length === 1
            ? "It is your last one: from then on the emailed link alone signs you in. Other browsers are signed out."
            : "It no longer signs you in. Other browsers are signed out.",
        confirm: "Remove passkey",
        action: `${path}/passkeys/${id}/remove`,
      }),
    ]),
  );

const addForm = ({ path, passkeys, typed }: SecurityView): Html =>
  html`<p>${passkeys.length === 0 ? "From then on signing in needs a passkey besides the link." : "Have a second one on another device, in case you lose the first."} Other browsers are signed out.</p>
${passkeyForm({
  kind: "add",
  action: `${path}/passkeys`,
  options: `${path}/passkeys/options`,
  answer: "answer",
  fields: field({
    name: "name",
    label: "Name",
    hint: "To tell it from others, for example “Work laptop”.",
    value: typed?.["name"],
    required: true,
    maxLength: 60,
    autocomplete: "off",
  }),
  label: "Add a passkey",
})}`;

const codesPart = (path: string, codesLeft: number): Html =>
  html`<p>${codesLeft === 1 ? "1 of 10 is left" : `${codesLeft} of 10 are left`}. Each signs you in once when you have no passkey at hand.</p>
${askFirst({
  label: "Make new codes",
  text: "You get ten new ones. The earlier ones stop working immediately.",
  confirm: "Make new codes now",
  action: `${path}/recovery-codes`,
})}`;
