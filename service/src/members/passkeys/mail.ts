import type { Sql, Tx } from "../../platform/database/database.ts";
import { enqueue, type Jobs } from "../../platform/jobs/jobs.ts";
import type { Mailer } from "../../platform/mail/mail.ts";
import { mailFrom } from "../../platform/mail/template.ts";
import { findAddress } from "./store.ts";

/** The queue of mails to people about their own second factor. */
const factorMailQueue = "factor-mail";

const news = {
  added:
    "A passkey was added to your sign-in. From now on signing in needs a passkey, and other browsers were signed out.",
  removed: "A passkey was removed from your sign-in, and other browsers were signed out.",
  "removed-by-operator":
    "The operator of this service removed all your passkeys and recovery codes, and signed you out.",
  "recovery-code": "One of your recovery codes was used in the place of a passkey.",
  "new-codes": "You have new recovery codes. The earlier ones no longer work.",
} as const;

type FactorNews = { userId: string; what: keyof typeof news; at: string };

export const mailNews = (tx: Tx, userId: string, what: FactorNews["what"], at: Date) =>
  enqueue(tx, factorMailQueue, { userId, what, at: at.toISOString() } satisfies FactorNews);

/** Tells people what happened to their second factor, so that they notice when it was not them. */
export function factorMailJobs(
  jobs: Jobs,
  { db, mailer, baseUrl }: { db: Sql; mailer: Mailer; baseUrl: string },
): void {
  jobs.work<FactorNews>(factorMailQueue, async ({ userId, what, at }) => {
    const person = await findAddress(db, userId);
    if (!person) return;
    const mail = mailFrom({
      subject: "Your sign-in changed",
      greeting: "Hello,",
      lines: [news[what]],
      link: { label: "See your sign-in", url: `${baseUrl}/dashboard/security` },
      caution: "If it was not you, end your sessions, and ask the operator of this service for help.",
    });
    await mailer.send({ id: `factor:${userId}:${what}:${at}`, to: person.email, ...mail });
  });
}
