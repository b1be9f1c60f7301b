import { auditLine } from "../../../kernel/audit/audit.ts";
import { hourMs } from "../../../kernel/platform/clock.ts";
import { sql } from "../../../kernel/platform/database/sql.ts";
import { ServiceError } from "../../../kernel/platform/errors.ts";
import { enqueue } from "../../../kernel/platform/jobs/jobs.ts";
import type { EnvelopeDeps } from "../records/deps.ts";
import { isLocked } from "../records/envelope.ts";
import { appendToTrail } from "../records/trail.ts";
import { changeSigner, type SignerRequest } from "./change-signer.ts";
import { signingMailQueue } from "./issue-link.ts";

const betweenRemindersMs = hourMs;

/**
 * Mails a signer the link again.
 * @throws ServiceError `conflict` when it is not the signer's turn, or the last call was under an hour ago (automatic
 * reminders don't count). Also while wrong codes lock the link
 */
export const remindSigner = (deps: EnvelopeDeps, request: SignerRequest): Promise<void> =>
  changeSigner(deps, request, async (tx, { envelope, signer, at }) => {
    if (signer.issuedAt === null) throw new ServiceError("conflict", "It is not this person's turn to sign yet.");
    if (isLocked(signer, envelope, at))
      throw new ServiceError("conflict", "This person's link is locked. Unlock it instead: they get a new one.");
    const earliest = new Date(at.getTime() - betweenRemindersMs);
    const put = await tx.query(sql`
      UPDATE envelope_signers SET reminded_at = ${at}
      WHERE id = ${signer.id} AND (reminded_at IS NULL OR reminded_at <= ${earliest}) RETURNING id`);
    if (put.length === 0)
      throw new ServiceError("conflict", "This person was reminded within the last hour. Try again later.");
    await appendToTrail(tx, deps.rowMac, envelope, "reminded", at, { by: request.actor, signer: signer.n });
    const { partnerId, orderId } = envelope;
    const detail = { signer: signer.n };
    await tx.query(auditLine({ at, action: "signer.reminded", actor: request.actor, partnerId, orderId, detail }));
    await enqueue(tx, signingMailQueue, { signerId: signer.id, moment: "reminder", at: at.toISOString() });
  });
