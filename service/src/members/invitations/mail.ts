import type { Jobs } from "../../platform/jobs/jobs.ts";
import { plainTitle } from "../../platform/mail/plain-name.ts";
import { mailFrom } from "../../platform/mail/template.ts";
import { invitationTokenOf } from "../sessions/tokens.ts";
import type { SignInMailDeps } from "../sign-in/mail.ts";
import { invitationMailQueue } from "./invitations.ts";
import { selectToMail } from "./store.ts";

/** The page of an invitation; its token is a credential. */
const invitationPath = (token: string): string => `/invitation/${token}`;

/** Sends invitations; one that has ended is not sent any more. */
export function invitationMailJobs(jobs: Jobs, { db, clock, secrets, rowMac, mailer, baseUrl }: SignInMailDeps): void {
  jobs.work<{ invitationId: string }>(invitationMailQueue, async ({ invitationId }) => {
    const found = await selectToMail(db, rowMac, invitationId, clock());
    if (!found) return;
    const { email, firmName, role, inviter, tokenSha256 } = found;
    // The node that was asked may have had another key for new ones.
    const token = invitationTokenOf(secrets, invitationId, tokenSha256);
    if (token === null)
      throw new Error("the invitation was made with a key that is not in SECRETS_KEY or SECRETS_KEYS_OLD");
    const mail = mailFrom({
      subject: "You are invited to join a firm on SignSealShip",
      greeting: "Hello,",
      lines: [
        `${inviter} invites you to join ${plainTitle(firmName, "their firm")} as ${role === "owner" ? "an owner" : "a member"}.`,
        "The link works once, within 7 days, and for this email address alone: you sign in with it first.",
      ],
      link: { label: "See the invitation", url: baseUrl + invitationPath(token) },
      caution: "If you do not know this firm, you can ignore this email: nothing happens without you.",
    });
    await mailer.send({ id: `invitation:${invitationId}`, to: email, ...mail });
  });
}
