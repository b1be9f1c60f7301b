import type { Jobs } from "../../platform/jobs/jobs.ts";
import type { Mailer } from "../../platform/mail/mail.ts";
import { mailFrom } from "../../platform/mail/template.ts";
import { type ConfirmationDeps, confirmationCodes, confirmationMailQueue } from "./confirmation.ts";
import { selectCodeToMail } from "./store.ts";

export type ConfirmationMailDeps = Pick<ConfirmationDeps, "db" | "clock" | "secrets"> & {
  mailer: Mailer;
  baseUrl: string;
};

// A code lives for 10 minutes: a mail that could not be sent by then is not worth sending.
const maxAttempts = 10;

/** Sends codes; one that has expired, or was used or replaced, is not sent any more. */
export function confirmationMailJobs(jobs: Jobs, { db, clock, secrets, mailer, baseUrl }: ConfirmationMailDeps): void {
  const codeOf = confirmationCodes(secrets);
  jobs.work<{ codeId: string }>(
    confirmationMailQueue,
    async ({ codeId }) => {
      const found = await selectCodeToMail(db, codeId, clock());
      if (!found) return;
      const mail = mailFrom({
        subject: "Your confirmation code",
        greeting: "Hello,",
        lines: [
          "A browser that is signed in to SignSealShip with this email address is about to change something that matters, and we ask you to confirm it. The code works once, within 10 minutes, in that browser alone.",
        ],
        code: codeOf(codeId),
        link: { label: "See where you are signed in", url: `${baseUrl}/dashboard/security#sessions` },
        caution: "If it is not you who is signed in, give the code to nobody, and end that session.",
      });
      await mailer.send({ id: `confirmation:${codeId}`, to: found.email, ...mail });
    },
    { maxAttempts },
  );
}
