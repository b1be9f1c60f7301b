import { invalid, ServiceError } from "../../kernel/platform/errors.ts";
import { isPlainLines } from "../../kernel/platform/text.ts";
import type { Operator } from "./sessions.ts";

/** Whether the requester may approve too, where one person runs the service. */
export type Approval = "two-persons" | "solo";

/** The wait before a single operator may approve their own request. */
export const soloWaitMinutes = 60;

const maxTextLength = 500;

/** @throws ServiceError for an operator to whom an admin gave the right within a day */
export function requireDecidesNow({ decidesFrom }: Pick<Operator, "decidesFrom">, now: Date): void {
  if (decidesFrom === null || decidesFrom.getTime() <= now.getTime()) return;
  const from = decidesFrom.toISOString().slice(0, 16).replace("T", " ");
  throw new ServiceError(
    "conflict",
    `An admin gave you this right within the last 24 hours. You may decide from ${from} UTC.`,
  );
}

/** A request that one person makes and another decides on. */
type Asked = { requestedBy: string; requestedAt: Date };

/**
 * The operator's person id. @param refusal the error for an operator who signed in by a command line link @throws
 * ServiceError
 */
export function requirePerson({ id }: Pick<Operator, "id">, refusal: string): string {
  if (id === null) throw new ServiceError("conflict", refusal);
  return id;
}

/** @throws ServiceError when it is empty or too long */
export function requireText(name: string, typed: string): string {
  const text = typed.trim().replaceAll("\r\n", "\n");
  if (text === "" || text.length > maxTextLength || !isPlainLines(text))
    throw invalid(`${name} must have 1 to ${maxTextLength} characters.`);
  return text;
}

/**
 * Requires that another person than the requester approves.
 * @param what the request, as in "You asked for this refund yourself."
 * @returns true when one person did both, after a new sign-in an hour later, where the service is set up for that
 * @throws ServiceError where two people are needed, too early, and for a person who may not decide yet
 */
export function requireSecondPerson(
  approval: Approval,
  operator: Pick<Operator, "id" | "signedInAt" | "decidesFrom">,
  { requestedBy, requestedAt }: Asked,
  what: string,
  now: Date,
): boolean {
  requireDecidesNow(operator, now);
  const { id, signedInAt } = operator;
  if (requestedBy !== id) return false;
  const own = `You asked for this ${what} yourself.`;
  if (approval !== "solo") throw new ServiceError("conflict", `${own} Another operator decides.`);
  if (signedInAt.getTime() < requestedAt.getTime() + soloWaitMinutes * 60_000)
    throw new ServiceError(
      "conflict",
      `${own} Sign in again ${soloWaitMinutes} minutes after that, and approve it then.`,
    );
  return true;
}

/**
 * @throws ServiceError for the requester, who withdraws the request instead, and for a person who may not decide yet
 */
export function requireRefusedByAnother(
  operator: Pick<Operator, "id" | "decidesFrom">,
  { requestedBy }: Asked,
  what: string,
  now: Date,
): void {
  requireDecidesNow(operator, now);
  const { id } = operator;
  if (requestedBy === id)
    throw new ServiceError("conflict", `You asked for this ${what} yourself. Withdraw the request instead.`);
}
