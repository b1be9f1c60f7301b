import type { Task, Workers } from "../../kernel/platform/workers/task.ts";
import type { BillingDocument, BillingKind } from "./documents.ts";
import type { DrawnPaper } from "./draw-task.ts";
import type { Buyer, Issuer } from "./parties.ts";
import type { StatementWithLines } from "./statements.ts";

const drawing: Task<DrawnPaper, Uint8Array> = {
  name: "draw a paper about money",
  module: import.meta.resolve("./draw-task.ts"),
  limitMs: 60_000,
};

/** Draws a document in a worker. @param holder the firm; workers serve firms round-robin */
export async function drawPaper(workers: Workers, holder: string, input: DrawnPaper): Promise<Buffer> {
  const drawn = await workers.run(drawing, { holder, input });
  return Buffer.from(drawn.buffer, drawn.byteOffset, drawn.length);
}

const names: Readonly<Record<BillingKind, string>> = {
  receipt: "Receipt",
  credit_note: "Credit note",
  credit_reversal: "Reversal of a credit note",
  loss: "Payment returned by the bank",
  loss_reversal: "Return by the bank reversed",
};

/** The words printed before the amount and, for the kinds that people seldom see, the reason for the document. */
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

/** The file name of a document. */
export const paperName = ({ number }: BillingDocument): string => `${number}.pdf`;

/** Formats US dollars as `$1,234.50` or `-$5.00`; other currencies with their code, in their smallest unit. */
function amountText(cents: number, currency: string): string {
  if (currency !== "usd") return `${cents} ${currency.toUpperCase()} (smallest unit)`;
  return `${cents < 0 ? "-" : ""}$${(Math.abs(cents) / 100).toLocaleString("en-US", { minimumFractionDigits: 2 })}`;
}

/** The calendar day of an instant in a time zone, in words. */
const dayText = (at: Date, zone: string): string =>
  new Intl.DateTimeFormat("en-US", { dateStyle: "long", timeZone: zone }).format(at);

const defaultZone = "America/New_York";

/** The lines about the issuer and the buyer. An empty entry of the operator's file is not printed. */
const partyFacts = (issuer: Issuer | null, buyer: Buyer): (readonly [string, string])[] => [
  ...(issuer && issuer.name !== "" ? [["Issued by", [issuer.name, ...issuer.address].join(", ")] as const] : []),
  ...(issuer && issuer.taxId !== "" ? [["Tax number", issuer.taxId] as const] : []),
  ["Issued to", [buyer.name, ...buyer.address].join(", ")],
];

/** The first digits of an order's code. The whole code is not printed, because it opens the client's page. */
const shortOrder = (code: string): string => code.slice(0, 6).toUpperCase();

/** Shortens a text, so that it leaves room for the next column. */
const shortened = (text: string, most = 64): string => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

/**
 * The printed form of a receipt or credit note. A document never changes after it was issued, so neither do its bytes.
 */
export function drawnDocument(document: BillingDocument): DrawnPaper {
  const { kind, number, receiptNumber, environment, orderCode, reference, issuer, buyer, currency } = document;
  const { amountCents, totalCents, isSupplement, discountCents, lines, issuedAt, paidAt, paymentReference } = document;
  const zone = issuer?.zone ?? defaultZone;
  const isReceipt = kind === "receipt";
  const money = (cents: number) => amountText(cents, "usd");
  const amount = amountText(amountCents, currency);
  const title = `${names[kind]} ${number}`;
  const differs = isReceipt && (currency !== "usd" || amountCents !== totalCents);
  return {
    kind: names[kind],
    title,
    facts: [
      ...partyFacts(issuer, buyer),
      ["Date", dayText(issuedAt, zone)],
      ...(isReceipt ? [] : [["For receipt", receiptNumber] as const]),
      [isReceipt ? "Paid on" : "Payment of", dayText(paidAt, zone)],
      ["Order", shortOrder(orderCode)],
      ...(reference === null ? [] : [["Reference", reference] as const]),
      ...(paymentReference === null ? [] : [["Payment", paymentReference] as const]),
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
          [isSupplement ? "Total, on top of the order’s" : "Total of the order", money(totalCents)],
          [amountWords[kind], amount],
        ],
      },
    ],
    notes: [
      ...[reasons[kind] ?? []].flat(),
      ...(differs ? ["The amount that was paid is not the total of the order."] : []),
      ...(issuer && issuer.taxLine !== "" ? [issuer.taxLine] : []),
    ],
    foot: `${title}. Order ${shortOrder(orderCode)}`,
    isTest: environment === "test",
    madeAt: issuedAt,
    data: {
      name: `${kind.replaceAll("_", "-")}.json`,
      content: {
        ...{ format: "signsealship-billing", version: 1, kind, number, receiptNumber, environment },
        ...{ issuedAt: issuedAt.toISOString(), paidAt: paidAt.toISOString(), order: shortOrder(orderCode), reference },
        ...{ amountCents, currency, lines, discountCents, totalCents, issuer, buyer, payment: paymentReference },
      },
    },
  };
}

/**
 * Sorts lines by the firm's file number; lines without one come last. Lines with the same number stay in the order in
 * which they were booked.
 */
export const byFile = (lines: StatementWithLines["lines"]): StatementWithLines["lines"] =>
  [...lines].sort((one, other) => compare(one.reference, other.reference));

function compare(one: string | null, other: string | null): number {
  if (one === other) return 0;
  if (one === null || other === null) return one === null ? 1 : -1;
  return one < other ? -1 : 1;
}

/** The words for a line's kind, with a note when the payment didn't pay for its order. */
export const lineKind = ({ kind, applied }: StatementWithLines["lines"][number]): string =>
  `${lineKinds[kind]}${applied ? "" : ", for no order"}`;

/** A line's amount with its sign, so that the lines add up: money that went back is negative. */
export const signedCents = ({ kind, amountCents }: StatementWithLines["lines"][number]): number =>
  kind === "credit_note" || kind === "loss" ? -amountCents : amountCents;

const balance = (name: string, cents: number): readonly [string, number] =>
  cents < 0 ? [`${name} that your firm owes`, -cents] : [`${name} in your favor`, cents];

const lineKinds: Readonly<Record<BillingKind, string>> = {
  receipt: "Payment",
  credit_note: "Refund",
  credit_reversal: "Refund came back",
  loss: "Bank took it back",
  loss_reversal: "Loss reversed",
};

/** A statement's sums with their names, in the printed order. */
export const sumFacts = ({ sums }: StatementWithLines["statement"]): (readonly [string, number])[] => [
  balance("Opening balance", sums.opening),
  ["Payments", sums.payments],
  ["Refunds", sums.refunds],
  ...(sums.losses === 0 ? [] : [["Taken back by banks", sums.losses] as const]),
  ["Charges for orders", sums.charges],
  ["Charges credited", sums.credits],
  balance("Closing balance", sums.closing),
];

/** The printed form of a statement. @param now printed as the date when the month is still open */
export function drawnStatement(
  { statement, lines }: StatementWithLines,
  { environment, now }: { environment: "live" | "test"; now: Date },
): DrawnPaper {
  const { month, startsAt, endsAt, zone, issuer, buyer, sums } = statement;
  const title = `Statement ${month}${endsAt === null ? ", so far" : ""}`;
  return {
    kind: "Statement",
    title,
    facts: [
      ...partyFacts(issuer, buyer),
      ["From", dayText(startsAt, zone)],
      ["To", endsAt === null ? "The month is still open" : dayText(new Date(endsAt.getTime() - 1), zone)],
      ["Time zone", zone],
    ],
    tables: [
      {
        title: "By file number",
        columns: { Date: 0, File: 95, Order: 225, Number: 275, Kind: 365, Amount: 450 },
        rows: byFile(lines).map((line) => [
          dayText(line.at, zone),
          line.reference === null ? "-" : shortened(line.reference, 24),
          shortOrder(line.orderCode),
          line.number,
          line.applied ? lineKind(line) : `${lineKind(line).split(",")[0]} *`,
          amountText(signedCents(line), line.currency),
        ]),
        sums: sumFacts(statement).map(([label, cents]) => [label, amountText(cents, "usd")] as const),
      },
    ],
    notes: [
      ...(lines.some(({ applied }) => !applied)
        ? ["* Money that came too late or twice. It paid for no order, and is held in your favor until it goes back."]
        : []),
      ...(lines.some(({ currency }) => currency !== "usd") ? ["Only US dollars count in the sums."] : []),
      ...(issuer.taxLine === "" ? [] : [issuer.taxLine]),
    ],
    foot: title,
    isTest: environment === "test",
    madeAt: endsAt ?? now,
    data: {
      name: "statement.json",
      content: {
        ...{ format: "signsealship-statement", version: 1, month, environment, startsAt, endsAt, zone, issuer, buyer },
        ...{
          sums,
          lines: lines.map(({ orderCode, creditedCents: _, ...line }) => ({ ...line, order: shortOrder(orderCode) })),
        },
      },
    },
  };
}
