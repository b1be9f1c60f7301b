import type { Principal, Session } from "../../../identity/identity.ts";
import type { Passkey } from "../../../members/members.ts";
import { card, emptyState, notice, pageHead } from "../../ui/components.ts";
import { shortTime } from "../../ui/format.ts";
import { askFirst } from "../../ui/forms/ask-first.ts";
import { buttonForm } from "../../ui/forms/button-form.ts";
import { errorSummary, field } from "../../ui/forms/fields.ts";
import type { FormValues } from "../../ui/forms/form-body.ts";
import { passkeyForm } from "../../ui/forms/passkey-form.ts";
import { records } from "../../ui/records.ts";
import { type Html, html } from "../../ui/render.ts";

export type SecurityView = {
  principal: Principal;
  session: Session;
  passkeys: readonly Passkey[];
  codesLeft: number;
  /** Whether passkeys can be had at this address. */
  isPossible: boolean;
  error?: string;
  /** What was typed into the form that was refused. */
  typed?: FormValues;
  /** Whether the person has just confirmed who asks, on the way to a passkey. */
  isConfirmed?: boolean;
};

const path = "/dashboard/security";

/** Passkeys, recovery codes, and the firm's rule. */
export function securityBody(view: SecurityView): Html {
  const { passkeys, codesLeft, isPossible, error, isConfirmed } = view;
  const lead =
    "A passkey is your second step after the emailed link: your fingerprint, face or PIN on a device of yours.";
  return html`${pageHead("Sign-in and security", lead)}
${errorSummary(error)}
${isConfirmed && notice("info", "Thank you", "Now add your passkey.")}
<div class="panels">
${card("passkeys", "Your passkeys", passkeys.length === 0 ? emptyState("No passkeys", "Whoever reads your email can sign in as you.") : passkeyTable(passkeys))}
${card("add-passkey", "Add a passkey", isPossible ? addForm(view) : html`<p>This service is reached by a bare address. Passkeys need a host name.</p>`)}
${passkeys.length > 0 && card("recovery-codes", "Recovery codes", codesPart(codesLeft))}
${card("live", "Passkeys for live", liveRule(view))}
</div>`;
}

const passkeyTable = (passkeys: readonly Passkey[]): Html =>
  records(
    "Your passkeys, the oldest first",
    [{ label: "Name" }, { label: "Added (UTC)" }, { label: "Last used (UTC)" }, { label: "Action" }],
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

const addForm = ({ passkeys, typed }: SecurityView): Html =>
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

const codesPart = (codesLeft: number): Html =>
  html`<p>${codesLeft === 1 ? "1 of 10 is left" : `${codesLeft} of 10 are left`}. Each signs you in once when you have no passkey at hand.</p>
${askFirst({
  label: "Make new codes",
  text: "You get ten new ones. The earlier ones stop working immediately.",
  confirm: "Make new codes now",
  action: `${path}/recovery-codes`,
})}`;

/** Owners who work in live say so for the firm. */
function liveRule({ principal, session }: SecurityView): Html {
  const { passkeyForLive, hasPasskey } = session.proof;
  const state = passkeyForLive
    ? "Members of your firm must show a passkey before they create or rotate live webhooks, or give live access."
    : "Your firm does not ask for a passkey before live webhooks or live access are changed.";
  const decides = principal.member?.role === "owner" && principal.member.liveAccess;
  if (!decides)
    return html`<p>${state}</p><p class="quiet">Only owners of the firm with live access can change this.</p>`;
  if (!hasPasskey) return html`<p>${state}</p><p class="quiet">Add a passkey of your own to change this.</p>`;
  const [to, label] = passkeyForLive ? ["off", "Stop asking for passkeys"] : ["on", "Ask for passkeys"];
  return html`<p>${state}</p>${buttonForm(`${path}/live`, label, { fields: { passkey: to }, kind: "quiet-button" })}`;
}
