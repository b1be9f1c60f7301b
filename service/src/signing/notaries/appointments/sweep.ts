import { sql } from "../../../kernel/platform/database/sql.ts";
import type { DeskDeps } from "../desk/desk.ts";
import { peopleOf } from "../desk/orders.ts";
import { cancelSession, stageOf } from "./book.ts";
import { mailSession } from "./mail.ts";
import { endSession, findSession, type SessionOutcome, sessionsToLookAt, setReminded } from "./store.ts";

type SweepDeps = Pick<DeskDeps, "db" | "clock" | "rowMac" | "log">;

/** Reminds people of appointments, and ends those of orders that are elsewhere, or that their notary gave back. */
export async function sweepAppointments(deps: SweepDeps, stopping: AbortSignal): Promise<void> {
  for (const { id } of await sessionsToLookAt(deps.db, deps.clock())) {
    if (stopping.aborted) return;
    await lookAt(deps, id).catch((error: unknown) =>
      deps.log.error({ err: error, id }, "an appointment stays as it is"),
    );
  }
}

/** Statuses after which an appointment that has begun counts as refused. */
const refusedStatuses: ReadonlySet<string> = new Set([
  "NotarizationFailed",
  "IdentityLocked",
  "Cancelled",
  "RefundPending",
  "Refunded",
]);

const lookAt = ({ db, clock, rowMac }: SweepDeps, id: string): Promise<void> =>
  db.transaction(async (tx) => {
    await tx.query(sql`SELECT FROM notary_sessions WHERE id = ${id} FOR UPDATE`);
    const at = clock();
    const [due] = await sessionsToLookAt(tx, at, id);
    const session = await findSession(tx, id);
    const people = session && (await peopleOf({ db: tx, rowMac }, session.orderId));
    // Another node was faster, or the order was altered outside the service.
    if (!due || !session || !people) return;
    if (!due.isReminder && session.startsAt <= at) {
      const outcome: SessionOutcome = refusedStatuses.has(people.status) ? "refused" : "done";
      return endSession(tx, id, outcome, at);
    }
    const stage = stageOf(session.startsAt, at);
    if (due.isReminder) {
      await setReminded(tx, id, Math.max(stage, session.reminded));
      return mailSession(tx, session, "reminder", people);
    }
    await cancelSession(tx, session, people, { at, actor: "system" });
  });
