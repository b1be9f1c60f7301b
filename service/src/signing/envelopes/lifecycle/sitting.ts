import { auditLine } from "../../../kernel/audit/audit.ts";
import { ServiceError } from "../../../kernel/platform/errors.ts";
import { newCode } from "../../../kernel/platform/ids.ts";
import type { EnvelopeDeps } from "../records/deps.ts";
import { whoseTurn } from "../records/envelope.ts";
import { insertSitting } from "../records/sittings.ts";
import { changeOpen, type OpenRequest } from "./change-signer.ts";

/** A closing at one table takes hours, and never days. */
const sittingMs = 4 * 3_600_000;

/**
 * Opens a sitting: the signers of an order sign one after another on the device of a member, who is their host.
 * @param host as the evidence names the member: the address
 * @returns the token of the device's pages
 * @throws ServiceError as `changeOpen`; `conflict` when it is nobody's turn
 */
export async function openSitting(
  deps: Pick<EnvelopeDeps, "db" | "clock">,
  request: OpenRequest & { actor: string; host: string },
): Promise<{ token: string; expiresAt: Date }> {
  const token = newCode();
  const { actor, host } = request;
  return changeOpen(deps, request, async (tx, { envelope, signers, at }) => {
    if (!whoseTurn(signers).some(({ issuedAt }) => issuedAt !== null))
      throw new ServiceError(
        "conflict",
        "The document is still being prepared for its signers. Try again in a minute.",
      );
    const expiresAt = new Date(at.getTime() + sittingMs);
    await insertSitting(tx, { envelopeId: envelope.id, host, token, expiresAt });
    const { partnerId, orderId, attempt } = envelope;
    const detail = { host, attempt };
    await tx.query(auditLine({ at, action: "signing_device.opened", actor, partnerId, orderId, detail }));
    return { token, expiresAt };
  });
}
