/** A month's statement as CSV: the complete statement, and the import files for accounting programs. */
import {
  ledgerOf,
  lineKind,
  paidByText,
  payerOf,
  type StatementWithLines,
  signedCents,
} from "../../../orders/billing/billing.ts";
import { shortCode } from "../../ui/format.ts";
import { csv } from "../orders/list/page.ts";

type Line = StatementWithLines["lines"][number];

const headIn = (zone: string): string[] => [
  `Date (${zone})`,
  "File number",
  "Order",
  "Services",
  "Number",
  "Kind",
  "Payment",
  "Refund",
  "Charge",
  "Credit",
  "Currency",
  "Taken back by the bank",
  "Paid by",
  "Amount",
  "Balance",
  "Document",
  "Discount",
  "Payment reference",
];

const dollars = (cents: number): string => (cents / 100).toFixed(2);

/** Formats a day as YYYY-MM-DD, which is the Swedish format. */
const dayIn = (zone: string) => new Intl.DateTimeFormat("sv-SE", { dateStyle: "short", timeZone: zone });

/**
 * One line for each billing document, such as a receipt, between the lines with the opening and the closing balance.
 * Dates are YYYY-MM-DD in the statement's time zone. The amount has a sign; the balance is in US dollars. Programs may
 * rely on the order of the columns, so new columns are added at the end.
 */
export function statementCsv({ statement, lines }: StatementWithLines): string {
  const { startsAt, endsAt, zone, sums } = statement;
  const day = dayIn(zone);
  const balanceRow = (date: string, kind: string, cents: number) => [
    date,
    "",
    "",
    "",
    "",
    kind,
    "",
    "",
    "",
    "",
    "USD",
    "",
    "",
    "",
    dollars(cents),
    "",
    "",
    "",
  ];
  // The last day of the month. `endsAt` itself is already in the next month, so one millisecond is subtracted.
  const lastDay = endsAt === null ? "" : day.format(new Date(endsAt.getTime() - 1));
  return csv([
    headIn(zone),
    balanceRow(day.format(startsAt), "Opening balance", sums.opening),
    ...(sums.corrections === 0
      ? []
      : [balanceRow(day.format(startsAt), "Correction of earlier months", sums.opening + sums.corrections)]),
    ...ledgerOf({ statement, lines }).map((line) => {
      const { at, reference, orderCode, services, number, kind, currency, amountCents, creditedCents, applied } = line;
      const figure = (cents: number) => (currency === "usd" ? dollars(cents) : String(cents));
      // A reversal has a negative amount, in the column of the document that it reverses.
      const amount = figure(kind.endsWith("reversal") ? -amountCents : amountCents);
      // The column Credit has the amounts that reduced an order's price. A reversal of a credit note is not in this
      // column, because the price stays reduced although the refund failed.
      const credit = applied && creditedCents !== 0 ? figure(creditedCents) : "";
      const [isReceipt, isCredit] = [kind === "receipt", kind.startsWith("credit")];
      const isPayment = isReceipt || line.received !== null;
      return [
        day.format(at),
        reference ?? "",
        shortCode(orderCode),
        services,
        number,
        lineKind(line, zone),
        isPayment ? amount : "",
        isCredit ? amount : "",
        isReceipt && applied ? amount : "",
        credit,
        currency.toUpperCase(),
        isPayment || isCredit ? "" : amount,
        paidByText(line),
        figure(signedCents(line)),
        dollars(line.balance),
        line.document ?? "",
        line.discountCents === 0 ? "" : dollars(line.discountCents),
        line.paymentReference ?? "",
      ];
    }),
    balanceRow(lastDay, "Closing balance", sums.closing),
  ]);
}

/** The accounting programs with a separate import file. */
export const importPrograms = { quickbooks: "QuickBooks", xero: "Xero" } as const;
export type ImportProgram = keyof typeof importPrograms;

export const isImportProgram = (name: string): name is ImportProgram => Object.hasOwn(importPrograms, name);

/** The file name for the payments by one payment method, such as `quickbooks-visa-4242-live-2026-12.csv`. */
export function importName({
  program,
  payer,
  environment,
  month,
}: {
  program: ImportProgram;
  payer: string;
  environment: string;
  month: string;
}): string {
  const method = payer
    .replace(/^Firm, /, "")
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .slice(0, 40)
    .replaceAll(/^-|-$/g, "");
  return `${[program, method, environment, month].filter((part) => part !== "").join("-")}.csv`;
}

/**
 * True if the line belongs in the firm's books. It is then in US dollars, and about a charge of the firm's own card or
 * bank account. Checks are left out, because the firm books a check when it writes it.
 */
export const isOwnPayment = (line: Line): boolean =>
  payerOf(line) === "firm" && line.currency === "usd" && line.received === null;

/** QuickBooks rejects many characters outside ASCII, and truncates a description after 250 characters. */
const plain = (text: string): string =>
  text
    .normalize("NFKD")
    .replaceAll(/[^\x20-\x7e]+/g, "")
    .slice(0, 250);

const describe = (line: Line, zone: string): string =>
  plain(
    [
      line.number,
      line.reference ?? `Order ${shortCode(line.orderCode)}`,
      line.document ?? "",
      line.services,
      line.kind === "receipt" ? "" : lineKind(line, zone),
    ]
      .filter((each) => each !== "")
      .join(" - "),
  );

/**
 * The payments by one of the firm's own payment methods, in the import format for a card or bank account. Spent money
 * is negative there, so the sum has the opposite sign of the page's sum for this payment method.
 *
 * Lines with balances are omitted, because the programs would import them as payments. QuickBooks requires three
 * columns with US dates, Xero five columns in this order. There is no byte order mark, because it would become part of
 * the first column's name.
 */
export function importCsv(
  { statement, lines }: StatementWithLines,
  { program, payer }: { program: ImportProgram; payer: string },
): string {
  const { zone, issuer } = statement;
  const day = dayIn(zone);
  const own = lines.filter((line) => isOwnPayment(line) && paidByText(line) === payer);
  const rows = own.map((line) => {
    const [date, amount] = [day.format(line.at), dollars(-signedCents(line))];
    if (program === "xero")
      return [date, amount, plain(issuer.name), describe(line, zone), line.reference ?? line.number];
    const [year = "", month = "", dayOfMonth = ""] = date.split("-");
    return [`${month}/${dayOfMonth}/${year}`, describe(line, zone), amount];
  });
  const head =
    program === "xero" ? ["Date", "Amount", "Payee", "Description", "Reference"] : ["Date", "Description", "Amount"];
  return csv([head, ...rows]).replace("\uFEFF", "");
}
