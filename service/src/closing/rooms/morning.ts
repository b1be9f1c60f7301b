import {
  linkSeriesOf,
  liveMember,
  queueForMembers,
  recipientFor,
  recipientIdOf,
  unsubscribeUrl,
} from "../../firms/members/members.ts";
import { ordererOf, readOrigins } from "../../kernel/audit/audit.ts";
import type { Clock } from "../../kernel/platform/clock.ts";
import type { Database } from "../../kernel/platform/database/database.ts";
import { type Statement, sql } from "../../kernel/platform/database/sql.ts";
import { marked, markedAll } from "../../kernel/platform/database/state-mac.ts";
import { defineMail, type MailDeps } from "../../kernel/platform/mail/mail-jobs.ts";
import { isPlainTitle } from "../../kernel/platform/mail/plain-name.ts";
import type { Fact } from "../../kernel/platform/mail/template.ts";
import { businessMorning } from "../../kernel/tasks/tasks.ts";
import { joinOrder, orderState, signerState, type TitleOf } from "../../orders/order/order.ts";
import { isBeingPaid, zoneOrDefault } from "../../orders/payments/payments.ts";
import { roomState } from "./store.ts";
import {
  actOf,
  dayWords,
  isStuck,
  isUnfinished,
  orderNameOf,
  postageColumn,
  signingEnd,
  type Trouble,
  type UnfinishedOrder,
  waitingList,
  waitingSigners,
  withEnvelope,
  withTroubles,
} from "./who-acts.ts";

const queue = "closings-mail";
// The most rooms that a mail lists. If a member has more, rooms with a stuck order come first.
const maxRooms = 25;
const maxOrders = 500;
const maxInRoom = 4;

const unfinishedOf = (partnerId: Statement): Statement => sql`
  FROM rooms r JOIN room_orders a ON a.room_id = r.id ${joinOrder(sql`a.order_id`)} AND o.partner_id = r.partner_id
  WHERE r.partner_id = ${partnerId} AND r.environment = 'live' AND r.status = 'open' AND ${isUnfinished(sql`o.status`)}`;

/**
 * Queues a mail with the list "Your closings" to each member with live access who has not switched it off. Each member
 * gets the mail once on each business day. It is sent after the business hours have begun, in the hours in which the
 * member gets mails. A member for whom `closingsOf` finds nothing gets no mail.
 * @returns the number of queued mails. Some of them may turn out empty, and are then not sent
 */
export async function sendClosings({ db, clock }: { db: Database; clock: Clock }): Promise<number> {
  const now = clock();
  const day = businessMorning(now);
  if (day === null) return 0;
  return db.transaction(async (tx) => {
    const first = await tx.query(
      sql`INSERT INTO closing_mornings (day) VALUES (${day}) ON CONFLICT DO NOTHING RETURNING day`,
    );
    if (first.length === 0) return 0;
    const hasWork = (partnerId: Statement) => sql`EXISTS (SELECT ${unfinishedOf(partnerId)})`;
    return queueForMembers(tx, { queue, kind: "closings", at: day, now }, hasWork);
  });
}

type Row = UnfinishedOrder & {
  orderId: number;
  roomCode: string;
  roomName: string;
  /** The day on which the closing is due; null for none. */
  closesOn: string | null;
  orders: number;
  done: number;
  isAuthentic: boolean;
};

/** The unfinished orders for one member's mail. Orders that an API key placed are in no member's mail. */
const rowsStatement = (partnerId: string, userId: string): Statement => sql`
  SELECT o.id AS "orderId", o.code AS "code@order", o.document_name AS "documentName", o.doc_slug AS "docSlug", o.status, o.fax,
    o.updated_at AS since, r.code AS "roomCode@room", r.name AS "roomName", r.closes_on::text AS "closesOn", a.label, e.expires_at AS "expiresAt",
    r.order_count AS orders, (SELECT count(*)::int FROM room_orders d ${joinOrder(sql`d.order_id`)}
      WHERE d.room_id = r.id AND o.status = 'Completed') AS done,
    ${waitingList} AS waiting, ${isBeingPaid}, ${postageColumn},
    ${marked(orderState, sql`o`)}, ${marked(roomState, sql`r`)}, ${markedAll(signerState, sql`s`, waitingSigners)}
  FROM (SELECT found.* FROM (
      SELECT r.id AS room_id, o.id AS order_id, ${ordererOf(sql`o.id`)} AS by ${unfinishedOf(sql`${partnerId}::uuid`)}
    ) found
    WHERE found.by LIKE 'member:%' AND ${recipientIdOf(sql`${partnerId}::uuid`, sql`found.by`)} = ${userId}
  ) open
  JOIN rooms r ON r.id = open.room_id JOIN room_orders a ON a.room_id = r.id AND a.order_id = open.order_id
  ${joinOrder(sql`open.order_id`)}
  ${withEnvelope}
  ORDER BY r.created_at DESC, r.id, a.position LIMIT ${maxOrders}`;

type Deps = MailDeps & { titleOf: TitleOf };

/**
 * The closings of a member, each with the unfinished orders that the member placed. The owner who joined first also
 * gets the orders of members who left or have no live access any more.
 */
async function closingsOf(deps: Deps, partnerId: string, userId: string): Promise<Closing[]> {
  const { db, rowMac, clock, titleOf } = deps;
  const found = await db.query<Omit<Row, keyof Trouble>>(rowsStatement(partnerId, userId));
  const authentic = found.filter(({ isAuthentic }) => isAuthentic);
  const rows: Row[] = await withTroubles({ db, clock }, { partnerId, environment: "live" }, authentic);
  const ids = rows.map(({ orderId }) => orderId);
  const origins = await readOrigins(db, rowMac, ids);
  const placers = new Set([...origins.values()].flatMap(({ placedBy }) => placedBy ?? []));
  const placersOfOwn = new Set<string | null>();
  for (const actor of placers) {
    const person = await recipientFor(deps, { partnerId, environment: "live" }, { actor, kind: "closings" });
    if (person?.userId === userId) placersOfOwn.add(actor);
  }
  const own = rows.filter(({ orderId }) => placersOfOwn.has(origins.get(orderId)?.placedBy ?? null));
  const zone = await zoneOrDefault(db, partnerId);
  const rooms = [...Map.groupBy(own, ({ roomCode }) => roomCode).values()];
  return rooms
    .map((orders) => closingOf(orders, titleOf, zone))
    .sort((a, b) => a.rank - b.rank || a.day.localeCompare(b.day) || a.due - b.due);
}

/** `day`: the day on which the closing is due; a closing without a day is sorted after those that have one. */
type Closing = { code: string; name: string; text: string; rank: number; day: string; due: number };

function closingOf(rows: readonly Row[], titleOf: TitleOf, zone: string): Closing {
  const [{ roomCode: code, roomName, closesOn, orders, done }] = rows as [Row];
  const sorted = [...rows].sort((a, b) => rankOf(a) - rankOf(b) || signingEnd(a) - signingEnd(b));
  const shown = sorted.slice(0, maxInRoom).map((row) => `${orderNameOf(row, titleOf)}: ${actOf(row, zone)}`);
  const more = rows.length - shown.length;
  return {
    code,
    name: isPlainTitle(roomName) ? roomName : "Closing",
    text: [
      ...(closesOn === null ? [] : [`Closes on ${dayWords(closesOn)}.`]),
      `${done} of ${orders} complete.`,
      ...shown.map((each) => `${each}.`),
      ...(more > 0 ? [`${more} more.`] : []),
    ].join(" "),
    rank: Math.min(...rows.map(rankOf)),
    day: closesOn ?? "9999",
    due: Math.min(...rows.map(signingEnd)),
  };
}

/** Stuck orders have rank 0 and come first. */
const rankOf = (row: Row): number => (isStuck(row) ? 0 : 1);

/** The daily list of a member's closings. */
export const closingsMail = defineMail({
  queue,
  async load({ userId }: { userId: string; at: string }, deps: Deps) {
    const member = await liveMember(deps, userId, "closings");
    const closings = member ? await closingsOf(deps, member.partnerId, userId) : [];
    const series = await linkSeriesOf(deps.db, userId, "closings");
    return member && closings.length > 0 ? { to: member.email, series, closings } : null;
  },
  write({ to, series, closings }, { userId, at }, { baseUrl, secrets }) {
    const stuck = closings.filter(({ rank }) => rank === 0).length;
    const shown = closings.slice(0, maxRooms);
    return {
      id: `closings:${userId}:${at}`,
      to,
      unsubscribeUrl: unsubscribeUrl({ baseUrl, secrets }, { userId, kind: "closings", environment: "live", series }),
      subject: `Your closings: ${closings.length} open${stuck > 0 ? `, ${stuck} with something stuck` : ""}`,
      heading: "Your closings",
      greeting: "Good morning,",
      lines: [
        `${closings.length} of your closings ${closings.length === 1 ? "is" : "are"} open. Those with something stuck come first.`,
        ...(closings.length > shown.length
          ? [`${shown.length} of them are listed here. The list of rooms has all.`]
          : []),
      ],
      facts: shown.map(({ code, name, text }): Fact => [name, text, `${baseUrl}/dashboard/rooms/${code}`]),
      link: { label: "Open your closings", url: `${baseUrl}/dashboard/rooms` },
      caution:
        "You receive this email on business days while a closing of yours is open. Switch it off under Sign-in and security.",
    };
  },
});
