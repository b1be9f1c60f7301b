import type { Owner } from "../../../kernel/identity/identity.ts";
import type { Tx } from "../../../kernel/platform/database/database.ts";
import { ServiceError } from "../../../kernel/platform/errors.ts";
import { isCode } from "../../../kernel/platform/text.ts";
import { lockOrder } from "../../../orders/order/order.ts";
import type { EnvelopeDeps } from "../records/deps.ts";
import {
  type Envelope,
  findOpenEnvelope,
  findSigners,
  isOverdue,
  lockEnvelope,
  type Signer,
} from "../records/envelope.ts";

/** A signer of an order, and who wants something of them. */
export type SignerRequest = { owner: Owner; orderCode: string; n: number; actor: string };

/** The signer in the open envelope; order and envelope are locked. */
export type LockedSigner = { envelope: Envelope; signer: Signer; signers: Signer[]; at: Date };

/**
 * Changes a signer who has not signed, in a transaction with the order locked first and its envelope after it.
 * @throws ServiceError `not_found` for another firm's or environment's order, or no such signer; `conflict` when the order
 * does not wait for this signature
 */
export async function changeSigner(
  { db, clock }: Pick<EnvelopeDeps, "db" | "clock">,
  { owner, orderCode, n }: SignerRequest,
  change: (tx: Tx, locked: LockedSigner) => Promise<void>,
): Promise<void> {
  await db.transaction(async (tx) => {
    const order = isCode(orderCode) ? await lockOrder(tx, orderCode) : undefined;
    if (order?.partnerId !== owner.partnerId || order.environment !== owner.environment)
      throw new ServiceError("not_found", "Order not found.");
    const open = order.status === "EsignPending" ? await findOpenEnvelope(tx, order.id) : undefined;
    const envelope = open && (await lockEnvelope(tx, open.id));
    if (!envelope) throw new ServiceError("conflict", "This order does not wait for signatures now.");
    const signers = await findSigners(tx, envelope.id);
    const signer = signers.find((each) => each.n === n);
    if (!signer) throw new ServiceError("not_found", "No such signer.");
    if (signer.signedAt !== null) throw new ServiceError("conflict", "This person has signed already.");
    const at = clock();
    if (isOverdue(envelope, signers, at)) throw new ServiceError("conflict", "The time to sign has expired.");
    await change(tx, { envelope, signer, signers, at });
  });
}
