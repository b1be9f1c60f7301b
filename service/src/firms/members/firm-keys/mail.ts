import type { Tx } from "../../../kernel/platform/database/database.ts";
import { defineMail, type MailDeps } from "../../../kernel/platform/mail/mail-jobs.ts";
import { plainTitle } from "../../../kernel/platform/mail/plain-name.ts";
import { selectKeyMailFacts, selectOwners } from "./store.ts";

type What = "created" | "rotated" | "revoked";
type KeyChange = { keyId: string; userId: string | null; ownerId: string; what: What; at: string };

/**
 * Mails all owners of the firm, the actor included, about a change to a key. The mail doesn't have the key.
 * @param change.userId the member who made the change; null for an operator
 */
export async function mailOwnersOfKey(
  tx: Tx,
  { partnerId, at, ...change }: { partnerId: string; keyId: string; userId: string | null; what: What; at: Date },
): Promise<void> {
  for (const ownerId of await selectOwners(tx, partnerId))
    await keyMail.enqueue(tx, { ...change, ownerId, at: at.toISOString() });
}

const named = (name: string | null): string =>
  name === null ? "without a name" : plainTitle(`“${name}”`, "(its name is in the dashboard)");

/** The mail to one owner about a change to a key. Not sent to a person who is no longer an owner. */
export const keyMail = defineMail({
  queue: "key-mail",
  load: (about: KeyChange, { db }: MailDeps) => selectKeyMailFacts(db, about),
  write: ({ ownerEmail, actorEmail, firmName, name, environment }, { keyId, ownerId, what, at }, { baseUrl }) => ({
    id: `key:${keyId}:${what}:${ownerId}:${at}`,
    to: ownerEmail,
    subject: `A ${environment} key was ${what}`,
    greeting: "Hello,",
    lines: [
      `${actorEmail ?? "The operator of this service"} ${what} the ${environment} key ${named(name)} of ${plainTitle(firmName, "your firm")}.`,
      "If this was not agreed upon, revoke the key, and look at who is a member of the firm.",
    ],
    link: { label: "See the keys", url: `${baseUrl}/dashboard/keys` },
    caution: "You receive this email because you are an owner of the firm.",
  }),
});
