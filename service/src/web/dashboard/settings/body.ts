import { mayUseLive, type Principal, type Session } from "../../../identity/identity.ts";
import type { ListedSession } from "../../../members/members.ts";
import type { FirmBranding } from "../../../partners/partners.ts";
import { card, facts, pageHead } from "../../ui/components.ts";
import { shortTime } from "../../ui/format.ts";
import { askFirst } from "../../ui/forms/ask-first.ts";
import { errorSummary, field } from "../../ui/forms/fields.ts";
import type { FormValues } from "../../ui/forms/form-body.ts";
import { records } from "../../ui/records.ts";
import { type Html, html } from "../../ui/render.ts";

export type SettingsView = {
  principal: Principal;
  session: Session;
  branding: FirmBranding;
  sessions: readonly ListedSession[];
  error?: string;
  /** What was typed into the form that was refused. */
  typed?: FormValues;
};

const path = "/dashboard/settings";

/** Firm, branding, sessions. */
export function settingsBody(view: SettingsView): Html {
  const { principal, error } = view;
  return html`${pageHead("Firm and settings")}
${errorSummary(error)}
<div class="panels">
${card(
  "firm",
  "Firm",
  facts([
    ["Name", principal.firmName],
    ["Tier", principal.tier],
    ["Live", liveState(principal)],
  ]),
)}
${card("branding", "Branding", brandingForm(view))}
${card("sessions", "Your sessions", sessionTable(view))}
</div>`;
}

function liveState(principal: Principal): Html | string {
  if (!principal.liveEnabled) return "Not enabled. Ask the operator of this service";
  if (mayUseLive(principal)) return "Enabled";
  return html`Enabled for the firm, not for you. <a href="/dashboard/link">Connect with a live key</a>, or ask an owner of the firm`;
}

function brandingForm({ principal, branding, typed }: SettingsView): Html {
  const { brandName, accentColor, logoUrl, contactEmail } = branding;
  const isOwner = principal.member?.role === "owner" && (!principal.liveEnabled || mayUseLive(principal));
  const lead = html`<p>Your brand appears on rooms and passports, next to ours.</p>`;
  if (!isOwner)
    return html`${lead}${facts([
      ["Brand name", brandName],
      ["Color", accentColor],
      ["Logo", logoUrl],
      ["Contact", contactEmail],
    ])}<p class="quiet">Only owners of the firm${principal.liveEnabled && " with live access"} can change this.</p>`;
  const value = (name: keyof FirmBranding) => typed?.[name] ?? branding[name] ?? "";
  return html`${lead}<form class="form" method="post" action="${path}/branding">
${field({ name: "brandName", label: "Brand name", value: value("brandName"), maxLength: 200, autocomplete: "organization" })}
${field({ name: "accentColor", label: "Color", value: value("accentColor"), maxLength: 7, hint: "For example #1a2b3c. It is used for decoration only, never behind text." })}
${field({ name: "logoUrl", label: "Logo", type: "url", value: value("logoUrl"), maxLength: 2000, hint: "The https address of an image." })}
${field({ name: "contactEmail", label: "Contact email", type: "email", value: value("contactEmail"), maxLength: 254, hint: "Answers to our mails to your clients and signers go there, and signing pages show it." })}
<div class="form-actions"><button type="submit">Save branding</button></div>
</form>`;
}

const sessionTable = ({ session, sessions }: SettingsView): Html =>
  records(
    "Where you are signed in",
    [{ label: "Browser" }, { label: "Signed in (UTC)" }, { label: "Last seen (UTC)" }, { label: "Action" }],
    sessions.map(({ id, device, createdAt, lastSeenAt }) => [
      html`${device}${id === session.id && " (this one)"}`,
      shortTime(createdAt),
      shortTime(lastSeenAt),
      askFirst({
        label: "Sign out",
        about: `the session of ${device}`,
        text:
          id === session.id
            ? "You are signed out of this browser immediately."
            : "That browser is signed out immediately. Others stay signed in.",
        confirm: "Sign out now",
        action: `${path}/sessions/${id}/end`,
      }),
    ]),
  );
