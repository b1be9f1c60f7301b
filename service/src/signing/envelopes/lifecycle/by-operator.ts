import type { JsonObject } from "@signsealship/evidence/manifest";
import type { Tx } from "../../../kernel/platform/database/database.ts";
import { ServiceError } from "../../../kernel/platform/errors.ts";
import { enqueue } from "../../../kernel/platform/jobs/jobs.ts";
import { isCode } from "../../../kernel/platform/text.ts";
import { perform } from "../../../orders/fulfilment/fulfilment.ts";
import { envelopeQueue, type LockedOrder, lockOrder, orderNotFound } from "../../../orders/order/order.ts";
import type { EnvelopeDeps, Reach } from "../records/deps.ts";
import { findOpenEnvelope, findSigners, isOverdue, lockEnvelope, signersInTurn } from "../records/envelope.ts";
import { findSigning, type SignerState, type Signing, signerStates } from "../records/signing.ts";
import { readTrail } from "../records/trail.ts";
import { endUnsigned } from "./end.ts";
import { issueLink } from "./issue-link.ts";
import { clearLock } from "./unlock.ts";

type OperatorDeps = Pick<EnvelopeDeps, "db" | "clock" | "log" | "rowMac"> & { reach: Pick<Reach, "links"> };

const actor = "operator";

/** An order's latest envelope, with its signers and its trail. */
export type OrderEnvelope = Pick<Signing, "envelope"> & { signers: SignerState[]; trail: JsonObject[] };

/**
 * An order's latest envelope with its signers and its trail. The envelope is null if none was opened yet.
 * @throws ServiceError `not_found`
 */
export async function readOrderEnvelope(deps: OperatorDeps, orderCode: string): Promise<OrderEnvelope> {
  const signing = isCode(orderCode) ? await findSigning(deps.db, orderCode, null) : undefined;
  if (!signing) throw orderNotFound();
  const { envelope } = signing;
  const trail = envelope ? await readTrail(deps.db, envelope.id) : [];
  const signers = await signerStates(deps, signing);
  return { envelope, signers, trail: trail.map(({ record }) => JSON.parse(record) as JsonObject) };
}

/**
 * Sends an order to its signers again. If the order waits for signatures, the signers whose turn it is get new links.
 * If its envelope was declined or voided, has expired or was never opened, a new envelope is opened. Signatures of an
 * ended envelope don't count in the new one.
 * @returns how many people get a new link now; null when the service opens a new envelope
 * @throws ServiceError
 */
export async function reissueEnvelope(deps: OperatorDeps, orderCode: string): Promise<{ newLinks: number | null }> {
  const { db, clock, log } = deps;
  return db.transaction(async (tx) => {
    const order = isCode(orderCode) ? await lockOrder(tx, orderCode) : undefined;
    if (!order) throw orderNotFound();
    if (order.status === "EsignPending") return { newLinks: await newLinks(tx, deps, order) };
    await perform(tx, order, "sign_reissued", {}, { actor, at: clock(), log });
    return { newLinks: null };
  });
}

async function newLinks(tx: Tx, deps: OperatorDeps, order: LockedOrder): Promise<number | null> {
  const open = await findOpenEnvelope(tx, order.id);
  const envelope = open && (await lockEnvelope(tx, open.id));
  if (!envelope) {
    await enqueue(tx, envelopeQueue, { orderId: order.id });
    return null;
  }
  const by = { at: deps.clock(), actor };
  const all = await findSigners(tx, envelope.id);
  if (isOverdue(envelope, all, by.at))
    throw new ServiceError("conflict", "The time to sign has just expired. Try again in a minute.");
  const signers = signersInTurn(all);
  // If no signer is left to sign, only the seal is missing.
  if (signers.length === 0) await enqueue(tx, envelopeQueue, { orderId: order.id });
  for (const signer of signers) {
    if (signer.lockedAt !== null) await clearLock(tx, deps, envelope, signer, by);
    await issueLink(tx, deps, envelope, signer, by);
  }
  return signers.length;
}

/**
 * Voids an open envelope: its links no longer lead to signing, and the order becomes EsignDeclined.
 * @throws ServiceError
 */
export async function voidEnvelope(deps: OperatorDeps, orderCode: string, reason: string): Promise<void> {
  const order = isCode(orderCode) ? await findSigning(deps.db, orderCode, null) : undefined;
  if (!order) throw orderNotFound();
  const { envelope } = order;
  const ending = { outcome: "Voided", reason, detail: { by: actor, reason }, actor } as const;
  if (!envelope || !(await endUnsigned(deps, { id: envelope.id, orderCode }, ending)))
    throw new ServiceError("conflict", "This order has no envelope that is open.");
}
