import { invalid, ServiceError } from "../platform/errors.ts";
import { isPlainLines } from "../platform/text.ts";
import type { Operator } from "./sessions.ts";

/** Whether who asks for something may approve it, where one person runs the service. */
export type Approval = "two-persons" | "solo";

/** So long after asking may who asked approve, where one person runs the service. */
export const soloWaitMinutes = 60;

const maxTextLength = 500;

/** A request that one person makes and another decides on. */
type Asked = { requestedBy: string; requestedAt: Date };

/** The person, by id. @param refusal what to say to whoever came by a link of the command line @throws ServiceError */
export function requirePerson({ id }: Pick<Operator, "id">, refusal: string): string {
  if (id === null) throw new ServiceError("conflict", refusal);
  return id;
}

/** @throws ServiceError when it is none, or too long */
export function requireText(name: string, typed: string): string {
  const text = typed.trim().replaceAll("\r\n", "\n");
  if (text === "" || text.length > maxTextLength || !isPlainLines(text))
    throw invalid(`${name} must have 1 to ${maxTextLength} characters.`);
  return text;
}

/**
 * Requires that another person approves than the one who asked.
 * @param what was asked for, as in "You asked for this refund yourself."
 * @returns whether one person did both, after a new sign-in an hour later, where the service is set up for that
 * @throws ServiceError where two persons are needed, or too early
 */
export function requireSecondPerson(
  approval: Approval,
  { id, signedInAt }: Pick<Operator, "id" | "signedInAt">,
  { requestedBy, requestedAt }: Asked,
  what: string,
): boolean {
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

/** @throws ServiceError for one's own request: that one is withdrawn */
export function requireRefusedByAnother({ id }: Pick<Operator, "id">, { requestedBy }: Asked, what: string): void {
  if (requestedBy === id)
    throw new ServiceError("conflict", `You asked for this ${what} yourself. Withdraw the request instead.`);
}
