import type { Environment, Session } from "../../kernel/identity/identity.ts";
import type { Sql } from "../../kernel/platform/database/database.ts";
import { invalid, ServiceError } from "../../kernel/platform/errors.ts";
import { requireRecentPasskey } from "../../kernel/platform/recent-proof.ts";
import { findOperatorSession, type SessionDeps, sessionResolver, setConsoleEnvironment } from "../members/members.ts";
import {
  needsPasskey,
  type OperatorRole,
  operatorRoles,
  type Permission,
  passkeySubjects,
  rolesPermit,
} from "./roles.ts";
import { selectOperatorOfSession } from "./store.ts";

/** An operator who is signed in to the console. */
export type Operator = {
  /**
   * The person's id; null for an operator who signed in with a link from the command line. That operator has all roles.
   */
  id: string | null;
  email: string | null;
  name: string;
  roles: readonly OperatorRole[];
  /** The environment whose orders and tasks the console shows. A notary's journal has entries of both. */
  environment: Environment;
  /** The actor in the audit log: `operator:ID`, or `operator:cli` for a link of the command line. */
  actor: string;
  sessionId: string;
  signedInAt: Date;
  /**
   * The time from which the operator may decide on others' requests and on money; it may be past. Null without a wait.
   * A wait starts when an admin appoints the operator, or gives a new right to decide.
   */
  decidesFrom: Date | null;
  /** The person's own session; null for a command line link. */
  session: Session | null;
};

/** Finds the operator of a `Cookie` header; null without an operator's session. */
export type ResolveOperator = (cookie: string | undefined) => Promise<Operator | null>;

export const byCommandLine = { id: null, actor: "operator" } as const;

export const may = ({ roles }: Pick<Operator, "roles">, permission: Permission): boolean =>
  rolesPermit(roles, permission);

/** True if the person must add a passkey before they can use this permission of their roles. */
export const mustAddPasskey = ({ session }: Pick<Operator, "session">, permission: Permission): boolean =>
  session !== null && !session.proof.hasPasskey && needsPasskey(permission);

/** True if the operator has the permission, and the passkey that it needs. */
export const mayNow = (operator: Pick<Operator, "roles" | "session">, permission: Permission): boolean =>
  may(operator, permission) && !mustAddPasskey(operator, permission);

/**
 * Requires that the operator has a permission.
 * @param permissions one of them is enough
 * @throws ServiceError `role_required`, or `passkey_required` when the roles suffice but the person has no passkey
 */
export function requirePermission(operator: Operator, permissions: readonly Permission[]): void {
  const permitted = permissions.filter((each) => may(operator, each));
  if (permitted.length === 0) throw new ServiceError("role_required", "Your roles do not permit this.");
  if (permitted.some((each) => !mustAddPasskey(operator, each))) return;
  throw new ServiceError("passkey_required", `Add a passkey first: ${passkeySubjects} need one.`);
}

/**
 * Requires a recent passkey check.
 * @throws ServiceError when the person used no passkey within the last 15 minutes; a command line link needs none
 */
export function requirePasskeyOf({ session }: Pick<Operator, "session">, now: Date): void {
  if (session) requireRecentPasskey(session.proof, now, `${passkeySubjects} need one`);
}

/** Resolves the console's cookies: a command line link first, then a person's own session. */
export function operatorSessions(deps: SessionDeps): ResolveOperator {
  const resolveSession = sessionResolver(deps);
  return async (cookie) =>
    (await fromCommandLine(deps, cookie)) ?? (await inPerson(deps, await resolveSession(cookie)));
}

async function fromCommandLine(deps: SessionDeps, cookie: string | undefined): Promise<Operator | null> {
  const found = await findOperatorSession(deps, cookie);
  return (
    found && {
      id: null,
      email: null,
      name: "Command line",
      roles: operatorRoles,
      environment: found.consoleEnvironment,
      actor: "operator:cli",
      sessionId: found.sessionId,
      signedInAt: found.createdAt,
      decidesFrom: null,
      session: null,
    }
  );
}

async function inPerson({ db, rowMac, clock }: SessionDeps, session: Session | null): Promise<Operator | null> {
  const row = session && (await selectOperatorOfSession(db, rowMac, session.id, clock()));
  if (!row) return null;
  const { id: sessionId, userId, email } = session;
  return { id: userId, email, actor: `operator:${userId}`, sessionId, session, ...row };
}

/** Switches the console between live and test. @throws ServiceError for another word */
export async function chooseConsoleEnvironment(db: Sql, { sessionId }: Operator, environment: string): Promise<void> {
  if (environment !== "live" && environment !== "test") throw invalid("environment must be live or test.");
  await setConsoleEnvironment(db, sessionId, environment);
}
