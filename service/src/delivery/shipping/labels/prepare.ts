import { minuteMs } from "../../../kernel/platform/clock.ts";
import type { Tx } from "../../../kernel/platform/database/database.ts";
import { sql } from "../../../kernel/platform/database/sql.ts";
import type { Jobs } from "../../../kernel/platform/jobs/jobs.ts";
import { claimantOf, openTask } from "../../../kernel/tasks/tasks.ts";
import { dollars, minPaymentCents } from "../../../orders/dollars.ts";
import { correctionsOf, type LockedOrder } from "../../../orders/order/order.ts";
import { askSupplement, supplementsPaid } from "../../../orders/payments/payments.ts";
import { type Asked, type CarrierOffer, createEasyPost } from "../../../providers/providers.ts";
import { buyLabelAct } from "./buy.ts";
import { easypostActor, type LabelDeps } from "./deps.ts";
import { budgetOf, prepareQueue, tellShippers } from "./queue-purchase.ts";
import { chooseRate } from "./quote.ts";
import { findLabel, findLabelOrder, type Label, labelsOf, lockLabel, updateLabel } from "./store.ts";

// While EasyPost can't be reached, the job is retried for two days. During that time, staff may ship by hand.
const patience = { maxAttempts: 300, retryMs: (attempt: number) => Math.min(2 ** attempt * 1000, 10 * minuteMs) };

// At this attempt, EasyPost has been unreachable for about half an hour.
const awayAttempt = 11;

/**
 * The job that prepares a label. It asks EasyPost to check the address and for rates, both of which are free, and
 * queues the purchase.
 */
export function prepareJobs(jobs: Jobs, deps: LabelDeps): void {
  jobs.work<{ labelId: number }>(
    prepareQueue,
    ({ labelId }, { attempt }) => prepareLabel(deps, labelId, attempt),
    patience,
  );
}

/** EasyPost's offer for a shipment, before its label is bought. */
type Offer = { shipmentId: string; rates: CarrierOffer[]; addressProblem: string | null };

async function prepareLabel(deps: LabelDeps, labelId: number, attempt: number): Promise<void> {
  const label = await findLabel(deps.db, labelId);
  if (label?.state !== "preparing") return;
  const offer = await askForOffer(deps, label).catch(async (error: Error) => {
    const reason = `${error.message}. No label was bought yet: ship the parcel in another way, or wait.`;
    if (attempt === awayAttempt) await deps.db.transaction((tx) => tellShippers(tx, label.orderId, reason));
    throw error;
  });
  await deps.db.transaction(async (tx) => {
    const locked = await lockLabel(tx, labelId);
    if (locked?.label.state === "preparing") await decide(deps, tx, locked, offer);
  });
}

/**
 * Gets EasyPost's offer for a label. Returns a reason if EasyPost refused permanently, or the order has no address.
 * @throws Error when EasyPost is unreachable, so that the job is retried
 */
async function askForOffer({ db, providers, pricing }: LabelDeps, label: Label): Promise<Offer | { refused: string }> {
  const order = await findLabelOrder(db, label.orderId);
  if (!order?.shipTo) return { refused: "the order has no address" };
  const { from, to, weightGrams } = pricing.parcelOf(order.pages, order.shipFrom, order.shipTo);
  const easypost = createEasyPost(providers.callOf("easypost"));
  const address = answered(await easypost.verifyAddress(to));
  if ("refused" in address) return address;
  const { addressId: toAddressId, problem: addressProblem } = address;
  const reference = `${order.code.slice(0, 6)}-${label.number}`;
  const shipment = answered(await easypost.createShipment({ from, toAddressId, weightGrams, reference }));
  return "refused" in shipment ? shipment : { ...shipment, addressProblem };
}

/**
 * EasyPost's response, or the reason of a permanent refusal. @throws Error for any other outcome, so that the job is
 * retried
 */
function answered<R>(asked: Asked<R>): R | { refused: string } {
  if (asked.kind === "done") return asked.result;
  if (asked.kind === "refused") return { refused: asked.why };
  throw new Error(`EasyPost: ${asked.why}`);
}

/**
 * Queues the purchase of the label. Withdraws the label if the order no longer needs it, or if a person has claimed the
 * shipping task. If postage to a corrected address costs more, the payer may be asked for the difference. Staff decide
 * about any other obstacle.
 */
async function decide(
  deps: LabelDeps,
  tx: Tx,
  { order, label: written }: { order: LockedOrder; label: Label },
  offer: Offer | { refused: string },
): Promise<void> {
  const label = await withBudgetOfNow(deps, tx, written);
  if (
    order.status !== "ShippingPending" ||
    (label.orderedBy === null && (await claimantOf(tx, order.id, "label_print")) !== null)
  )
    return void (await updateLabel(tx, label.id, sql`state = 'withdrawn'`));
  if ("refused" in offer) return leave(tx, label, `EasyPost refuses it: ${offer.refused}`);
  const { shipmentId, addressProblem } = offer;
  const quoted = (await findLabelOrder(tx, order.id))?.carrierRate ?? null;
  const rate = chooseRate(offer.rates, quoted, label.mostCents ?? 0);
  if (!rate) return leave(tx, label, "No carrier offers a rate for this parcel.");
  const { rateId, carrier, service, amountCents } = rate;
  const chosen = sql`shipment_id = ${shipmentId}, rate_id = ${rateId}, carrier = ${carrier}, service = ${service},
    cents = ${amountCents}`;
  await updateLabel(tx, label.id, chosen);
  if (label.orderedBy === null && addressProblem !== null)
    return leave(tx, label, `EasyPost calls the address undeliverable: ${addressProblem}`);
  const unrefunded = label.orderedBy === null ? await unrefundedLabel(tx, label) : undefined;
  const { clock, providers } = deps;
  const at = clock();
  if (label.mostCents === null || amountCents > label.mostCents) {
    const reason = `${carrier} ${service} is ${dollars(amountCents)}; ${
      label.mostCents === null ? "no postage was quoted" : `at most ${dollars(label.mostCents)} is paid without asking`
    }.`;
    if (await askPayer(deps, tx, { order, label }, rate)) return;
    await leave(tx, label, unrefunded ? `${reason} ${stillValid(unrefunded)}` : reason);
    const { id: orderId, environment, isRush } = order;
    return void (await openTask(tx, { kind: "postage_dearer", at, environment, orderId, isRush, reason }));
  }
  if (unrefunded) return leave(tx, label, stillValid(unrefunded));
  await updateLabel(tx, label.id, sql`state = 'buying'`);
  const payload = { shipmentId, rateId, carrier, service, amountCents };
  const { number: attempt } = label;
  await providers.intend(tx, { act: buyLabelAct, provider: "easypost", orderId: order.id, attempt, payload, at });
}

/**
 * The label of the same shipment whose refund EasyPost rejected. That label is still paid and valid. If another label
 * were bought, one parcel would have two valid labels.
 */
async function unrefundedLabel(tx: Tx, { orderId, attempt }: Label): Promise<Label | undefined> {
  const labels = await labelsOf(tx, orderId);
  return labels.findLast((label) => label.attempt === attempt && label.refundState === "rejected");
}

const stillValid = ({ trackingNumber, cents }: Label): string =>
  `The refund of the earlier label ${trackingNumber} (${dollars(cents ?? 0)}) was rejected: it is still valid and paid. Destroy it before you buy another.`;

/**
 * The label with its price limit computed again, unless an operator set the limit. Since the label was requested, the
 * payer may have paid for additional postage (a supplement), or may have got a supplement back.
 */
async function withBudgetOfNow({ easypost: { settings } }: LabelDeps, tx: Tx, label: Label): Promise<Label> {
  if (label.orderedBy !== null || !settings) return label;
  return { ...label, mostCents: await budgetOf(tx, label.orderId, settings) };
}

/**
 * Asks the payer for more money when postage to a corrected address costs more than was quoted and paid.
 * @returns false when staff must decide: an operator ordered the label, the address was not corrected, or no postage
 * was quoted. Also when the payer can't be asked, or the amount is too small for a payment
 */
async function askPayer(
  { clock, easypost }: LabelDeps,
  tx: Tx,
  { order, label }: { order: LockedOrder; label: Label },
  { carrier, service, amountCents: rateCents }: CarrierOffer,
): Promise<boolean> {
  if (!easypost.settings?.asksPayers || label.orderedBy !== null || label.mostCents === null) return false;
  if (!(await correctionsOf(tx, order.id)).some(({ kind }) => kind === "address")) return false;
  const quotedCents = (await findLabelOrder(tx, order.id))?.quotedCents ?? 0;
  const amountCents = rateCents - quotedCents - (await supplementsPaid(tx, order.id));
  if (amountCents < minPaymentCents) return false;
  const words = `${carrier} ${service} is ${dollars(rateCents)} to the corrected address`;
  await leave(tx, label, `${words}: the payer is asked for ${dollars(amountCents)} more.`);
  const line = `${carrier} ${service} postage to the corrected address`.slice(0, 200);
  await askSupplement(tx, order, { amountCents, label: line, actor: easypostActor, at: clock() });
  return true;
}

async function leave(tx: Tx, { id, orderId }: Label, why: string): Promise<void> {
  await updateLabel(tx, id, sql`state = 'not_bought', why = ${why}`);
  await tellShippers(tx, orderId, `No label was bought. ${why}`);
}
