import { findActiveActor, lockMembers, ownersWhoSee, requireOwnerOfMoney } from "../../../firms/members/members.ts";
import { auditLine } from "../../../kernel/audit/audit.ts";
import { actorOf, type Environment, type Owner, type Principal } from "../../../kernel/identity/identity.ts";
import type { Clock } from "../../../kernel/platform/clock.ts";
import type { Database, Tx } from "../../../kernel/platform/database/database.ts";
import { invalid, ServiceError } from "../../../kernel/platform/errors.ts";
import { newUuid } from "../../../kernel/platform/ids.ts";
import { enqueue } from "../../../kernel/platform/jobs/jobs.ts";
import type { RowMac } from "../../../kernel/platform/row-mac.ts";
import { isUuid } from "../../../kernel/platform/text.ts";
import { type MethodMoment, methodMailQueue } from "../mails/charge-mail.ts";
import { isOfOtherAccount, presentAccount, requireLastAccount } from "../processor/account.ts";
import type { FirmAccount, SavedMethod } from "../processor/firm-account.ts";
import type { SetupMessage } from "../processor/message.ts";
import type { Processor } from "../processor/processor.ts";
import { hasMovingCharge } from "../records/charges.ts";
import * as store from "../records/methods.ts";
import { isTestMethodName, sandboxAccount, sandboxSetup } from "./sandbox-account.ts";

export type FirmPaysDeps = { db: Database; clock: Clock; rowMac: RowMac; processor: Processor | null };

/**
 * The queue of payment methods whose setup has ended at the processor. The job asks the processor whether the method
 * was saved. Payload `{id}`.
 */
export const methodQueue = "payment-method";

/**
 * The queue of methods to delete at the processor; payload `{id}`. The job deletes only a removed method that is not in
 * use. The end of a charge queues the charge's method in any state, because a removal may not have committed yet.
 */
export const detachQueue = "payment-method-end";

/** True if firms can have a card or a bank account on file in this environment. */
export const acceptsMethods = (processor: Processor | null, environment: Environment): boolean =>
  processor !== null || environment === "test";

/**
 * The processor account that stores firms' cards and bank accounts in this environment. In the test environment the
 * sandbox takes its place, so that a test never reaches the processor.
 * @throws ServiceError `payments_not_configured`
 */
export function accountOf(
  { db, clock, processor }: Pick<FirmPaysDeps, "db" | "clock" | "processor">,
  { environment }: Pick<Owner, "environment">,
): FirmAccount {
  if (environment === "test") return sandboxAccount({ db, clock });
  if (!processor) throw new ServiceError("payments_not_configured", "Payments are not configured.");
  return processor.firm;
}

/**
 * True if a charge or setup was sent through an earlier account of ours at the processor. The sandbox has only one.
 */
export const wasSentElsewhere = async (
  deps: Pick<FirmPaysDeps, "db" | "clock" | "processor">,
  { environment, sentAt }: { environment: Environment; sentAt: Date | null },
): Promise<boolean> => environment === "live" && isOfOtherAccount(deps, sentAt);

/**
 * Returns the URL of the processor's page where an owner enters a card or a bank account. The new method will replace
 * the present one.
 * @param returnTo where the processor sends the owner afterwards
 * @throws ServiceError for a caller who is not an owner or has no recent sign-in or passkey, `payments_not_configured`,
 * `processor_failed`
 */
export async function askForMethod(deps: FirmPaysDeps, principal: Principal, returnTo: string): Promise<string> {
  const { db, clock } = deps;
  const { partnerId, environment, firmName } = principal;
  const account = accountOf(deps, principal);
  await db.transaction((tx) => requireOwnerOfMoney(tx, deps, principal));
  const [earlier] = await store.selectMethods(db, principal);
  const present = environment === "live" ? await presentAccount(deps) : null;
  const opened = async (id: string, customer: string) => {
    await db.transaction(async (tx) => {
      const at = await requireLastAccount(tx, present, clock());
      await requireOwnerOfMoney(tx, deps, principal);
      const addedBy = actorOf(principal);
      await store.insertMethod(tx, { id, partnerId, environment, customer, addedBy, addedAt: at });
      const detail = { method: id, environment };
      await tx.query(auditLine({ at, action: "payment_method.asked", actor: addedBy, partnerId, detail }));
    });
    return account.setUp({ id, customer, environment, returnTo });
  };
  // Opens the page for the customer that the processor already has for the firm. Null if the firm has no customer yet,
  // or if the operator has since configured an account that doesn't know the customer. The code below then creates a
  // new customer.
  const reopened = earlier ? await opened(newUuid(), earlier.customer) : null;
  if (reopened !== null) return reopened;
  const id = newUuid();
  const address = await opened(id, await account.customer({ id, partnerId, environment, name: firmName }));
  if (address === null) throw new Error("the processor does not know the customer that it has just made");
  return address;
}

/**
 * Handles a signed event about a setup: queues a job that reads the saved method from the processor.
 * @returns false for an unknown setup
 */
export async function applySetup(tx: Tx, { setupId, setupIntent }: SetupMessage): Promise<boolean> {
  const found = await store.selectMethod(tx, setupId);
  if (!found) return false;
  await lockMembers(tx, found.partnerId);
  const method = await store.selectMethod(tx, setupId);
  if (!method || hasResult(method)) return true;
  if (setupIntent !== null) await store.updateMethod(tx, method.id, { state: method.state, setupIntent });
  await enqueue(tx, methodQueue, { id: method.id });
  return true;
}

/**
 * Ends the setup of a test method on the sandbox's page, as the processor's own page would.
 * @throws ServiceError for a caller who is not an owner, an unknown setup, and an unknown test method
 */
export async function finishTestSetup(
  deps: FirmPaysDeps,
  principal: Principal,
  { id, name }: { id: string; name: string },
): Promise<void> {
  if (!isTestMethodName(name)) throw invalid("Choose a test card or a test bank account.");
  await deps.db.transaction(async (tx) => {
    await requireOwnerOfMoney(tx, deps, principal);
    const method = isUuid(id) ? await store.selectMethod(tx, id) : undefined;
    const isOwn = method?.partnerId === principal.partnerId && method.environment === "test";
    if (!isOwn || hasResult(method)) throw new ServiceError("not_found", "No such page. Begin again under Billing.");
    await applySetup(tx, { kind: "setup", setupId: id, setupIntent: sandboxSetup(name, id) });
  });
  await saveMethod(deps, id);
}

/** True if the setup saved a method, or its method was removed. Later events about the setup then change nothing. */
const hasResult = ({ state }: store.PaymentMethod): boolean =>
  state === "active" || state === "unusable" || state === "removed";

/**
 * Reads the result of a setup from the processor. A saved method replaces the firm's present one if the person who
 * added it is still an owner.
 */
export async function saveMethod(deps: FirmPaysDeps, id: string): Promise<void> {
  const { db, clock } = deps;
  const asked = isUuid(id) ? await store.selectMethod(db, id) : undefined;
  if (!asked || asked.setupIntent === null || hasResult(asked)) return;
  // The present account doesn't have a method that was entered on a page of an earlier account.
  const isElsewhere = await wasSentElsewhere(deps, { environment: asked.environment, sentAt: asked.addedAt });
  const result = isElsewhere ? "failed" : await accountOf(deps, asked).setupOf(asked.setupIntent);
  await db.transaction(async (tx) => {
    await lockMembers(tx, asked.partnerId);
    const method = await store.selectMethod(tx, id);
    if (!method || hasResult(method)) return;
    if (result === "verifying") return void (await store.updateMethod(tx, id, { state: "verifying" }));
    if (result === "failed") {
      // While the page is open, a failure changes nothing, because the owner may try another card there.
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
  const isOwner = (await findActiveActor(tx, deps, method, addedBy))?.role === "owner";
  const detail = { method: id, environment, kind: saved.kind, last4: saved.last4 };
  const line = { at, actor: addedBy, partnerId, detail };
  if (!isOwner) {
    // While the page was open, the person stopped being an owner. So the saved method is removed and never charged.
    await store.updateMethod(tx, id, { state: "removed", saved, endedBy: "system" });
    await enqueue(tx, detachQueue, { id });
    return void (await tx.query(auditLine({ ...line, action: "payment_method.refused" })));
  }
  await replaceMethods(tx, { partnerId, environment }, addedBy);
  await store.updateMethod(tx, id, { state: "active", saved });
  await tx.query(auditLine({ ...line, action: "payment_method.added" }));
  await notifyOwners(tx, method, "added");
}

/** Removes the methods that a new one replaces. Concurrent changes of a firm's methods wait for each other. */
export async function replaceMethods(tx: Tx, owner: Owner, by: string): Promise<void> {
  await lockMembers(tx, owner.partnerId);
  for (const before of await store.replacedMethods(tx, owner)) await end(tx, before.id, by);
}

async function end(tx: Tx, id: string, by: string): Promise<void> {
  await store.updateMethod(tx, id, { state: "removed", endedBy: by });
  await enqueue(tx, detachQueue, { id });
}

/**
 * Removes the firm's payment method. No new charge uses the method. When none of its charges is in progress, the
 * processor is asked to delete it.
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

/**
 * Deletes a removed method at the processor. While a charge of the method is in progress, does nothing: the end of that
 * charge queues the deletion again.
 */
export async function detachMethod(deps: FirmPaysDeps, id: string): Promise<void> {
  const found = isUuid(id) ? await store.selectMethod(deps.db, id) : undefined;
  if (found?.state !== "removed" || found.method === null || (await hasMovingCharge(deps.db, id))) return;
  await accountOf(deps, found).detach(found.method);
}

export async function notifyOwners(tx: Tx, { id, ...owner }: store.PaymentMethod, moment: MethodMoment): Promise<void> {
  for (const userId of await ownersWhoSee(tx, owner)) await enqueue(tx, methodMailQueue, { id, moment, userId });
}
