import { type Environment, mayUseLive, type Principal } from "../../../kernel/identity/identity.ts";
import {
  type buyerOf,
  buyerZones,
  ledgerOf,
  lineKind,
  monthState,
  monthTitle,
  paidByText,
  type StatementWithLines,
  settlement,
  signedCents,
  sumFacts,
  sumsByPayer,
} from "../../../orders/billing/billing.ts";
import type { OpenLoss } from "../../../orders/payments/payments.ts";
import { card, emptyState, facts, pageHead } from "../../ui/components.ts";
import { money, moneyIn, shortCode } from "../../ui/format.ts";
import { errorSummary, field, select, textArea } from "../../ui/forms/fields.ts";
import type { FormValues } from "../../ui/forms/form-body.ts";
import { records } from "../../ui/records.ts";
import { type Html, html } from "../../ui/render.ts";
import { hasLosses, lossesPart } from "../billing/losses-part.ts";
import { testClockDates } from "../test-clock.ts";
import { importPrograms, isOwnPayment } from "./files.ts";

const path = "/dashboard/statements";

type Statement = StatementWithLines["statement"];

type StatementsView = {
  principal: Principal;
  /** The statements of the months, oldest first. The last month is still open. */
  statements: readonly Statement[];
  /** The result of a search for a file number: the months, and how many lines match in each. Null without a search. */
  found: { file: string; months: readonly (Pick<Statement, "month"> & { matches: number })[] } | null;
  buyer: Awaited<ReturnType<typeof buyerOf>>;
  /** The firm's payments of which banks took money back; null if a record about one was altered in the database. */
  losses: readonly OpenLoss[] | null;
  /** The service's time zone, which applies to firms that have not chosen one. */
  serviceZone: string;
  error?: string;
  typed?: FormValues;
};

/** The month so far, the earlier months, and the firm's name and postal address on receipts. */
export function statementsBody(view: StatementsView): Html {
  const { statements, losses, error } = view;
  const open = statements.at(-1);
  return html`${pageHead("Statements", "What your firm’s orders cost. Each figure is a confirmed payment or refund.")}
${errorSummary(error)}
<div class="panels">
${open && card("this-month", `This month so far (${open.month}, ${open.zone})`, sumsPart(open))}
${open && hasLosses(losses) && card("losses", "Payments that banks took back", lossesPart(losses, open.zone))}
${card("statements", "Statements", html`<div class="card-parts">${searchPart(view)}${months(statements)}${view.principal.environment === "test" && testClockDates}</div>`)}
${card("address", "Name, address and time zone on receipts", addressForm(view))}
</div>`;
}

const findForm = (action: string, file: string, clear: Html | false): Html =>
  html`<form class="form" method="get" action="${action}">
${field({ name: "file", label: "Find a file number", required: true, maxLength: 100, value: file, autocomplete: "off" })}
<div class="form-actions"><button type="submit" class="quiet-button">Find</button>${clear}</div></form>`;

/** The form that finds the months with a given file number. */
function searchPart({ found, statements }: StatementsView): Html | false {
  if (statements.every(({ sums }) => sums.payments === 0)) return false;
  const hits = [...(found?.months ?? [])].reverse().filter(({ matches }) => matches > 0);
  const link = ({ month, matches }: (typeof hits)[number]) =>
    html`<li><a href="${path}/${month}?${new URLSearchParams({ file: found?.file ?? "" })}#lines">${month}</a>: ${matches === 1 ? "1 line" : `${matches} lines`}</li>`;
  return html`${findForm(`${path}#statements`, found?.file ?? "", found !== null && html` <a href="${path}#statements">All months</a>`)}
${found && html`<div role="status">${hits.length === 0 ? html`<p>No month has “${found.file}” in a file number.</p>` : html`<p>“${found.file}” is in the file numbers of these months:</p><ul>${hits.map(link)}</ul>`}</div>`}`;
}

const sumsPart = (statement: Statement): Html =>
  html`<div class="card-parts">${facts(sumFacts(statement).map(([label, cents]) => [label, money(cents)] as const))}
${settlement(statement).map((sentence) => html`<p>${sentence}</p>`)}</div>`;

const files = (month: string): Html =>
  html`<a href="${path}/${month}/pdf" download>PDF<span class="visually-hidden"> of ${month}</span></a> <a href="${path}/${month}/csv" download>CSV<span class="visually-hidden"> of ${month}</span></a>`;

function months(statements: readonly Statement[]): Html {
  // True if the table needs the column of money that banks took back. Without the column, the amounts of a month with a
  // loss would not add up.
  const hasLosses = statements.some(({ sums: { losses } }) => losses !== 0);
  return statements.length <= 1 && statements.every((each) => each.sums.payments === 0)
    ? emptyState("Nothing was paid yet", "A month is closed on the 1st of the next one, and then never changes.")
    : records(
        "Statements, newest first",
        [
          { label: "Month" },
          { label: "State" },
          { label: "Paid", number: true },
          { label: "Returned", number: true },
          ...(hasLosses ? [{ label: "Taken back by banks", number: true }] : []),
          { label: "Closing balance", number: true },
          { label: "Save" },
        ],
        [...statements]
          .reverse()
          .map((each) => [
            html`<a href="${path}/${each.month}">${each.month}</a>`,
            monthState(each),
            money(each.sums.payments),
            money(each.sums.refunds),
            ...(hasLosses ? [money(each.sums.losses)] : []),
            money(each.sums.closing),
            files(each.month),
          ]),
      );
}

function addressForm({ principal, buyer, serviceZone, typed = {} }: StatementsView): Html {
  const name = buyer?.name ?? principal.firmName;
  const address = buyer?.address.join("\n") ?? "";
  const isOwner = principal.member?.role === "owner" && (!principal.liveEnabled || mayUseLive(principal));
  if (!isOwner)
    return html`${facts([
      ["Name", name],
      ["Address", address === "" ? "None" : address.replaceAll("\n", ", ")],
      ["Time zone", buyer?.zone ?? `${serviceZone} (the service’s)`],
    ])}<p class="quiet">Only owners of the firm can change this.</p>`;
  const zone = typed["zone"] ?? buyer?.zone ?? "";
  const listed = [...new Set([...buyerZones, ...(buyer?.zone === undefined ? [] : [buyer.zone])])];
  const zones = [
    { value: "", label: `The service’s (${serviceZone})` },
    ...listed.map((each) => ({ value: each, label: each })),
  ];
  return html`<div class="card-parts"><p>Receipts, credit notes and statements have it from now on. Earlier ones stay as they are. Months begin and end in your time zone; the open month begins where the last closed one ended. Date fields of documents to sign are the day in it, too.</p>
<form class="form" method="post" action="${path}/address">
${field({ name: "name", label: "Name on receipts", required: true, maxLength: 100, value: typed["name"] ?? name, autocomplete: "organization" })}
${textArea({ name: "address", label: "Address", rows: 4, maxLength: 620, value: typed["address"] ?? address, hint: "At most 6 lines." })}
${select({ name: "zone", label: "Time zone", value: zone, options: zones })}
<div class="form-actions"><button type="submit" class="quiet-button">Save</button></div>
</form></div>`;
}

/**
 * Links to the files with which accounting programs import the payments by `payer`. False if `payer` is not one of the
 * firm's own cards or bank accounts, or paid nothing in this month.
 */
const imports = ({ statement: { month }, lines }: StatementWithLines, payer: string): Html | false =>
  lines.some((line) => isOwnPayment(line) && paidByText(line) === payer) &&
  html`${Object.entries(importPrograms).map(
    ([program, name]) =>
      html` <a href="${path}/${month}/import/${program}?payer=${encodeURIComponent(payer)}" download>For ${name}<span class="visually-hidden">: ${payer}</span></a>`,
  )}`;

/** How many statement lines a page shows. On a phone each line is a card, so a whole busy month would be very long. */
const linesOnPage = 25;

const minToSearch = 5;

/** Selects the lines of a month's statement that the page shows. */
export type MonthPage = {
  /** The number of the page, from 1; null for all lines on one page. */
  page: number | null;
  /** Only lines whose file number contains this text are shown; empty for all. */
  file: string;
};

const wholeMonth: MonthPage = { page: null, file: "" };

/** The statement of one month, with its lines by file number. */
export function monthBody(found: StatementWithLines, environment: Environment, shown: MonthPage = wholeMonth): Html {
  const { statement, lines } = found;
  const { month, zone } = statement;
  return html`${pageHead(monthTitle(statement), `${monthState(statement)}. Dates are those of ${zone}.`, html`<p class="room-links"><a href="${path}">All statements</a>${files(month)}</p>`)}
${environment === "test" && testClockDates}<div class="panels">
${card("sums", "Sums", sumsPart(statement))}
${
  lines.length > 0 &&
  card(
    "payers",
    "By payer",
    html`<div class="card-parts"><p class="form-note">Payments minus refunds and what banks took back.
Compare the sum of your firm’s card or bank account with the statement of that card or account.
The files for accounting programs have the payments of one such account, and money that was spent is negative.</p>
${facts(sumsByPayer(lines).map(([payer, cents]) => [payer, html`${money(cents)}${imports(found, payer)}`] as const))}</div>`,
  )
}
${card(
  "lines",
  "By file number",
  lines.length === 0
    ? emptyState("Nothing was booked", "Nothing was paid or refunded in this month.")
    : html`<div class="card-parts"><p class="form-note">The balance begins with ${money(statement.sums.opening + statement.sums.corrections)}.
A payment for an order does not change the balance, and neither does its refund.
This list has only paid orders; <a href="/dashboard/orders">Orders</a> has the others.</p>${linesPart(found, shown)}</div>`,
)}
</div>`;
}

/** The lines of the page, with links to the other pages. */
function linesPart(found: StatementWithLines, { page, file }: MonthPage): Html {
  const { month, zone } = found.statement;
  const isShort = found.lines.length <= linesOnPage;
  const wanted = file.toLowerCase();
  const ledger = ledgerOf(found).filter(({ reference }) => (reference ?? "").toLowerCase().includes(wanted));
  const pages = Math.max(1, Math.ceil(ledger.length / linesOnPage));
  const at = page === null ? null : Math.min(Math.max(page, 1), pages);
  const first = at === null ? 0 : (at - 1) * linesOnPage;
  const lines = at === null ? ledger : ledger.slice(first, first + linesOnPage);
  const to = (target: number | "all") =>
    `${path}/${month}?${new URLSearchParams({ ...(file !== "" && { file }), page: `${target}` })}#lines`;
  const before = at !== null && at > 1 && html`<a rel="prev" href="${to(at - 1)}">Previous page</a>`;
  const after = at !== null && at < pages && html`<a rel="next" href="${to(at + 1)}">Next page</a>`;
  const pager = (label: string) =>
    at !== null &&
    pages > 1 &&
    html`<nav class="pager" aria-label="${label}">${before}${after}<a href="${to("all")}">All on one page, to print</a></nav>`;
  const find =
    found.lines.length >= minToSearch &&
    findForm(
      `${path}/${month}#lines`,
      file,
      file !== "" && html` <a href="${path}/${month}#lines">All file numbers</a>`,
    );
  const linesShown = `Lines ${first + 1} to ${first + lines.length} of ${ledger.length}${file === "" ? "" : ` with “${file}” in their file number`}.`;
  const range =
    (!isShort || file !== "") &&
    html`<p role="status">${ledger.length === 0 ? `No line has “${file}” in its file number.` : linesShown}</p>`;
  const inPages = at === null && !isShort && html`<p><a href="${to(1)}">In pages of ${linesOnPage}</a></p>`;
  return html`${find}${range}${inPages}${pager("Pages of lines")}${lines.length > 0 && linesTable(lines, zone)}${lines.some(({ document }) => document === null) && deletedNames}${pager("Pages of lines, below")}`;
}

const deletedNames = html`<p class="form-note">A document’s name is shown as long as the document is kept. After that, the order and its file number say which one it was.</p>`;

/** The text of a table cell. A short text wraps only on a phone. */
const unbroken = (text: string): Html => html`<span${text.length <= 14 && html` class="keep"`}>${text}</span>`;

function linesTable(lines: ReturnType<typeof ledgerOf>, zone: string): Html {
  const day = new Intl.DateTimeFormat("en-US", { dateStyle: "medium", timeZone: zone });
  return records(
    "Receipts and credit notes, by file number",
    [
      { label: "File number" },
      { label: "Date" },
      { label: "Document and order" },
      { label: "Services" },
      { label: "Number and kind" },
      { label: "Paid by" },
      { label: "Amount", number: true },
      { label: "Balance", number: true },
    ],
    lines.map((line) => [
      line.reference === null ? "None" : unbroken(line.reference),
      unbroken(day.format(line.at)),
      html`${line.document !== null && html`${line.document}<br>`}<a class="keep" href="/dashboard/orders/${line.orderCode}">${shortCode(line.orderCode)}</a>`,
      line.services,
      html`${line.received ? unbroken(line.number) : html`<a class="keep" href="/dashboard/orders/${line.orderCode}/receipts/${line.number}" download>${line.number}</a>`}<br>${lineKind(line, zone)}`,
      paidByText(line),
      moneyIn(signedCents(line), line.currency),
      money(line.balance),
    ]),
  );
}
