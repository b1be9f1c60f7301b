import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { type Static, Type } from "typebox";
import { principalOf, requireKey } from "../http/authentication.ts";
import { idempotencyHeader, idempotencyKeyOf, sendStored } from "../http/idempotency-key.ts";
import { jsonRoute, optionalText, type RouteDeps, type Sent } from "../http/route.ts";
import { readForm } from "../http/uploads/multipart.ts";
import type { UploadPlaces } from "../http/uploads/upload-places.ts";
import { ServiceError } from "../platform/errors.ts";
import { isCode } from "../platform/text.ts";
import { orderPage } from "./list.ts";
import { type OrderDeps, placeOrder, type Wording } from "./place.ts";
import { CreatedOrder, OrderDetail, OrderLine, OrderList, OrderSummary, orderFormSchema } from "./schemas.ts";
import { findOwnOrder } from "./store.ts";
import { createdView, detailView } from "./views.ts";

export type OrderRouteDeps = OrderDeps & RouteDeps & { uploadPlaces: UploadPlaces };

const path = "/api/partner/orders";
const messages = {
  notMultipart: "document or fill_token is required: send the order as multipart/form-data.",
  tooLarge: "document must be a PDF of at most 35 MB.",
  incomplete: "The form is cut off or malformed.",
};

/** Orders (contract, Endpoints, Orders). */
export function orderRoutes(app: FastifyInstance, deps: OrderRouteDeps): void {
  for (const schema of [OrderLine, OrderSummary]) app.addSchema(schema);
  const frame = { tag: "Orders", caller: "key", policy: "partner-write" } as const;

  jsonRoute(app, deps, {
    ...frame,
    method: "POST",
    url: path,
    operationId: "createOrder",
    summary: "Place an order for a completed document",
    form: { schema: orderFormSchema, notForm: messages.notMultipart },
    headers: idempotencyHeader,
    status: 201,
    answer: CreatedOrder,
    refusals: { 400: "email is required.", 409: "This Idempotency-Key was used before with another body." },
    handle: (request, reply) => create(deps, request, reply),
  });

  jsonRoute(app, deps, {
    ...frame,
    method: "GET",
    url: path,
    operationId: "listOrders",
    summary: "List orders, newest first",
    query: Type.Object({
      limit: optionalText("1 to 100, default 20; values outside are clamped."),
      status: optionalText("Exact order status name."),
      external_reference: optionalText("Exact reference."),
      cursor: optionalText("`nextCursor` of the page before."),
    }),
    answer: OrderList,
    refusals: { 400: "limit must be a whole number from 1 to 100." },
    handle: async (request) => ({
      ...(await orderPage(deps.db, principalOf(request), request.query)),
      requestId: request.id,
    }),
  });

  jsonRoute(app, deps, {
    ...frame,
    method: "GET",
    url: `${path}/:code`,
    operationId: "getOrder",
    summary: "Fetch one order",
    params: Type.Object({ code: Type.String({ description: "The order code." }) }),
    answer: OrderDetail,
    refusals: { 404: "Order not found." },
    handle: async (request) => {
      const { code } = request.params;
      const order = isCode(code) ? await findOwnOrder(deps.db, code, principalOf(request)) : undefined;
      if (!order) throw new ServiceError("not_found", "Order not found.");
      return detailView(order, request.id);
    },
  });
}

async function create(deps: OrderRouteDeps, request: FastifyRequest, reply: FastifyReply): Promise<Sent> {
  const idempotencyKey = idempotencyKeyOf(request);
  const authenticate = requireKey(deps.resolveKey);
  const sent = await readForm(request, { filePart: "document", places: deps.uploadPlaces, messages, authenticate });
  try {
    const route = `POST ${path}`;
    const wanted = { principal: principalOf(request), sent, route, idempotencyKey };
    return sendStored(reply, await placeOrder(deps, wanted, wordingOf(request.id)));
  } finally {
    sent.release();
  }
}

const wordingOf = (requestId: string): Wording => ({
  status: 201,
  bodyOf: (order) => JSON.stringify(createdView(order, requestId, null)),
  async withCheckout(body, mint) {
    const view = JSON.parse(body) as Static<typeof CreatedOrder>;
    return JSON.stringify({ ...view, checkoutUrl: await mint(view.orderCode) });
  },
});
