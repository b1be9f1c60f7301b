import type { FastifyInstance } from "fastify";
import { may, type Operator } from "../../../firms/operators/operators.ts";
import type { Database } from "../../../kernel/platform/database/database.ts";
import { isCode, rowIdIn } from "../../../kernel/platform/text.ts";
import { findOrderOfEnvironment, orderNotFound } from "../../../orders/order/order.ts";
import { actsOfOrder, type ProviderFinding, type Providers } from "../../../providers/providers.ts";
import { shortCode } from "../../ui/format.ts";
import { done } from "../flash-messages.ts";
import { type ConsoleCall, type ConsoleFrame, consolePage, consoleRoute } from "../frame/console.ts";
import { actsBody } from "./page.ts";

export type ActPagesDeps = { frame: ConsoleFrame; db: Database; providers: Pick<Providers, "resolve" | "accounts"> };

type ActCall = ConsoleCall<{ code: string }>;

const workers = ["paper.work", "orders.work"] as const;

/**
 * Adds the list of an order's requests to providers. If the outcome of a request is unknown, an operator records it by
 * a form on this page.
 */
export function actRoutes(scope: FastifyInstance, deps: ActPagesDeps): void {
  const { db, providers } = deps;

  consoleRoute(scope, deps.frame, {
    url: "/operator/acts/:code",
    permission: [...workers, "orders.read"],
    handle: (call) => show(call),
  });

  for (const [name, findingIn] of [
    ["done", ({ id = "", tracking = "" }) => ({ id: id.trim(), tracking: tracking.trim() || null })],
    ["not-done", () => null],
  ] as const satisfies [string, (form: Partial<Record<string, string>>) => ProviderFinding | null][])
    consoleRoute(scope, deps.frame, {
      method: "POST",
      url: `/operator/acts/:code/:intentId/${name}` as "/operator/acts/:code/:intentId/said",
      permission: workers,
      async handle({ params: { code, intentId }, form, operator }) {
        const order = await orderOf(code, operator);
        const which = { orderId: order.id, intentId: rowIdIn(intentId) ?? 0 };
        await providers.resolve(which, findingIn(form), operator.actor);
        return done(`/operator/acts/${code}`, "act-resolved");
      },
      refused: (call, error) => show(call, error),
    });

  /** @throws ServiceError for an unknown code, and for an order of the other environment */
  async function orderOf(code: string, { environment }: Operator) {
    const order = isCode(code) ? await findOrderOfEnvironment(db, code, environment) : undefined;
    if (!order) throw orderNotFound();
    return order;
  }

  async function show({ request, operator, params: { code } }: ActCall, error?: string): Promise<string> {
    const { id, status } = await orderOf(code, operator);
    const acts = await actsOfOrder(db, id);
    const mayResolve = workers.some((permission) => may(operator, permission));
    const body = actsBody({ code, status, acts, mayResolve, now: deps.frame.clock(), error });
    return consolePage(deps.frame, request, { title: `Providers, order ${shortCode(code)}`, section: "today", body });
  }
}
