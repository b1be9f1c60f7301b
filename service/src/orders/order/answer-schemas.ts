import { Type } from "typebox";
import {
  text as described,
  nextCursor,
  nullable,
  oneOf,
  orderCode,
  orderCodeExample,
  ref,
  requestId,
  timestamp,
} from "../../kernel/http/schema-parts.ts";
import { warnings } from "../../kernel/http/warnings.ts";
import { noticeCodes } from "../../kernel/pdf/unseen/notice.ts";
import { byMember, senderTexts } from "./form/sender-texts.ts";

const cents = (description: string, example: number) => Type.Integer({ description, examples: [example] });

const status = () =>
  described(
    "The order's status. The list of statuses may grow; treat one that you don't know as not finished.",
    "QuoteReady",
  );
const services = () =>
  described("What was ordered: `Sign`, `Notarize`, `Ship` and `Fax`, joined by a comma and a space.", "Sign, Notarize");
const senderMembers = byMember((name) => {
  const { answered, example } = senderTexts[name];
  return nullable(Type.String({ examples: [example] }), answered);
});
const customerEmail = () => described("The client's email address.", "signer@example.com");
const totalCents = () => cents("What the client pays: the subtotal less the discount, in USD cents.", 6100);
const createdAt = () => timestamp("When the order was placed.");

/** The example lines must add up to the example's total, and match its `services`. */
const linesExample = [
  { type: "WorkflowFee", label: "Document workflow and e-signature", amountCents: 1200 },
  { type: "NotaryFee", label: "Online notarization", amountCents: 2500 },
  { type: "TechFee", label: "Notarization technology", amountCents: 2400 },
];

export const OrderLine = Type.Object(
  {
    type: Type.String({
      examples: ["WorkflowFee"],
      description: "What the line is for. Show a type that you don't know as a row and nothing more.",
    }),
    label: described("The same for people.", "Document workflow and e-signature"),
    amountCents: cents("In USD cents; negative for discounts.", 1200),
  },
  { $id: "OrderLine", description: "A line of an order's price." },
);

export const DocumentNoticeView = Type.Object(
  {
    code: Type.String({
      examples: ["text_below_place"],
      description: `What it is: ${noticeCodes.map((code) => `\`${code}\``).join(", ")}. The list may grow.`,
    }),
    page: nullable(Type.Integer(), "The page, from 1; null for the whole document."),
    text: nullable(
      Type.String(),
      "What the document says there, or what it names. Null where there is nothing to quote, and always in the answer to create: get the order to read it.",
    ),
    message: described("The same for people, in English.", "A place to sign or fill in is on top of words (page 2)."),
  },
  {
    $id: "DocumentNotice",
    description:
      "Something in a document that is signed which people may not see as it is sealed. Each signer is told it, too.",
  },
);

const documentNotices = Type.Optional(
  Type.Array(ref(DocumentNoticeView), {
    description: "What the signers are told of the document: only when there is something, and only with signing.",
  }),
);

const manualQuoteReason = Type.Optional(
  Type.String({
    description: "Why a person prices the order, in English: only while it is in `ManualQuoteRequired`.",
    examples: ["No notary on record may notarize online today."],
  }),
);

const template = Type.Optional(
  Type.Object(
    {
      templateId: described("The template's id.", "0b5f7d1e-8a2c-4c55-9a57-3d1f0f6a2b10"),
      version: Type.Integer({ description: "Its version, which never changes.", examples: [3] }),
    },
    { description: "The template that the order was placed from: only when there is one." },
  ),
);

const common = {
  requestId: requestId(),
  orderCode: orderCode(),
  orderUrl: described("The client's page of the order: a path on this service.", `/orders/${orderCodeExample}`),
  status: status(),
  ...senderMembers,
  faxToNumber: nullable(Type.String(), "Where it is faxed to, in E.164 form; null when `fax_to` was not sent."),
  subtotalCents: cents("The sum of the lines, in USD cents.", 6100),
  discountCents: cents("The discount of your tier, in USD cents.", 0),
  totalCents: totalCents(),
  lines: Type.Array(ref(OrderLine), { description: "The price, line by line.", examples: [linesExample] }),
  payBy: Type.Optional(
    Type.Literal("firm", { description: "Your firm pays, as `pay_by` asked; absent when the client does." }),
  ),
  manualQuoteReason,
  template,
};

export const PriceEstimate = Type.Object(
  {
    isComplete: Type.Boolean({
      description: "False when a person prices the postage after the order is placed. The sums don't include it then.",
    }),
    subtotalCents: cents("The sum of the lines, in USD cents.", 6100),
    discountCents: cents("The discount of your tier, in USD cents.", 0),
    totalCents: totalCents(),
    lines: Type.Array(ref(OrderLine), { description: "The price, line by line.", examples: [linesExample] }),
    requestId: requestId(),
    warnings,
  },
  { $id: "PriceEstimate", description: "What a document would cost. Nothing was ordered." },
);

export const CreatedOrder = Type.Object(
  {
    ...common,
    checkoutUrl: nullable(
      Type.String(),
      "The hosted payment page. Null unless `create_checkout` was sent, payments are set up and the order can be paid.",
    ),
    documentNotices,
    warnings,
  },
  { $id: "CreatedOrder", description: "The new order, with its price." },
);

const notarization = Type.Object(
  {
    state: Type.String({
      description:
        "`not_due` until the order waits for a notary, then `waiting` and, in a notary’s hands, `claimed`; at the end `completed`, `failed`, `identity_locked`, or `ended` for an order that ended before. The list may grow.",
      examples: ["claimed"],
    }),
    method: nullable(
      Type.String({ examples: ["ron"] }),
      "`ron` (by audio and video), `ipen` (in person, electronically), `ink` (in person, on paper) or `rin` (by audio and video, on paper). Null while it is not known.",
    ),
    jurisdiction: nullable(
      Type.String({ examples: ["OH"] }),
      "The state of the venue, as two letters: that of the notary who has the order, and of the act once it is done. Null before.",
    ),
    appointmentUtc: nullable(
      Type.String({ format: "date-time" }),
      "When the people meet the notary, in UTC. Null without an appointment.",
    ),
    session: nullable(
      Type.String({ examples: ["scheduled"] }),
      "The meeting: `scheduled`, `queued` and `called` (the people asked to meet a notary now), `waiting_room`, `live`, `held`, `signed` or `ended`. Null without one. The list may grow.",
    ),
  },
  {
    description:
      "Where the notarization of an order is: only of an order that bought one. It has no names, no links and no addresses.",
  },
);

const charge = Type.Object(
  {
    chargeId: described("The charge's id.", "6f9619ff-8b86-4d01-b42d-00cf4fc964ff"),
    state: oneOf(
      ["asked", "processing", "succeeded", "failed", "refused"],
      "`asked`: to be sent to the processor. `processing`: the processor or the bank has it; a bank debit takes up to 4 business days. `succeeded` with the processor's signed notice alone. `failed`: declined or canceled. `refused`: never sent. After the last two the order can be charged again, or paid by its checkout.",
      ["processing"],
    ),
    amountCents: cents("US cents.", 6100),
    askedAt: timestamp("When it was asked for."),
    reason: nullable(
      Type.String({ examples: ["insufficient_funds"] }),
      "Why it failed or was refused: a word of the processor or of this service, such as `no_method` (your firm has no card or bank account that can be charged) or `no_limit` (the key may not spend). Null otherwise. The list may grow.",
    ),
  },
  {
    description:
      "The latest charge of the order's total to your firm's own card or bank account, also one that was refused. Absent if no charge was asked for.",
  },
);

export const OrderDetail = Type.Object(
  {
    ...common,
    services: services(),
    envelopeStatus: nullable(
      Type.String({ examples: ["Created"] }),
      "Where signing stands: `Created`, `Sent`, `Viewed`, `PartiallySigned`, `Completed`, `Declined`, `Expired` or `Voided`. Null for an order without signing.",
    ),
    customerEmail: customerEmail(),
    createdAt: createdAt(),
    documentNotices,
    notarization: Type.Optional(notarization),
    charge: Type.Optional(charge),
  },
  { $id: "OrderDetail", description: "An order." },
);

export const OrderSummary = Type.Object(
  {
    orderCode: orderCode(),
    status: status(),
    services: services(),
    totalCents: totalCents(),
    externalReference: senderMembers.externalReference,
    customerEmail: customerEmail(),
    createdAt: createdAt(),
  },
  { $id: "OrderSummary", description: "An order, as lists show it." },
);

export const OrderList = Type.Object(
  {
    orders: Type.Array(ref(OrderSummary), { description: "Newest first." }),
    nextCursor: nextCursor(),
    requestId: requestId(),
  },
  { $id: "OrderList", description: "A page of orders." },
);
