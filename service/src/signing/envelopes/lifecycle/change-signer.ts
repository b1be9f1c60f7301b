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

/** A firm's request to change the signing of an order. */
export type OpenRequest = { owner: Owner; orderCode: string };

/** A request to change a signer of an order. `n` is the signer's number; `actor` made the request. */
export type SignerRequest = OpenRequest & { n: number; actor: string };

/** The open envelope with its signers. Order and envelope are locked. */
export type LockedSigning = { envelope: Envelope; signers: Signer[]; at: Date };

/** The open envelope with one of its signers. Order and envelope are locked. */
export type LockedSigner = LockedSigning & { signer: Signer };

type Deps = Pick<EnvelopeDeps, "db" | "clock">;

/**
 * Changes the signing of an order, in a transaction that locks the order first and then its envelope.
 * @throws ServiceError `not_found` for an order of another firm or environment; `conflict` when it isn't waiting for
 * signatures
 */
export const changeOpen = <Result>(
  deps: Deps,
  request: OpenRequest,
  change: (tx: Tx, locked: LockedSigning) => Promise<Result>,
): Promise<Result> => locked(deps, request, (tx, signing) => change(tx, inTime(signing)));

/**
 * Changes a signer who has not signed. The transaction and its locks are those of `changeOpen`.
 * @throws ServiceError as `changeOpen`; `not_found` for an unknown signer, `conflict` when the order isn't waiting for
 * this signature
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

const locked = <Result>(
  { db, clock }: Deps,
  { owner, orderCode }: OpenRequest,
  work: (tx: Tx, signing: LockedSigning) => Promise<Result>,
): Promise<Result> =>
  db.transaction(async (tx) => {
    const order = isCode(orderCode) ? await lockOrder(tx, orderCode) : undefined;
    if (order?.partnerId !== owner.partnerId || order.environment !== owner.environment)
      throw new ServiceError("not_found", "Order not found.");
    const open = order.status === "EsignPending" ? await findOpenEnvelope(tx, order.id) : undefined;
    const envelope = open && (await lockEnvelope(tx, open.id));
    if (!envelope) throw new ServiceError("conflict", "This order does not wait for signatures now.");
    return work(tx, { envelope, signers: await findSigners(tx, envelope.id), at: clock() });
  });

function inTime<Signing extends LockedSigning>(signing: Signing): Signing {
  const { envelope, signers, at } = signing;
  if (isOverdue(envelope, signers, at)) throw new ServiceError("conflict", "The time to sign has expired.");
  return signing;
}
