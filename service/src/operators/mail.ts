import type { Sql, Tx } from "../platform/database/database.ts";
import { enqueue, type Jobs } from "../platform/jobs/jobs.ts";
import type { Mailer } from "../platform/mail/mail.ts";
import { mailFrom } from "../platform/mail/template.ts";
import { selectActiveAdmins, selectOperator } from "./store.ts";

/** The queue of mails to operators; without a text it is the one to a new operator. */
const operatorMailQueue = "operator-mail";

type News = {
  userId: string;
  at: string;
  text: string | null;
  /** Whether it is about whom it is mailed to, who may be an operator no more. */
  own?: boolean;
  morning?: Morning;
};

/** What waits for an operator: the end of the subject, and a line for each queue. */
type Morning = { subject: string; lines: string[] };

/**
 * Has every active admin mailed what changed about money's, keys' and people's rules.
 * @param news.text one sentence
 * @param also.admins who were admins before the change
 * @param also.person whom it is about
 */
export async function mailAdmins(
  tx: Tx,
  { at, text }: { at: Date; text: string },
  { admins = [], person }: { admins?: readonly { id: string }[]; person?: string } = {},
): Promise<void> {
  const mailed = new Set([...admins, ...(await selectActiveAdmins(tx))].map(({ id }) => id));
  if (person !== undefined) mailed.add(person);
  for (const id of mailed) {
    const news: News = { userId: id, at: at.toISOString(), text, own: id === person };
    await enqueue(tx, operatorMailQueue, news);
  }
}

/** Has somebody who was just made an operator mailed how to sign in. */
export const mailNewOperator = (tx: Tx, userId: string) =>
  enqueue(tx, operatorMailQueue, { userId, at: "added", text: null } satisfies News);

/** Has an operator mailed what waits for them. @param work.at the day */
export const mailOperator = (tx: Tx, { userId, at, mail }: { userId: string; at: string; mail: Morning }) =>
  enqueue(tx, operatorMailQueue, { userId, at, text: null, morning: mail } satisfies News);

/** Sends them. Who is an operator no more is mailed that, and nothing of the work. */
export function operatorMailJobs(
  jobs: Jobs,
  { db, mailer, baseUrl }: { db: Sql; mailer: Mailer; baseUrl: string },
): void {
  jobs.work<News>(operatorMailQueue, async ({ userId, at, text, own = false, morning: work }) => {
    const operator = await selectOperator(db, userId);
    if (!operator || (!operator.active && text === null)) return;
    const mail = work
      ? morning(work, baseUrl)
      : text === null
        ? welcome(operator.roles, baseUrl)
        : change(text, own, baseUrl);
    await mailer.send({ id: `operator:${userId}:${at}`, to: operator.email, ...mail });
  });
}

const welcome = (roles: readonly string[], baseUrl: string) =>
  mailFrom({
    subject: "You are an operator of SignSealShip",
    greeting: "Hello,",
    lines: [
      `You were given access to the console of this service (${roles.join(", ")}). You sign in by a link that is mailed to this address.`,
      "What concerns money, keys or roles needs a passkey: add one under Sign-in and security.",
    ],
    link: { label: "Sign in", url: `${baseUrl}/sign-in?return_to=%2Foperator` },
    caution: "If you do not know this service, you can ignore this email.",
  });

const morning = ({ subject, lines }: Morning, baseUrl: string) =>
  mailFrom({
    subject: `Today: ${subject}`,
    greeting: "Good morning,",
    lines: ["this waits for you:", ...lines],
    link: { label: "Open the console", url: `${baseUrl}/operator` },
    caution: "You receive this email because you are an operator of this service.",
  });

const change = (text: string, own: boolean, baseUrl: string) =>
  mailFrom({
    subject: own ? "Your access to the console has changed" : "Who runs this service has changed",
    greeting: "Hello,",
    lines: [text],
    link: own ? null : { label: "See the operators", url: `${baseUrl}/operator/people` },
    caution: own
      ? "You receive this email because it is about you. If you did not expect it, ask an admin of this service."
      : "You receive this email because you are an admin of this service. If this was not agreed upon, end the access now.",
  });
