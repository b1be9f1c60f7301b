import { type Environment, isScope, type Scope, scopes } from "../../../kernel/identity/identity.ts";
import { dayMs } from "../../../kernel/platform/clock.ts";
import type { Tx } from "../../../kernel/platform/database/database.ts";
import { invalidAt } from "../../../kernel/platform/errors.ts";
import { newUuid } from "../../../kernel/platform/ids.ts";
import type { RowMac } from "../../../kernel/platform/row-mac.ts";
import { isPlainText, isVisible, wholeNumberIn } from "../../../kernel/platform/text.ts";
import { auditPartner, type ChangedBy } from "../audit.ts";
import { keyMembers, keySha256, keyTable, newKey } from "./format.ts";
import { insertKey } from "./store.ts";

/** A newly issued key. Its text is not stored, except encrypted for an access request until it is mailed. */
export type IssuedKey = { keyId: string; key: string; environment: Environment };

export type KeyToIssue = {
  partnerId: string;
  environment: Environment;
  name?: string | null;
  /** The scopes of the key; null for a key without restrictions. */
  scopes?: readonly Scope[] | null;
  expiresAt?: Date | null;
  issuedBy?: string | null;
  /** The key that the new key replaces. */
  replaces?: string | null;
};

export async function addKey(tx: Tx, rowMac: RowMac, wanted: KeyToIssue, by: ChangedBy): Promise<IssuedKey> {
  const { partnerId, environment, name = null, scopes = null, expiresAt = null } = wanted;
  const { issuedBy = null, replaces = null } = wanted;
  const key = newKey(environment);
  const facts = { keyId: newUuid(), partnerId, environment, sha256: keySha256(key), scopes, expiresAt };
  const mac = rowMac.of(keyTable, keyMembers(facts));
  await insertKey(tx, { ...facts, name, last4: key.slice(-4), issuedBy, replaces, mac });
  const detail = { keyId: facts.keyId, environment, ...(name && { name }), ...(scopes && { scopes }) };
  const until = expiresAt && { expiresAt: expiresAt.toISOString() };
  await auditPartner(tx, by, "key.issued", partnerId, { ...detail, ...until, ...(replaces && { replaces }) });
  return { keyId: facts.keyId, key, environment };
}

const maxNameLength = 100;
const maxDays = 3650;

/**
 * The name of a key without spaces around it.
 * @throws ServiceError for a name that is too long, has several lines, or has no visible character
 */
export function keyName(text: string): string {
  const name = text.trim();
  if (name.length < 1 || name.length > maxNameLength || !isPlainText(name) || !isVisible(name))
    throw invalidAt("name", `must have 1 to ${maxNameLength} characters.`);
  return name;
}

/**
 * Parses the names of scopes. The result has no duplicates and is in the order of `scopes`. @throws ServiceError for an
 * empty list or an unknown word
 */
export function keyScopes(names: readonly string[]): Scope[] {
  const unknown = names.find((name) => !isScope(name));
  if (unknown !== undefined || names.length === 0)
    throw invalidAt("scopes", `must be one or more of ${scopes.join(", ")}.`);
  return scopes.filter((scope) => names.includes(scope));
}

/**
 * The time when a key expires, parsed from a number of days or from a date. A date means the end of that day (UTC).
 * @throws ServiceError for another text, and for a time that is past or more than ten years away
 */
export function keyExpiry(text: string, now: Date): Date {
  const days = wholeNumberIn(text, 0, 9999);
  const ms = days === undefined ? startOfDay(text) + dayMs : now.getTime() + days * dayMs;
  const isPossible = ms > now.getTime() && ms <= now.getTime() + maxDays * dayMs;
  if (!isPossible)
    throw invalidAt("expires", "must be a number of days from 1 to 3650, or a day to come like 2027-01-31.");
  return new Date(ms);
}

/** The start of the day that a text names; NaN for a text that is not a date, such as February 30. */
function startOfDay(text: string): number {
  const ms = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN;
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(text) ? ms : Number.NaN;
}

/** The hours that a rotated key may continue to work. */
export const overlapHours = [0, 1, 24, 72] as const;

/**
 * Parses the number of hours for which the replaced key stays valid; one of `overlapHours`.
 * @throws ServiceError for any other number of hours
 */
export function keyOverlap(text: string): number {
  const hours = overlapHours.find((each) => String(each) === text);
  if (hours === undefined) throw invalidAt("overlap", `must be one of ${overlapHours.join(", ")} hours.`);
  return hours;
}
