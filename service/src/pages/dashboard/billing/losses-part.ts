/** The list of a firm's payments that banks reversed, with the checks and wires that the firm sent instead. */
import { type OpenLoss, wayText } from "../../../orders/payments/payments.ts";
import { notice } from "../../ui/components.ts";
import { day, dayIn, money, shortCode } from "../../ui/format.ts";
import { records } from "../../ui/records.ts";
import { type Html, html } from "../../ui/render.ts";

/**
 * The checks and wires that were booked for a lost payment, including reversed ones: `$40.00 by check 1234, arrived Nov
 * 29, 2026`.
 */
export const bookingTexts = ({ bookings }: Pick<OpenLoss, "bookings">): string[] =>
  bookings.map(
    ({ cents, receivedOn, reversedAt, reason, ...by }) =>
      `${money(cents)} ${wayText(by)}, arrived ${day(new Date(receivedOn))}${reversedAt === null ? "" : `; reversed ${day(new Date(reversedAt))}: ${reason}`}`,
  );

/**
 * A notice that a record was altered in the database. `title` says what the page leaves out for this reason.
 * @param effect the consequences, as sentences
 */
export const alteredNotice = (title: string, effect = ""): Html =>
  notice(
    "stopped",
    title,
    `A record was altered in the database. Contact the operator of this service, who has to restore the record. ${effect}`.trim(),
  );

/** True if the firm still owes money for the lost payment, or if a check or wire was ever booked for it. */
const isShown = ({ openCents, bookings }: OpenLoss): boolean => openCents > 0 || bookings.length > 0;

/**
 * True if the page shows lost payments, or the notice that a record of them was altered. `losses` is null for an
 * altered record.
 */
export const hasLosses = (losses: readonly OpenLoss[] | null): boolean => losses === null || losses.some(isShown);

const maxListed = 50;

/** The lost payments of a firm: first those with a debt, then the others, each newest first. */
export function lossesPart(losses: readonly OpenLoss[] | null, zone: string): Html {
  if (losses === null) return alteredNotice("These payments can’t be listed");
  const shown = losses.filter(isShown).reverse();
  const listed = [
    ...shown.filter(({ openCents }) => openCents > 0),
    ...shown.filter(({ openCents }) => openCents === 0),
  ];
  const owed = losses.reduce((sum, { openCents }) => sum + openCents, 0);
  const owedText =
    owed > 0
      ? html`Your firm owes <strong>${money(owed)}</strong>.`
      : "Your firm owes nothing for payments that banks took back.";
  return html`<div class="card-parts"><p>${owedText} A check or a wire is listed here, and on the statement, once the operator of this service has booked it.</p>
${records(
  "Payments that banks took back",
  [
    { label: "Order" },
    { label: "File number" },
    { label: "Payment of" },
    { label: "Taken back", number: true },
    { label: "Received from your firm" },
    { label: "Still owed", number: true },
  ],
  listed
    .slice(0, maxListed)
    .map((loss) => [
      html`<a class="keep" href="/dashboard/orders/${loss.orderCode}">${shortCode(loss.orderCode)}</a>`,
      loss.reference ?? "None",
      dayIn(loss.paidAt, zone),
      money(loss.lostCents),
      loss.bookings.length === 0
        ? "Nothing yet"
        : html`${bookingTexts(loss).map((text, index) => html`${index > 0 && html`<br>`}${text}`)}`,
      money(loss.openCents),
    ]),
)}${listed.length > maxListed && html`<p class="quiet">Only ${maxListed} of ${listed.length} are listed. The statements have all of them.</p>`}</div>`;
}
