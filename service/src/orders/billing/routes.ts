import type { FastifyInstance } from "fastify";
import { type Static, Type } from "typebox";
import { principalOf } from "../../kernel/http/authentication.ts";
import { fileRoute } from "../../kernel/http/file-route.ts";
import { jsonRoute, type RouteDeps } from "../../kernel/http/route.ts";
import { nullable, oneOf, ref, requestId, text, timestamp } from "../../kernel/http/schema-parts.ts";
import type { Clock } from "../../kernel/platform/clock.ts";
import type { Database } from "../../kernel/platform/database/database.ts";
import { ServiceError } from "../../kernel/platform/errors.ts";
import { isCode } from "../../kernel/platform/text.ts";
import type { Workers } from "../../kernel/platform/workers/task.ts";
import { findOwnOrder, orderNotFound, payers, type TitleOf } from "../order/order.ts";
import { lossPaymentWays } from "../payments/payments.ts";
import { type BillingDocument, billingKinds, documentsOfOrder, lineKinds } from "./documents.ts";
import { heldCents, owedCents } from "./lines.ts";
import { drawnDocument, drawPaper, paidData, paperName } from "./paper.ts";
import { byFile } from "./statement-text.ts";
import { type StatementWithLines, statementOf, statementsOf } from "./statements.ts";

const paidMembers = {
  paidBy: oneOf(payers, "Who made the payment."),
  method: nullable(
    text(
      "Your firm's card or bank account, if it was charged; null when somebody paid on the payment page.",
      "Visa •••• 4242",
    ),
  ),
};

const OrderReceipt = Type.Object(
  {
    number: text("Its number: without gaps for your firm, environment and calendar year.", "R-2026-00017"),
    kind: oneOf(
      billingKinds,
      "A receipt for a payment, a credit note for a refund, or a loss: a payment that the bank took back. A reversal takes a credit note or a loss back. The list can grow.",
    ),
    receiptNumber: text(
      "On a credit note, the receipt whose money went back; on a receipt, its own number.",
      "R-2026-00017",
    ),
    amountCents: Type.Integer({ description: "What was paid or returned, in the smallest unit.", examples: [9900] }),
    currency: text("ISO 4217, lowercase.", "usd"),
    issuedAt: timestamp("When it was issued: its date, in your statements, too."),
    ...paidMembers,
  },
  { $id: "OrderReceipt", description: "A receipt or a credit note." },
);

const OrderReceipts = Type.Object(
  { receipts: Type.Array(ref(OrderReceipt), { description: "Oldest first." }), requestId: requestId() },
  { $id: "OrderReceipts", description: "The receipts and credit notes of an order." },
);

const view = (document: BillingDocument): Static<typeof OrderReceipt> => {
  const { number, kind, receiptNumber, amountCents, currency, issuedAt } = document;
  return {
    number,
    kind,
    receiptNumber,
    amountCents,
    currency,
    issuedAt: issuedAt.toISOString(),
    ...paidData(document),
  };
};

const lossPaymentWayNames = Object.keys(lossPaymentWays) as (keyof typeof lossPaymentWays)[];

const cents = (description: string) => Type.Integer({ description, examples: [9900] });

const statementMembers = {
  month: text("The month, in the time zone of the statement.", "2026-11"),
  status: oneOf(["open", "closed"], "A closed month never changes: what comes later counts in the next one."),
  startsAt: timestamp("Its first instant."),
  endsAt: nullable(timestamp("The first instant after it; null while the month lasts.")),
  timeZone: text("The time zone of its months and dates.", "America/New_York"),
  openingCents: cents("The closing balance of the month before, in US cents."),
  paymentsCents: cents("US cents that came."),
  refundsCents: cents("US cents that went back, less refunds that failed later."),
  lossesCents: cents("US cents that banks took back from the service."),
  chargesCents: cents("US cents that paid for orders."),
  creditsCents: cents("US cents of those charges that went back."),
  closingCents: cents(
    "`openingCents + correctionsCents + paymentsCents - refundsCents - lossesCents - (chargesCents - creditsCents)`.",
  ),
  correctionsCents: cents(
    "US cents that earlier closed months had wrong in their closing balance; 0 in nearly all months.",
  ),
  heldCents: cents("`closingCents + owedCents`: US cents that are held for your firm at the end, until they go back."),
  owedCents: cents("US cents that your firm owes at the end, because banks took payments of orders back."),
};

const BillingStatement = Type.Object(statementMembers, {
  $id: "BillingStatement",
  description: "The sums of a month, computed from payments and refunds.",
});

const BillingStatements = Type.Object(
  { statements: Type.Array(ref(BillingStatement), { description: "Newest first." }), requestId: requestId() },
  { $id: "BillingStatements", description: "Your firm's monthly statements, in the environment of the key." },
);

const ReceivedPayment = Type.Object(
  {
    way: oneOf(lossPaymentWayNames, "How your firm paid. The list can grow."),
    reference: text("The number of the check, or the bank's reference.", "1234"),
    receivedOn: text("The day on which the money arrived.", "2026-11-29"),
    paidAt: timestamp("When the lost payment was made."),
  },
  {
    description:
      "The money that your firm paid outside the payment processor. Only a `loss_payment` and its reversal have it.",
  },
);

const StatementLine = Type.Object(
  {
    number: text("The number of the receipt, the credit note or the line.", "R-2026-00017"),
    kind: oneOf(
      lineKinds,
      "Money that came, went back, or was lost. `loss_payment`: your firm paid by check or wire for a payment that a bank took back. The list can grow.",
    ),
    at: timestamp("When it was booked."),
    orderCode: text("The order's code.", "3f9ac1d2e4b5a6978081726354a5b6c7d8e9f0a1"),
    fileNumber: nullable(text("The order's `externalReference`: the file number of a closing.", "2026-1187")),
    services: text("The services of the order.", "Sign, Ship"),
    document: nullable(text("The name of the order's document, as long as it is kept.", "Warranty deed")),
    discountCents: cents("US cents of discount in the price that a receipt is for; 0 otherwise."),
    amountCents: cents("In the smallest unit."),
    currency: text("ISO 4217, lowercase. Only `usd` counts in the sums.", "usd"),
    applied: Type.Boolean({
      description:
        "False for money that came too late or twice and paid for no order, and for a payment in place of one that a bank took back.",
    }),
    received: Type.Optional(ReceivedPayment),
    ...paidMembers,
  },
  {
    $id: "StatementLine",
    description: "A receipt, a credit note, a loss, your firm's payment for a loss, or a reversal in a statement.",
  },
);

const BillingStatementDetail = Type.Object(
  {
    ...statementMembers,
    lines: Type.Array(ref(StatementLine), { description: "By file number, then as they were booked." }),
    requestId: requestId(),
  },
  { $id: "BillingStatementDetail", description: "A month with its lines." },
);

const sumsView = (statement: StatementWithLines["statement"]): Static<typeof BillingStatement> => {
  const { month, startsAt, endsAt, isClosed, zone, sums } = statement;
  return {
    month,
    status: isClosed ? "closed" : "open",
    startsAt: startsAt.toISOString(),
    endsAt: endsAt === null ? null : endsAt.toISOString(),
    timeZone: zone,
    openingCents: sums.opening,
    closingCents: sums.closing,
    paymentsCents: sums.payments,
    refundsCents: sums.refunds,
    lossesCents: sums.losses,
    chargesCents: sums.charges,
    creditsCents: sums.credits,
    correctionsCents: sums.corrections,
    heldCents: heldCents(sums),
    owedCents: owedCents(sums),
  };
};

export type BillingDeps = { db: Database; clock: Clock; workers: Workers; titleOf: TitleOf };

/**
 * A receipt of an order, or a document that corrects one, as a PDF.
 * @throws ServiceError when the order has no document with this number
 */
export async function documentFile(
  { workers, titleOf }: Pick<BillingDeps, "workers" | "titleOf">,
  documents: readonly BillingDocument[],
  number: string,
): Promise<{ name: string; pdf: Buffer }> {
  const document = documents.find((each) => each.number === number);
  if (!document) throw new ServiceError("not_found", "Receipt not found.");
  const { orderCode: of, documentName, docSlug, partnerId } = document;
  const drawn = drawnDocument(document, titleOf({ code: of, documentName, docSlug }));
  return { name: paperName(document), pdf: await drawPaper(workers, partnerId, drawn) };
}

const code = Type.String({ description: "The order code." });
const frameOf = { tag: "Billing", caller: "key", policy: "partner-write", scope: "read" } as const;

/** The routes of an order's receipts and of a firm's statements. */
export function billingRoutes(app: FastifyInstance, deps: BillingDeps & { frame: RouteDeps }): void {
  const { db, frame } = deps;
  for (const schema of [OrderReceipt, BillingStatement, StatementLine]) app.addSchema(schema);
  statementRoutes(app, deps);
  jsonRoute(app, frame, {
    method: "GET",
    ...frameOf,
    url: "/api/partner/orders/:code/receipts",
    operationId: "listOrderReceipts",
    summary: "List an order's receipts",
    description:
      "A receipt for each payment of the order, and a credit note for each refund, also of a part. Both are numbered when the processor has confirmed the money.",
    params: Type.Object({ code }),
    answer: OrderReceipts,
    refusals: { 404: "Order not found." },
    async handle(request) {
      const [orderCode, owner] = [request.params.code, principalOf(request)];
      if (!isCode(orderCode) || !(await findOwnOrder(db, orderCode, owner))) throw orderNotFound();
      return { receipts: (await documentsOfOrder(db, orderCode, owner)).map(view), requestId: request.id };
    },
  });
  fileRoute(app, frame, {
    ...frameOf,
    url: "/api/partner/orders/:code/receipts/:number",
    operationId: "downloadOrderReceipt",
    summary: "Download a receipt",
    description:
      "The receipt or credit note as a PDF, with its data attached as JSON. The bytes change only with the name of its document.",
    params: Type.Object({ code, number: Type.String({ description: "Its number, from the list." }) }),
    media: "application/pdf",
    refusals: { 404: "Receipt not found." },
    async handle(request) {
      const { code: orderCode, number } = request.params;
      const documents = await documentsOfOrder(db, orderCode, principalOf(request));
      const { name, pdf } = await documentFile(deps, documents, number);
      return { name, disposition: "attachment", content: pdf };
    },
  });
}

function statementRoutes(app: FastifyInstance, deps: BillingDeps & { frame: RouteDeps }): void {
  const url = "/api/partner/billing/statements";
  jsonRoute(app, deps.frame, {
    ...frameOf,
    method: "GET",
    url,
    operationId: "listStatements",
    summary: "List your statements",
    description:
      "The months of your firm with what was paid, returned and charged. A month is closed on the 1st of the next one, in your firm's time zone.",
    answer: BillingStatements,
    async handle(request) {
      const statements = await statementsOf(deps, principalOf(request));
      return { statements: statements.map(sumsView).reverse(), requestId: request.id };
    },
  });
  jsonRoute(app, deps.frame, {
    ...frameOf,
    method: "GET",
    url: `${url}/:month`,
    operationId: "getStatement",
    summary: "Get a statement",
    description: "A month with its receipts and credit notes by file number.",
    params: Type.Object({ month: Type.String({ description: "The month, such as `2026-11`." }) }),
    answer: BillingStatementDetail,
    refusals: { 404: "Statement not found." },
    async handle(request) {
      const found = await statementOf(deps, principalOf(request), request.params.month);
      const lines = byFile(found.lines).map((line) => {
        const { number, kind, at, orderCode, reference, services, amountCents, currency, applied } = line;
        const { document, discountCents, received } = line;
        return {
          number,
          kind,
          at: at.toISOString(),
          orderCode,
          fileNumber: reference,
          services,
          amountCents,
          currency,
          document,
          discountCents,
          applied,
          ...paidData(line),
          ...(received && { received: { ...received, paidAt: received.paidAt.toISOString() } }),
        };
      });
      return { ...sumsView(found.statement), lines, requestId: request.id };
    },
  });
}
