import { auditLine } from "../../kernel/audit/audit.ts";
import { type Clock, dayMs } from "../../kernel/platform/clock.ts";
import type { Database, Sql, Tx } from "../../kernel/platform/database/database.ts";
import { invalid, ServiceError } from "../../kernel/platform/errors.ts";
import { isEmail } from "../../kernel/platform/mail/email.ts";
import type { RowMac } from "../../kernel/platform/row-mac.ts";
import { isPlainText, isUuid } from "../../kernel/platform/text.ts";
import { releaseClaims } from "../../kernel/tasks/tasks.ts";
import {
  dropPasskeys,
  endAllSessions,
  endAnySession,
  listAnySessions,
  requireAddress,
  upsertUser,
} from "../members/members.ts";
import { mailAdmins, mailNewOperator } from "./mail.ts";
import { gainsDecisions, readRoles } from "./roles.ts";
import { type Operator, requirePasskeyOf, requirePermission } from "./sessions.ts";
import * as store from "./store.ts";
import { kindsToDo } from "./task-permissions.ts";

export type { ListedOperator } from "./store.ts";

export type PeopleDeps = { db: Database; clock: Clock; rowMac: RowMac };

/**
 * The time from which an appointed person may decide on other people's requests, such as for refunds. Admins can't
 * decide on money themselves, but can appoint a person who can. So that person must wait a day, in which the other
 * admins can notice the mail about the appointment. A person appointed by the command line need not wait, because the
 * user of the command line has the service's keys.
 */
const decidesFrom = (by: By, at: Date): Date | null => (isInConsole(by) ? new Date(at.getTime() + dayMs) : null);

/** The person who acts: an operator in the console, or the command line, which is not bound by the console's rules. */
export type By = Operator | { id: null; actor: "operator" };

export type OperatorChange = { name?: string; roles?: readonly string[]; active?: boolean };

const maxNameLength = 100;

const isInConsole = (by: By): by is Operator => "session" in by;

/**
 * Requires the right to manage people, and a recent passkey check. The command line needs neither.
 * @throws ServiceError for an operator without the right or a recent passkey check
 */
function requirePeople(by: By, now: Date): void {
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

/**
 * Finds a present or former operator.
 * @param who a person's id or email address
 * @throws ServiceError for a person who never was an operator
 */
export async function requireOperator({ db }: { db: Sql }, who: string): Promise<store.OperatorRow> {
  const email = who.trim().toLowerCase();
  let found: store.OperatorRow | undefined;
  if (isUuid(who)) found = await store.selectOperator(db, who);
  else if (isEmail(email)) found = await store.selectOperatorByEmail(db, email);
  if (!found) throw new ServiceError("not_found", "No such operator.");
  return found;
}

/**
 * Makes a person an operator, who then signs in by a mailed link. Mails all admins.
 * @throws ServiceError for an invalid email address, name or role, and for a present or former operator. Also as
 * `requirePeople`
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
 * Changes an operator's name or roles, or ends or restores the operator's access. Ending the access signs the person
 * out. Releases the claimed tasks that the person may no longer do. Mails the person, and the admins of before and
 * after the change.
 * @throws ServiceError for an admin in the console who changes their own roles or access, or removes the last active
 * admin. Also for an unknown or altered operator, an invalid name or role, and as `requirePeople`
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
    const admins = await store.selectActive(tx, "admin");
    const gains = after.active && gainsDecisions(before.active ? before.roles : [], after.roles);
    const wait = gains || !isInConsole(by) ? decidesFrom(by, at) : undefined;
    if (!(await store.updateOperator(tx, deps.rowMac, { after, at, decidesFrom: wait })))
      throw new ServiceError(
        "conflict",
        "The record of this operator was altered in the database, so it can't be changed.",
      );
    const keep = after.active ? kindsToDo(after) : [];
    await releaseClaims(tx, { claimedBy: `operator:${before.id}`, keep, by: by.actor, at });
    if (!after.active) await endAllSessions({ db: tx, clock: deps.clock }, before.email, by.actor);
    const detail = { userId: before.id, before: shown(before), after: shown(after) };
    await tx.query(auditLine({ at, action: "operator.changed", actor: by.actor, detail }));
    await mailAdmins(tx, { at, text: changeSentence(before, after) }, { admins, person: before.id });
    return after;
  });
}

/** Ends an operator's access until it is restored. The row is kept. */
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
  const admins = await store.selectActive(tx, "admin");
  if (admins.every(({ id }) => id === before.id) && admins.length > 0)
    throw new ServiceError("conflict", "The last active admin stays. Make somebody else an admin first.");
}

function changeSentence(before: store.OperatorRow, after: store.OperatorRow): string {
  const who = `${after.name} (${after.email})`;
  if (before.active && !after.active) return `${who} is an operator no more.`;
  const roles = after.roles.join(", ");
  if (!before.active && after.active) return `${who} is an operator again: ${roles}.`;
  const rename =
    before.name === after.name ? null : `${after.email} is now named ${after.name}. Before: ${before.name}.`;
  const hasNewRoles = before.roles.join() !== after.roles.join();
  const newRoles = `${who} now has these roles: ${roles}. Before: ${before.roles.join(", ")}.`;
  return [rename, rename === null || hasNewRoles ? newRoles : null].filter((sentence) => sentence !== null).join(" ");
}

/** Ends a session of an operator. @throws ServiceError as `requirePeople`; also for an unknown operator or session */
export async function endOperatorSession(
  deps: PeopleDeps,
  by: Operator,
  { id, sessionId }: { id: string; sessionId: string },
): Promise<void> {
  requirePeople(by, deps.clock());
  const { email } = await requireOperator(deps, id);
  const sessions = await listAnySessions(deps, email);
  if (!sessions.some((each) => each.sessionId === sessionId)) throw new ServiceError("not_found", "No such session.");
  await endAnySession(deps, sessionId, by.actor);
}

/**
 * Removes the passkeys and recovery codes of an operator who has lost them, and ends the operator's sessions. Mails all
 * admins.
 */
export async function dropOperatorPasskeys(deps: PeopleDeps, by: Operator, id: string): Promise<void> {
  requirePeople(by, deps.clock());
  const { name, email } = await requireOperator(deps, id);
  if (by.id === id) throw new ServiceError("conflict", "Remove your own passkeys under Sign-in and security.");
  const text = `${by.name} removed the passkeys and recovery codes of ${name} (${email}).`;
  await dropPasskeys(deps, id, by.actor, (tx, at) => mailAdmins(tx, { at, text }));
}
