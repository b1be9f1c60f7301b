import { readAnsweringFirm } from "../../firms/members/members.ts";
import { lastActor } from "../../kernel/audit/audit.ts";
import type { Sql } from "../../kernel/platform/database/database.ts";
import { sql } from "../../kernel/platform/database/sql.ts";
import { verified, verifiedAll } from "../../kernel/platform/database/state-mac.ts";
import { enqueueAfter } from "../../kernel/platform/jobs/jobs.ts";
import { defineMail, type MailDeps } from "../../kernel/platform/mail/mail-jobs.ts";
import {
  clientClosingPath,
  documentsPath,
  emailChanges,
  fromOrders,
  isHandedIn,
  isSigningSimulated,
  type MailMoment,
  type OrderMail,
  orderMailQueue,
  type Titled,
  type TitleOf,
  verifiedOrder,
  verifiedShipmentsOf,
} from "../order/order.ts";
import {
  type AcceptsPayment,
  billingDocumentState,
  billingDocuments,
  fromPayments,
  isByClient,
  joinPayment,
  paymentState,
} from "../payments/payments.ts";
import { letterOf, letterTogether, type MailOrder } from "./client-letters.ts";
import {
  canWait,
  hasClientSigned,
  keepClientMail,
  type Mailable,
  mailableColumns,
  stillHolds,
  type UntilMorning,
} from "./client-mails.ts";
import { type ClosingsOf, coveredBy } from "./together.ts";
import { togetherWords } from "./together-words.ts";

/** Functions of other features: whether orders can be paid online, an order's closings, and a mail's delay at night. */
type ClientPorts = { acceptsPayment: AcceptsPayment; closingsOf: ClosingsOf; untilMorning: UntilMorning };

export type OrderMailDeps = MailDeps & { titleOf: TitleOf; clients: ClientPorts };

type Row = Omit<MailOrder, "title" | "firm" | "partCents" | "acceptsPayment"> &
  Titled &
  Mailable & {
    partnerId: string;
    id: number;
    /** True if the order includes signing and no other service. */
    isSignedAlone: boolean;
    ship: boolean;
    fax: boolean;
  };

const documents = sql`FROM ${billingDocuments(sql`d`)} ${joinPayment(sql`d.payment_id`)} WHERE p.order_id = o.id`;

const rowStatement = (orderId: number) => sql`
  SELECT o.id, o.code AS "code@order", ${mailableColumns}, o.customer_email AS "customerEmail", o.customer_name AS "customerName",
    o.partner_id AS "partnerId", o.external_reference AS reference, o.document_name AS "documentName", o.doc_slug AS "docSlug",
    o.total_cents AS "totalCents", o.fax_to AS "faxTo", s.carrier, s.tracking_number AS "trackingNumber",
    (SELECT sum(p.amount_cents)::int ${fromPayments}
      WHERE p.order_id = o.id AND refunded_at IS NOT NULL AND currency = 'usd' AND ${isByClient}) AS "refundedCents",
    (SELECT sum(p.amount_cents)::int ${fromPayments} WHERE p.order_id = o.id AND currency = 'usd' AND ${isByClient}) AS "paidCents",
    (SELECT coalesce(sum(d.part_cents), 0)::int ${documents} AND d.kind = 'credit_note' AND d.refund LIKE 'settled:%'
      AND NOT EXISTS (SELECT FROM ${billingDocuments(sql`r`)} WHERE r.payment_id = d.payment_id AND r.refund = 'reversed:' || d.refund)) AS "lostCents",
    ${isHandedIn(sql`'sealed'`)} AS "takenIn", ${isSigningSimulated} AS "isSimulated", o.sign AND NOT (o.notarize OR o.ship OR o.fax) AS "isSignedAlone",
    o.ship, o.fax,
    coalesce(${lastActor(sql`o.id`, "Delivered")} LIKE 'provider:%', false) AS "carrierReports",
    coalesce(${lastActor(sql`o.id`, "FaxDelivered")} LIKE 'provider:%', false) AS "machineReports",
    ${verifiedOrder}, ${verifiedShipmentsOf(sql`o.id`)}, ${verifiedAll(paymentState, sql`p`, sql`${fromPayments} WHERE p.order_id = o.id`)},
    ${verifiedAll(billingDocumentState, sql`d`, documents)}
  ${fromOrders}
  LEFT JOIN LATERAL (SELECT carrier, tracking_number FROM shipments WHERE order_id = o.id ORDER BY id DESC LIMIT 1) s ON true
  WHERE o.id = ${orderId}`;

/** Mails to an order's client. */
export const orderMail = defineMail({
  queue: orderMailQueue,
  async load(about: OrderMail, deps: OrderMailDeps) {
    const { db, clients } = deps;
    const { acceptsPayment, closingsOf, untilMorning } = clients;
    const { orderId, moment } = about;
    const order = await rowOf(db, orderId);
    if (!order || !stillHolds(acceptsPayment, moment, order)) return null;
    if (moment === "signed" && (await hasClientSigned(db, order))) return null;
    const nightMs = canWait(about, order) ? await untilMorning(order.partnerId) : 0;
    if (nightMs > 0) {
      await enqueueAfter(db, orderMailQueue, about, nightMs);
      return null;
    }
    const covered = await coveredBy({ db, closingsOf }, about);
    if (!covered) return null;
    const others = covered.orderIds.filter((id) => id !== order.id);
    const found = (await Promise.all(others.map((id) => rowOf(db, id)))).filter((each) => each !== undefined);
    const rows = covered.orderIds.flatMap((id) => [order, ...found].find((each) => each.id === id) ?? []);
    const isThere = ({ documentsDeletedAt }: Row) => documentsDeletedAt === null || !about.isWhole;
    const orders = rows.filter((each) => stillHolds(acceptsPayment, moment, each) && isThere(each));
    if (orders.length === 0) return null;
    // In a closing, sends no mail if every order of it includes only signing, and the client signed all documents. The
    // mail to signers has already linked to the copies.
    if (
      covered.closing !== null &&
      !about.isWhole &&
      moment === "completed" &&
      orders.every(({ isSignedAlone }) => isSignedAlone) &&
      (await Promise.all(orders.map((each) => hasClientSigned(db, each)))).every(Boolean)
    )
      return null;
    const centsOf = refundedCentsOf[moment];
    const partCents = centsOf ? await centsOf(db, order.id, about.refund ?? "") : null;
    if (centsOf && partCents === null) return null;
    const firm = await readAnsweringFirm(deps, order);
    const changes = await Promise.all(orders.map(({ code }) => emailChanges(db, code)));
    return {
      order,
      firm,
      partCents,
      closing: covered.closing,
      acceptsPayment: order.environment === "live" || acceptsPayment(order.environment),
      orders: orders.map((each, n) => ({ ...each, changes: changes[n] ?? 0 })),
    };
  },
  write({ order, firm, closing, orders, partCents, acceptsPayment }, { moment, at }, { secrets, baseUrl, titleOf }) {
    const all = orders.map(({ changes, ...each }) => ({
      ...each,
      firm,
      partCents,
      acceptsPayment,
      title: titleOf(each),
      links: {
        page: `${baseUrl}/orders/${each.code}`,
        documents: baseUrl + documentsPath(secrets, each.code, changes),
        closing: baseUrl + clientClosingPath(secrets, each.code, changes),
      },
    }));
    const [first] = all;
    const isTogether = all.length > 1 && moment in togetherWords;
    const letter =
      first && !isTogether
        ? letterOf(moment, at, first, first.links)
        : letterTogether(moment, { id: `${order.code}:${moment}:${at}`, closing, firm }, all);
    return { ...letter, environment: order.environment };
  },
  onSent: ({ orders }, about, { db, clock }) =>
    keepClientMail(
      db,
      about,
      orders.map(({ id }) => id),
      clock(),
    ),
});

const rowOf = async (db: Sql, orderId: number): Promise<Row | undefined> =>
  (await db.query<Row>(rowStatement(orderId)))[0];

/** The cents of a partial refund's credit note; null for an unknown refund, and for one to the firm. */
async function partCentsOf(db: Sql, orderId: number, refund: string): Promise<number | null> {
  const [note] = await db.query<{ cents: number }>(sql`
    SELECT d.part_cents::float8 AS cents, ${verified(billingDocumentState, sql`d`)}
    FROM ${billingDocuments(sql`d`)} ${joinPayment(sql`d.payment_id`)}
    WHERE p.order_id = ${orderId} AND d.kind = 'credit_note' AND d.refund = ${refund} AND d.part_cents IS NOT NULL AND ${isByClient} LIMIT 1`);
  return note?.cents ?? null;
}

/** The cents of the latest credit note for the refund of a client's whole payment; null for none. */
async function returnedCentsOf(db: Sql, orderId: number, paymentIntent: string): Promise<number | null> {
  const notes = sql`FROM ${billingDocuments(sql`d`)} WHERE d.payment_id = p.id AND d.kind <> 'receipt'`;
  const [payment] = await db.query<{ cents: number }>(sql`
    SELECT coalesce(whole.part_cents, p.amount_cents - (
        SELECT coalesce(sum(CASE WHEN d.kind IN ('credit_note', 'loss') THEN d.part_cents ELSE -d.part_cents END), 0)
        ${notes} AND d.id < whole.id))::float8 AS cents,
      ${verified(paymentState, sql`p`)}, ${verifiedAll(billingDocumentState, sql`d`, notes)}
    ${fromPayments} JOIN ${billingDocuments(sql`whole`)}
      ON whole.payment_id = p.id AND whole.kind = 'credit_note' AND whole.refund LIKE 'whole%'
    WHERE p.order_id = ${orderId} AND p.payment_intent = ${paymentIntent} AND p.refunded_at IS NOT NULL AND ${isByClient}
    ORDER BY whole.id DESC LIMIT 1`);
  return payment?.cents ?? null;
}

/** The cents of an order's credit notes to the client that a failed refund reversed; null for none. */
async function failedCentsOf(db: Sql, orderId: number, refund: string): Promise<number | null> {
  const notes = await db.query<{ cents: number }>(sql`
    SELECT d.part_cents::float8 AS cents, ${verified(billingDocumentState, sql`d`)}
    FROM ${billingDocuments(sql`d`)} ${joinPayment(sql`d.payment_id`)}
    WHERE p.order_id = ${orderId} AND d.kind = 'credit_reversal' AND d.refund = ${`reversed:${refund}`} AND ${isByClient}`);
  return notes.length === 0 ? null : notes.reduce((sum, { cents }) => sum + cents, 0);
}

/** For each kind of mail about one refund: reads the refund's cents. If it returns null, no mail is sent. */
const refundedCentsOf: Partial<
  Record<MailMoment, (db: Sql, orderId: number, refund: string) => Promise<number | null>>
> = { refunded_part: partCentsOf, payment_returned: returnedCentsOf, refund_failed: failedCentsOf };
