import { dropPasskeys, endAnySession, listAnySessions } from "../members/members.ts";
import { ServiceError } from "../platform/errors.ts";
import { mailAdmins } from "./mail.ts";
import { type PeopleDeps, requireOperator, requirePeople } from "./people.ts";
import type { Operator } from "./sessions.ts";

/** Ends a session of an operator. @throws ServiceError when that person has none of this id */
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

/** Takes an operator's passkeys and recovery codes away, for who has lost them, and ends the sessions; all admins are mailed. */
export async function dropOperatorPasskeys(deps: PeopleDeps, by: Operator, id: string): Promise<void> {
  requirePeople(by, deps.clock());
  const { name, email } = await requireOperator(deps, id);
  if (by.id === id) throw new ServiceError("conflict", "Remove your own passkeys under Sign-in and security.");
  const text = `${by.name} removed the passkeys and recovery codes of ${name} (${email}).`;
  await dropPasskeys(deps, id, by.actor, (tx, at) => mailAdmins(tx, { at, text }));
}
