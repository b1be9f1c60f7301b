import type { Owner } from "../../../kernel/identity/identity.ts";
import type { Clock } from "../../../kernel/platform/clock.ts";
import type { Tx } from "../../../kernel/platform/database/database.ts";
import { isServiceError, ServiceError } from "../../../kernel/platform/errors.ts";
import { isCode } from "../../../kernel/platform/text.ts";
import { isOrderOf, type LockedOrder, lockOrder, lockOrders, orderNotFound } from "../../../orders/order/order.ts";
import type { EnvelopeDeps } from "../records/deps.ts";
import {
  type Envelope,
  findOpenEnvelope,
  findSigners,
  isOverdue,
  lockEnvelope,
  type Signer,
} from "../records/envelope.ts";

/**
 * A firm's request to change the signing of an order. `others`: further orders that the same transaction changes and
 * locks.
 */
type OpenRequest = { owner: Owner; orderCode: string; others?: readonly string[] };

/** A request to change a signer of an order. `n` is the signer's number; `actor` made the request. */
export type SignerRequest = OpenRequest & { n: number; actor: string };

/** The open envelope with its signers. Order and envelope are locked. */
export type LockedSigning = { envelope: Envelope; signers: Signer[]; at: Date };

/** The open envelope with one of its signers. Order and envelope are locked. */
export type LockedSigner = LockedSigning & { signer: Signer };

type Deps = Pick<EnvelopeDeps, "db" | "clock">;

/**
 * Changes a signer who has not signed, in a transaction that locks the order first and then its envelope.
 * @throws ServiceError `not_found` for an unknown signer, and for an order of another firm or environment; `conflict`
 * when the order isn't waiting for this signature, or its time to sign has expired
 */
export const changeSigner = (
  deps: Deps,
  request: SignerRequest,
  change: (tx: Tx, locked: LockedSigner) => Promise<void>,
): Promise<void> =>
  locked(deps, request, async (tx, signing) => {
    const signer = signing.signers.find((each) => each.n === request.n);
    if (!signer) throw new ServiceError("not_found", "No such signer.");
    if (signer.signedAt !== null) throw new ServiceError("conflict", "This person has signed already.");
    await change(tx, { ...inTime(signing), signer });
  });

/**
 * Changes the signing of several orders in one transaction. Skips orders that don't wait for signatures, or whose time
 * to sign has expired.
 * @throws ServiceError `not_found` for an unknown order, or one of another firm or environment; `conflict` when all are
 * skipped
 */
export const changeOpenOnes = <Result>(
  { db, clock }: Deps,
  { owner, orderCodes }: { owner: Owner; orderCodes: readonly string[] },
  change: (tx: Tx, signings: readonly LockedSigning[]) => Promise<Result>,
): Promise<Result> =>
  db.transaction(async (tx) => {
    const orders = await lockOrders(tx, orderCodes.filter(isCode));
    if (orders.length < orderCodes.length) throw orderNotFound();
    const signings: LockedSigning[] = [];
    let refusal: unknown;
    for (const order of orders)
      try {
        signings.push(inTime(await lockSigning(tx, clock, owner, order)));
      } catch (error) {
        if (!isServiceError(error, "conflict")) throw error;
        refusal = error;
      }
    if (signings.length === 0) throw refusal ?? orderNotFound();
    return change(tx, signings);
  });

/**
 * Locks several orders and their open envelopes, even if an order is on hold or its time to sign has expired.
 * @throws ServiceError `not_found` for an order of another firm or environment; `conflict` when no envelope is open
 */
export async function lockOpenEnvelopes(tx: Tx, owner: Owner, orderCodes: readonly string[]): Promise<Envelope[]> {
  const orders = await lockOrders(tx, orderCodes.filter(isCode));
  if (orders.length < orderCodes.length || !orders.every((order) => isOrderOf(owner, order))) throw orderNotFound();
  const envelopes: Envelope[] = [];
  for (const { id } of orders) {
    const open = await findOpenEnvelope(tx, id);
    const envelope = open && (await lockEnvelope(tx, open.id));
    if (envelope) envelopes.push(envelope);
  }
  if (envelopes.length === 0) throw notWaiting();
  return envelopes;
}

const locked = <Result>(
  { db, clock }: Deps,
  { owner, orderCode, others = [] }: OpenRequest,
  work: (tx: Tx, signing: LockedSigning) => Promise<Result>,
): Promise<Result> =>
  db.transaction(async (tx) => {
    // Several orders are locked together, by ascending id, to avoid deadlocks.
    if (others.length > 0) await lockOrders(tx, [orderCode, ...others].filter(isCode));
    const order = isCode(orderCode) ? await lockOrder(tx, orderCode) : undefined;
    return work(tx, await lockSigning(tx, clock, owner, order));
  });

const notWaiting = () => new ServiceError("conflict", "This order does not wait for signatures now.");

/** Locks the open envelope of a locked order. */
async function lockSigning(tx: Tx, clock: Clock, owner: Owner, order: LockedOrder | undefined): Promise<LockedSigning> {
  if (!order || !isOrderOf(owner, order)) throw orderNotFound();
  const open = order.status === "EsignPending" ? await findOpenEnvelope(tx, order.id) : undefined;
  const envelope = open && (await lockEnvelope(tx, open.id));
  if (!envelope) throw notWaiting();
  return { envelope, signers: await findSigners(tx, envelope.id), at: clock() };
}

function inTime<Signing extends LockedSigning>(signing: Signing): Signing {
  const { envelope, signers, at } = signing;
  if (isOverdue(envelope, signers, at)) throw new ServiceError("conflict", "The time to sign has expired.");
  return signing;
}
