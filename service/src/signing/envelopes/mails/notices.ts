import { readAnsweringFirm } from "../../../firms/members/members.ts";
import type { Environment } from "../../../kernel/identity/identity.ts";
import { minuteMs } from "../../../kernel/platform/clock.ts";
import { sql } from "../../../kernel/platform/database/sql.ts";
import { enqueueAfter, type Timed, waitedMs } from "../../../kernel/platform/jobs/jobs.ts";
import { defineMail, type Letter, type MailDeps } from "../../../kernel/platform/mail/mail-jobs.ts";
import { isPlainName, isPlainTitle } from "../../../kernel/platform/mail/plain-name.ts";
import { type MailFirm, nameIn } from "../../../kernel/platform/mail/template.ts";
import {
  correctionsOf,
  currentEmail,
  fromOrders,
  type OrderSigner,
  type SigningFacts,
  signersHold,
  signersOf,
  signingColumns,
  type Titled,
  type TitleOf,
  verifiedOrder,
} from "../../../orders/order/order.ts";
import type { ClosingsOf } from "../lifecycle/join-session.ts";
import { notarizedNoticeQueue } from "../lifecycle/notarized.ts";
import { claimNotices, type Person, waitsForLink, waitsForNotary } from "../records/notarized-mails.ts";
import { commonWords, mailWords, sentence } from "./words.ts";

type Notice = { orderId: number; n: number } & Timed;

type Row = SigningFacts &
  Titled & { id: number; mac: Buffer | null; partnerId: string; environment: Environment; reference: string | null };

type Deps = MailDeps & { titleOf: TitleOf; closingsOf: ClosingsOf };

/**
 * The longest delay of a notice while other documents of the closing are not notarized yet. `lookMs` is the interval at
 * which the delayed notice checks them again.
 */
const maxWaitMs = 30 * minuteMs;
const lookMs = minuteMs;

const rowsOf = ({ db }: Pick<Deps, "db">, ids: readonly number[]) =>
  db.query<Row>(sql`
    SELECT ${signingColumns}, o.id, o.code AS "code@order", o.document_name AS "documentName", o.doc_slug AS "docSlug", o.external_reference AS reference,
      o.partner_id AS "partnerId", o.environment, ${verifiedOrder}
    ${fromOrders} WHERE o.id = ANY (${ids}::bigint[]) ORDER BY array_position(${ids}::bigint[], o.id)`);

/**
 * The notice that the document is notarized, for a signer whose email address is unverified. It has no link, and names
 * nobody else. One mail covers the documents of a closing.
 */
export const noticeMail = defineMail({
  queue: notarizedNoticeQueue,
  async load(about: Notice, deps: Deps) {
    const { db, rowMac } = deps;
    const [order] = await rowsOf(deps, [about.orderId]);
    const signer = order && signersHold(rowMac, order) ? signersOf(order)[about.n - 1] : undefined;
    if (!order || !signer) return null;
    const closing = (await deps.closingsOf(db, order.id)).find(({ orders }) => orders.length > 1);
    const orders = closing?.orders ?? [order.id];
    const hasWaitedMs = about.queuedAt === undefined ? maxWaitMs : await waitedMs(db, about.queuedAt);
    const others = orders.filter((id) => id !== order.id);
    // A mail that links to the person's other documents also contains this notice. So while such a mail is still to come,
    // the notice waits for it, for at most 2 × `maxWaitMs`.
    if (
      (hasWaitedMs < maxWaitMs && (await waitsForNotary(db, rowMac, others, signer))) ||
      (hasWaitedMs < 2 * maxWaitMs && (await waitsForLink(db, rowMac, others, signer)))
    ) {
      await enqueueAfter(db, notarizedNoticeQueue, about, lookMs);
      return null;
    }
    const claim = { mail: `${order.id}:${about.n}`, person: signer };
    const covered = await db.transaction((tx) => claimNotices(tx, rowMac, orders, claim));
    if (!covered.includes(order.id)) return null;
    const rows = await rowsOf(
      deps,
      orders.filter((id) => covered.includes(id)),
    );
    const to = currentEmail(await correctionsOf(db, order.id), signer);
    return { to, rows, signer, firm: await readAnsweringFirm(deps, order) };
  },
  write: (found, about, deps) => letterOf(deps, found, about),
});

/**
 * One mail links to a person's other notarized documents of the closing. Assigns the person's notices to that mail, so
 * that the person gets one mail.
 * @param linked the orders to whose documents the mail links
 * @param person the person, with the id of the signer for which the mail was queued
 * @returns the documents of these notices
 */
export async function noticesWithLink(
  deps: Pick<Deps, "db" | "rowMac" | "closingsOf">,
  linked: readonly number[],
  person: Person & { id: number },
): Promise<readonly (Titled & { reference: string | null })[]> {
  const { db, rowMac, closingsOf } = deps;
  const closings = await Promise.all(linked.map((id) => closingsOf(db, id)));
  const orders = closings.flat().find((closing) => closing.orders.length > 1)?.orders ?? linked;
  const claim = { mail: `link:${person.id}`, person, linked };
  const covered = await db.transaction((tx) => claimNotices(tx, rowMac, orders, claim));
  return rowsOf(
    deps,
    orders.filter((id) => covered.includes(id) && !linked.includes(id)),
  );
}

type Found = { to: string; rows: readonly Row[]; signer: OrderSigner; firm: MailFirm };

function letterOf({ titleOf }: Deps, { to, rows, signer, firm }: Found, { orderId, n }: Notice): Letter {
  const { language, name } = signer;
  const { untitled, unnamed, greeting, why, documents } = commonWords[language];
  const titleIn = (row: Row) => [titleOf(row), row.reference].find((each) => each && isPlainTitle(each)) ?? untitled;
  // A closing's name often names its people, so an unverified address doesn't get it.
  const [first] = rows;
  const title = first ? titleIn(first) : untitled;
  const ofAll = rows.length > 1 ? `${title} (${documents(rows.length)})` : title;
  const partnerName = nameIn(firm, unnamed);
  const facts = {
    until: "",
    outcome: "Completed",
    askedForPaper: null,
    signers: [],
    reference: null,
    message: null,
    paid: null,
    others: null,
  } as const;
  const {
    subject,
    lines,
    caution = "",
  } = mailWords[language].notarized_notice({ title: ofAll, partnerName, ...facts });
  const [line = "", ...others] = lines.map(sentence);
  const list = rows.length === 1 ? [] : rows.map((row, index) => `${index + 1}. ${titleIn(row)}`);
  return {
    id: `notarized:${orderId}:${n}`,
    to,
    environment: first?.environment ?? "test",
    subject: sentence(subject),
    greeting: greeting(isPlainName(name) ? ` ${name}` : ""),
    lines: [line, ...list, ...others],
    link: null,
    caution,
    why: why(partnerName),
    language,
    firm,
  };
}
