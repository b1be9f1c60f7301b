import { addressFor } from "../../firms/members/members.ts";
import { readOrigins } from "../../kernel/audit/audit.ts";
import type { Environment, Owner } from "../../kernel/identity/identity.ts";
import { type Clock, minuteMs } from "../../kernel/platform/clock.ts";
import type { Database } from "../../kernel/platform/database/database.ts";
import { type Statement, sql } from "../../kernel/platform/database/sql.ts";
import { type Marked, marked } from "../../kernel/platform/database/state-mac.ts";
import { defineMail, type MailDeps } from "../../kernel/platform/mail/mail-jobs.ts";
import { isPlainTitle } from "../../kernel/platform/mail/plain-name.ts";
import {
  type NewsStatus,
  type Noted,
  orderState,
  statusLabel,
  type Titled,
  type TitleOf,
  takeNews,
} from "../order/order.ts";

// A bulk of orders, or a payment of many, is one mail: what happens soon after is in the same mail.
const settleMs = 2 * minuteMs;
const pauseMs = 15 * minuteMs;
// A mail shows so many orders, and counts the others.
const mostShown = 50;

/** A mail to one member about orders of one environment, as they were when it was queued. */
type OrderNews = Owner & {
  placedBy: string;
  at: string;
  orders: { id: number; status: NewsStatus }[];
  more: number;
};

/**
 * Queues a mail to each member whose orders entered statuses that need somebody, or ended: two minutes after the first
 * of them, and at most once in 15 minutes for each member.
 * @returns the number of mails
 */
export async function mailOrderNews({ db, clock }: { db: Database; clock: Clock }): Promise<number> {
  const now = clock();
  if ((await db.query(sql`${dueMembers(now)} LIMIT 1`)).length === 0) return 0;
  return db.transaction(async (tx) => {
    // One node at a time: another would mail the same member.
    await tx.query(sql`LOCK TABLE order_news_mails IN EXCLUSIVE MODE`);
    await tx.query(sql`DELETE FROM order_news_mails WHERE mailed_at <= ${new Date(now.getTime() - pauseMs)}`);
    const members = await tx.query<{ placedBy: string; environment: Environment }>(dueMembers(now));
    let mails = 0;
    for (const { placedBy, environment } of members) {
      const rows = await takeNews(tx, placedBy, environment);
      await tx.query(sql`
        INSERT INTO order_news_mails (placed_by, environment, mailed_at) VALUES (${placedBy}, ${environment}, ${now})`);
      for (const [partnerId, noted] of Map.groupBy(rows, (row) => row.partnerId)) {
        const orders = latest(noted);
        const news = { partnerId, environment, placedBy, at: now.toISOString(), orders: orders.slice(0, mostShown) };
        await orderNewsMail.enqueue(tx, { ...news, more: orders.length - news.orders.length });
        mails++;
      }
    }
    return mails;
  });
}

/** The last status of each order. */
const latest = (noted: readonly Noted[]): OrderNews["orders"] => [
  ...new Map([...noted].sort((a, b) => a.n - b.n).map(({ id, status }) => [id, { id, status }])).values(),
];

const dueMembers = (now: Date): Statement => sql`
  SELECT n.placed_by AS "placedBy", n.environment FROM order_news n
  WHERE NOT EXISTS (
    SELECT FROM order_news_mails m
    WHERE m.placed_by = n.placed_by AND m.environment = n.environment AND m.mailed_at > ${new Date(now.getTime() - pauseMs)})
  GROUP BY n.placed_by, n.environment HAVING min(n.at) <= ${new Date(now.getTime() - settleMs)}`;

/** For each status: the sentence about one order. */
const sentences: Readonly<Record<NewsStatus, string>> = {
  PaymentFailed: "The payment did not go through. It can be tried again from the order’s page.",
  EsignDeclined: "A signer declined to sign. An operator of this service has a task to help.",
  EsignExpired: "Not everybody signed in time. An operator of this service has a task to help.",
  NotarizationFailed: "The document could not be notarized. An operator of this service has a task to help.",
  IdentityLocked:
    "A signer’s identity could not be confirmed for the notary. An operator of this service has a task to help.",
  ShippingFailed: "The document could not be shipped. An operator of this service has a task to help.",
  FaxFailed: "The fax did not go through. Please check its number. An operator of this service has a task to help.",
  OnHold: "Work on the order is paused while a question about it is answered.",
  Refunded: "The payment processor returned the money to the payer.",
  Completed: "Everything that was ordered is done. The documents are on the order’s page.",
};

type Deps = MailDeps & { titleOf: TitleOf };

type Row = Titled & { id: number; code: string; status: string; reference: string | null } & Marked;

type Item = { code: string; status: NewsStatus; name: string; reason: string | null };

/** The orders of a mail that are still so, and belong to who placed them: the row that queued the mail proves nothing. */
async function itemsOf(
  { placedBy, partnerId, environment, orders }: OrderNews,
  { db, rowMac, titleOf }: Deps,
): Promise<Item[]> {
  const wanted = new Map(orders.map(({ id, status }) => [id, status]));
  const rows = await db.query<Row>(sql`
    SELECT o.id, o.code AS "code@order", o.status, o.document_name AS "documentName", o.doc_slug AS "docSlug",
      o.external_reference AS reference, ${marked(orderState, sql`o`)}
    FROM orders o
    WHERE o.id = ANY (${[...wanted.keys()]}::bigint[]) AND o.partner_id = ${partnerId} AND o.environment = ${environment}
    ORDER BY o.id`);
  const origins = await readOrigins(db, rowMac, [...wanted.keys()]);
  return rows.flatMap(({ id, isAuthentic, code, reference, ...row }) => {
    const origin = origins.get(id);
    const status = wanted.get(id);
    if (!isAuthentic || status === undefined || row.status !== status || origin?.placedBy !== placedBy) return [];
    const named = [reference, titleOf({ code, ...row })].filter((each) => each !== null && isPlainTitle(each));
    const name = named.length > 0 ? named.join(", ") : code.slice(0, 6).toUpperCase();
    return [
      { code, status, name, reason: origin.reason !== null && isPlainTitle(origin.reason) ? origin.reason : null },
    ];
  });
}

const caution =
  "You receive this email because you placed these orders, or own the firm of a member who did and has left. Switch such mails off under Sign-in and security.";

/** A mail to the member who placed orders: somebody must act, or all is done. Not sent when all of them have moved on. */
export const orderNewsMail = defineMail({
  queue: "order-news",
  async load(news: OrderNews, deps: Deps) {
    const items = await itemsOf(news, deps);
    if (items.length === 0) return null;
    const to = await addressFor(deps, news, { actor: news.placedBy, kind: "orders" });
    return to === undefined ? null : { items, to };
  },
  write({ items, to }, { placedBy, partnerId, environment, at, more }, { baseUrl }) {
    const [first] = items;
    const id = `order-news:${placedBy}:${partnerId}:${environment}:${at}`;
    const letter = { id, to, environment, greeting: "Hello,", caution };
    if (first && items.length + more === 1) {
      const { code, status, name, reason } = first;
      return {
        ...letter,
        subject: `${statusLabel(status)}: ${name}`,
        heading: statusLabel(status),
        lines: [sentences[status]],
        facts: [["Order", name] as const, ...(reason === null ? [] : [["Reason", reason] as const])],
        link: { label: "Open the order", url: `${baseUrl}/dashboard/orders/${code}` },
      };
    }
    const statuses = [...new Set(items.map(({ status }) => status))];
    return {
      ...letter,
      subject: `${items.length + more} of your orders: ${statuses.map(statusLabel).join(", ")}`,
      heading: `News of ${items.length + more} of your orders`,
      lines: [
        ...statuses.map((status) => `${statusLabel(status)}: ${sentences[status]}`),
        ...(more > 0 ? [`${items.length} of them are listed here. The list of orders has all.`] : []),
      ],
      facts: items.map(
        ({ code, name, status, reason }) =>
          [
            name,
            reason === null ? statusLabel(status) : `${statusLabel(status)}: ${reason}`,
            `${baseUrl}/dashboard/orders/${code}`,
          ] as const,
      ),
      link: { label: "Open your orders", url: `${baseUrl}/dashboard/orders` },
    };
  },
});
