import type { Sql, Tx } from "../../platform/database/database.ts";
import { enqueue, type Jobs } from "../../platform/jobs/jobs.ts";
import type { Mailer } from "../../platform/mail/mail.ts";
import { plainTitle } from "../../platform/mail/plain-name.ts";
import { mailFrom } from "../../platform/mail/template.ts";
import { selectKeyNews, selectOwners } from "./store.ts";

/** The queue of mails to a firm's owners about its keys. */
const keyMailQueue = "key-mail";

type What = "created" | "rotated" | "revoked";
type News = { keyId: string; userId: string; ownerId: string; what: What; at: string };

/** Has every owner of the firm mailed what a member did with a key, the one who did it, too. The key is in no mail. */
export async function mailOwnersOfKey(
  tx: Tx,
  { partnerId, at, ...news }: { partnerId: string; keyId: string; userId: string; what: What; at: Date },
): Promise<void> {
  for (const ownerId of await selectOwners(tx, partnerId))
    await enqueue(tx, keyMailQueue, { ...news, ownerId, at: at.toISOString() } satisfies News);
}

const named = (name: string | null): string =>
  name === null ? "without a name" : plainTitle(`“${name}”`, "(its name is in the dashboard)");

/** Sends them; nothing to an owner who is none any more. */
export function keyMailJobs(jobs: Jobs, { db, mailer, baseUrl }: { db: Sql; mailer: Mailer; baseUrl: string }): void {
  jobs.work<News>(keyMailQueue, async ({ keyId, userId, ownerId, what, at }) => {
    const news = await selectKeyNews(db, { keyId, userId, ownerId });
    if (!news) return;
    const { ownerEmail, actorEmail, firmName, name, environment } = news;
    const mail = mailFrom({
      subject: `A ${environment} key was ${what}`,
      greeting: "Hello,",
      lines: [
        `${actorEmail} ${what} the ${environment} key ${named(name)} of ${plainTitle(firmName, "your firm")}.`,
        "If this was not agreed upon, revoke the key, and look at who is a member of the firm.",
      ],
      link: { label: "See the keys", url: `${baseUrl}/dashboard/keys` },
      caution: "You receive this email because you are an owner of the firm.",
    });
    await mailer.send({ id: `key:${keyId}:${what}:${ownerId}:${at}`, to: ownerEmail, ...mail });
  });
}
