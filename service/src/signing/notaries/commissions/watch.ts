import { activeOperators } from "../../../firms/operators/operators.ts";
import type { Clock } from "../../../kernel/platform/clock.ts";
import type { Database } from "../../../kernel/platform/database/database.ts";
import { sql } from "../../../kernel/platform/database/sql.ts";
import { defineMail } from "../../../kernel/platform/mail/mail-jobs.ts";
import { type Expiring, type Expiry, expiriesOf, expiringWords, stageOf } from "./expiry.ts";
import { listNotaries, type Notary } from "./store.ts";

type ExpiryMail = {
  email: string;
  name: string;
  what: Expiring;
  expiresOn: string;
  stage: "soon" | "expired";
  isOwn: boolean;
};

/**
 * Queues mails to notaries and administrators about everything that has expired or will expire within 60 days. Leaves
 * out suspended notaries. Each expiry is mailed once when it is near and once when it has passed. Idempotent, and safe
 * to run on several nodes.
 */
export async function watchExpiries(
  { db, clock }: { db: Database; clock: Clock },
  stopping: AbortSignal,
): Promise<void> {
  for (const notary of await listNotaries(db)) {
    if (stopping.aborted) return;
    for (const expiry of expiriesOf(notary)) await mailOnce(db, notary, expiry, clock());
  }
}

async function mailOnce(db: Database, notary: Notary, expiry: Expiry, at: Date): Promise<void> {
  const stage = stageOf(expiry, at);
  if (stage === "later" || notary.status === "suspended") return;
  const { what, expiresOn } = expiry;
  await db.transaction(async (tx) => {
    const fresh = await tx.query(sql`
      INSERT INTO notary_expiry_mails (notary_id, what, expires_on, stage, created_at)
      VALUES (${notary.id}, ${what}, ${expiresOn}, ${stage}, ${at}) ON CONFLICT DO NOTHING RETURNING notary_id`);
    if (fresh.length === 0) return;
    const admins = await activeOperators(tx, "admin");
    for (const { email } of [notary, ...admins.filter((admin) => admin.email !== notary.email)]) {
      const isOwn = email === notary.email;
      await expiryMail.enqueue(tx, { email, name: notary.commissionName, what, expiresOn, stage, isOwn });
    }
  });
}

export const expiryMail = defineMail({
  queue: "notary-expiry-mail",
  isVouched: true,
  load: async (about: ExpiryMail) => about,
  write({ email, name, what, expiresOn, stage, isOwn }, _, { baseUrl }) {
    const owner = isOwn ? "Your" : `The notary ${name}’s`;
    const thing = expiringWords[what];
    const happens = stage === "soon" ? `expires on ${expiresOn}` : `expired on ${expiresOn}`;
    return {
      id: `notary-expiry:${email}:${what}:${expiresOn}:${stage}`,
      to: email,
      subject: stage === "soon" ? `A notary ${thing} expires soon` : `A notary ${thing} has expired`,
      greeting: "Hello,",
      lines: [
        `${owner} ${thing} ${happens}.`,
        stage === "soon"
          ? "From then on no acts that need it can be done here. An administrator enters the new one."
          : "No acts that need it can be done here until an administrator has entered the new one.",
      ],
      link: { label: "Open the console", url: `${baseUrl}/operator` },
      caution: "You receive this email because you are a notary or an administrator of this service.",
    };
  },
});
