import { readMailFirm } from "../../../firms/partners/partners.ts";
import type { Tx } from "../../../kernel/platform/database/database.ts";
import { isLanguage, type Language, languageTags } from "../../../kernel/platform/languages.ts";
import { defineMail, type MailDeps } from "../../../kernel/platform/mail/mail-jobs.ts";
import { isPlainName } from "../../../kernel/platform/mail/plain-name.ts";
import { findNotary } from "../commissions/store.ts";
import { peopleOf } from "../desk/orders.ts";
import { icsOf } from "./ics.ts";
import { findSession, type NotarySession } from "./store.ts";
import { type SessionMoment, sessionWords } from "./words.ts";

type SessionMail = {
  sessionId: string;
  /** Of the version that is mailed: an older one is not sent. */
  sequence: number;
  moment: SessionMoment;
  /** Which of those who are to appear; null for the notary. */
  person: number | null;
};

/** Mails a version of an appointment to all who are to appear, and to the notary. */
export async function mailSession(
  tx: Tx,
  { id, sequence }: Pick<NotarySession, "id" | "sequence">,
  moment: SessionMoment,
  { signers }: { signers: readonly unknown[] },
): Promise<void> {
  const people: (number | null)[] = [...signers.map((_, index) => index + 1), ...(moment === "again" ? [] : [null])];
  for (const person of people) await sessionMail.enqueue(tx, { sessionId: id, sequence, moment, person });
}

/** When an appointment begins, in its zone, which is named, and in UTC. */
export function whenText(startsAt: Date, zone: string, language: Language): string {
  const local = new Intl.DateTimeFormat(languageTags[language], {
    timeZone: zone,
    dateStyle: "full",
    timeStyle: "short",
  });
  return `${local.format(startsAt)} (${zone}), ${startsAt.toISOString().slice(11, 16)} UTC`;
}

export const sessionMail = defineMail({
  queue: "notary-session-mail",
  async load({ sessionId, sequence, moment, person }: SessionMail, { db, rowMac, clock }: MailDeps) {
    const session = await findSession(db, sessionId);
    if (!session || session.sequence !== sequence || isStale(session, moment, clock())) return null;
    const [order, notary] = await Promise.all([
      peopleOf({ db, rowMac }, session.orderId),
      findNotary(db, session.notaryId),
    ]);
    if (!order || !notary) return null;
    const to =
      person === null
        ? { name: notary.commissionName, email: notary.email, language: "en" }
        : order.signers[person - 1];
    if (!to) return null;
    const firm = await readMailFirm(db, order.partnerId);
    return { session, order, notary: notary.commissionName, to, firm };
  },
  write({ session, order, notary, to, firm }, { sequence, moment, person }, { baseUrl, clock }) {
    const { id, mode, startsAt, zone, meetingPoint, reminded } = session;
    const language = isLanguage(to.language) ? to.language : "en";
    const words = sessionWords[language];
    const when = whenText(startsAt, zone, language);
    const page =
      person === null
        ? `${baseUrl}/operator/notary/orders/${order.code}`
        : `${baseUrl}/orders/${order.code}/appointment?lang=${language}`;
    const lines = words.lines[moment](when, isPlainName(notary) ? notary : null);
    const isOff = moment === "canceled" || moment === "again";
    const entry = {
      uid: `${id}@${new URL(baseUrl).hostname}`,
      ...{ sequence, startsAt, stampedAt: clock(), isCanceled: isOff },
      summary: words.summary,
      description: `${words.modes[mode]}: ${meetingPoint}`,
      location: meetingPoint,
      organizer: firm.contactEmail ?? `no-reply@${new URL(baseUrl).hostname}`,
      attendee: to.email,
    };
    return {
      id: `session:${id}:${sequence}:${moment}:${reminded}:${person ?? "notary"}`,
      to: to.email,
      environment: order.environment,
      subject: words.subjects[moment],
      greeting: words.hello(isPlainName(to.name) ? to.name : null),
      lines: [lines, ...(isOff ? [] : [words.have])],
      ...(!isOff && { facts: [[words.when, when] as const, [words.modes[mode], meetingPoint] as const] }),
      link: { label: words.link, url: page },
      caution: words.caution,
      ...{ language, firm },
      calendar: { method: isOff ? ("CANCEL" as const) : ("REQUEST" as const), ics: icsOf(entry) },
    };
  },
});

function isStale({ state, startsAt }: NotarySession, moment: SessionMoment, now: Date): boolean {
  if (moment === "canceled") return state !== "canceled";
  if (moment === "again") return state !== "ended";
  return state !== "scheduled" || startsAt <= now;
}
