import { auditLine } from "../../audit/audit.ts";
import { sql } from "../../platform/database/sql.ts";
import { ServiceError } from "../../platform/errors.ts";
import { appendToTrail } from "../records/trail.ts";
import { changeSigner, type SignerRequest } from "./change-signer.ts";
import type { EnvelopeDeps } from "./deps.ts";
import { issueLink } from "./links.ts";

/** Gives a signer who entered too many wrong codes a new link; the locked one leads nowhere any more. @throws ServiceError */
export const unlockSigner = (deps: EnvelopeDeps, request: SignerRequest): Promise<void> =>
  changeSigner(deps, request, async (tx, { envelope, signer, at }) => {
    if (signer.lockedAt === null) throw new ServiceError("conflict", "This person's link is not locked.");
    const { actor } = request;
    await tx.query(sql`
      UPDATE envelope_signers SET failures = 0, locked_at = NULL, code_id = NULL, code_sent_at = NULL
      WHERE id = ${signer.id}`);
    await appendToTrail(tx, deps.rowMac, envelope, "unlocked", at, { by: actor, signer: signer.n });
    const { partnerId, orderId } = envelope;
    const detail = { signer: signer.n };
    await tx.query(auditLine({ at, action: "signer.unlocked", actor, partnerId, orderId, detail }));
    await issueLink(tx, deps, envelope, signer, { at, actor });
  });
