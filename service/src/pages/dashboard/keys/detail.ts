import type { OwnKey } from "../../../firms/members/members.ts";
import { overlapHours } from "../../../firms/partners/partners.ts";
import { card, facts, pageHead } from "../../ui/components.ts";
import { plainTime } from "../../ui/format.ts";
import { askFirst } from "../../ui/forms/ask-first.ts";
import { hiddenFields } from "../../ui/forms/button-form.ts";
import { errorSummary, select } from "../../ui/forms/fields.ts";
import { type Html, html } from "../../ui/render.ts";
import { isEnded, keyState, keyText, keyTitle, scopeList } from "./words.ts";

export type KeyView = {
  key: OwnKey;
  /** The key that replaced this key; null when it was not replaced. */
  successor: string | null;
  now: Date;
  /** Identifies the form that rotates the API key, so that submitting it twice rotates the key once. */
  submission: string;
  error?: string;
};

const pathOf = (keyId: string): string => `/dashboard/keys/${keyId}`;

/** One key, for owners: its scopes, last use, history, and actions. */
export function keyBody(view: KeyView): Html {
  const { key, successor, now, error } = view;
  const ended = isEnded(key, now);
  return html`<p><a href="/dashboard/keys">All keys</a></p>
${pageHead(keyTitle(key), keyText(key))}
${errorSummary(error)}
<div class="panels">
${card("about", "About this key", about(view))}
${card("made", "What it made", createdCounts(key))}
${!ended && successor === null && card("rotate", "Rotate", rotation(view))}
${!ended && card("revoke", "Revoke", askFirst(revocation(key)))}
</div>`;
}

const about = ({ key, successor, now }: KeyView): Html =>
  facts([
    ["Environment", key.environment === "test" ? "Test" : "Live"],
    ["May do", scopeList(key)],
    ["State", keyState(key, now)],
    ["Created", plainTime(key.createdAt)],
    ["Created by", key.issuer?.email ?? "The operator of this service"],
    ["Revoked", key.revokedAt && plainTime(key.revokedAt)],
    ["Revoked by", key.revoker && (key.revoker.email ?? "The operator of this service")],
    ["Expires", key.expiresAt ? plainTime(key.expiresAt) : "Never"],
    ["Last used", lastUse(key)],
    ["Replaces", key.replaces && html`<a href="${pathOf(key.replaces)}">The key before</a>`],
    ["Replaced by", successor && html`<a href="${pathOf(successor)}">The key after</a>`],
  ]);

function lastUse({ lastUsedAt, lastUsedFrom }: OwnKey): Html {
  if (!lastUsedAt) return html`Never`;
  return html`${plainTime(lastUsedAt)}${lastUsedFrom && html`, from the network <code>${lastUsedFrom}</code>`}`;
}

const createdCounts = ({ created: { orders, rooms, passports, roomPassports, webhooks, members } }: OwnKey): Html =>
  html`${facts([
    ["Orders", String(orders)],
    ["Rooms", String(rooms)],
    ["Sealed documents", String(passports)],
    ["Sealed room versions", String(roomPassports)],
    ["Webhooks", String(webhooks)],
    ["Members connected", String(members)],
  ])}<p class="quiet">All of it stays when the key is revoked. If somebody had the key who should not, look through your <a href="/dashboard/webhooks">webhooks</a> and <a href="/dashboard/team">team</a>, too.</p>`;

const overlapLabel = (hours: number): string => {
  if (hours === 0) return "Not at all: it stops working now";
  return hours === 1 ? "One hour" : `${hours} hours`;
};

const rotation = ({ key: { keyId }, submission }: KeyView): Html =>
  html`<p>You get a new key with the same name and the same scopes. It is shown once.</p>
<form class="form" method="post" action="${pathOf(keyId)}/rotate">
${hiddenFields({ submission })}
${select({
  name: "overlap",
  label: "How long the old key goes on",
  value: "24",
  required: true,
  options: overlapHours.map((hours) => ({ value: String(hours), label: overlapLabel(hours) })),
})}
<div class="form-actions"><button type="submit">Rotate key</button></div>
</form>`;

const revocation = (key: OwnKey) => ({
  label: "Revoke this key",
  text: `Every system that uses ${keyTitle(key)} is refused from its next request on. This cannot be undone.`,
  confirm: "Revoke now",
  action: `${pathOf(key.keyId)}/revoke`,
});
