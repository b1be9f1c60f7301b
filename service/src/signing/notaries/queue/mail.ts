import type { Tx } from "../../../kernel/platform/database/database.ts";
import { defineMail, type MailDeps } from "../../../kernel/platform/mail/mail-jobs.ts";
import { isPlainName } from "../../../kernel/platform/mail/plain-name.ts";
import { addressedTo } from "../appointments/address.ts";
import { linkPathOf } from "../appointments/links.ts";
import { peopleOf, type WaitingOrder } from "../claims/orders.ts";
import { findNotary } from "../commissions/store.ts";
import { latestRequestOf } from "../schedule/queue.ts";
import { type QueueMoment, queueMailWords } from "./words.ts";

type QueueMail = { orderId: number; requestId: string; moment: QueueMoment; at: string; person: number };

/**
 * Queues mails to everybody who is to appear. The mails say that a notary is available, or that none became available
 * in time.
 */
export async function callPeople(
  tx: Tx,
  { orderId, signers }: Pick<WaitingOrder, "orderId" | "signers">,
  { requestId, moment, at }: { requestId: string; moment: QueueMoment; at: Date },
): Promise<void> {
  for (const index of signers.keys())
    await queueMail.enqueue(tx, { orderId, requestId, moment, at: at.toISOString(), person: index + 1 });
}

export const queueMail = defineMail({
  queue: "notary-queue-mail",
  async load({ orderId, requestId, moment, person }: QueueMail, deps: MailDeps) {
    const { db, rowMac, secrets } = deps;
    const [request, order] = await Promise.all([latestRequestOf(db, orderId), peopleOf({ db, rowMac }, orderId)]);
    const to = order?.signers[person - 1];
    if (!order || !to || request?.id !== requestId || order.status !== "NotarizationPending") return null;
    if (moment === "called" ? request.state !== "taken" : request.outcome !== "expired") return null;
    // A person who got no appointment link has no page of the queue, so their mail has no link either. The link of
    // their room is mailed when the session opens.
    const path = await linkPathOf(db, secrets, orderId, person);
    const notary = request.notaryId === null ? null : await findNotary(db, request.notaryId);
    return { notary: notary?.commissionName ?? null, path, ...(await addressedTo(deps, order, to)) };
  },
  write({ notary, path, words, ...letter }, { requestId, moment, at, person }, { baseUrl }) {
    const { subject, line, link } = queueMailWords[letter.language][moment];
    return {
      ...letter,
      id: `notary-now:${requestId}:${moment}:${at}:${person}`,
      subject,
      lines: [
        line(notary !== null && isPlainName(notary) ? notary : null),
        ...(moment === "called" ? [words.have] : []),
      ],
      link: path === null ? null : { label: link, url: `${baseUrl}${path}?lang=${letter.language}` },
      caution: words.caution,
    };
  },
});
