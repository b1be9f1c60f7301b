import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { type Static, Type } from "typebox";
import { tierOf } from "../../firms/partners/partners.ts";
import { principalOf, requireKey } from "../../kernel/http/authentication.ts";
import { idempotencyHeader, idempotencyKeyOf, sendAnswer } from "../../kernel/http/idempotency-key.ts";
import { jsonRoute, optionalText, type RouteDeps, type Sent } from "../../kernel/http/route.ts";
import { readForm } from "../../kernel/http/uploads/multipart.ts";
import type { UploadPlaces } from "../../kernel/http/uploads/upload-places.ts";
import { warningsFor } from "../../kernel/http/warnings.ts";
import type { Principal } from "../../kernel/identity/identity.ts";
import { invalid, ServiceError } from "../../kernel/platform/errors.ts";
import { isCode } from "../../kernel/platform/text.ts";
import { estimate } from "../pricing/pricing.ts";
import {
  CreatedOrder,
  DocumentNoticeView,
  OrderDetail,
  OrderLine,
  OrderList,
  OrderSummary,
  PriceEstimate,
} from "./answer-schemas.ts";
import type { OrderDeps } from "./deps.ts";
import { noticeReader } from "./document-texts.ts";
import { fieldsOf } from "./form/fields.ts";
import { faxNumber } from "./form/form.ts";
import { formWarnings, type UnusedTemplate, unusedWords } from "./form-warnings.ts";
import { orderPage } from "./list.ts";
import { orderNotFound } from "./own-order.ts";
import { type Answering, placeOrder } from "./place.ts";
import { type OrderFormField, orderFormSchema } from "./schemas.ts";
import type { SentOrder, WithTemplate } from "./sent-order.ts";
import { findOwnOrder } from "./store.ts";
import { createdView, detailView, type Notarization, type OrderCharge } from "./views.ts";

export type OrderRouteDeps = {
  frame: RouteDeps;
  orders: OrderDeps;
  uploadPlaces: UploadPlaces;
  withTemplate: WithTemplate;
  /**
   * Returns the template from which the document of a fill token was filled in. An order that sends only the token
   * lacks the template's fields and roles. Null for other documents, for an archived template or deleted version, and
   * for a template without fields and roles.
   */
  templateOfFill: (principal: Principal, token: string) => Promise<UnusedTemplate | null>;
  notarizationOf: (code: string) => Promise<Notarization>;
  /** Returns the firm's latest charge for the order, apart from charges for supplements; null without one. */
  chargeOf: (code: string) => Promise<OrderCharge | null>;
};

const path = "/api/partner/orders";
const messages = {
  notMultipart: "document or fill_token is required: send the order as multipart/form-data.",
  tooLarge: "document must be a PDF of at most 35 MB.",
  incomplete: "The form is cut off or malformed.",
};

/** Orders (contract, Endpoints, Orders). */
export function orderRoutes(app: FastifyInstance, deps: OrderRouteDeps): void {
  for (const schema of [DocumentNoticeView, OrderLine, OrderSummary]) app.addSchema(schema);
  estimateRoute(app, deps);
  const frame = { tag: "Orders", caller: "key", policy: "partner-write" } as const;

  jsonRoute(app, deps.frame, {
    ...frame,
    method: "POST",
    scope: "orders",
    url: path,
    operationId: "createOrder",
    summary: "Place an order",
    description:
      "Uploads the client's completed PDF, or names a document completed online, and says what should happen to it. The answer is the itemized price; nothing happens until it is paid. Send an `Idempotency-Key`, so that a retry never orders twice.",
    form: { schema: orderFormSchema, notForm: messages.notMultipart },
    headers: idempotencyHeader,
    status: 201,
    answer: CreatedOrder,
    refusals: { 400: "email is required.", 409: "This Idempotency-Key was used before with another body." },
    handle: (request, reply) => create(deps, request, reply),
  });

  jsonRoute(app, deps.frame, {
    ...frame,
    method: "GET",
    scope: "read",
    url: path,
    operationId: "listOrders",
    summary: "List orders",
    description: "The orders of your firm in the key's environment, newest first, a page at a time.",
    query: Type.Object({
      status: optionalText("Only in this status, exact. An unknown one finds nothing.", "Completed"),
      external_reference: optionalText("Only of this reference of yours, exact.", "FILE-2207"),
      limit: optionalText("How many to answer: 1 to 100, default 20. Values outside are clamped.", "20"),
      cursor: optionalText("`nextCursor` of the previous page."),
    }),
    answer: OrderList,
    refusals: { 400: "limit must be a whole number from 1 to 100." },
    handle: async (request) => ({
      ...(await orderPage(deps.orders.db, principalOf(request), request.query)),
      requestId: request.id,
    }),
  });

  jsonRoute(app, deps.frame, {
    ...frame,
    method: "GET",
    scope: "read",
    url: `${path}/:code`,
    operationId: "getOrder",
    summary: "Get an order",
    description:
      "One order with its price, its services and where it stands. Another firm's order looks like an unknown one.",
    params: Type.Object({ code: Type.String({ description: "The order code." }) }),
    answer: OrderDetail,
    refusals: { 404: "Order not found." },
    handle: async (request) => {
      const { code } = request.params;
      const order = isCode(code) ? await findOwnOrder(deps.orders.db, code, principalOf(request)) : undefined;
      if (!order) throw orderNotFound();
      const notarization = order.notarize ? await deps.notarizationOf(code) : null;
      const charge = order.payBy === "firm" ? await deps.chargeOf(code) : null;
      return detailView(order, noticeReader(deps.orders.names)(order), { notarization, charge }, request.id);
    },
  });
}

const estimateQuery = Type.Object({
  pages: optionalText("Required: the pages of the document, 1 to 10000.", "12"),
  doc_slug: optionalText(
    "A document of the catalog, by its short name. It then decides about signing and notarization.",
  ),
  svc_sign: optionalText("`true` or `on`: signed online.", "true"),
  svc_notary: optionalText("`true` or `on`: notarized online.", "true"),
  svc_ship: optionalText("`true` or `on`: shipped. Send `ship_state` and `ship_postal` with it.", "true"),
  svc_fax: optionalText(
    "`true` or `on`: faxed, while the number is not known. An order is faxed by `fax_to` alone.",
    "true",
  ),
  fax_to: optionalText("The fax number, as an order has it: faxed there.", "2125550123"),
  ship_method: optionalText("`label`, the default, or `print_mail`."),
  ship_state: optionalText("The recipient's US state, 2 letters.", "TX"),
  ship_postal: optionalText("The recipient's ZIP code: 5 digits, or ZIP+4.", "78701"),
});

/** The price of a document before it is uploaded: the same computation as that of an order, without carriers' rates. */
function estimateRoute(app: FastifyInstance, { frame, orders }: OrderRouteDeps): void {
  jsonRoute(app, frame, {
    tag: "Orders",
    caller: "key",
    policy: "partner-write",
    method: "GET",
    scope: "read",
    url: "/api/partner/prices/estimate",
    operationId: "estimatePrice",
    summary: "Ask for a price",
    description:
      "The price of a document for your firm's tier, before it is uploaded. Nothing is stored, and the price is not binding: a carrier's own rate or the address of a sender can change the postage of an order. A price from $0.01 to $0.49 is refused, as it is for an order.",
    query: estimateQuery,
    answer: PriceEstimate,
    refusals: { 400: "pages must be a whole number from 1 to 10000." },
    async handle(request) {
      const { pages = "", doc_slug: docSlug = "", ship_method: shipMethod = "label", ...asked } = request.query;
      const { ship_postal: shipPostal = "", ship_state: shipState = "" } = asked;
      const fields = fieldsOf<OrderFormField | "svc_fax">(new Map(Object.entries(asked)));
      const { flag } = fields;
      const fax = faxNumber(fields) !== null || flag("svc_fax");
      const services = { sign: flag("svc_sign"), notarize: flag("svc_notary"), ship: flag("svc_ship"), fax };
      const names = { pages: "pages", docSlug: "doc_slug", shipMethod: "ship_method" };
      const found = await estimate(
        orders.offer.pricing,
        tierOf(principalOf(request).tier),
        { pages, docSlug, services, shipMethod, shipPostal, shipState },
        { ...names, shipPostal: "ship_postal", shipState: "ship_state", documentOf: ({ slug }) => slug },
      );
      if ("errors" in found) throw invalid(found.errors[0] ?? "pages is required.");
      const row = orders.offer.pricing.catalogRow(docSlug);
      const bought = row ? { ...services, sign: row.sign, notarize: row.notarize } : services;
      return {
        isComplete: found.isWhole,
        ...found.quote,
        requestId: request.id,
        ...warningsFor(request, () => {
          const sent = new Map(Object.entries(request.query).map(([name, value]) => [name, String(value)]));
          return formWarnings(sent, estimateQuery, { ...bought, docSlug: row ? docSlug : null });
        }),
      };
    },
  });
}

async function create(deps: OrderRouteDeps, request: FastifyRequest, reply: FastifyReply): Promise<Sent> {
  const idempotencyKey = idempotencyKeyOf(request);
  const authenticate = requireKey(deps.frame.resolveKey);
  const sent = await readForm(request, { filePart: "document", places: deps.uploadPlaces, messages, authenticate });
  try {
    const route = `POST ${path}`;
    const order = { ...sent, withTemplate: deps.withTemplate };
    const principal = principalOf(request);
    const unused = principal.environment === "test" ? await unusedTemplate(deps, principal, sent.fields) : null;
    const wanted = { principal, sent: order, route, idempotencyKey };
    return sendAnswer(reply, await placeOrder(deps.orders, wanted, answering(request, sent.fields, unused)));
  } finally {
    sent.release();
  }
}

/** The template from which the order's document was filled in, when the order does not name one. */
async function unusedTemplate(
  { templateOfFill }: OrderRouteDeps,
  principal: Principal,
  fields: SentOrder["fields"],
): Promise<UnusedTemplate | null> {
  const token = fields.get("fill_token")?.trim() ?? "";
  const isNamed = (fields.get("template") ?? "").trim() !== "";
  if (token === "" || isNamed) return null;
  return templateOfFill(principal, token).catch((error: unknown) => {
    // The order doesn't use this template. So the order is accepted even if the template can't be read.
    if (error instanceof ServiceError) return null;
    throw error;
  });
}

const answering = (
  request: FastifyRequest,
  sent: SentOrder["fields"],
  unused: UnusedTemplate | null,
): Answering<Static<typeof CreatedOrder>> => ({
  status: 201,
  resultOf: (order) => ({
    ...createdView(order, order.notices, request.id, null),
    ...warningsFor(request, () => [
      ...formWarnings(sent, orderFormSchema, { ...order, docSlug: order.form.docSlug }),
      ...(unused === null ? [] : [unusedWords(unused)]),
    ]),
  }),
});
