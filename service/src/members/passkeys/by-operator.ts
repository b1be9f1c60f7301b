import { auditLine } from "../../audit/audit.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Database, Tx } from "../../platform/database/database.ts";
import { ServiceError } from "../../platform/errors.ts";
import type { RowMac } from "../../platform/row-mac.ts";
import { requireUuid } from "../../platform/text.ts";
import { endAnySessions } from "../sessions/store.ts";
import { findMembership } from "../store.ts";
import { mailNews } from "./mail.ts";
import * as store from "./store.ts";

/** A person's passkeys, for the operator. @throws ServiceError for an unknown person */
export async function listPasskeysOf({ db }: { db: Database }, userId: string): Promise<store.Passkey[]> {
  await requireAddress(db, userId);
  return store.selectPasskeys(db, userId);
}

/**
 * Removes all passkeys and recovery codes of a person who has lost them, and ends the person's sessions: the next sign-in needs the
 * mailed link alone. @param actor for the audit log @param also runs in the same transaction @returns how many there were @throws ServiceError for an unknown person
 */
export async function dropPasskeys(
  { db, clock, rowMac }: { db: Database; clock: Clock; rowMac: RowMac },
  userId: string,
  actor = "operator",
  also: (tx: Tx, at: Date) => Promise<unknown> = async () => {},
) {
  const email = await requireAddress(db, userId);
  return db.transaction(async (tx) => {
    const at = clock();
    await store.lockUser(tx, userId);
    const removed = await store.deletePasskeys(tx, userId, at);
    await store.replaceCodes(tx, rowMac, { userId, at, hashes: [] });
    const ended = await endAnySessions(tx, { email }, at, actor);
    const partnerId = (await findMembership(tx, rowMac, userId, at))?.partnerId;
    const line = { at, action: "passkeys.removed", actor, partnerId, detail: { userId, removed } };
    await tx.query(auditLine(line));
    if (removed > 0) await mailNews(tx, userId, "removed-by-operator", at);
    await also(tx, at);
    return { userId, removed, endedSessions: ended.length };
  });
}

async function requireAddress(db: Database, userId: string): Promise<string> {
  const person = await store.findAddress(db, requireUuid("USER_ID", userId));
  if (!person) throw new ServiceError("not_found", "No such person.");
  return person.email;
}
