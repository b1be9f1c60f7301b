import type { Tx } from "../../kernel/platform/database/database.ts";
import { defineMail, type MailDeps } from "../../kernel/platform/mail/mail-jobs.ts";
import { passkeySubjects } from "./roles.ts";
import { selectActive, selectOperator } from "./store.ts";

/**
 * The content of a mail to an operator. With neither `text` nor `morning`, it is the welcome mail to a new operator.
 */
type OperatorMail = {
  userId: string;
  at: string;
  text: string | null;
  /**
   * The subject of a mail about a change of a firm, such as of its tier or keys. A mail about a change of operators has
   * none.
   */
  subject?: string;
  /** True for a change of the recipient's own name, roles or access. The recipient may be a former operator. */
  own?: boolean;
  morning?: Morning;
};

/**
 * A mail about waiting tasks. `lines`: one line for each queue. `isNews`: true for a mail during the day. The subject
 * of a morning mail is `subject` after the word "Today:".
 */
type Morning = { subject: string; lines: string[]; isNews?: boolean };

/**
 * Mails every active admin about a change of a firm or of operators.
 * @param news.text one sentence
 * @param news.subject the subject for a change of a firm; absent for a change of operators
 * @param also.admins the admins before the change, who get the mail too
 * @param also.person the person whose access has changed, who gets the mail too
 */
export async function mailAdmins(
  tx: Tx,
  { at, text, subject }: { at: Date; text: string; subject?: string },
  { admins = [], person }: { admins?: readonly { id: string }[]; person?: string } = {},
): Promise<void> {
  const mailed = new Set([...admins, ...(await selectActive(tx, "admin"))].map(({ id }) => id));
  if (person !== undefined) mailed.add(person);
  for (const id of mailed)
    await operatorMail.enqueue(tx, {
      userId: id,
      at: at.toISOString(),
      text,
      own: id === person,
      ...(subject && { subject }),
    });
}

/** Mails a new operator how to sign in. */
export const mailNewOperator = (tx: Tx, userId: string) =>
  operatorMail.enqueue(tx, { userId, at: "added", text: null });

type Work = { userId: string; at: string; mail: Omit<Morning, "isNews">; isNews?: boolean };

/**
 * Mails an operator the waiting tasks.
 * @param work.at the day of a morning mail, or the time of a mail during the day
 * @param work.isNews true for a mail during the day
 */
export const mailOperator = (tx: Tx, { userId, at, mail, isNews = false }: Work) =>
  operatorMail.enqueue(tx, { userId, at, text: null, morning: { ...mail, ...(isNews && { isNews }) } });

/** The mails to operators. A former operator still gets mails about changes, but none about tasks. */
export const operatorMail = defineMail({
  queue: "operator-mail",
  isVouched: true,
  async load({ userId, text }: OperatorMail, { db }: MailDeps) {
    const operator = await selectOperator(db, userId);
    return operator && (operator.active || text !== null) ? operator : null;
  },
  write: ({ email, roles }, { userId, at, text, subject, own = false, morning: work }, { baseUrl }) => ({
    id: `operator:${userId}:${at}`,
    to: email,
    ...(work
      ? morning(work, baseUrl)
      : text === null
        ? welcome(roles, baseUrl)
        : change(text, { own, subject }, baseUrl)),
  }),
});

const welcome = (roles: readonly string[], baseUrl: string) => ({
  subject: "You are an operator of SignSealShip",
  greeting: "Hello,",
  lines: [
    `You were given access to the console of this service (${roles.join(", ")}). You sign in by a link that is mailed to this address.`,
    `You need a passkey for ${passkeySubjects}: add one under Sign-in and security.`,
  ],
  link: { label: "Sign in", url: `${baseUrl}/sign-in?return_to=%2Foperator` },
  caution: "If you do not know this service, you can ignore this email.",
});

const morning = ({ subject, lines, isNews = false }: Morning, baseUrl: string) => ({
  subject: isNews ? subject : `Today: ${subject}`,
  greeting: isNews ? "Hello," : "Good morning,",
  lines: ["this waits for you:", ...lines],
  link: { label: "Open the console", url: `${baseUrl}/operator` },
  caution: "You receive this email because you are an operator of this service.",
});

const change = (text: string, { own, subject }: { own: boolean; subject: string | undefined }, baseUrl: string) => ({
  subject: own ? "Your access to the console has changed" : (subject ?? "The operators of this service have changed"),
  greeting: "Hello,",
  lines: [text],
  link: own
    ? null
    : {
        label: subject ? "See the firms" : "See the operators",
        url: `${baseUrl}/operator/${subject ? "partners" : "people"}`,
      },
  caution: own
    ? "You receive this email because it is about you. If you did not expect it, ask an admin of this service."
    : "You receive this email because you are an admin of this service. If this was not agreed upon, end the access now.",
});
