import { lockMembers, ownersWhoSee, requireOwnerOfMoney, standingOf } from "../../../firms/members/members.ts";
import { auditLine } from "../../../kernel/audit/audit.ts";
import { actorOf, type Owner, type Principal } from "../../../kernel/identity/identity.ts";
import type { Clock } from "../../../kernel/platform/clock.ts";
import type { Database, Tx } from "../../../kernel/platform/database/database.ts";
import { ServiceError } from "../../../kernel/platform/errors.ts";
import { newUuid } from "../../../kernel/platform/ids.ts";
import { enqueue } from "../../../kernel/platform/jobs/jobs.ts";
import type { RowMac } from "../../../kernel/platform/row-mac.ts";
import { isUuid } from "../../../kernel/platform/text.ts";
import { takesPayment } from "../checkout/checkout.ts";
import type { SavedMethod } from "../processor/firm-account.ts";
import type { SetupMessage } from "../processor/message.ts";
import type { Processor } from "../processor/processor.ts";
import { hasMovingCharge } from "./charge-store.ts";
import { type MethodMoment, methodMailQueue } from "./mail.ts";
import * as store from "./store.ts";

export type FirmPaysDeps = { db: Database; clock: Clock; rowMac: RowMac; processor: Processor | null };

/** The queue of methods whose result is read from the processor, after it has saved or refused them; payload `{id}`. */
export const methodQueue = "payment-method";

/**
 * The queue of methods that the processor is told to forget, if they are removed and not in use; payload `{id}`. The
 * end of a charge queues its method without reading its state, because the removal may not have committed yet.
 */
export const detachQueue = "payment-method-end";

/** @throws ServiceError `payments_not_configured` */
export function requireProcessor(
  { processor }: Pick<FirmPaysDeps, "processor">,
  { environment }: Pick<Owner, "environment">,
) {
  if (!processor || !takesPayment(processor, environment))
    throw new ServiceError("payments_not_configured", "Payments are not configured.");
  return processor;
}

/**
 * Returns the address of the processor's page where an owner enters a card or a bank account. The new method will
 * replace the present one.
 * @param returnTo where the processor sends the owner afterwards
 * @throws ServiceError for a caller who is not an owner or has no recent sign-in or passkey, `payments_not_configured`,
 * `processor_failed`
 */
export async function askForMethod(deps: FirmPaysDeps, principal: Principal, returnTo: string): Promise<string> {
  const { db, clock } = deps;
  const { partnerId, environment, firmName } = principal;
  const processor = requireProcessor(deps, principal);
  await db.transaction((tx) => requireOwnerOfMoney(tx, deps, principal));
  const [earlier] = await store.selectMethods(db, principal);
  const opened = async (id: string, customer: string) => {
    await db.transaction(async (tx) => {
      await requireOwnerOfMoney(tx, deps, principal);
      const at = clock();
      const addedBy = actorOf(principal);
      await store.insertMethod(tx, { id, partnerId, environment, customer, addedBy, addedAt: at });
      const detail = { method: id, environment };
      await tx.query(auditLine({ at, action: "payment_method.asked", actor: addedBy, partnerId, detail }));
    });
    return processor.firm.setUp({ id, customer, environment, returnTo });
  };
  // The earlier customer may be unknown to the processor, if the operator has since configured another account.
  const known = earlier ? await opened(newUuid(), earlier.customer) : null;
  if (known !== null) return known;
  const id = newUuid();
  const address = await opened(id, await processor.firm.customer({ id, partnerId, environment, name: firmName }));
  if (address === null) throw new Error("the processor does not know the customer that it has just made");
  return address;
}

/**
 * Handles a signed event about a setup: queues a job that reads the saved method from the processor.
 * @returns false for an unknown setup
 */
export async function takeSetup(tx: Tx, { setupId, setupIntent }: SetupMessage): Promise<boolean> {
  const found = await store.selectMethod(tx, setupId);
  if (!found) return false;
  await lockMembers(tx, found.partnerId);
  const method = await store.selectMethod(tx, setupId);
  if (!method || hasResult(method)) return true;
  if (setupIntent !== null) await store.updateMethod(tx, method.id, { state: method.state, setupIntent });
  await enqueue(tx, methodQueue, { id: method.id });
  return true;
}

/** Whether the processor has saved the method of a setup, so that later events about the setup change nothing. */
const hasResult = ({ state }: store.PaymentMethod): boolean =>
  state === "active" || state === "unusable" || state === "removed";

/** Reads the method that a setup saved, and replaces the firm's present method with it. */
export async function saveMethod(deps: FirmPaysDeps, id: string): Promise<void> {
  const { db, clock, processor } = deps;
  const asked = isUuid(id) ? await store.selectMethod(db, id) : undefined;
  if (!asked || asked.setupIntent === null || hasResult(asked)) return;
  if (!processor) throw new Error("payments are not configured: the method waits");
  const result = await processor.firm.setupOf(asked.setupIntent);
  await db.transaction(async (tx) => {
    await lockMembers(tx, asked.partnerId);
    const method = await store.selectMethod(tx, id);
    if (!method || hasResult(method)) return;
    if (result === "verifying") return void (await store.updateMethod(tx, id, { state: "verifying" }));
    if (result === "failed") {
      // The page is still open, and the owner may try another card there.
      if (method.state !== "verifying") return;
      await store.updateMethod(tx, id, { state: "failed" });
      return notifyOwners(tx, method, "failed");
    }
    await activate(tx, deps, method, result, clock());
  });
}

async function activate(
  tx: Tx,
  deps: FirmPaysDeps,
  method: store.PaymentMethod,
  saved: SavedMethod,
  at: Date,
): Promise<void> {
  const { id, partnerId, environment, addedBy } = method;
  const isOwner = (await standingOf(tx, deps, method, addedBy))?.role === "owner";
  const detail = { method: id, environment, kind: saved.kind, last4: saved.last4 };
  const line = { at, actor: addedBy, partnerId, detail };
  if (!isOwner) {
    // While the page was open, the person stopped being an owner. So the saved method is removed and never charged.
    await store.updateMethod(tx, id, { state: "removed", saved, endedBy: "system" });
    await enqueue(tx, detachQueue, { id });
    return void (await tx.query(auditLine({ ...line, action: "payment_method.refused" })));
  }
  for (const before of await store.replacedMethods(tx, { partnerId, environment })) await end(tx, before.id, addedBy);
  await store.updateMethod(tx, id, { state: "active", saved });
  await tx.query(auditLine({ ...line, action: "payment_method.added" }));
  await notifyOwners(tx, method, "added");
}

async function end(tx: Tx, id: string, by: string): Promise<void> {
  await store.updateMethod(tx, id, { state: "removed", endedBy: by });
  await enqueue(tx, detachQueue, { id });
}

/**
 * Removes the firm's payment method. No new charge uses the method. When no bank is moving money of its charges any
 * more, the processor is told to delete the method.
 * @throws ServiceError for a caller who is not an owner or has no recent sign-in or passkey, and for an unknown method
 */
export async function removeMethod(deps: FirmPaysDeps, principal: Principal, id: string): Promise<void> {
  const { partnerId, environment } = principal;
  await deps.db.transaction(async (tx) => {
    await requireOwnerOfMoney(tx, deps, principal);
    const method = isUuid(id) ? await store.selectMethod(tx, id) : undefined;
    const isOwn = method?.partnerId === partnerId && method.environment === environment;
    if (!isOwn || !["active", "unusable", "verifying", "failed"].includes(method.state))
      throw new ServiceError("not_found", "No such card or bank account.");
    const at = deps.clock();
    const by = actorOf(principal);
    await end(tx, id, by);
    const detail = { method: id, environment, kind: method.kind, last4: method.last4 };
    await tx.query(auditLine({ at, action: "payment_method.removed", actor: by, partnerId, detail }));
    if (method.state === "active") await notifyOwners(tx, method, "removed");
  });
}

/** Tells the processor to forget a removed method. While a charge of it is moving, leaves that to the charge's end. */
export async function detachMethod({ db, processor }: FirmPaysDeps, id: string): Promise<void> {
  const found = isUuid(id) ? await store.selectMethod(db, id) : undefined;
  if (found?.state !== "removed" || found.method === null || (await hasMovingCharge(db, id))) return;
  if (!processor) throw new Error("payments are not configured: the method stays at the processor");
  await processor.firm.detach(found.method);
}

export async function notifyOwners(tx: Tx, { id, ...owner }: store.PaymentMethod, moment: MethodMoment): Promise<void> {
  for (const userId of await ownersWhoSee(tx, owner)) await enqueue(tx, methodMailQueue, { id, moment, userId });
}
