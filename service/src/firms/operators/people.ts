import { auditLine } from "../audit/audit.ts";
import { endAllSessions, requireAddress, upsertUser } from "../members/members.ts";
import { type Clock, dayMs } from "../platform/clock.ts";
import type { Database, Sql, Tx } from "../platform/database/database.ts";
import { invalid, ServiceError } from "../platform/errors.ts";
import { isEmail } from "../platform/mail/email.ts";
import type { RowMac } from "../platform/row-mac.ts";
import { isPlainText, isUuid } from "../platform/text.ts";
import { releaseClaims } from "../tasks/tasks.ts";
import { mailAdmins, mailNewOperator } from "./mail.ts";
import { gainsDecisions, readRoles } from "./roles.ts";
import { type Operator, requirePasskeyOf, requirePermission } from "./sessions.ts";
import * as store from "./store.ts";
import { kindsToDo } from "./task-permissions.ts";

export type { ListedOperator } from "./store.ts";

export type PeopleDeps = { db: Database; clock: Clock; rowMac: RowMac };

/**
 * An admin decides on no money, but makes the people who do: the other admins have a day to see it in their mails. The command line
 * needs no such wait, for its user has the keys of the service.
 */
const decidesFrom = (by: By, at: Date): Date | null => (isInConsole(by) ? new Date(at.getTime() + dayMs) : null);

/** Who changes it: an operator in the console, or the command line, to which the rules of the console do not apply. */
export type By = Operator | { id: null; actor: "operator" };

export type OperatorChange = { name?: string; roles?: readonly string[]; active?: boolean };

const maxNameLength = 100;

const isInConsole = (by: By): by is Operator => "session" in by;

/** @throws ServiceError for an operator who may not, or has shown no passkey lately */
export function requirePeople(by: By, now: Date): void {
  if (!isInConsole(by)) return;
  requirePermission(by, ["people.manage"]);
  requirePasskeyOf(by, now);
}

function requireName(text: string): string {
  const name = text.trim();
  if (name.length < 1 || name.length > maxNameLength || !isPlainText(name))
    throw invalid(`name must have 1 to ${maxNameLength} characters.`);
  return name;
}

export const listOperators = ({ db }: { db: Sql }): Promise<store.ListedOperator[]> => store.selectOperators(db);

/** @param who a person's id or address @throws ServiceError for somebody who never was an operator */
export async function requireOperator({ db }: { db: Sql }, who: string): Promise<store.OperatorRow> {
  const email = who.trim().toLowerCase();
  let found: store.OperatorRow | undefined;
  if (isUuid(who)) found = await store.selectOperator(db, who);
  else if (isEmail(email)) found = await store.selectOperatorByEmail(db, email);
  if (!found) throw new ServiceError("not_found", "No such operator.");
  return found;
}

/**
 * Makes a person an operator, who then signs in by a mailed link; all admins are mailed.
 * @throws ServiceError for a bad address, name or role, and for who is or was one already
 */
export async function addOperator(
  { db, clock, rowMac }: PeopleDeps,
  by: By,
  { email: typed, name: typedName, roles: names }: { email: string; name: string; roles: readonly string[] },
): Promise<store.OperatorRow> {
  const at = clock();
  requirePeople(by, at);
  const [email, name, roles] = [requireAddress(typed), requireName(typedName), readRoles(names)];
  return db.transaction(async (tx) => {
    await store.lockOperators(tx);
    const id = await upsertUser(tx, email, at);
    if (!(await store.insertOperator(tx, rowMac, { id, email, name, roles, at, decidesFrom: decidesFrom(by, at) })))
      throw new ServiceError("conflict", "This person is an operator already. Change the roles instead.");
    const added = { id, email, name, roles, active: true };
    await tx.query(
      auditLine({ at, action: "operator.added", actor: by.actor, detail: { userId: id, after: shown(added) } }),
    );
    await mailNewOperator(tx, id);
    await mailAdmins(tx, { at, text: `${name} (${email}) was made an operator: ${roles.join(", ")}.` });
    return added;
  });
}

const shown = ({ name, roles, active }: Omit<store.OperatorRow, "id" | "email">) => ({ name, roles, active });

/**
 * Changes an operator's name or roles, or ends and restores the access. Who has none is signed out with the next request; claimed tasks
 * that the person may not do any more are open again. All who were or are admins are mailed, and the person.
 * @throws ServiceError in the console for one's own row, and for the last active admin
 */
export async function changeOperator(
  deps: PeopleDeps,
  by: By,
  who: string,
  { name, roles, active }: OperatorChange,
): Promise<store.OperatorRow> {
  const at = deps.clock();
  requirePeople(by, at);
  return deps.db.transaction(async (tx) => {
    await store.lockOperators(tx);
    const before = await requireOperator({ db: tx }, who);
    const after = {
      ...before,
      ...(name !== undefined && { name: requireName(name) }),
      ...(roles !== undefined && { roles: readRoles(roles) }),
      ...(active !== undefined && { active }),
    };
    if (isInConsole(by)) await requireByAnother(tx, by, before, after);
    const admins = await store.selectActiveAdmins(tx);
    const gains = after.active && gainsDecisions(before.active ? before.roles : [], after.roles);
    const wait = gains || !isInConsole(by) ? decidesFrom(by, at) : undefined;
    if (!(await store.updateOperator(tx, deps.rowMac, { after, at, decidesFrom: wait })))
      throw new ServiceError("conflict", "The record of this operator was altered, and is not signed anew.");
    const keep = after.active ? kindsToDo(after) : [];
    await releaseClaims(tx, { claimedBy: `operator:${before.id}`, keep, by: by.actor, at });
    if (!after.active) await endAllSessions({ db: tx, clock: deps.clock }, before.email, by.actor);
    const detail = { userId: before.id, before: shown(before), after: shown(after) };
    await tx.query(auditLine({ at, action: "operator.changed", actor: by.actor, detail }));
    await mailAdmins(tx, { at, text: newsOf(before, after) }, { admins, person: before.id });
    return after;
  });
}

/** Ends an operator's access for good or until it is given back; the row stays on record. */
export const removeOperator = (deps: PeopleDeps, by: By, who: string): Promise<store.OperatorRow> =>
  changeOperator(deps, by, who, { active: false });

async function requireByAnother(
  tx: Tx,
  by: Operator,
  before: store.OperatorRow,
  after: store.OperatorRow,
): Promise<void> {
  const sameRoles = before.roles.join() === after.roles.join();
  if (by.id === before.id && !(sameRoles && before.active === after.active))
    throw new ServiceError("conflict", "Nobody changes their own roles or access. Ask another admin.");
  if (after.active && after.roles.includes("admin")) return;
  const admins = await store.selectActiveAdmins(tx);
  if (admins.every(({ id }) => id === before.id) && admins.length > 0)
    throw new ServiceError("conflict", "The last active admin stays. Make somebody else an admin first.");
}

function newsOf(before: store.OperatorRow, after: store.OperatorRow): string {
  const who = `${after.name} (${after.email})`;
  if (before.active && !after.active) return `${who} is an operator no more.`;
  const roles = after.roles.join(", ");
  if (!before.active && after.active) return `${who} is an operator again: ${roles}.`;
  return `${who} now has these roles: ${roles}. Before: ${before.roles.join(", ")}.`;
}
