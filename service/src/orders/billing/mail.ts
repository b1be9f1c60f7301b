import {
  linkSeriesOf,
  liveMember,
  mailDelayMs,
  statementReaders,
  unsubscribeUrl,
} from "../../firms/members/members.ts";
import type { Owner } from "../../kernel/identity/identity.ts";
import { dayMs } from "../../kernel/platform/clock.ts";
import type { Tx } from "../../kernel/platform/database/database.ts";
import { enqueueAfter } from "../../kernel/platform/jobs/jobs.ts";
import { defineMail } from "../../kernel/platform/mail/mail-jobs.ts";
import type { Sums } from "./lines.ts";
import { amountText, sumFacts } from "./statement-text.ts";
import { statementsOf } from "./statements.ts";

type ReadersMonth = Owner & { month: string; userId: string };

const queue = "statement-mail";

/**
 * Tells a person by mail that a month is closed and its statement is ready. The mail goes to an owner of the firm, or
 * to a member who may see billing and asked for this mail.
 */
export const statementMail = defineMail({
  queue,
  async load(wanted: ReadersMonth, deps) {
    const { userId, month } = wanted;
    const reader = await liveMember(deps, userId, "statements");
    if (reader?.partnerId !== wanted.partnerId) return null;
    const isOwner = reader.role === "owner";
    if (!isOwner && !reader.seesBilling) return null;
    const statement = (await statementsOf(deps, { ...wanted, firmName: "" })).findLast((each) => each.month === month);
    const series = await linkSeriesOf(deps.db, userId, "statements");
    return statement?.isClosed ? { statement, series, isOwner, to: reader.email } : null;
  },
  write: ({ statement, series, isOwner, to }, { partnerId, environment, month, userId }, { baseUrl, secrets }) => ({
    id: `statement:${partnerId}:${environment}:${month}:${userId}`,
    to,
    unsubscribeUrl: unsubscribeUrl({ baseUrl, secrets }, { userId, kind: "statements", environment, series }),
    environment,
    greeting: "Hello,",
    subject: `Your statement for ${month} is ready`,
    lines: ["The month is closed. Its statement has every payment and refund by file number, as a page, PDF and CSV."],
    facts: sumFacts(statement).map(([label, cents]) => [label, amountText(cents, "usd")] as const),
    link: { label: "Open the statement", url: `${baseUrl}/dashboard/statements/${month}` },
    caution: `You receive this email because ${isOwner ? "you are an owner of the firm" : "you asked for it"}. Switch it off under Sign-in and security.`,
  }),
});

/** Sends no mail about a month whose sums were stored more than this long after its end. */
const mailableMs = 10 * dayMs;

const isEmpty = ({ opening, payments, refunds, losses, corrections }: Sums): boolean =>
  [opening, payments, refunds, losses, corrections].every((cents) => cents === 0);

/**
 * Queues the mail about a closed month to everyone who gets the firm's statements. Queues it only for a live month in
 * which money moved or a balance is open. The sums must be stored within ten days after the month's end.
 */
export async function tellReaders(
  tx: Tx,
  owner: Owner,
  { month, endsAt, sums, at }: { month: string; endsAt: Date; sums: Sums; at: Date },
): Promise<void> {
  const { partnerId, environment } = owner;
  if (environment !== "live" || isEmpty(sums) || at.getTime() - endsAt.getTime() > mailableMs) return;
  for (const userId of await statementReaders(tx, partnerId))
    await enqueueAfter(tx, queue, { partnerId, environment, month, userId }, await mailDelayMs(tx, userId, at));
}
