import { minuteMs } from "../../kernel/platform/clock.ts";
import { shortCode } from "../../kernel/platform/text.ts";
import { ownBuffer, type Task, type Workers } from "../../kernel/platform/workers/task.ts";
import type { Payer } from "../order/order.ts";
import { defaultZone, methodName, outsideWays } from "../payments/payments.ts";
import { type BillingDocument, type BillingKind, type Paid, paidByText, payerOf } from "./documents.ts";
import type { DrawnPaper } from "./draw-task.ts";
import type { Buyer, Issuer } from "./parties.ts";
import {
  amountText,
  byFile,
  monthTitle,
  receivedNotes,
  settlement,
  shortKind,
  signedCents,
  sumFacts,
} from "./statement-text.ts";
import type { StatementWithLines } from "./statements.ts";

const drawing: Task<DrawnPaper, Uint8Array> = {
  name: "draw a paper about money",
  module: import.meta.resolve("./draw-task.ts"),
  limitMs: minuteMs,
};

/** Draws a document in a worker. @param holder the firm; workers serve firms round-robin */
export async function drawPaper(workers: Workers, holder: string, input: DrawnPaper): Promise<Buffer> {
  return ownBuffer(await workers.run(drawing, { holder, input }));
}

const names: Readonly<Record<BillingKind, string>> = {
  receipt: "Receipt",
  credit_note: "Credit note",
  credit_reversal: "Reversal of a credit note",
  loss: "Payment returned by the bank",
  loss_reversal: "Return by the bank reversed",
};

/** The words that a document of each kind prints before its amount. */
const amountWords: Readonly<Record<BillingKind, string>> = {
  receipt: "Paid",
  credit_note: "Returned",
  credit_reversal: "Not returned",
  loss: "Taken back by the bank",
  loss_reversal: "Not a loss any more",
};
const reasons: Readonly<Partial<Record<BillingKind, string>>> = {
  credit_reversal:
    "The money came back after the credit note: the refund failed, or the payer’s bank decided again. It is held in your favor.",
  loss: "The payer’s bank took the payment back. This is not a refund: the price of the order is still owed.",
  loss_reversal: "The payer’s bank decided again, or a credit note takes the place of the loss.",
};

/**
 * The file name of a document: its number and, with characters that every file system accepts, the order's reference.
 */
export function paperName({ number, reference }: BillingDocument): string {
  const plain = (reference ?? "").replaceAll(/[^\p{L}\p{N}]+/gu, "-").replaceAll(/^-|-$/g, "");
  return `${[number, plain.slice(0, 40)].filter((part) => part !== "").join(" ")}.pdf`;
}

/** The calendar day of an instant in a time zone, in words. */
const dayText = (at: Date, zone: string): string =>
  new Intl.DateTimeFormat("en-US", { dateStyle: "long", timeZone: zone }).format(at);

/** The lines about the issuer and the buyer. An empty entry of the operator's file is not printed. */
const partyFacts = (issuer: Issuer | null, buyer: Buyer): (readonly [string, string])[] => [
  ...(issuer && issuer.name !== "" ? [["Issued by", [issuer.name, ...issuer.address].join(", ")] as const] : []),
  ...(issuer && issuer.taxId !== "" ? [["Tax number", issuer.taxId] as const] : []),
  ["Issued to", [buyer.name, ...buyer.address].join(", ")],
];

/** Shortens a text, so that it leaves room for the next column. */
const shortened = (text: string, max = 64): string => (text.length > max ? `${text.slice(0, max - 1)}…` : text);

/** Shortens the payer's text, but keeps the last digits, which distinguish two accounts at the same bank. */
function payerShortened(text: string): string {
  const digits = / •••• \d{4}$/.exec(text)?.[0] ?? "";
  return shortened(text.slice(0, text.length - digits.length), 23 - digits.length) + digits;
}

/**
 * How the money of a failed refund was paid back outside the processor. On a credit reversal, the text says that the
 * money was not paid back in this way.
 */
const paidBackFact = ({ kind, outside }: BillingDocument): (readonly [string, string])[] =>
  outside === null ? [] : [[kind === "credit_reversal" ? "Not paid back" : "Paid back", outsideWays[outside]]];

/** A document's values, as programs read them in the file that the printed form carries. */
const documentContent = (document: BillingDocument) => ({
  format: "signsealship-billing",
  version: 1,
  kind: document.kind,
  number: document.number,
  receiptNumber: document.receiptNumber,
  environment: document.environment,
  issuedAt: document.issuedAt.toISOString(),
  paidAt: document.paidAt.toISOString(),
  order: shortCode(document.orderCode),
  reference: document.reference,
  amountCents: document.amountCents,
  currency: document.currency,
  lines: document.lines,
  discountCents: document.discountCents,
  totalCents: document.totalCents,
  issuer: document.issuer,
  buyer: document.buyer,
  payment: document.paymentReference,
  ...paidData(document),
  outside: document.outside ?? undefined,
});

/**
 * The printed form of a receipt or of a document that corrects one. The bytes change only if `documentTitle` changes,
 * because somebody corrected the title, the file was deleted, or the catalog has a new title.
 * @param documentTitle the name of the order's document; null when it has none or it was deleted
 */
export function drawnDocument(document: BillingDocument, documentTitle: string | null): DrawnPaper {
  const { kind, number, receiptNumber, environment, orderCode, reference, issuer, buyer, currency } = document;
  const { amountCents, totalCents, isSupplement, replacesLoss, discountCents, lines, issuedAt, paidAt } = document;
  const zone = document.buyer.zone ?? issuer?.zone ?? defaultZone;
  const isReceipt = kind === "receipt";
  const money = (cents: number) => amountText(cents, "usd");
  const amount = amountText(amountCents, currency);
  const title = `${names[kind]} ${number}`;
  const named = documentTitle === null ? null : shortened(documentTitle);
  const totalName = replacesLoss
    ? "Total to pay again"
    : isSupplement
      ? "Total, in addition to the order’s"
      : "Total of the order";
  const differs = isReceipt && (currency !== "usd" || amountCents !== totalCents);
  return {
    kind: names[kind],
    title,
    about: [reference, named].filter((part) => part !== null),
    facts: [
      ...partyFacts(issuer, buyer),
      ["Date", dayText(issuedAt, zone)],
      ...(isReceipt ? [] : [["For receipt", receiptNumber] as const]),
      [isReceipt ? "Paid on" : "Payment of", dayText(paidAt, zone)],
      ["Paid by", paidByText({ ...document, outside: null })],
      ["Time zone", zone],
      ["Order", shortCode(orderCode)],
      ...(reference === null ? [] : [["Reference", reference] as const]),
      ...(named === null ? [] : [["Document", named] as const]),
      ...paidBackFact(document),
      ...(document.paymentReference === null ? [] : [["Payment", document.paymentReference] as const]),
    ],
    tables: [
      {
        title: isReceipt ? "Ordered" : "The order that was paid",
        columns: { Service: 0, "Amount (USD)": 400 },
        rows: [
          ...lines.map(({ label, amountCents: cents }) => [shortened(label), money(cents)]),
          ...(discountCents === 0 ? [] : [["Discount", money(-discountCents)]]),
        ],
        sums: [
          [totalName, money(totalCents)],
          [amountWords[kind], amount],
        ],
      },
    ],
    notes: [
      ...[reasons[kind] ?? []].flat(),
      ...(differs ? ["The amount that was paid is not the total of the order."] : []),
      ...(issuer && issuer.taxLine !== "" ? [issuer.taxLine] : []),
    ],
    foot: `${title}. ${reference ?? `Order ${shortCode(orderCode)}`}`,
    isTest: environment === "test",
    createdAt: issuedAt,
    data: {
      name: `${kind.replaceAll("_", "-")}.json`,
      content: documentContent(document),
    },
  };
}

/** The payer and the firm's payment method, as programs read them. */
export const paidData = (paid: Paid): { paidBy: Payer; method: string | null } => ({
  paidBy: payerOf(paid),
  method: paid.method && methodName(paid.method),
});

/** The printed form of a statement. @param now the creation date in the file while the month is not closed */
export function drawnStatement(
  { statement, lines }: StatementWithLines,
  { environment, now }: { environment: "live" | "test"; now: Date },
): DrawnPaper {
  const { month, startsAt, endsAt, isClosed, zone, issuer, buyer, sums } = statement;
  const title = monthTitle(statement);
  const short = new Intl.DateTimeFormat("en-US", { dateStyle: "medium", timeZone: zone });
  return {
    kind: "Statement",
    title,
    about: [buyer.name],
    facts: [
      ...partyFacts(issuer, buyer),
      ["From", dayText(startsAt, zone)],
      ["To", endsAt === null ? "The month is still open" : dayText(new Date(endsAt.getTime() - 1), zone)],
      ["Time zone", zone],
    ],
    tables: [
      {
        title: "By file number",
        columns: { Date: 0, File: 60, Document: 126, Number: 196, Kind: 278, "Paid by": 360, Amount: 462 },
        rows: byFile(lines).map((line) => [
          short.format(line.at),
          line.reference === null ? "-" : shortened(line.reference, 14),
          line.document === null ? `Order ${shortCode(line.orderCode)}` : shortened(line.document, 15),
          line.number,
          line.applied || line.replacesLoss ? shortKind(line) : `${shortKind(line).split(",")[0]} *`,
          payerShortened(paidByText(line)),
          amountText(signedCents(line), line.currency),
        ]),
        sums: sumFacts(statement).map(([label, cents]) => [label, amountText(cents, "usd")] as const),
      },
    ],
    notes: [
      ...receivedNotes(byFile(lines), zone),
      ...settlement(statement),
      ...(lines.some(({ applied, replacesLoss }) => !applied && !replacesLoss)
        ? ["* Money that came too late or twice, and paid for no order."]
        : []),
      ...(lines.some(({ currency }) => currency !== "usd") ? ["Only US dollars count in the sums."] : []),
      ...(issuer.taxLine === "" ? [] : [issuer.taxLine]),
    ],
    foot: title,
    isTest: environment === "test",
    createdAt: isClosed && endsAt ? endsAt : now,
    data: {
      name: "statement.json",
      content: {
        format: "signsealship-statement",
        version: 1,
        month,
        environment,
        startsAt,
        endsAt,
        zone,
        issuer,
        buyer,
        // JSON omits undefined members, so a statement without corrections doesn't contain this sum.
        sums: { ...sums, corrections: sums.corrections || undefined },
        lines: lines.map(({ orderCode, payBy, method, simulated, ...rest }) => {
          const { creditedCents: _, document: __, discountCents: ___, paymentReference: ____, ...line } = rest;
          return {
            ...line,
            replacesLoss: line.replacesLoss || undefined,
            outside: line.outside ?? undefined,
            received: line.received ?? undefined,
            ...paidData({ payBy, method, simulated }),
            order: shortCode(orderCode),
          };
        }),
      },
    },
  };
}
