import { auditLine } from "../../kernel/audit/audit.ts";
import type { Owner } from "../../kernel/identity/identity.ts";
import type { Clock } from "../../kernel/platform/clock.ts";
import type { Database, Tx } from "../../kernel/platform/database/database.ts";
import { AlteredRecordError, invalid, ServiceError } from "../../kernel/platform/errors.ts";
import { enqueue } from "../../kernel/platform/jobs/jobs.ts";
import type { Log } from "../../kernel/platform/logs.ts";
import { isEmail } from "../../kernel/platform/mail/email.ts";
import type { RowMac } from "../../kernel/platform/row-mac.ts";
import { isCode, isPlainLines } from "../../kernel/platform/text.ts";
import { openTask } from "../../kernel/tasks/tasks.ts";
import { dollars } from "../dollars.ts";
import { lastFax, perform, recordFaxAhead } from "../fulfilment/fulfilment.ts";
import {
  type Actor,
  address,
  dispatchQueue,
  faxesAhead,
  faxNumber,
  fieldsOf,
  findToCorrect,
  isOrderOf,
  type LockedOrder,
  lockOwnOrder,
  lockUnalteredOrders,
  orderNotFound,
  readCorrectable,
  recordCorrection,
  setFaxTo,
  setShipTo,
} from "../order/order.ts";
import { supplementsPaid } from "../payments/payments.ts";
import type { Address } from "../pricing/pricing.ts";
import { type Act, againOn, type Trouble, whyNot } from "./allowed.ts";
import { type CorrectedOrders, correctEmail, lockWithClosing, type PeopleDeps } from "./correct-email.ts";
import { missingParcel, missingSubject, type Parcels, troubleOf } from "./store.ts";

export type CorrectDeps = PeopleDeps & {
  orders: { db: Database; clock: Clock; log: Log; rowMac: RowMac };
  parcels: Parcels;
};

type OrderDeps = Pick<CorrectDeps, "orders" | "parcels">;

/** The order that the firm wants to correct, its owner, and the actor for the audit log. */
export type Wanted = { owner: Owner; orderCode: string; actor: string };

/** The fields of the order form that may be corrected. */
export const correctableFields = [
  "email",
  "fax_to",
  "ship_name",
  "ship_line1",
  "ship_line2",
  "ship_city",
  "ship_state",
  "ship_postal",
] as const;

type Corrections = { email: string | null; faxTo: string | null; shipTo: Address | null };

/** Requires that all names are names of correctable fields. @throws ServiceError */
export function requireCorrectable(names: readonly string[]): void {
  const isUnknown = names.some((name) => !correctableFields.some((field) => field === name));
  if (isUnknown) throw invalid(`Only ${correctableFields.join(", ")} can be corrected.`);
}

/**
 * Reads the corrected values from the fields of the request.
 * @throws ServiceError naming the field and the rule
 */
function readCorrections(values: ReadonlyMap<string, string>): Corrections {
  requireCorrectable([...values.keys()]);
  const fields = fieldsOf(values);
  const email = fields.optional("email", 254);
  if (email !== null && !isEmail(email)) throw invalid("email must be an email address.");
  const isMoved = [...values].some(([name, text]) => name.startsWith("ship_") && text.trim() !== "");
  const corrections = {
    email,
    faxTo: faxNumber(fields),
    shipTo: isMoved ? address(fields, "ship", " when the address is corrected") : null,
  };
  if (Object.values(corrections).every((each) => each === null))
    throw invalid(`At least one of ${correctableFields.join(", ")} is required.`);
  return corrections;
}

/**
 * Checks that the firm may perform the action now, and returns the facts that decide it.
 * @throws ServiceError `conflict` with the reason when the action is not allowed now
 */
export async function requireAllowed(
  tx: Tx,
  { parcels }: Pick<OrderDeps, "parcels">,
  order: LockedOrder,
  { act, at }: { act: Act; at: Date },
): Promise<Trouble> {
  const trouble = await troubleOf(tx, parcels, order, at);
  const refusal = whyNot(trouble, act);
  if (refusal !== null) throw new ServiceError("conflict", refusal);
  return trouble;
}

/**
 * Corrects the addresses for an order's mails, parcel and fax. Writes all changes or none. Ignores a value that equals
 * the present one. An email address is corrected in the whole closing, because one link opens all documents that a
 * person signs there.
 * @param values fields of the order form
 * @returns the other orders of the closing in which the email address was replaced, and those that were left out
 * @throws ServiceError naming the field and the rule, or the reason why the order's status does not allow it
 */
export async function correctOrder(
  deps: CorrectDeps,
  { owner, orderCode, actor }: Wanted,
  values: ReadonlyMap<string, string>,
): Promise<CorrectedOrders> {
  const { email, faxTo, shipTo } = readCorrections(values);
  const { db, clock, log, rowMac } = deps.orders;
  return db.transaction(async (tx) => {
    const found = isCode(orderCode) ? await findToCorrect(tx, orderCode, owner) : undefined;
    if (!found) throw orderNotFound();
    const { order, others, altered } =
      email === null
        ? { order: await lockOwnOrder(tx, owner, orderCode), others: [], altered: [] }
        : await lockWithClosing(tx, deps, owner, { id: found.id, code: orderCode });
    const at = clock();
    const before = await readCorrectable(tx, order.id);
    const by = { actor, at };
    let elsewhere: CorrectedOrders = { corrected: [], altered: [], isUnmailed: false };
    if (email !== null && email !== before.email) {
      await requireAllowed(tx, deps, order, { act: "email", at });
      const move = { from: before.email, to: email, name: before.name };
      const done = await correctEmail(tx, { ...deps, rowMac }, { locked: [order, ...others] }, move, by);
      if (done.altered.includes(order.code)) throw new AlteredRecordError();
      const corrected = done.corrected.filter((code) => code !== order.code);
      elsewhere = { corrected, altered: [...altered, ...done.altered], isUnmailed: done.isUnmailed };
    }
    if (faxTo !== null && faxTo !== before.faxTo) {
      await requireAllowed(tx, deps, order, { act: "fax", at });
      await setFaxTo(tx, order.id, faxTo);
      await sendToNewNumber(tx, { ...order, faxTo }, { ...by, log });
      await recordCorrection(tx, order, { kind: "fax", before: { faxTo: before.faxTo }, after: { faxTo }, ...by });
    }
    if (shipTo !== null && !isSame(shipTo, before.shipTo)) {
      await requireAllowed(tx, deps, order, { act: "address", at });
      await setShipTo(tx, order.id, shipTo);
      if (order.status === "ShippingPending") await deps.parcels.readdress(tx, order, at);
      const moved = { before: { shipTo: before.shipTo }, after: { shipTo } };
      await recordCorrection(tx, order, { kind: "address", ...moved, ...by });
    }
    return elsewhere;
  });
}

/**
 * Corrects an email address in a closing: of clients and signers in its orders, and of people in its room. Leaves out
 * orders in which the address can't change any more, and orders with an altered record. All changes are in one
 * transaction.
 * @throws ServiceError naming the rule, or `conflict` when no address in the closing was changed
 */
export async function correctAddress(
  deps: CorrectDeps,
  {
    owner,
    orderCodes,
    roomId,
    actor,
  }: Pick<Wanted, "owner" | "actor"> & {
    orderCodes: readonly string[];
    roomId: string;
  },
  typed: { from: string; to: string; name: string | null },
): Promise<CorrectedOrders> {
  const [from, to] = [typed.from.trim(), typed.to.trim()];
  if (!isEmail(to)) throw invalid("The right address must be an email address.");
  if (from.toLowerCase() === to.toLowerCase()) throw invalid("The right address must differ from the one to correct.");
  const { db, clock, rowMac } = deps.orders;
  return db.transaction(async (tx) => {
    const locked = await lockUnalteredOrders(tx, orderCodes.filter(isCode));
    const orders = locked.filter((order) => isOrderOf(owner, order));
    const move = { from, to, name: typed.name };
    const done = await correctEmail(tx, { ...deps, rowMac }, { locked: orders, roomId }, move, { actor, at: clock() });
    if (!done.isChanged)
      throw new ServiceError("conflict", "No document of this closing has that address where it can still be changed.");
    const unlocked = orderCodes.filter((code) => locked.every((order) => order.code !== code));
    const { corrected, isUnmailed } = done;
    return { corrected, altered: [...unlocked, ...done.altered], isUnmailed };
  });
}

/**
 * Queues the fax again after its number has changed, because the queued attempt has the earlier number. Applies only to
 * a live order whose fax is due now, or may be sent early because the order is being shipped.
 */
async function sendToNewNumber(tx: Tx, order: LockedOrder, by: Actor): Promise<void> {
  const isAhead = faxesAhead(order);
  if (order.environment !== "live" || (!isAhead && order.status !== "FaxPending")) return;
  if (isAhead && (await lastFax(tx, order.id))?.status === "Failed")
    return recordFaxAhead(tx, order, "fax_retried", {}, by);
  await enqueue(tx, dispatchQueue, { orderId: order.id });
}

const isSame = (one: Address, other: Address | null): boolean =>
  other !== null &&
  (["name", "line1", "line2", "city", "state", "postal"] as const).every((part) => one[part] === other[part]);

/**
 * Restarts the service that failed, with the corrected data.
 * @throws ServiceError `conflict` when no service failed, or when only an operator may restart it
 */
export async function beginAgain(deps: OrderDeps, { owner, orderCode, actor }: Wanted): Promise<void> {
  const { db, clock, log } = deps.orders;
  await db.transaction(async (tx) => {
    const at = clock();
    const order = await lockOwnOrder(tx, owner, orderCode);
    const trouble = await requireAllowed(tx, deps, order, { act: "again", at });
    const on = againOn(trouble);
    if (on === null) throw new ServiceError("conflict", "Nothing has failed: the order goes on by itself.");
    const by = { actor, at, log };
    let { status } = order;
    if (trouble.hasFaxFailedEarly && on === "fax_retried") await recordFaxAhead(tx, order, on, {}, by);
    else ({ status } = (await perform(tx, order, on, {}, by)).order);
    const change = { before: { status: order.status }, after: { on, status } };
    await recordCorrection(tx, order, { kind: "again", ...change, actor, at });
  });
}

/**
 * Opens a task for the operators about a parcel that has not arrived. The order's status stays unchanged until an
 * operator has found out where the parcel is.
 * @throws ServiceError `conflict` when the order's parcel is not in transit, or while the firm's earlier task is open
 */
export async function reportNotArrived(deps: OrderDeps, { owner, orderCode, actor }: Wanted): Promise<void> {
  const { db, clock } = deps.orders;
  await db.transaction(async (tx) => {
    const at = clock();
    const order = await lockOwnOrder(tx, owner, orderCode);
    const missing = await missingParcel(tx, order, owner);
    if (missing === null) throw new ServiceError("conflict", "The order’s parcel is not under way.");
    if (missing === "asked") throw new ServiceError("conflict", "The operator of this service looks after it already.");
    const { id: orderId, environment, isRush, partnerId } = order;
    const reason = "The firm says that it has not arrived.";
    await openTask(tx, { kind: "arrival", subject: missingSubject, at, environment, orderId, isRush, reason });
    await tx.query(auditLine({ at, action: "order.not_arrived", actor, partnerId, orderId, detail: {} }));
  });
}

/**
 * Asks the operators of this service for a refund. No money moves yet: one operator requests the refund, and as a rule
 * another approves it.
 * @param typed the reason, and the amount in cents; without an amount, the whole payment. `name`: the amount's field
 * name in error messages
 * @throws ServiceError naming the field and the rule; `conflict` when nothing can be refunded, or a refund was already
 * asked for
 */
export async function askRefund(
  deps: OrderDeps,
  { owner, orderCode, actor }: Wanted,
  typed: { reason: unknown; amountCents: unknown; name?: string },
): Promise<void> {
  const reason = typeof typed.reason === "string" ? typed.reason.trim() : "";
  if (reason === "" || reason.length > 500 || !isPlainLines(reason))
    throw invalid("reason must have 1 to 500 characters, and no control characters.");
  const { name = "amountCents" } = typed;
  const amountCents = typed.amountCents ?? null;
  if (amountCents !== null && !(Number.isSafeInteger(amountCents) && Number(amountCents) > 0))
    throw invalid(`${name} must be a whole number of US cents above 0.`);
  const { db, clock } = deps.orders;
  await db.transaction(async (tx) => {
    const at = clock();
    const order = await lockOwnOrder(tx, owner, orderCode);
    const priceCents = order.totalCents + (await supplementsPaid(tx, order.id));
    if (Number(amountCents) > priceCents)
      throw invalid(`${name} must not be more than the order’s price, ${dollars(priceCents)}.`);
    await requireAllowed(tx, deps, order, { act: "refund", at });
    const wanted = amountCents === null ? "the whole payment" : dollars(Number(amountCents));
    const { id: orderId, environment, isRush } = order;
    await openTask(tx, { kind: "refund_asked", at, environment, orderId, isRush, reason: `${wanted}: ${reason}` });
    await recordCorrection(tx, order, { kind: "refund", before: {}, after: { amountCents, reason }, actor, at });
  });
}
