import type { FastifyInstance } from "fastify";
import { type Static, Type } from "typebox";
import { principalOf } from "../../../kernel/http/authentication.ts";
import { jsonRoute, type RouteDeps } from "../../../kernel/http/route.ts";
import { nullable, oneOf, requestId, text, timestamp } from "../../../kernel/http/schema-parts.ts";
import { actorOf } from "../../../kernel/identity/identity.ts";
import type { Clock } from "../../../kernel/platform/clock.ts";
import type { Database } from "../../../kernel/platform/database/database.ts";
import { invalid } from "../../../kernel/platform/errors.ts";
import { isCode } from "../../../kernel/platform/text.ts";
import { findOwnOrder, orderNotFound } from "../../../orders/order/order.ts";
import { answerInPerson, inPersonOf } from "./in-person.ts";

const cents = (description: string) => Type.Integer({ description, examples: [2400] });

const OrderInPerson = Type.Object(
  {
    inPerson: nullable(
      Type.Object({
        state: oneOf(["requested", "agreed", "declined"], "`requested` until the firm answers.", ["agreed"]),
        reason: text("The notary's reason, in their words.", "The signer has no camera and will visit my office."),
        requestedAt: timestamp("When the firm was asked."),
        decidedAt: nullable(timestamp("When the firm answered; null before.")),
        technologyFeeCents: cents("The technology fee in US cents, which goes back when the firm agrees."),
      }),
      "The latest request for an act in person, in ink; null when the firm was not asked.",
    ),
    requestId: requestId(),
  },
  { $id: "OrderInPerson", description: "Whether an order's notarization may be done in person, in ink." },
);

const InPersonAnswer = Type.Object(
  {
    state: oneOf(["agreed", "declined"], "The answer on record."),
    refundCents: nullable(
      cents("The refund that was requested, in US cents; null when none was. An operator decides on it."),
    ),
    requestId: requestId(),
  },
  { $id: "InPersonAnswer", description: "The firm's answer to a request for an act in person, in ink." },
);

const answerSchema = Type.Object({
  agrees: Type.Boolean({ description: "Whether the act may be done in person, in ink.", examples: [true] }),
});

const url = "/api/partner/orders/:code/in-person";
const frame = { tag: "Signing", caller: "key", policy: "partner-write" } as const;
const params = Type.Object({ code: Type.String({ description: "The order code." }) });

type RoutesDeps = { frame: RouteDeps; db: Database; clock: Clock };

/**
 * Routes for the notary's request to act on paper although the order is for online notarization, and for the firm's
 * answer.
 */
export function inPersonRoutes(app: FastifyInstance, deps: RoutesDeps): void {
  jsonRoute(app, deps.frame, {
    ...frame,
    method: "GET",
    scope: "read",
    url,
    operationId: "readInPersonRequest",
    summary: "Read a request for an act in person",
    description:
      "Online notarization was bought, and a notary may ask whether the act may be done in person, in ink. Until the firm agrees, such an act does not complete the order.",
    params,
    answer: OrderInPerson,
    refusals: { 404: "Order not found." },
    async handle(request) {
      const [owner, { code }] = [principalOf(request), request.params];
      if (!isCode(code) || !(await findOwnOrder(deps.db, code, owner))) throw orderNotFound();
      const found = await inPersonOf(deps.db, code, owner);
      return { inPerson: found && shown(found), requestId: request.id };
    },
  });
  jsonRoute(app, deps.frame, {
    ...frame,
    method: "POST",
    scope: "orders",
    url,
    operationId: "answerInPersonRequest",
    summary: "Answer a request for an act in person",
    description:
      "Agrees or declines, once. An agreement requests a refund of the technology fee; the order goes on and keeps its status.",
    params,
    body: answerSchema,
    answer: InPersonAnswer,
    refusals: {
      400: "agrees must be true or false.",
      404: "Order not found.",
      409: "The firm was not asked for an act in person.",
    },
    async handle(request) {
      const owner = principalOf(request);
      const agrees = readAgrees(request.body);
      const decision = { owner, orderCode: request.params.code, actor: actorOf(owner), agrees };
      return { ...(await answerInPerson(deps, decision)), requestId: request.id };
    },
  });
}

type Found = NonNullable<Awaited<ReturnType<typeof inPersonOf>>>;

function shown({ request, technologyFeeCents }: Found): Static<typeof OrderInPerson>["inPerson"] {
  const { state, reason, requestedAt, decidedAt } = request;
  const times = { requestedAt: requestedAt.toISOString(), decidedAt: decidedAt?.toISOString() ?? null };
  return { state, reason, ...times, technologyFeeCents };
}

function readAgrees(body: unknown): boolean {
  const { agrees } = (body ?? {}) as { agrees?: unknown };
  if (typeof agrees !== "boolean") throw invalid("agrees must be true or false.");
  return agrees;
}
