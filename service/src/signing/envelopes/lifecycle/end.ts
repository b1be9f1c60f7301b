import type { JsonObject } from "@signsealship/evidence/manifest";
import type { EventChannel } from "../../../kernel/events/events.ts";
import type { Tx } from "../../../kernel/platform/database/database.ts";
import { ServiceError } from "../../../kernel/platform/errors.ts";
import { perform } from "../../../orders/fulfilment/fulfilment.ts";
import { type LockedOrder, lockOrder } from "../../../orders/order/order.ts";
import type { EnvelopeDeps } from "../records/deps.ts";
import { type Envelope, endEnvelope, findOpenEnvelope, findSigners, lockEnvelope } from "../records/envelope.ts";
import { appendToTrail } from "../records/trail.ts";
import { mailEverybody } from "./issue-link.ts";

/**
 * For each ending of an envelope: the event in its trail, and the cause of its order's change of status. The order of a
 * voided envelope becomes declined, so that the firm can send it again.
 */
const endings = {
  Declined: { trail: "declined", on: "sign_declined" },
  Expired: { trail: "expired", on: "sign_expired" },
  Voided: { trail: "voided", on: "sign_declined" },
} as const;

/** How an envelope ends without being completed. */
export type Ending = {
  outcome: keyof typeof endings;
  /** The reason, for the order's audit trail. */
  reason: string;
  /** The details that the record in the envelope's trail states. */
  detail: JsonObject | undefined;
  /** The channel by which the signer who ends the envelope opened the signing page. */
  channel?: EventChannel;
  actor: string;
};

type EndDeps = Pick<EnvelopeDeps, "db" | "clock" | "log" | "rowMac">;
type Judge = (tx: Tx, envelope: Envelope) => Promise<void>;
type Ended = { id: number; orderCode: string };

/**
 * Ends an open envelope, and changes its order's status.
 * @param judge is called with the locked envelope; if it throws, nothing is written and the error is rethrown
 * @returns false when the envelope had already ended, or its order isn't waiting for signatures
 */
export const endUnsigned = (deps: EndDeps, envelope: Ended, ending: Ending, judge?: Judge): Promise<boolean> =>
  deps.db.transaction((tx) => endIn(tx, deps, envelope, ending, judge));

/** Ends the envelope in the caller's transaction. */
export async function endIn(
  tx: Tx,
  { clock, log, rowMac }: Omit<EndDeps, "db">,
  { id, orderCode }: Ended,
  { outcome, reason, detail, channel, actor }: Ending,
  judge: Judge = async () => {},
): Promise<boolean> {
  const order = await lockOrder(tx, orderCode);
  const envelope = await lockEnvelope(tx, id);
  if (order?.status !== "EsignPending" || !envelope || envelope.endedAt !== null) return false;
  await judge(tx, envelope);
  const at = clock();
  await appendToTrail(tx, rowMac, envelope, endings[outcome].trail, at, detail, channel);
  await endEnvelope(tx, id, outcome, at);
  await perform(tx, order, endings[outcome].on, { reason }, { actor, at, log });
  await mailEverybody(tx, id, "ended");
  return true;
}

/**
 * Ends the open envelope of an order whose document is replaced. The caller must have locked the order. The order's
 * status stays the same, and all signers must sign again in the next envelope.
 * @throws ServiceError `conflict` when everybody has signed, because the document is about to be sealed
 */
export async function endRound(
  { rowMac }: Pick<EnvelopeDeps, "rowMac">,
  tx: Tx,
  { id: orderId }: Pick<LockedOrder, "id">,
  { actor, at }: { actor: string; at: Date },
): Promise<void> {
  const open = await findOpenEnvelope(tx, orderId);
  const envelope = open && (await lockEnvelope(tx, open.id));
  if (!envelope || envelope.endedAt !== null) return;
  const signers = await findSigners(tx, envelope.id);
  if (signers.every(({ signedAt }) => signedAt !== null))
    throw new ServiceError("conflict", "Everybody has signed: the document is being sealed.");
  await appendToTrail(tx, rowMac, envelope, "voided", at, { by: actor, reason: "The document was replaced." });
  await endEnvelope(tx, envelope.id, "Voided", at);
}
