import { readMailFirm } from "../../../firms/partners/partners.ts";
import type { Tx } from "../../../kernel/platform/database/database.ts";
import { nullIfAltered } from "../../../kernel/platform/database/state-mac.ts";
import { type Language, languageTags } from "../../../kernel/platform/languages.ts";
import { defineMail, type MailDeps } from "../../../kernel/platform/mail/mail-jobs.ts";
import { isPlainName } from "../../../kernel/platform/mail/plain-name.ts";
import { peopleOf } from "../claims/orders.ts";
import { findNotary } from "../commissions/store.ts";
import { type Appointment, appointmentsFor, findAppointment } from "../schedule/appointments.ts";
import { findGuest, guestPathOf, guestsOf } from "../schedule/guests.ts";
import { addressedTo } from "./address.ts";
import { guestWords } from "./guest-words.ts";
import { icsOf } from "./ics.ts";
import { appointmentInvitationMail, linkPathOf, markPathMailed } from "./links.ts";
import type { AppointmentMoment } from "./words.ts";

type BookingMail = {
  sessionId: string;
  /**
   * The version of the appointment. Mails about an older version are not sent, except a cancellation to a removed
   * guest.
   */
  sequence: number;
  moment: AppointmentMoment;
  /** The number of the person who is to appear; null for the notary and for a guest. */
  person: number | null;
  /** The id of a guest of the order. */
  guest?: string;
  /**
   * The time at which the person got a new link to the appointment; absent for the first mail about the appointment.
   */
  linkAt?: string;
};

/**
 * Queues mails about this version of an appointment to everybody who is to appear, to the guests, and to the notary.
 * The mail `again`, which asks people to choose another time, is not sent to the notary.
 */
export async function mailBooking(
  tx: Tx,
  { id, sequence }: Pick<Appointment, "id" | "sequence">,
  moment: AppointmentMoment,
  { signers }: { signers: readonly unknown[] },
): Promise<void> {
  const people: (number | null)[] = [...signers.map((_, index) => index + 1), ...(moment === "again" ? [] : [null])];
  for (const person of people) await bookingMail.enqueue(tx, { sessionId: id, sequence, moment, person });
  const appointment = await findAppointment(tx, id);
  for (const guest of appointment ? await guestsOf(tx, appointment.orderId) : [])
    await guestMail.enqueue(tx, { sessionId: id, sequence, moment, person: null, guest: guest.id });
}

/**
 * Mails a person a new link, which replaces an earlier one. The mail states the order's appointment. While there is
 * none, it asks the person to choose a time.
 */
export async function mailNewLink(
  tx: Tx,
  { orderId, person, at }: { orderId: number; person: number; at: Date },
): Promise<void> {
  // An altered appointment must not keep the person from getting a link.
  const appointments = (await appointmentsFor(tx, orderId).catch(nullIfAltered)) ?? [];
  // An appointment that has begun stays scheduled until the notary ends it, so the person can still join.
  const appointment = appointments.find(({ state }) => state === "scheduled");
  if (!appointment) return appointmentInvitationMail.enqueue(tx, { orderId, person, at: at.toISOString() });
  const { id: sessionId, sequence } = appointment;
  await bookingMail.enqueue(tx, { sessionId, sequence, moment: "booked", person, linkAt: at.toISOString() });
}

const formatters = new Map<string, Intl.DateTimeFormat>();

/** Cached by zone and language, because creating a formatter is slow. */
function formatterOf(zone: string, language: Language): Intl.DateTimeFormat {
  const key = `${language} ${zone}`;
  const cached = formatters.get(key);
  if (cached) return cached;
  const created = new Intl.DateTimeFormat(languageTags[language], {
    timeZone: zone,
    dateStyle: "full",
    timeStyle: "short",
  });
  formatters.set(key, created);
  return created;
}

/** The words for the start of an appointment, in its time zone (with the zone's name) and in UTC. */
export const whenText = (startsAt: Date, zone: string, language: Language): string =>
  `${formatterOf(zone, language).format(startsAt)} (${zone}), ${startsAt.toISOString().slice(11, 16)} UTC`;

const mailIn = (queue: string) =>
  defineMail({
    queue,
    async load(mail: BookingMail, deps: MailDeps) {
      const { sessionId, moment, person, guest: guestId } = mail;
      const { db, rowMac, clock, secrets } = deps;
      const appointment = await findAppointment(db, sessionId);
      const guest = guestId === undefined ? null : await findGuest(db, guestId);
      if (!appointment || guest === undefined) return null;
      const isRemoved = guest !== null && guest.removedAt !== null;
      // A removed guest gets only the cancellation, even if the appointment has changed since. Other people get no mail
      // about an outdated appointment.
      if (isRemoved ? moment !== "canceled" : isOutdated(appointment, mail, clock())) return null;
      const { orderId, notaryId } = appointment;
      const [order, notary] = await Promise.all([peopleOf({ db, rowMac }, orderId), findNotary(db, notaryId)]);
      if (!order || !notary) return null;
      const { commissionName, email } = notary;
      const own = person === null ? { name: commissionName, email, language: "en" } : order.signers[person - 1];
      const to = guest ?? own;
      if (!to) return null;
      const role = guest?.role ?? null;
      const letter = await addressedTo(deps, order, to);
      // `letter.firm` may have an owner's address, which notaries don't get. The organizer comes from `branded`,
      // because it must be the same for everybody and in all versions of the entry.
      const branded = await readMailFirm(db, order.partnerId);
      const firm = person === null ? branded : letter.firm;
      const about = { appointment, role, notary: commissionName, organizer: branded.contactEmail, ...letter, firm };
      if (guest) return { ...about, path: isRemoved ? null : await guestPathOf(db, secrets, guest.id) };
      return { ...about, path: person === null ? "/operator/notary" : await linkPathOf(db, secrets, orderId, person) };
    },
    write(
      { appointment, role, path, notary, organizer, words, ...letter },
      { sequence, moment, person, guest, linkAt },
      { baseUrl, clock },
    ) {
      const { id, mode, startsAt, zone, meetingPoint, reminded } = appointment;
      const when = whenText(startsAt, zone, letter.language);
      const isOff = moment === "canceled" || moment === "again";
      const host = new URL(baseUrl).hostname;
      // The path differs for each person, because each one enters the room through a separate page.
      const url = `${baseUrl}${path ?? ""}?lang=${letter.language}`;
      const isHere = meetingPoint === null;
      const isChecked = isHere && (person !== null || (role !== null && role !== "observer")) && !isOff;
      // Guests don't choose the time, so their mail says only that there is no appointment.
      const wording = role !== null && moment === "again" ? "canceled" : moment;
      const identifies = role === null || role === "credible_witness" || role === "witness";
      const entry = {
        uid: `${id}@${host}`,
        sequence,
        startsAt,
        stampedAt: clock(),
        isCanceled: isOff,
        summary: words.summary,
        description: `${words.modes[mode]}: ${meetingPoint ?? url}`,
        location: meetingPoint ?? url,
        organizer: organizer ?? `no-reply@${host}`,
        attendee: letter.to,
      };
      return {
        ...letter,
        id: `session:${id}:${sequence}:${moment}:${reminded}:${guest ?? person ?? "notary"}${linkAt === undefined ? "" : `:${linkAt}`}`,
        subject: words.subjects[wording],
        lines: [
          words.lines[wording](when, isPlainName(notary) ? notary : null),
          ...(isOff || role === null ? [] : [guestWords[letter.language].roles[role]]),
          ...(isOff || !identifies ? [] : [words.have]),
          ...(isChecked ? [words.check] : []),
        ],
        ...(!isOff && {
          facts: [[words.when, when] as const, [words.modes[mode], meetingPoint ?? words.room] as const],
        }),
        link: path === null ? null : { label: words.link, url: isChecked ? `${url}#device` : url },
        caution: words.caution,
        calendar: { method: isOff ? ("CANCEL" as const) : ("REQUEST" as const), ics: icsOf(entry) },
      };
    },
    onSent: async ({ path }, { person }, { db }) =>
      person !== null && path !== null ? markPathMailed(db, path) : undefined,
  });

/** Mails to signers and to the notary. */
export const bookingMail = mailIn("notary-session-mail");
/**
 * Mails to guests have a separate queue. A node of an earlier release does not know guests, and would mail the notary
 * instead.
 */
export const guestMail = mailIn("notary-guest-mail");

/**
 * True if the appointment has changed since the mail was queued, or has begun. A mail with a new link is sent even
 * after the beginning.
 */
function isOutdated(appointment: Appointment, { sequence, moment, linkAt }: BookingMail, now: Date): boolean {
  const { state, startsAt } = appointment;
  if (appointment.sequence !== sequence) return true;
  if (moment === "canceled") return state !== "canceled";
  if (moment === "again") return state !== "ended";
  return state !== "scheduled" || (startsAt <= now && linkAt === undefined);
}
