import type { Principal, Session } from "../../../identity/identity.ts";
import type { ListedSession, Member } from "../../../members/members.ts";
import type { Branding, KeyMetadata } from "../../../partners/partners.ts";
import { card, emptyState, facts, pageHead } from "../../ui/components.ts";
import { shortTime, time } from "../../ui/format.ts";
import { askFirst } from "../../ui/forms/ask-first.ts";
import { buttonForm } from "../../ui/forms/button-form.ts";
import { errorSummary, field } from "../../ui/forms/fields.ts";
import type { FormValues } from "../../ui/forms/form-body.ts";
import { records } from "../../ui/records.ts";
import { type Html, html } from "../../ui/render.ts";

export type SettingsView = {
  principal: Principal;
  session: Session;
  keys: readonly KeyMetadata[];
  members: readonly Member[];
  branding: Branding;
  sessions: readonly ListedSession[];
  error?: string;
  /** What was typed into the form that was refused. */
  typed?: FormValues;
};

const path = "/dashboard/settings";

/** Firm, branding, members, keys, sessions. */
export function settingsBody(view: SettingsView): Html {
  const { principal, keys, error } = view;
  return html`${pageHead("Firm and settings")}
${errorSummary(error)}
<div class="panels">
${card(
  "firm",
  "Firm",
  facts([
    ["Name", principal.firmName],
    ["Tier", principal.tier],
    ["Live", principal.liveEnabled ? "Enabled" : "Not enabled yet: ask the operator of this service"],
  ]),
)}
${card("branding", "Branding", brandingForm(view))}
${card("members", "Members", html`${memberTable(view)}<p class="quiet">To add somebody, let them sign in with their work email and link with a key of the firm.</p>`)}
${card("keys", "API keys", keys.length === 0 ? emptyState("No keys", "The operator of this service issues them.") : keyTable(keys))}
${card("sessions", "Your sessions", sessionTable(view))}
</div>`;
}

function brandingForm({ principal, branding, typed }: SettingsView): Html {
  const { brandName, accentColor, logoUrl } = branding;
  const isOwner = principal.member?.role === "owner";
  const lead = html`<p>Rooms and passports say whose they are. Our own mark stays beside it.</p>`;
  if (!isOwner)
    return html`${lead}${facts([
      ["Brand name", brandName],
      ["Colour", accentColor],
      ["Logo", logoUrl],
    ])}<p class="quiet">Owners of the firm may change it.</p>`;
  const value = (name: "brandName" | "accentColor" | "logoUrl") => typed?.[name] ?? branding[name] ?? "";
  return html`${lead}<form class="form" method="post" action="${path}/branding">
${field({ name: "brandName", label: "Brand name", value: value("brandName"), maxLength: 200, autocomplete: "organization" })}
${field({ name: "accentColor", label: "Colour", value: value("accentColor"), maxLength: 7, hint: "Like #1a2b3c. It is decoration: no text is on it." })}
${field({ name: "logoUrl", label: "Logo", type: "url", value: value("logoUrl"), maxLength: 2000, hint: "The https address of a picture." })}
<div class="form-actions"><button type="submit">Save branding</button></div>
</form>`;
}

function memberTable({ principal, members }: SettingsView): Html {
  const own = principal.member?.userId;
  const isOwner = principal.member?.role === "owner";
  return records(
    "Members of the firm",
    [{ label: "Email" }, { label: "Role" }, { label: "Since (UTC)" }, { label: "Change" }],
    members.map(({ userId, email, role, linkedAt }) => {
      const other = role === "owner" ? "member" : "owner";
      const about = `of ${email}`;
      return [
        html`${email}${userId === own && " (you)"}`,
        role === "owner" ? "Owner" : "Member",
        shortTime(linkedAt),
        html`<div class="row-actions">${
          isOwner &&
          buttonForm(`${path}/members/${userId}/role`, `Make ${other}`, {
            fields: { role: other },
            kind: "quiet-button",
            about,
          })
        }${
          (isOwner || userId === own) &&
          askFirst({ ...(userId === own ? leaving : removing(email)), action: `${path}/members/${userId}/remove` })
        }</div>`,
      ];
    }),
  );
}

const leaving = {
  label: "Leave the firm",
  text: "You lose access to all that is the firm’s, at once. To come back you need one of its keys.",
  confirm: "Leave it now",
};

const removing = (email: string) => ({
  label: "Remove",
  about: email,
  text: "They lose access at once. Who still has a key of the firm could link again: ask the operator of this service to revoke the keys that they know.",
  confirm: "Remove them",
});

const keyTable = (keys: readonly KeyMetadata[]): Html =>
  records(
    "API keys of the firm",
    [{ label: "Key" }, { label: "Environment" }, { label: "Issued" }, { label: "Last used" }, { label: "State" }],
    keys.map(({ environment, last4, createdAt, lastUsedAt, revokedAt }) => [
      html`<code>${environment === "test" ? "svc_pk_test_" : "svc_pk_"}…${last4}</code>`,
      environment === "test" ? "Test" : "Live",
      time(createdAt),
      lastUsedAt ? time(lastUsedAt) : "Never",
      revokedAt ? html`Revoked ${time(revokedAt)}` : "Active",
    ]),
  );

const sessionTable = ({ session, sessions }: SettingsView): Html =>
  records(
    "Where you are signed in",
    [{ label: "Browser" }, { label: "Signed in (UTC)" }, { label: "Last seen (UTC)" }, { label: "End" }],
    sessions.map(({ id, device, createdAt, lastSeenAt }) => [
      html`${device}${id === session.id && " (this one)"}`,
      shortTime(createdAt),
      shortTime(lastSeenAt),
      askFirst({
        label: "End",
        about: `the session of ${device}`,
        text:
          id === session.id
            ? "You are signed out here, at once."
            : "That browser is signed out, at once. Others go on.",
        confirm: "End it now",
        action: `${path}/sessions/${id}/end`,
      }),
    ]),
  );
