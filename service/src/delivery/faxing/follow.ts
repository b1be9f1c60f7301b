import { hourMs } from "../platform/clock.ts";
import type { Tx } from "../platform/database/database.ts";
import { sql } from "../platform/database/sql.ts";
import {
  actsOfOrder,
  createTelnyx,
  faxInEvent,
  type StoredEvent,
  type Telnyx,
  type TelnyxFax,
} from "../providers/providers.ts";
import { actName, type FaxDeps, pollMs } from "./deps.ts";
import { applyFax, carryOn } from "./record.ts";
import { isUnderWay } from "./states.ts";
import { attemptsOf, type FaxAttempt, findAttemptOf, followSoon, lockFaxes, updateAttempt } from "./store.ts";
import { openTrouble } from "./trouble.ts";

/** Of what never ends Telnyx is not asked for ever: then a person is. */
const longestMs = 24 * hourMs;

/** Puts down what an event says, in one transaction with all that follows from it. */
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
  told: { at: Date; eventId: number | null },
): Promise<boolean> {
  return deps.db.transaction(async (tx) => {
    const faxes = await lockFaxes(tx, orderId);
    // Nobody need look for it any more. While it waits at Telnyx its own answer may still be on its way.
    if (fax.status !== "queued" && fax.status !== "media.processed")
      await deps.providers.conclude(tx, { act: actName, orderId, attempt }, { kind: "done", result: fax });
    const known = (await lockFaxes(tx, orderId))?.attempts.find((each) => each.id === id);
    if (!faxes || !known) return false;
    const isNew = await applyFax(tx, known, fax, told);
    const { cancel } = await carryOn(deps, tx, orderId);
    if (cancel) await followSoon(tx, orderId, 0);
    return isNew;
  });
}

/** Asks Telnyx where an order's faxes are, does what follows, and comes again while something is open. */
export async function followFaxes(deps: FaxDeps, orderId: number): Promise<void> {
  const { db, providers } = deps;
  // The account may come back, and what is open is not forgotten.
  if (!providers.has("telnyx")) return db.transaction((tx) => comeAgain(deps, tx, orderId, hourMs));
  const telnyx = createTelnyx(providers.callOf("telnyx"));
  for (const attempt of (await attemptsOf(db, orderId)).filter(isAsked)) {
    const fax = await telnyx.getFax(attempt.faxId);
    if (fax.kind === "done") await apply(deps, attempt, fax.result, { at: deps.clock(), eventId: null });
    if (fax.kind === "refused" && fax.status === 404) await db.transaction((tx) => lost(deps, tx, attempt));
  }
  const { cancel } = await db.transaction((tx) => carryOn(deps, tx, orderId));
  if (cancel) await cancelFaxes(deps, telnyx, orderId);
  await db.transaction((tx) => comeAgain(deps, tx, orderId, pollMs));
}

const isAsked = (attempt: FaxAttempt): attempt is FaxAttempt & { faxId: string } =>
  attempt.faxId !== null && isUnderWay(attempt.state);

/** The order was held or refunded: what is under way ends where it can, asked until Telnyx says that it did. */
async function cancelFaxes({ db }: FaxDeps, telnyx: Telnyx, orderId: number): Promise<void> {
  for (const { id, faxId } of (await attemptsOf(db, orderId)).filter(isAsked)) {
    // Before it is asked: the answer may be lost.
    await updateAttempt(db, id, sql`is_canceled = true`);
    await telnyx.cancelFax(faxId);
  }
}

/** Telnyx does not know it: it was deleted there, or a person typed a wrong id. */
async function lost({ clock }: FaxDeps, tx: Tx, { id, orderId, faxId }: FaxAttempt): Promise<void> {
  const faxes = await lockFaxes(tx, orderId);
  const known = faxes?.attempts.find((each) => each.id === id);
  if (!faxes || !known || !isUnderWay(known.state)) return;
  if (faxes.standing === "FaxPending" || faxes.standing === "FaxSent")
    return openTrouble(tx, known, clock(), `Telnyx does not know the fax ${faxId}: ${tellUs}`);
  if (faxes.standing === "OnHold") return;
  // Nothing is left to be canceled, and the next attempt need not wait for it.
  const reason = "Telnyx does not know it";
  await updateAttempt(tx, id, sql`state = 'failed', reason = ${reason}, is_settled = true, ended_at = ${clock()}`);
}

const tellUs = "find out what became of it there, and move the order to FaxDelivered or FaxFailed";

/** @param everyMs how often Telnyx is asked */
async function comeAgain({ clock }: FaxDeps, tx: Tx, orderId: number, everyMs: number): Promise<void> {
  const faxes = await lockFaxes(tx, orderId);
  if (!faxes) return;
  const { standing, attempts } = faxes;
  const at = clock();
  const now = at.getTime();
  const acts = (await actsOfOrder(tx, orderId)).filter(({ act }) => act === actName);
  const isOverdue = ({ attempt, createdAt }: FaxAttempt) => {
    const act = acts.find((each) => each.attempt === attempt);
    return now - (act?.endedAt ?? act?.begunAt ?? createdAt).getTime() >= longestMs;
  };
  for (const each of attempts.filter(({ state }) => isUnderWay(state)).filter(isOverdue))
    if (standing === "FaxSent")
      await openTrouble(tx, each, at, `In a day Telnyx has not said how the fax ${each.faxId} ended: ${tellUs}`);
  const isOpen = (each: FaxAttempt) =>
    (isUnderWay(each.state) && !isOverdue(each)) ||
    (each.state === "waiting" && standing !== "OnHold") ||
    (each.state === "delivered" && each.receiptAt === null);
  const last = attempts.at(-1);
  if (!last || !attempts.some(isOpen)) return;
  const due = last.state === "waiting" ? last.dueAt.getTime() - now : 0;
  // What has been due for a day waits for Telnyx, or for its account.
  await followSoon(tx, orderId, due > 0 ? due : due < -longestMs ? hourMs : everyMs);
}
