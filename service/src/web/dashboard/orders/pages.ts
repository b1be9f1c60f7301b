import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import {
  milestones,
  outcomes,
  type SandboxDeps,
  type SimulationResult,
  sandboxAdvance,
  sandboxCheckout,
  sandboxComplete,
} from "../../../fulfilment/fulfilment.ts";
import { principalOf } from "../../../http/authentication.ts";
import type { RateLimits } from "../../../http/rate-limits.ts";
import {
  findOrder,
  findOwnOrder,
  isPayable,
  type OrderDeps,
  orderPage,
  type PublicOrderRow,
} from "../../../orders/orders.ts";
import { invalid, ServiceError } from "../../../platform/errors.ts";
import { attachFields, attachOrder, latestOpenRooms, roomsOfOrder } from "../../../rooms/rooms.ts";
import type { Assets } from "../../ui/assets.ts";
import type { doneWords } from "../../ui/flash-messages.ts";
import { shortCode } from "../../ui/format.ts";
import { formBody } from "../../ui/forms/fields.ts";
import { attempt, done, sendPage } from "../page-shell.ts";
import { type OrderQuery, orderListBody } from "./list.ts";
import { type OrderOneView, orderOneBody } from "./one.ts";
import { roomCodeOf, roomsToChooseFrom } from "./rooms.ts";
import { refusalWords } from "./words.ts";

export type OrderPagesDeps = OrderDeps & SandboxDeps & { limits: RateLimits; assets: Assets; baseUrl: string };

type CodeRoute = { Params: { code: string }; Querystring: Record<string, unknown> };

const path = "/dashboard/orders";
const hidden = { schema: { hide: true } };

/** The list of the firm's orders. */
export function orderListPage(app: FastifyInstance, deps: OrderPagesDeps): void {
  app.get<{ Querystring: Record<string, unknown> }>(path, hidden, (request, reply) => {
    const asked = (name: string) => (typeof request.query[name] === "string" ? request.query[name] : "");
    const query: OrderQuery = { status: asked("status"), reference: asked("reference"), cursor: asked("cursor") };
    const principal = principalOf(request);
    const show = (page: Awaited<ReturnType<typeof orderPage>>, error?: string) => {
      const view = { query, page, environment: principal.environment, ...(error !== undefined && { error }) };
      return sendPage(deps, request, reply, { title: "Orders", section: "orders", body: orderListBody(view) });
    };
    return attempt(
      reply,
      async () => {
        const { status, reference, cursor } = query;
        return show(await orderPage(deps.db, principal, { status, external_reference: reference, cursor }));
      },
      (message) => show({ orders: [], nextCursor: null }, refusalWords(message).text),
    );
  });
}

/** One order: where it stands, the sandbox's buttons for a test order, and the rooms it is in. */
export function orderOnePage(forms: FastifyInstance, deps: OrderPagesDeps): void {
  const { db } = deps;
  const write = { ...hidden, onRequest: deps.limits.limit("partner-write") };

  forms.get<CodeRoute>(`${path}/:code`, hidden, async (request, reply) =>
    show(request, reply, await ownOrder(request)),
  );

  /** What the page says of a step of the sandbox. */
  const played = (
    step: string,
    work: (request: FastifyRequest<CodeRoute>) => Promise<{ walked: SimulationResult; word: keyof typeof doneWords }>,
  ) =>
    forms.post<CodeRoute>(`${path}/:code/sandbox/${step}`, write, (request, reply) =>
      change(request, reply, async ({ code }) => {
        const { walked, word } = await work(request);
        return done(reply, `${path}/${code}?fired=${walked.firedEvents.join(",")}`, word);
      }),
    );
  const sandboxRequest = (request: FastifyRequest<CodeRoute>) => ({
    principal: principalOf(request),
    code: request.params.code,
    attempt: request.id,
  });
  played("checkout", async (request) => {
    const asked = formBody(request.body)["outcome"];
    const outcome = outcomes.find((each) => each === asked);
    if (!outcome) throw invalid("Choose what becomes of the payment.");
    return { walked: await sandboxCheckout(deps, sandboxRequest(request), outcome), word: `sandbox-${outcome}` };
  });
  played("advance", async (request) => ({
    walked: await sandboxAdvance(deps, sandboxRequest(request), null),
    word: "sandbox-advanced",
  }));
  played("complete", async (request) => ({
    walked: await sandboxComplete(deps, sandboxRequest(request)),
    word: "sandbox-completed",
  }));

  forms.post<CodeRoute>(`${path}/:code/attach`, write, (request, reply) =>
    change(request, reply, async ({ code }) => {
      const typed = formBody(request.body);
      const fields = attachFields({ orderCode: code, label: typed["label"] ?? "" });
      const { alreadyAttached } = await attachOrder(deps, principalOf(request), roomCodeOf(typed), fields);
      return done(reply, `${path}/${code}`, alreadyAttached ? "room-order-there" : "room-order-attached");
    }),
  );

  /** Does what a form asks for with one's own order; a refusal is told on the order's page. */
  async function change(
    request: FastifyRequest<CodeRoute>,
    reply: FastifyReply,
    work: (order: PublicOrderRow) => Promise<FastifyReply>,
  ): Promise<FastifyReply> {
    const order = await ownOrder(request);
    return attempt(
      reply,
      () => work(order),
      async (error) => show(request, reply, await ownOrder(request), { error, typed: formBody(request.body) }),
    );
  }

  /** @throws ServiceError for an unknown code, and for an order of another firm or environment alike */
  async function ownOrder(request: FastifyRequest<CodeRoute>): Promise<PublicOrderRow> {
    const { code } = request.params;
    const own = /^[0-9a-f]{40}$/.test(code) && (await findOwnOrder(db, code, principalOf(request)));
    const order = own ? await findOrder(db, code) : undefined;
    if (!order) throw new ServiceError("not_found", "Order not found.");
    return order;
  }

  async function show(
    request: FastifyRequest<CodeRoute>,
    reply: FastifyReply,
    order: PublicOrderRow,
    problem: Pick<OrderOneView, "error" | "typed"> = {},
  ): Promise<FastifyReply> {
    const principal = principalOf(request);
    const [rooms, openRooms] = await Promise.all([
      roomsOfOrder(db, order.code, principal),
      latestOpenRooms(db, principal, roomsToChooseFrom),
    ]);
    const view: OrderOneView = {
      order,
      clientUrl: `${deps.baseUrl}/orders/${order.code}`,
      payable: deps.checkoutUrlOf !== null && isPayable(order.status),
      rooms,
      openRooms,
      fired: firedIn(request.query),
      ...problem,
    };
    return sendPage(deps, request, reply, {
      title: `Order ${shortCode(order.code)}`,
      section: "orders",
      body: orderOneBody(view),
      scripts: ["copy.js"],
    });
  }
}

/** The topics that the address says were fired; null when it says nothing of them, or names unknown ones. */
function firedIn({ fired }: Record<string, unknown>): string[] | null {
  if (typeof fired !== "string") return null;
  const known: ReadonlySet<string> = new Set(milestones);
  const named = fired.split(",").filter((name) => name !== "");
  return named.every((name) => known.has(name)) ? named : null;
}
