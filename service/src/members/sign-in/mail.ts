import type { Clock } from "../../platform/clock.ts";
import type { Sql } from "../../platform/database/database.ts";
import type { Jobs } from "../../platform/jobs/jobs.ts";
import type { Mailer } from "../../platform/mail/mail.ts";
import { mailFrom } from "../../platform/mail/template.ts";
import type { RowMac } from "../../platform/row-mac.ts";
import type { SecretBytes } from "../../platform/secrets.ts";
import { linkTokenOf } from "../sessions/tokens.ts";
import { linkPath, signInMailQueue } from "./sign-in.ts";
import { selectLinkToMail } from "./store.ts";

export type SignInMailDeps = {
  db: Sql;
  clock: Clock;
  secrets: SecretBytes;
  rowMac: RowMac;
  mailer: Mailer;
  baseUrl: string;
};

// A link lives for 10 minutes: a mail that could not be sent by then is not worth sending.
const maxAttempts = 10;

/** Sends sign-in links; one that has expired or was used is not sent any more. */
export function signInMailJobs(jobs: Jobs, { db, clock, secrets, rowMac, mailer, baseUrl }: SignInMailDeps): void {
  jobs.work<{ linkId: string }>(
    signInMailQueue,
    async ({ linkId }) => {
      const link = await selectLinkToMail(db, rowMac, linkId, clock());
      if (!link) return;
      // The node that was asked may have had another key for new ones.
      const token = linkTokenOf(secrets, linkId, link.tokenSha256);
      if (token === null)
        throw new Error("the link was made with a key that is not in SECRETS_KEY or SECRETS_KEYS_OLD");
      const mail = mailFrom({
        subject: "Your sign-in link",
        greeting: "Hello,",
        lines: [
          "We received a request to sign in to SignSealShip with this email address. The link works once, within 10 minutes, and only in the browser that requested it.",
        ],
        link: { label: "Sign in", url: baseUrl + linkPath(token) },
        caution:
          "If you did not request it, you can ignore this email: the link does not work in a browser that did not request one.",
      });
      await mailer.send({ id: `sign-in:${linkId}`, to: link.email, ...mail });
    },
    { maxAttempts },
  );
}
