import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import { principalOf, requireKey } from "../http/authentication.ts";
import { idempotencyKeyOf, replay } from "../http/idempotency.ts";
import { errors, ref } from "../http/openapi.ts";
import type { RateLimits } from "../http/rate-limits.ts";
import { readForm } from "../http/uploads/multipart.ts";
import type { UploadMemory } from "../http/uploads/upload-memory.ts";
import { wireError } from "../http/wire-errors.ts";
import type { ResolveKey } from "../identity/identity.ts";
import { invalid, ServiceError } from "../platform/errors.ts";
import { createOrder, type OrderDeps } from "./create.ts";
import { type ListQuery, orderPage } from "./list.ts";
import { CreatedOrder, OrderDetail, OrderLine, OrderList, OrderSummary, orderFormSchema } from "./schemas.ts";
import { findOwnOrder } from "./store.ts";
import { detailView } from "./views.ts";

export type OrderRouteDeps = OrderDeps & { resolveKey: ResolveKey; limits: RateLimits; uploadMemory: UploadMemory };

const json = "application/json; charset=utf-8";
const messages = {
  notMultipart: "document or fill_token is required: send the order as multipart/form-data.",
  tooLarge: "document must be a PDF of at most 35 MB.",
  incomplete: "The form is cut off or malformed.",
};
const unauthorized = {
  401: "A valid partner API key is required.",
  429: "Rate limit exceeded. Try again in 42 seconds.",
};

/** Orders (contract, Endpoints, Orders). Answers are ready strings: twice as fast as a second serializer. */
export function orderRoutes(app: FastifyInstance, deps: OrderRouteDeps): void {
  for (const schema of [OrderLine, CreatedOrder, OrderDetail, OrderSummary, OrderList]) app.addSchema(schema);
  const authenticate = requireKey(deps.resolveKey);
  const onRequest = [authenticate, deps.limits.limit("partner-write")];
  const about = { tags: ["Orders"], security: [{ partnerKey: [] }] };

  app.post(
    "/api/partner/orders",
    {
      onRequest,
      // Described, not enforced by the framework: the form is read as a stream.
      validatorCompiler: () => () => true,
      // A body of another type is a form without a document.
      errorHandler: (error, request, reply) => {
        wireError(error.code?.startsWith("FST_ERR_CTP_") ? invalid(messages.notMultipart) : error, request, reply);
      },
      schema: {
        ...about,
        operationId: "createOrder",
        summary: "Place an order for a completed document",
        consumes: ["multipart/form-data"],
        headers: Type.Object({ "idempotency-key": Type.Optional(Type.String({ minLength: 8, maxLength: 255 })) }),
        body: orderFormSchema,
        response: {
          201: ref(CreatedOrder),
          ...errors({
            400: "email is required.",
            ...unauthorized,
            409: "This Idempotency-Key was used before with another body.",
          }),
        },
      },
    },
    async (request, reply) => {
      const idempotencyKey = idempotencyKeyOf(request);
      const rules = { filePart: "document", memory: deps.uploadMemory, messages, authenticate };
      const form = await readForm(request, rules);
      try {
        const answer = await createOrder(deps, {
          principal: principalOf(request),
          form,
          idempotencyKey,
          requestId: request.id,
        });
        if (answer.replayed) return replay(reply, answer.replayed);
        return reply.code(201).type(json).send(answer.body);
      } finally {
        form.release();
      }
    },
  );

  app.get<{ Querystring: ListQuery }>(
    "/api/partner/orders",
    {
      onRequest,
      attachValidation: true,
      schema: {
        ...about,
        operationId: "listOrders",
        summary: "List orders, newest first",
        querystring: Type.Object({
          limit: Type.Optional(Type.String({ description: "1 to 100, default 20; values outside are clamped." })),
          status: Type.Optional(Type.String({ description: "Exact order status name." })),
          external_reference: Type.Optional(Type.String({ description: "Exact reference." })),
          cursor: Type.Optional(Type.String({ description: "`nextCursor` of the page before." })),
        }),
        response: {
          200: ref(OrderList),
          ...errors({ 400: "limit must be a whole number from 1 to 100.", ...unauthorized }),
        },
      },
    },
    async (request, reply) => {
      const repeated = Object.entries(request.query).find(([, value]) => typeof value !== "string");
      if (repeated) throw invalid(`${repeated[0]} must be sent once.`);
      const page = await orderPage(deps.db, principalOf(request), request.query);
      return reply.type(json).send(JSON.stringify({ ...page, requestId: request.id }));
    },
  );

  app.get<{ Params: { code: string } }>(
    "/api/partner/orders/:code",
    {
      onRequest,
      schema: {
        ...about,
        operationId: "getOrder",
        summary: "Fetch one order",
        params: Type.Object({ code: Type.String({ description: "The order code." }) }),
        response: { 200: ref(OrderDetail), ...errors({ ...unauthorized, 404: "Order not found." }) },
      },
    },
    async (request, reply) => {
      const { code } = request.params;
      const order = /^[0-9a-f]{40}$/.test(code) ? await findOwnOrder(deps.db, code, principalOf(request)) : undefined;
      if (!order) throw new ServiceError("not_found", "Order not found.");
      return reply.type(json).send(JSON.stringify(detailView(order, request.id)));
    },
  );
}
