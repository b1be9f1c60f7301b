import { hourMs } from "../../kernel/platform/clock.ts";
import type { Tx } from "../../kernel/platform/database/database.ts";
import { sql } from "../../kernel/platform/database/sql.ts";
import {
  actsOfOrder,
  createTelnyx,
  faxInEvent,
  type StoredEvent,
  type Telnyx,
  type TelnyxFax,
} from "../../providers/providers.ts";
import { openTrouble } from "../trouble.ts";
import { actName, type FaxDeps, pollMs } from "./deps.ts";
import { applyFax, resume } from "./record.ts";
import { isUnderWay } from "./states.ts";
import {
  asDelivery,
  attemptsOf,
  type FaxAttempt,
  findAttemptOf,
  followSoon,
  lockFaxes,
  updateAttempt,
} from "./store.ts";

/** If an order is FaxSent and its fax is still in progress this long after it was sent, a task for staff is opened. */
const maxMs = 24 * hourMs;

/** Applies an event and its consequences in one transaction. */
export async function faxEvent(
  deps: FaxDeps,
  event: StoredEvent,
): Promise<"applied" | "known" | "unknown" | "irrelevant"> {
  const fax = faxInEvent(event.body);
  if (!fax) return "irrelevant";
  const found = await findAttemptOf(deps.db, fax);
  if (!found) return "unknown";
  const isNew = await apply(deps, found, fax, { at: event.occurredAt, eventId: event.id });
  return isNew ? "applied" : "known";
}

async function apply(
  deps: FaxDeps,
  { id, orderId, attempt }: FaxAttempt,
  fax: TelnyxFax,
  report: { at: Date; eventId: number | null },
): Promise<boolean> {
  return deps.db.transaction(async (tx) => {
    const faxes = await lockFaxes(tx, orderId);
    // Any status other than `queued` and `media.processed` proves that Telnyx has the fax, so the act ends without a
    // look-up. With these two, the response to the request may still arrive and end the act.
    if (fax.status !== "queued" && fax.status !== "media.processed")
      await deps.providers.conclude(tx, { act: actName, orderId, attempt }, { kind: "done", result: fax });
    const existing = (await lockFaxes(tx, orderId))?.attempts.find((each) => each.id === id);
    if (!faxes || !existing) return false;
    const isNew = await applyFax(tx, existing, fax, report);
    const { cancel } = await resume(deps, tx, orderId);
    if (cancel) await followSoon(tx, orderId, 0);
    return isNew;
  });
}

/** Polls Telnyx about an order's faxes, applies the result, and schedules the next poll while a fax is open. */
export async function followFaxes(deps: FaxDeps, orderId: number): Promise<void> {
  const { db, providers } = deps;
  // Without an account, open faxes stay open, because the account may be configured again.
  if (!providers.has("telnyx")) return db.transaction((tx) => retryLater(deps, tx, orderId, hourMs));
  const telnyx = createTelnyx(providers.callOf("telnyx"));
  for (const attempt of (await attemptsOf(db, orderId)).filter(isAsked)) {
    const fax = await telnyx.getFax(attempt.faxId);
    if (fax.kind === "done") await apply(deps, attempt, fax.result, { at: deps.clock(), eventId: null });
    if (fax.kind === "refused" && fax.status === 404) await db.transaction((tx) => lost(deps, tx, attempt));
  }
  const { cancel } = await db.transaction((tx) => resume(deps, tx, orderId));
  if (cancel) await cancelFaxes(deps, telnyx, orderId);
  await db.transaction((tx) => retryLater(deps, tx, orderId, pollMs));
}

const isAsked = (attempt: FaxAttempt): attempt is FaxAttempt & { faxId: string } =>
  attempt.faxId !== null && isUnderWay(attempt.state);

/**
 * Asks Telnyx to cancel the faxes of an order that isn't to be faxed now, such as a held or refunded one. The next poll
 * repeats the request until Telnyx confirms it.
 */
async function cancelFaxes({ db }: FaxDeps, telnyx: Telnyx, orderId: number): Promise<void> {
  for (const { id, faxId } of (await attemptsOf(db, orderId)).filter(isAsked)) {
    // The cancellation is recorded before the request, because the response may be lost.
    await db.transaction((tx) => updateAttempt(tx, id, sql`is_canceled = true`));
    await telnyx.cancelFax(faxId);
  }
}

/** Handles a fax id that Telnyx doesn't recognize: the fax was deleted there, or a person typed a wrong id. */
async function lost({ clock }: FaxDeps, tx: Tx, { id, orderId, faxId }: FaxAttempt): Promise<void> {
  const faxes = await lockFaxes(tx, orderId);
  const existing = faxes?.attempts.find((each) => each.id === id);
  if (!faxes || !existing || !isUnderWay(existing.state)) return;
  if (faxes.status === "FaxPending" || faxes.status === "FaxSent")
    return openTrouble(tx, asDelivery(existing), clock(), `Telnyx does not know the fax ${faxId}: ${tellUs}`);
  if (faxes.status === "OnHold") return;
  // A settled attempt is no longer treated as a fax in progress. Nothing tries to cancel it, and the next attempt can
  // be sent.
  const reason = "Telnyx does not know it";
  await updateAttempt(tx, id, sql`state = 'failed', reason = ${reason}, is_settled = true, ended_at = ${clock()}`);
}

const tellUs = "find out what became of it there, and move the order to FaxDelivered or FaxFailed";

/**
 * Schedules the next check of the order's faxes.
 * @param everyMs the interval between checks
 */
async function retryLater({ clock }: FaxDeps, tx: Tx, orderId: number, everyMs: number): Promise<void> {
  const faxes = await lockFaxes(tx, orderId);
  if (!faxes) return;
  const { status, attempts } = faxes;
  const at = clock();
  const now = at.getTime();
  const acts = (await actsOfOrder(tx, orderId)).filter(({ act }) => act === actName);
  const isOverdue = ({ attempt, createdAt }: FaxAttempt) => {
    const act = acts.find((each) => each.attempt === attempt);
    return now - (act?.endedAt ?? act?.begunAt ?? createdAt).getTime() >= maxMs;
  };
  for (const each of attempts.filter(({ state }) => isUnderWay(state)).filter(isOverdue))
    if (status === "FaxSent")
      await openTrouble(
        tx,
        asDelivery(each),
        at,
        `In a day Telnyx has not said how the fax ${each.faxId} ended: ${tellUs}`,
      );
  const isOpen = (each: FaxAttempt) =>
    (isUnderWay(each.state) && !isOverdue(each)) ||
    (each.state === "waiting" && status !== "OnHold") ||
    (each.state === "delivered" && each.receiptAt === null);
  const last = attempts.at(-1);
  if (!last || !attempts.some(isOpen)) return;
  const due = last.state === "waiting" ? last.dueAt.getTime() - now : 0;
  // An attempt that is a day overdue is retried hourly. Telnyx, or the account there, must work again before it can be
  // sent.
  await followSoon(tx, orderId, due > 0 ? due : due < -maxMs ? hourMs : everyMs);
}
