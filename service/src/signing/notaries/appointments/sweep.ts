import { lockOrder } from "../../../orders/order/order.ts";
import type { DeskDeps } from "../claims/claims.ts";
import { peopleOf } from "../claims/orders.ts";
import {
  type AppointmentOutcome,
  appointmentsToLookAt,
  findAppointment,
  setAppointmentEnded,
  setReminded,
} from "../schedule/appointments.ts";
import { cancelAppointment, stageOf } from "./book.ts";
import { mailBooking } from "./mail.ts";

type SweepDeps = Pick<DeskDeps, "db" | "clock" | "rowMac" | "log">;

/**
 * Sends the reminders of appointments. Ends an appointment when its order no longer waits for a notary, or its notary
 * has released the order. An order on hold keeps its appointment.
 */
export async function sweepAppointments(deps: SweepDeps, stopping: AbortSignal): Promise<void> {
  for (const { id } of await appointmentsToLookAt(deps.db, deps.clock())) {
    if (stopping.aborted) return;
    await lookAt(deps, id).catch((error: unknown) =>
      deps.log.error({ err: error, id }, "the sweep could not handle an appointment"),
    );
  }
}

/**
 * The order statuses after a notarization. An appointment that has begun then ends as done; a later one is canceled.
 */
const notarized: ReadonlySet<string> = new Set([
  "NotarizationComplete",
  "ShippingPending",
  "Shipped",
  "Delivered",
  "ShippingFailed",
  "FaxPending",
  "FaxSent",
  "FaxDelivered",
  "FaxFailed",
  "Completed",
]);
const refused: ReadonlySet<string> = new Set(["NotarizationFailed", "IdentityLocked"]);

const outcomeOf = (status: string): AppointmentOutcome | null =>
  notarized.has(status) ? "done" : refused.has(status) ? "refused" : null;

async function lookAt({ db, clock, rowMac, log }: SweepDeps, id: string): Promise<void> {
  const seen = await findAppointment(db, id);
  const before = seen && (await peopleOf({ db, rowMac }, seen.orderId));
  if (!before) return log.error({ id }, "an appointment is of an order that was altered outside the service");
  await db.transaction(async (tx) => {
    // Locks the order before its appointment, in the same sequence as a booking.
    await lockOrder(tx, before.code);
    const at = clock();
    const [due] = await appointmentsToLookAt(tx, at, id);
    const appointment = await findAppointment(tx, id);
    const people = appointment && (await peopleOf({ db: tx, rowMac }, appointment.orderId));
    // Another node has already handled the appointment.
    if (!due || !appointment || !people) return;
    const outcome = appointment.startsAt <= at && !due.isReminder ? outcomeOf(people.status) : null;
    if (outcome !== null) return setAppointmentEnded(tx, id, outcome, at);
    const stage = stageOf(appointment.startsAt, at);
    if (due.isReminder) {
      await setReminded(tx, id, Math.max(stage, appointment.reminded));
      return mailBooking(tx, appointment, "reminder", people);
    }
    await cancelAppointment(tx, appointment, people, { at, actor: "system" });
  });
}
