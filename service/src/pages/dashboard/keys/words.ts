import type { KeyMetadata } from "../../../firms/partners/partners.ts";
import type { Scope } from "../../../kernel/identity/identity.ts";
import { dayMs } from "../../../kernel/platform/clock.ts";
import { statusBadge, type Tone } from "../../ui/components.ts";
import { day } from "../../ui/format.ts";
import { type Html, html } from "../../ui/render.ts";

/** For each scope of an API key: what a key with this scope may do. */
export const scopeWords: Readonly<Record<Scope, string>> = {
  read: "Read everything the key’s environment holds. Alone, it changes nothing.",
  orders: "Place orders, start payments, act for signers, use the sandbox and run playbooks.",
  rooms: "Open, change and close rooms.",
  seal: "Seal documents and rooms.",
  webhooks: "Create, change, test and delete webhooks, and send events again.",
  spend: "Charge the firm’s card or bank account for rooms, within the limits that owners set under Billing.",
};

const unusedMs = 90 * dayMs;

export const isEnded = ({ revokedAt, expiresAt }: KeyMetadata, now: Date): boolean =>
  revokedAt !== null || (expiresAt !== null && expiresAt <= now);

const isUnused = ({ lastUsedAt, createdAt }: KeyMetadata, now: Date): boolean =>
  now.getTime() - (lastUsedAt ?? createdAt).getTime() > unusedMs;

/** The state of the key: if it works, and until when. */
export function keyState(key: KeyMetadata, now: Date): Html {
  if (key.revokedAt) return badge("stopped", "Revoked", key.revokedAt);
  if (key.expiresAt && key.expiresAt <= now) return badge("stopped", "Expired", key.expiresAt);
  if (isUnused(key, now)) return badge("attention", "Not used for 90 days", null);
  return key.expiresAt ? badge("waiting", "Active until", key.expiresAt) : badge("done", "Active", null);
}

const badge = (tone: Tone, word: string, at: Date | null): Html => statusBadge(tone, at ? `${word} ${day(at)}` : word);

/** The prefix and the last characters of an API key. Pages never show the whole key. */
export const keyText = ({ environment, last4 }: Pick<KeyMetadata, "environment" | "last4">): Html =>
  html`<code>${environment === "test" ? "svc_pk_test_" : "svc_pk_"}…${last4}</code>`;

export const keyTitle = ({ name, last4 }: Pick<KeyMetadata, "name" | "last4">): string => name ?? `Key …${last4}`;

export const scopeList = ({ scopes }: Pick<KeyMetadata, "scopes">): Html =>
  scopes ? html`<span class="topics">${scopes.map((scope) => html`<code>${scope}</code>`)}</span>` : html`Everything`;
