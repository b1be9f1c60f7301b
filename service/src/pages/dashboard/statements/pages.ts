import type { FastifyInstance } from "fastify";
import { requireBilling } from "../../../firms/members/members.ts";
import { principalOf } from "../../../kernel/http/authentication.ts";
import type { BillingDeps } from "../../../orders/billing/billing.ts";
import {
  buyerOf,
  drawnStatement,
  drawPaper,
  ledgerOf,
  lineKind,
  paidByText,
  type StatementWithLines,
  setBuyer,
  signedCents,
  statementOf,
  statementsOf,
} from "../../../orders/billing/billing.ts";
import { done } from "../../ui/flash-messages.ts";
import { type PageCall, pageRoute } from "../../ui/page/route.ts";
import { csv } from "../orders/list/page.ts";
import { type DashboardFrame, dashboardPage } from "../page-shell.ts";
import { monthBody, statementsBody } from "./body.ts";

const path = "/dashboard/statements";

/**
 * The firm's statements, and the name and address on its receipts. Only members with the right to see billing get them.
 */
export function statementPages(
  forms: FastifyInstance,
  { frame, billing }: { frame: DashboardFrame; billing: BillingDeps },
): void {
  const show = async ({ request, form: typed }: PageCall, error?: string): Promise<string> => {
    const principal = requireBilling(principalOf(request));
    const statements = await statementsOf(billing, principal);
    const buyer = await buyerOf(billing.db, principal.partnerId);
    const body = statementsBody({ principal, statements, buyer, ...(error !== undefined && { error, typed }) });
    return dashboardPage(frame, request, { title: "Statements", section: "statements", body });
  };
  pageRoute(forms, frame, { url: path, handle: (call) => show(call) });
  pageRoute(forms, frame, {
    url: `${path}/address`,
    method: "POST",
    policy: "partner-write",
    refused: show,
    handle: async ({ form: { name = "", address = "" }, request }) => {
      await setBuyer(billing, principalOf(request), { name, address });
      return done(path, "billing-address-saved");
    },
  });
  pageRoute(forms, frame, {
    url: `${path}/:month`,
    handle: async ({ params: { month }, request }) => {
      const body = monthBody(await statementOf(billing, requireBilling(principalOf(request)), month));
      return dashboardPage(frame, request, { title: `Statement ${month}`, section: "statements", body, wide: true });
    },
  });
  pageRoute(forms, frame, {
    url: `${path}/:month/pdf`,
    handle: async ({ params: { month }, request }) => {
      const principal = requireBilling(principalOf(request));
      const { environment, partnerId } = principal;
      const found = await statementOf(billing, principal, month);
      const drawn = drawnStatement(found, { environment, now: billing.clock() });
      return { pdf: await drawPaper(billing.workers, partnerId, drawn), name: `statement-${environment}-${month}.pdf` };
    },
  });
  pageRoute(forms, frame, {
    url: `${path}/:month/csv`,
    handle: async ({ params: { month }, request }) => {
      const principal = requireBilling(principalOf(request));
      const found = await statementOf(billing, principal, month);
      const name = `statement-${principal.environment}-${month}.csv`;
      return { file: statementCsv(found), type: "text/csv; charset=utf-8", name };
    },
  });
}

const headIn = (zone: string): string[] => [
  ...[`Date (${zone})`, "File number", "Order", "Services", "Number", "Kind", "Payment", "Refund", "Charge", "Credit"],
  ...["Currency", "Taken back by the bank", "Paid by", "Amount", "Balance"],
];

/**
 * One line for each document, between a line with the opening balance and one with the closing balance, for accounting
 * programs. Dates are YYYY-MM-DD in the statement's time zone. The amount has a sign; the balance is in US dollars.
 */
function statementCsv({ statement, lines }: StatementWithLines): string {
  const { startsAt, endsAt, zone, sums } = statement;
  // In Swedish, a date is formatted as YYYY-MM-DD.
  const day = new Intl.DateTimeFormat("sv-SE", { dateStyle: "short", timeZone: zone });
  const dollars = (cents: number) => (cents / 100).toFixed(2);
  const balanceRow = (date: string, kind: string, cents: number) => [
    ...[date, "", "", "", "", kind, "", "", "", "", "USD", "", "", "", dollars(cents)],
  ];
  // The last instant of the month, since its end belongs to the next one.
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
      // A reversal is a negative amount in the column of the document that it reverses.
      const amount = figure(kind.endsWith("reversal") ? -amountCents : amountCents);
      // When a refund fails, its credit note is reversed, but the price stays credited. So the reversal is in the
      // column Refund and not in the column Credit.
      const credit = applied && creditedCents !== 0 ? figure(creditedCents) : "";
      const [isReceipt, isCredit] = [kind === "receipt", kind.startsWith("credit")];
      return [
        ...[day.format(at), reference ?? "", orderCode.slice(0, 6).toUpperCase(), services, number, lineKind(line)],
        ...[isReceipt ? amount : "", isCredit ? amount : ""],
        ...[isReceipt && applied ? amount : "", credit, currency.toUpperCase()],
        ...[isReceipt || isCredit ? "" : amount, paidByText(line), figure(signedCents(line)), dollars(line.balance)],
      ];
    }),
    balanceRow(lastDay, "Closing balance", sums.closing),
  ]);
}
