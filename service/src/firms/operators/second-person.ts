import { minuteMs } from "../../kernel/platform/clock.ts";
import { invalid, ServiceError } from "../../kernel/platform/errors.ts";
import { isPlainLines } from "../../kernel/platform/text.ts";
import type { Operator } from "./sessions.ts";

/**
 * The rule for approvals. `two-persons`: another person than the requester must approve. `solo`: the requester may
 * approve too, for a service that one person runs.
 */
export type Approval = "two-persons" | "solo";

/** The wait before a single operator may approve their own request. */
export const soloWaitMinutes = 60;

const maxTextLength = 500;

/**
 * Requires that the wait for the operator's right to decide is over.
 * @throws ServiceError within a day after an admin gave the operator any new right to decide, or restored one. The wait
 * also applies to rights that the operator had before
 */
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
 * The operator's id.
 * @throws ServiceError with the message `refusal` for an operator who signed in with a link from the command line
 */
export function requirePerson({ id }: Pick<Operator, "id">, refusal: string): string {
  if (id === null) throw new ServiceError("conflict", refusal);
  return id;
}

/**
 * Returns the typed text without spaces around it.
 * @throws ServiceError when the text is empty, too long, or has control characters
 */
export function requireText(name: string, typed: string): string {
  const text = typed.trim().replaceAll("\r\n", "\n");
  if (text === "" || text.length > maxTextLength || !isPlainLines(text))
    throw invalid(`${name} must have 1 to ${maxTextLength} characters.`);
  return text;
}

/**
 * Requires that a person other than the requester approves.
 * @param what the word for the request, as in "You asked for this refund yourself."
 * @returns true when the requester approves, which some installations allow one hour after the request, with a new
 * sign-in
 * @throws ServiceError when another person must approve, when it is too early, and for a person whose right to decide
 * has not begun yet
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
  if (signedInAt.getTime() < requestedAt.getTime() + soloWaitMinutes * minuteMs)
    throw new ServiceError(
      "conflict",
      `${own} Sign in again ${soloWaitMinutes} minutes after that, and approve it then.`,
    );
  return true;
}

/**
 * Requires that an operator other than the requester refuses a request.
 * @throws ServiceError for the requester, who must withdraw the request instead, and for a person whose right to decide
 * has not begun yet
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
