import type { Tx } from "../platform/database/database.ts";
import { sql } from "../platform/database/sql.ts";
import { enqueue } from "../platform/jobs/jobs.ts";
import { createTelnyx, faxInEvent, type StoredEvent, type Telnyx, type TelnyxFax } from "../providers/providers.ts";
import { actName, type FaxDeps, faxQueue } from "./deps.ts";
import { applyFax, carryOn } from "./record.ts";
import { isUnderWay } from "./states.ts";
import { attemptsOf, type FaxAttempt, findAttemptOf, lockFaxes, updateAttempt } from "./store.ts";

const minuteMs = 60_000;
const pollMs = 2 * minuteMs;
/** Of what never ends Telnyx is not asked for ever. */
const longestMs = 24 * 60 * minuteMs;

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
    if (cancel) await enqueue(tx, faxQueue, { orderId });
    return isNew;
  });
}

/** Asks Telnyx where an order's faxes are, does what follows, and comes again while something is open. */
export async function followFaxes(deps: FaxDeps, orderId: number): Promise<void> {
  const { db, providers } = deps;
  if (!providers.has("telnyx")) return;
  const telnyx = createTelnyx(providers.callOf("telnyx"));
  for (const attempt of (await attemptsOf(db, orderId)).filter(isAsked)) {
    const fax = await telnyx.getFax(attempt.faxId);
    if (fax.kind === "done") await apply(deps, attempt, fax.result, { at: deps.clock(), eventId: null });
  }
  const { cancel } = await db.transaction((tx) => carryOn(deps, tx, orderId));
  if (cancel) await cancelFaxes(deps, telnyx, orderId);
  await db.transaction((tx) => comeAgain(deps, tx, orderId));
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

async function comeAgain({ clock }: FaxDeps, tx: Tx, orderId: number): Promise<void> {
  const faxes = await lockFaxes(tx, orderId);
  if (!faxes) return;
  const { order, attempts } = faxes;
  const now = clock().getTime();
  const isOpen = ({ state, dueAt, createdAt, receiptAt }: FaxAttempt) =>
    (isUnderWay(state) && now - createdAt.getTime() < longestMs) ||
    (state === "waiting" && order.status !== "OnHold" && dueAt.getTime() > now - longestMs) ||
    (state === "delivered" && receiptAt === null);
  if (!attempts.some(isOpen)) return;
  const due = attempts.at(-1)?.state === "waiting" ? (attempts.at(-1)?.dueAt.getTime() ?? now) - now : pollMs;
  const pause = due > 0 ? due : pollMs;
  await enqueue(tx, faxQueue, { orderId }, new Date(Date.now() + pause));
}
