/** The end of a live session. Closes its recording and rooms. After that, people may meet again, or the order fails. */
import { auditLine } from "../../../kernel/audit/audit.ts";
import type { Tx } from "../../../kernel/platform/database/database.ts";
import { sql } from "../../../kernel/platform/database/sql.ts";
import { nullIf } from "../../../kernel/platform/errors.ts";
import { perform } from "../../../orders/fulfilment/fulfilment.ts";
import { lockOrder } from "../../../orders/order/order.ts";
import { endAppointmentOfSession } from "../appointments/book.ts";
import type { DeskDeps } from "../claims/claims.ts";
import { endWithoutAct, outcomeWithOrder } from "../sheets/room.ts";
import { orderCodeOf, outcomeOf, type SheetOutcome } from "../sheets/store.ts";
import { marksOf } from "./marks.ts";
import type { LiveDeps } from "./session.ts";
import {
  appendEvent,
  findLive,
  isUnrecorded,
  type LiveSession,
  livePeople,
  liveSessionsOf,
  lockLive,
  updateLive,
} from "./store.ts";

/** Runs work on a session, with the session's order locked. Does nothing if the session has ended. */
export async function atSession(
  { sheets: { desk } }: LiveDeps,
  seen: Pick<LiveSession, "id" | "orderId">,
  work: (tx: Tx, session: LiveSession, at: Date) => Promise<void>,
): Promise<void> {
  await desk.db.transaction(async (tx) => {
    await lockOrder(tx, await orderCodeOf(tx, seen));
    const session = await lockLive(tx, seen.id);
    if (!session || session.state === "ended") return;
    await work(tx, session, desk.clock());
  });
}

/** Ends, for technical reasons, the act of a session that can't continue. */
export async function endTechnical(deps: LiveDeps, seen: LiveSession): Promise<void> {
  await atSession(deps, seen, async (tx, session, at) => {
    // The notary has signed since the session was read. So the session is recorded completely, and its act is not ended
    // here.
    if (session.state === "signed" && seen.state !== "signed") return;
    await endWithoutAct(tx, deps.sheets.desk.rowMac, session, "technical", { by: "system", at });
  });
}

/**
 * Finds the sessions of an order that ended with this outcome. Leaves out a session that ended because it could not be
 * recorded. That is the operator's fault, so it must not fail the order.
 */
async function endedLike(tx: Tx, { rowMac }: DeskDeps, orderId: number, outcome: string): Promise<LiveSession[]> {
  const counted: LiveSession[] = [];
  for (const session of await liveSessionsOf(tx, orderId))
    if (session.outcome === outcome && !(await isUnrecorded({ db: tx, rowMac }, session))) counted.push(session);
  return counted;
}

const reasons = {
  no_show: "Nobody came to two sessions",
  technical: "Two sessions failed for technical reasons",
} as const;

/**
 * Ends the act of a session whose order no longer waits for a notary, because it was put on hold, locked or refunded.
 * The notary can't end the act any more, and people must not be recorded for an act that can't be done.
 * @returns the outcome of the act. Null, and nothing is ended, when the order still waits, or the session is signed or
 * has ended
 */
async function endWithOrder({ sheets: { desk } }: LiveDeps, seen: LiveSession): Promise<SheetOutcome | null> {
  return desk.db.transaction(async (tx) => {
    const order = await lockOrder(tx, await orderCodeOf(tx, seen));
    const session = await lockLive(tx, seen.id);
    if (!order || order.status === "NotarizationPending" || !session) return null;
    if (session.state === "signed" || session.state === "ended") return null;
    const outcome = outcomeWithOrder(order.status);
    await endWithoutAct(tx, desk.rowMac, session, outcome, { by: "system", at: desk.clock() });
    return outcome;
  });
}

/**
 * Closes the recording and the rooms of a session whose act has ended, or whose order no longer waits for a notary. A
 * second session with the same failure fails the order (`endedLike` says which sessions count). Idempotent; after a
 * failure it is retried a second later.
 */
export async function finish(deps: LiveDeps, id: string): Promise<void> {
  const { rooms, recordings, sheets } = deps;
  const { desk } = sheets;
  const seen = await findLive(desk.db, id);
  const outcome = seen && ((await outcomeOf(desk.db, seen.sheetId)) ?? (await endWithOrder(deps, seen)));
  if (!seen || !outcome) return;
  if (seen.liveAt !== null)
    // The act may have ended just after the session began, before the recording began. Then there is no recording.
    await recordings.end(seen.id, await marksOf(deps, seen)).catch(nullIf("not_found"));
  await desk.db.transaction(async (tx) => {
    const locked = await lockOrder(tx, await orderCodeOf(tx, seen));
    const session = await lockLive(tx, seen.id);
    if (!locked || !session || session.state === "ended") return;
    const at = desk.clock();
    await appendEvent(tx, desk.rowMac, session, { at, name: "ended", by: "system", person: null, detail: { outcome } });
    await updateLive(
      tx,
      session.id,
      sql`state = 'ended', outcome = ${outcome}, ended_at = ${at}, node = NULL, lease_until = NULL`,
    );
    const { orderId } = session;
    const detail = { session: session.id, outcome };
    await tx.query(auditLine({ at, action: "notary.session_ended", actor: "system", orderId, detail }));
    if (outcome !== "technical" && outcome !== "no_show") return;
    const ended = await endedLike(tx, desk, orderId, outcome);
    const fails = ended.length > 1 && locked.status === "NotarizationPending";
    const signers = (await livePeople(tx, session.id)).filter(({ role }) => role === "signer");
    await endAppointmentOfSession(tx, { orderId, signers }, outcome, { at, fails });
    if (fails)
      await perform(
        tx,
        locked,
        "notarization_failed",
        { reason: reasons[outcome] },
        { actor: "system", at, log: desk.log },
      );
  });
  rooms.remove(seen.id);
}
