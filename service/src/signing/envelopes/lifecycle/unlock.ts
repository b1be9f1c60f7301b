import { auditLine } from "../../../kernel/audit/audit.ts";
import type { Tx } from "../../../kernel/platform/database/database.ts";
import { sql } from "../../../kernel/platform/database/sql.ts";
import { ServiceError } from "../../../kernel/platform/errors.ts";
import { closeTasks, type TaskEnd } from "../../../kernel/tasks/tasks.ts";
import { mayNotRequestCode } from "../records/code-requests.ts";
import type { EnvelopeDeps } from "../records/deps.ts";
import type { Envelope, Signer } from "../records/envelope.ts";
import { ordersOfPerson, updatePerson } from "../records/sessions.ts";
import { appendToTrail } from "../records/trail.ts";
import { changeSigner, type SignerRequest } from "./change-signer.ts";
import { issueLink } from "./issue-link.ts";

type By = { at: Date; actor: string };

/**
 * Issues a new link to a signer whose link is locked. Also to a signer who can't request another code, because the
 * limit for a day or for the link is reached. The earlier link stops working.
 * @throws ServiceError
 */
export const unlockSigner = (deps: EnvelopeDeps, request: SignerRequest): Promise<void> =>
  changeSigner(deps, request, async (tx, { envelope, signer, at }) => {
    if (signer.lockedAt === null && !mayNotRequestCode(signer, envelope, at))
      throw new ServiceError("conflict", "This person's link is not locked.");
    const by = { at, actor: request.actor };
    await clearLock(tx, deps, envelope, signer, by);
    await issueLink(tx, deps, envelope, signer, by);
  });

/**
 * Closes the task to unlock the signer's link. In a session, wrong codes lock the person's links to all documents, but
 * only one of these documents has a task.
 */
export async function closeUnlocking(tx: Tx, signerId: number, end: Omit<TaskEnd, "state">): Promise<void> {
  for (const { orderId, n } of await ordersOfPerson(tx, signerId))
    await closeTasks(tx, { kinds: ["signer_locked"], orderId, subject: String(n) }, { state: "done", ...end });
}

/**
 * Ends the lock of a signer's link: resets the count of wrong attempts, invalidates the last code, and closes the task.
 * The transaction must have locked the envelope.
 */
export async function clearLock(
  tx: Tx,
  { rowMac }: Pick<EnvelopeDeps, "rowMac">,
  envelope: Envelope,
  { id, n }: Pick<Signer, "id" | "n">,
  { at, actor }: By,
): Promise<void> {
  await updatePerson(tx, id, sql`failures = 0, locked_at = NULL, code_id = NULL, code_sent_at = NULL`);
  await appendToTrail(tx, rowMac, envelope, "unlocked", at, { by: actor, signer: n });
  const { partnerId, orderId } = envelope;
  await closeUnlocking(tx, id, { at, by: actor, outcome: "unlocked" });
  await tx.query(auditLine({ at, action: "signer.unlocked", actor, partnerId, orderId, detail: { signer: n } }));
}
