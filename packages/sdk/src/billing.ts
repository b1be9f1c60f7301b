import { path, type Transport } from "./transport.ts";

/**
 * The kinds of documents about money. A receipt is for a payment, a credit note for a refund, and a loss for a payment
 * that the bank took back. A reversal cancels a credit note or a loss. More kinds may be added.
 */
type BillingKind = "receipt" | "credit_note" | "credit_reversal" | "loss" | "loss_reversal";

/**
 * The kinds of a statement's lines. A loss payment is money that the firm paid outside the processor, such as by check,
 * for a lost payment. A loss payment reversal cancels a loss payment.
 */
type LineKind = BillingKind | "loss_payment" | "loss_payment_reversal";

/** The payer and the payment method of a receipt or of a statement's line. */
type Payer = {
  paidBy: "client" | "firm";
  /**
   * The firm's card or bank account, such as `Visa •••• 4242`. Null when neither was charged, for example because
   * somebody paid on the payment page.
   */
  method: string | null;
};

/** A receipt, credit note, loss or reversal of an order. */
export type OrderReceipt = Payer & {
  /** Numbered without gaps for each firm, environment and calendar year: `R-2026-00017`, `CN-2026-00002`. */
  number: string;
  kind: BillingKind;
  /** The number of the receipt whose money was refunded or lost. A receipt has its own number here. */
  receiptNumber: string;
  /** The amount paid or returned, in the smallest unit of the currency. */
  amountCents: number;
  /** The ISO 4217 code of the currency, in lowercase: `usd`. */
  currency: string;
  issuedAt: string;
};

export type OrderReceipts = { receipts: OrderReceipt[]; requestId: string };

/** The sums of a month, in US cents, computed from payments and refunds. */
export type BillingStatement = {
  /** The month, such as `2026-11`, in the time zone of the statement. */
  month: string;
  /** The figures of a closed month never change. */
  status: "open" | "closed";
  startsAt: string;
  /** The end of the month; null until the month is over. */
  endsAt: string | null;
  timeZone: string;
  /**
   * The sum of the errors in the closing balances of earlier months that are already closed; 0 in nearly all months.
   */
  correctionsCents: number;
  /**
   * The closing balance of the month before: the money that the service holds for the firm, less the money that the
   * firm owes.
   */
  openingCents: number;
  paymentsCents: number;
  refundsCents: number;
  /** Payments that banks took back. */
  lossesCents: number;
  chargesCents: number;
  creditsCents: number;
  /**
   * The balance at the end of the month: `openingCents + correctionsCents + paymentsCents - refundsCents - lossesCents
   * - (chargesCents - creditsCents)`.
   */
  closingCents: number;
  /** `closingCents + owedCents`: money that the service holds for the firm at the end of the month. */
  heldCents: number;
  /** The amount that the firm owes at the end of the month for orders whose payments banks took back. */
  owedCents: number;
};

export type BillingStatements = { statements: BillingStatement[]; requestId: string };

/** Money that the firm paid outside the processor for a payment that a bank took back. */
export type ReceivedPayment = {
  way: "check" | "wire" | "transfer";
  /** The number of the check, or the bank's reference. */
  reference: string;
  /** The day on which the money arrived: `2026-11-29`. */
  receivedOn: string;
  /** The time of the original payment, which the bank took back. */
  paidAt: string;
};

/** A receipt, credit note, loss, loss payment or reversal in a statement. */
export type StatementLine = Payer & {
  number: string;
  kind: LineKind;
  at: string;
  orderCode: string;
  /** The order's `externalReference`. */
  fileNumber: string | null;
  services: string;
  /** The name of the order's document, or else its catalog title; null without either. */
  document: string | null;
  /**
   * The discount in the price of the order, on the receipt of a payment that paid the whole price. 0 on all other
   * receipts and documents.
   */
  discountCents: number;
  amountCents: number;
  /** Only amounts in `usd` count in the sums. */
  currency: string;
  /**
   * True if the payment was applied to its order. False for a payment that came too late or twice. Also false for a
   * payment that replaces one that a bank took back.
   */
  applied: boolean;
  /** Present only on loss payments and their reversals. */
  received?: ReceivedPayment;
};

export type BillingStatementDetail = BillingStatement & { lines: StatementLine[]; requestId: string };

export const receiptsOf = ({ json, bytes }: Transport) => ({
  /** Lists the receipts, credit notes, losses and reversals of an order, oldest first. */
  receipts: (orderCode: string): Promise<OrderReceipts> => json("GET", path`/api/partner/orders/${orderCode}/receipts`),

  /** A receipt, credit note, loss or reversal as a PDF. The bytes change only with the name of its document. */
  receipt: (orderCode: string, number: string): Promise<Uint8Array> =>
    bytes(path`/api/partner/orders/${orderCode}/receipts/${number}`),
});

export const billingOf = ({ json }: Transport) => ({
  /** Lists the firm's monthly statements, newest first. */
  statements: (): Promise<BillingStatements> => json("GET", "/api/partner/billing/statements"),

  /**
   * Returns one month with its lines.
   * @param month such as `2026-11`
   */
  statement: (month: string): Promise<BillingStatementDetail> =>
    json("GET", path`/api/partner/billing/statements/${month}`),
});
