/** The sort order, words and sentences of statements, which pages, PDF files and CSV files share. */
import { outsideWays, wayText } from "../payments/payments.ts";
import { type LineKind, paidByText } from "./documents.ts";
import { balanceCents, heldCents, owedCents } from "./lines.ts";
import type { StatementWithLines } from "./statements.ts";

type Line = StatementWithLines["lines"][number];
type Month = StatementWithLines["statement"];

/** Formats US dollars as `$1,234.50` or `-$5.00`; other currencies with their code, in their smallest unit. */
export function amountText(cents: number, currency: string): string {
  if (currency !== "usd") return `${cents} ${currency.toUpperCase()} (smallest unit)`;
  return `${cents < 0 ? "-" : ""}$${(Math.abs(cents) / 100).toLocaleString("en-US", { minimumFractionDigits: 2 })}`;
}

/**
 * Sorts lines by the firm's file number; lines without one come last. Lines with the same number stay in the order in
 * which they were booked.
 */
export const byFile = (lines: StatementWithLines["lines"]): StatementWithLines["lines"] =>
  [...lines].sort((one, other) => compare(one.reference, other.reference));

/** Lines sorted by file number, each with the balance after that line, in US cents. */
export function ledgerOf({ statement, lines }: StatementWithLines): (Line & { balance: number })[] {
  let balance = statement.sums.opening + statement.sums.corrections;
  return byFile(lines).map((line) => {
    balance += balanceCents(line);
    return { ...line, balance };
  });
}

function compare(one: string | null, other: string | null): number {
  if (one === other) return 0;
  if (one === null || other === null) return one === null ? 1 : -1;
  return one < other ? -1 : 1;
}

/**
 * The words for a line's kind. For a payment that did not pay for its order, or that paid for it again, they say so.
 * For a firm's payment for a loss, they also say how and when the money arrived.
 * @param zone the time zone of the statement
 */
export const lineKind = (line: Line, zone: string): string =>
  line.received
    ? `${receivedWords(line)} ${wayText(line.received)}, for the disputed payment of ${dayText(line.received.paidAt, zone)} (arrived ${dayText(new Date(line.received.receivedOn), "UTC")})`
    : documentKind(line);

/** A short text of the line's kind, for the column of a printed statement. */
export const shortKind = (line: Line): string => (line.received ? kindWords[line.kind] : documentKind(line));

const receivedWords = ({ kind }: Line): string => (kind === "loss_payment" ? "Received" : "Reversed: received");

const dayText = (at: Date, timeZone: string): string =>
  new Intl.DateTimeFormat("en-US", { dateStyle: "medium", timeZone }).format(at);

/**
 * The full words for each payment from the firm for a loss, as notes. The column of a printed statement is too narrow
 * for them.
 */
export const receivedNotes = (lines: readonly Line[], zone: string): string[] =>
  lines.flatMap((line) => (line.received ? [`${line.number}: ${lineKind(line, zone)}.`] : []));

const documentKind = ({ kind, applied, replacesLoss, outside }: Line): string =>
  `${outside ? `${kind === "credit_reversal" ? "Correction: not paid" : "Paid"} back ${outsideWays[outside]}` : kindWords[kind]}${replacesLoss ? ", paid again" : applied ? "" : ", for no order"}`;

/** A line's amount with its sign, so that the lines add up: refunds and losses are negative. */
export const signedCents = ({ kind, amountCents }: Line): number =>
  kind === "credit_note" || kind === "loss" || kind === "loss_payment_reversal" ? -amountCents : amountCents;

const balance = (name: string, cents: number): readonly [string, number] =>
  cents < 0 ? [`${name} that your firm owes`, -cents] : [`${name} in your favor`, cents];

const kindWords: Readonly<Record<LineKind, string>> = {
  receipt: "Payment",
  credit_note: "Refund",
  credit_reversal: "Refund came back",
  loss: "Bank took it back",
  loss_reversal: "Loss reversed",
  loss_payment: "Received",
  loss_payment_reversal: "Reversed",
};

/** A statement's sums with their names, in the printed order. */
export const sumFacts = ({ sums }: Month): (readonly [string, number])[] => [
  balance("Opening balance", sums.opening),
  ...(sums.corrections === 0 ? [] : [balance("Correction of earlier months", sums.corrections)]),
  ["Payments", sums.payments],
  ["Refunds", sums.refunds],
  ...(sums.losses === 0 ? [] : [["Taken back by banks", sums.losses] as const]),
  ["Charges for orders", sums.charges],
  ["Charges credited", sums.credits],
  balance("Closing balance", sums.closing),
  ...(owedCents(sums) === 0
    ? []
    : ([
        ["Held for your firm", heldCents(sums)],
        ["Owed by your firm for payments that banks took back", owedCents(sums)],
      ] as const)),
];

/**
 * The US cents paid, less refunds and losses, for each payer and payment method. A firm can compare each sum with its
 * card's account statement.
 */
export function sumsByPayer(lines: readonly Line[]): (readonly [payer: string, cents: number])[] {
  const sums = new Map<string, number>();
  for (const line of lines)
    if (line.currency === "usd") {
      const payer = paidByText(line);
      sums.set(payer, (sums.get(payer) ?? 0) + signedCents(line));
    }
  return [...sums].sort(([one], [other]) => compare(one, other));
}

/**
 * Sentences about a correction, about money that is held for the firm, and about money that the firm owes. A sum of 0
 * gets no sentence.
 */
export function settlement({ sums, issuer }: Month): string[] {
  const held = heldCents(sums);
  const operator = issuer.name === "" ? "The operator of this service" : issuer.name;
  const text = (cents: number) => amountText(cents, "usd");
  return [
    ...(sums.corrections === 0
      ? []
      : [
          "An earlier statement counted a refund that came back, or money that a bank took back, differently. Closed months stay as they were issued, so the difference is corrected here.",
        ]),
    ...(held > 0
      ? [
          `${text(held)} is held for your firm: payments that came too late or twice or are not owed any more, and refunds that came back. ${operator} returns it to the payer. Where a refund came back, answer the email about it with where the money should go; otherwise your firm need not do anything.`,
        ]
      : []),
    ...(owedCents(sums) > 0
      ? [
          `${text(owedCents(sums))} is owed: banks took payments back, and the price of these orders is still due. It is not charged automatically. ${operator} contacts your firm about how to pay it, and can let the orders be paid again. A check or a wire that arrived has a line of its own. If such an order is refunded instead, nothing more is owed for it.`,
        ]
      : []),
  ];
}

export const monthTitle = ({ month, isClosed, endsAt }: Month): string =>
  `Statement ${month}${isClosed ? "" : endsAt === null ? ", so far" : ", not closed yet"}`;

/** The state of a month in words. */
export const monthState = ({ isClosed, endsAt }: Month): string =>
  isClosed ? "Closed" : endsAt === null ? "Open" : "Ended, not closed yet";
