import { isQuietFor, linkSeriesOf, recipientFor, recipientIdOf, unsubscribeUrl } from "../../firms/members/members.ts";
import { readOrigins } from "../../kernel/audit/audit.ts";
import type { Environment, Owner } from "../../kernel/identity/identity.ts";
import { type Clock, minuteMs } from "../../kernel/platform/clock.ts";
import type { Database, Sql } from "../../kernel/platform/database/database.ts";
import { type Statement, sql } from "../../kernel/platform/database/sql.ts";
import { type Marked, marked } from "../../kernel/platform/database/state-mac.ts";
import { defineMail, type MailDeps } from "../../kernel/platform/mail/mail-jobs.ts";
import { isPlainTitle } from "../../kernel/platform/mail/plain-name.ts";
import { shortCode } from "../../kernel/platform/text.ts";
import {
  faxesAhead,
  fromNotedStatuses,
  fromOrders,
  isTrouble,
  joinOrder,
  type MailedStatus,
  mailedStatuses,
  type Noted,
  type OrderStatus,
  orderState,
  removeNotedStatuses,
  type Titled,
  type TitleOf,
} from "../order/order.ts";
import { failedAhead } from "./fax-ahead.ts";
import { type Certificate, type Item, type Kind, kindOf, type Summary, wordsOf } from "./order-update-words.ts";

// The first event waits this long for others. So a bulk of orders, or one payment for many orders, causes only one
// mail.
const settleMs = 2 * minuteMs;
const pauseMs = 15 * minuteMs;
// A mail lists at most this many orders. Of the other orders, it states only the number.
const maxShown = 50;
// The number of orders read at once. It is larger than the number that a mail lists, because some orders have changed
// their status since the mail was queued.
const batchSize = 200;

/** The ids of orders, grouped by status. The statuses that need a person come first. */
type OrdersByStatus = (readonly [MailedStatus, readonly number[]])[];

/** The payload of a mail about one member's or key's orders, with their statuses at the time of queueing. */
type OrderUpdate = Owner & { placedBy: string; at: string; orders: OrdersByStatus };

/**
 * Queues a mail for each member or key whose orders need a person, are completed or are refunded. It is queued two
 * minutes after the first such event, and at most once in 15 minutes. At night it waits until 7 AM in the recipient's
 * zone, unless a closing with one of the orders is due today, or the recipient chose any hour. Mails of test orders are
 * not delivered, so they don't wait.
 * @returns the number of queued mails
 */
export async function mailOrderUpdates({ db, clock, closesToday = never }: UpdateDeps): Promise<number> {
  const now = clock();
  const due = dueMembers(now, closesToday);
  if ((await db.query(sql`${due} LIMIT 1`)).length === 0) return 0;
  return db.transaction(async (tx) => {
    // The lock keeps other nodes from queueing mails to the same members.
    await tx.query(sql`LOCK TABLE order_news_mails IN EXCLUSIVE MODE`);
    await tx.query(sql`DELETE FROM order_news_mails WHERE mailed_at <= ${new Date(now.getTime() - pauseMs)}`);
    const members = await tx.query<{ placedBy: string; environment: Environment }>(due);
    let mails = 0;
    for (const { placedBy, environment } of members) {
      const rows = await removeNotedStatuses(tx, placedBy, environment);
      await tx.query(sql`
        INSERT INTO order_news_mails (placed_by, environment, mailed_at) VALUES (${placedBy}, ${environment}, ${now})`);
      for (const [partnerId, noted] of Map.groupBy(rows, (row) => row.partnerId)) {
        const orders = urgentFirst(noted);
        await orderUpdateMail.enqueue(tx, { partnerId, environment, placedBy, at: now.toISOString(), orders });
        mails++;
      }
    }
    return mails;
  });
}

/** Groups orders by the last status noted for each. Statuses that need a person come before Refunded and Completed. */
export function urgentFirst(noted: readonly Noted[]): OrdersByStatus {
  const latest = new Map([...noted].sort((a, b) => a.n - b.n).map(({ id, status }) => [id, status]));
  return mailedStatuses.flatMap((status) => {
    const ids = [...latest.keys()].filter((id) => latest.get(id) === status);
    return ids.length > 0 ? [[status, ids] as const] : [];
  });
}

type UpdateDeps = {
  db: Database;
  clock: Clock;
  /**
   * SQL condition: true if the order's closing is due today. News about such an order is mailed even in the member's
   * quiet hours. Without this function, no closing is treated as due today.
   */
  closesToday?: (orderId: Statement, now: Date) => Statement;
};

const never = () => sql`false`;

const dueMembers = (now: Date, closesToday: NonNullable<UpdateDeps["closesToday"]>): Statement => sql`
  SELECT n.placed_by AS "placedBy", n.environment ${fromNotedStatuses} ${joinOrder(sql`n.order_id`)}
  WHERE NOT EXISTS (
    SELECT FROM order_news_mails m
    WHERE m.placed_by = n.placed_by AND m.environment = n.environment AND m.mailed_at > ${new Date(now.getTime() - pauseMs)})
  GROUP BY n.placed_by, n.environment HAVING min(n.at) <= ${new Date(now.getTime() - settleMs)}
    AND (n.environment = 'test' OR bool_and(NOT ${isQuietFor(recipientIdOf(sql`o.partner_id`, sql`n.placed_by`, "orders"), now)})
      OR bool_or(${closesToday(sql`n.order_id`, now)}))`;

/**
 * Returns the owner's closings that contain one of the orders, if the service seals the closing's certificate by
 * itself. `closing/rooms` implements this.
 */
type CertificatesOf = (db: Sql, owner: Owner, orderIds: readonly number[]) => Promise<readonly Certificate[]>;

/**
 * Returns the ids of the orders in which a signer ended the signing in order to sign on paper. `signing/envelopes`
 * implements this.
 */
type PaperWishes = (db: Sql, orderIds: readonly number[]) => Promise<ReadonlySet<number>>;

/** `reads`: facts of other features about the orders. */
export type OrderUpdateMailDeps = MailDeps & {
  titleOf: TitleOf;
  reads: { certificateStates: CertificatesOf; paperWishes: PaperWishes };
};

type Row = Titled & { id: number; code: string; status: OrderStatus; fax: boolean; reference: string | null } & Marked;

const isFaxedAhead = (row: Row | undefined): boolean => row !== undefined && faxesAhead(row);

type Candidate = { id: number; status: MailedStatus };

/**
 * The orders that still have the status in the payload, read in batches until the mail is full. `counts`: the number of
 * orders of each kind; orders that were not read are counted as in the payload.
 * @returns null when every order has left its status in the payload
 */
export async function summaryOf(
  orders: OrdersByStatus,
  read: (batch: readonly Candidate[]) => Promise<Item[]>,
  paperWishes: (orderIds: readonly number[]) => Promise<ReadonlySet<number>>,
): Promise<Summary | null> {
  const unread = orders.flatMap(([status, ids]) => ids.map((id) => ({ id, status })));
  const items: Item[] = [];
  while (unread.length > 0 && items.length < maxShown) items.push(...(await read(unread.splice(0, batchSize))));
  if (items.length === 0) return null;
  const counts = new Map<Kind, number>();
  const onPaper = await paperWishes(unread.map(({ id }) => id));
  const counted = [...items, ...unread.map((each) => ({ ...each, wantsPaper: onPaper.has(each.id) }))];
  for (const kind of counted.map(kindOf)) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return { items: items.slice(0, maxShown), counts };
}

/**
 * The orders of the batch that this member or key placed, and that still have the status in the payload. An early fax
 * that failed counts as the status FaxFailed. Reads the placer and the status from the database, because no MAC covers
 * the payload.
 */
async function itemsOf(
  { placedBy, partnerId, environment }: OrderUpdate,
  { db, rowMac, titleOf, reads }: OrderUpdateMailDeps,
  batch: readonly Candidate[],
): Promise<Item[]> {
  const ids = batch.map(({ id }) => id);
  const rows = await db.query<Row>(sql`
    SELECT o.id, o.code AS "code@order", o.status, o.fax, o.document_name AS "documentName", o.doc_slug AS "docSlug",
      o.external_reference AS reference, ${marked(orderState, sql`o`)}
    ${fromOrders}
    WHERE o.id = ANY (${ids}::bigint[]) AND o.partner_id = ${partnerId} AND o.environment = ${environment}`);
  const byId = new Map(rows.map((row) => [row.id, row]));
  const origins = await readOrigins(db, rowMac, ids);
  const ahead = batch.filter(({ id, status }) => status === "FaxFailed" && isFaxedAhead(byId.get(id)));
  const early = await failedAhead(
    db,
    ahead.map(({ id }) => id),
  );
  const onPaper = await reads.paperWishes(db, ids);
  return batch.flatMap(({ id, status }) => {
    const row = byId.get(id);
    const origin = origins.get(id);
    const isSo = row?.status === status || (status === "FaxFailed" && early.has(id));
    if (!row?.isAuthentic || !isSo || origin?.placedBy !== placedBy) return [];
    const reason = early.get(id) ?? origin.reason;
    const { code, reference } = row;
    const named = [reference, titleOf(row)].filter((each) => each !== null && isPlainTitle(each));
    const name = named.length > 0 ? named.join(", ") : shortCode(code);
    const shown = reason !== null && isPlainTitle(reason) ? reason : null;
    return [{ code, status, name, reason: shown, wantsPaper: onPaper.has(id) }];
  });
}

const caution =
  "You receive this email because you placed these orders, or own the firm and nobody else gets it. Switch such mails off under Sign-in and security. Trouble with an order is always mailed to somebody of the firm.";

/**
 * The mail to the member who placed some orders. It lists the orders that need a person, and those that have ended. If
 * a key placed the orders, or the member gets no such mails, an owner gets the mail. It then lists only orders that
 * need a person. The mail is not sent when every order has left its status in the payload.
 */
export const orderUpdateMail = defineMail({
  queue: "order-news",
  async load(update: OrderUpdate, deps: OrderUpdateMailDeps) {
    const occasion = { actor: update.placedBy, kind: "orders" } as const;
    const usual = await recipientFor(deps, update, occasion);
    const orders = usual ? update.orders : update.orders.filter(([status]) => isTrouble(status));
    const summary = await summaryOf(
      orders,
      (batch) => itemsOf(update, deps, batch),
      (ids) => deps.reads.paperWishes(deps.db, ids),
    );
    if (!summary) return null;
    const to = usual ?? (await recipientFor(deps, update, { ...occasion, isNeeded: true }));
    if (to === undefined) return null;
    const completed = orders.find(([status]) => status === "Completed")?.[1] ?? [];
    const certificates = completed.length > 0 ? await deps.reads.certificateStates(deps.db, update, completed) : [];
    return { ...summary, certificates, to: { ...to, series: await linkSeriesOf(deps.db, to.userId, "orders") } };
  },
  write({ to: { email, userId, series }, ...summary }, { placedBy, partnerId, environment, at }, { baseUrl, secrets }) {
    const id = `order-news:${placedBy}:${partnerId}:${environment}:${at}`;
    const stop = unsubscribeUrl({ baseUrl, secrets }, { userId, kind: "orders", environment, series });
    return {
      id,
      to: email,
      unsubscribeUrl: stop,
      environment,
      greeting: "Hello,",
      caution,
      ...wordsOf(summary, baseUrl),
    };
  },
});
