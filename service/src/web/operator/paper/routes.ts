import type { FastifyInstance } from "fastify";
import { movesOf } from "../../../console/console.ts";
import type { EnvelopeDeps } from "../../../envelopes/envelopes.ts";
import type { MoveDeps } from "../../../fulfilment/fulfilment.ts";
import { type Print, paperOrder, printFor } from "../../../paper/paper.ts";
import { done } from "../../ui/flash-messages.ts";
import { shortCode } from "../../ui/format.ts";
import { type ConsoleCall, type ConsoleDeps, consolePage, consoleRoute } from "../frame/console.ts";
import { moveByForm } from "../orders/move-by-form.ts";
import type { Typed } from "../orders/move-forms.ts";
import { paperBody } from "./page.ts";

export type PaperRouteDeps = ConsoleDeps & MoveDeps & { envelopes: EnvelopeDeps };

type PaperCall = ConsoleCall<{ code: string }>;

const permission = ["paper.work", "orders.work"] as const;

/** What is printed and sent by people: the orders that wait for it, with no more of them than that takes. */
export function paperRoutes(scope: FastifyInstance, deps: PaperRouteDeps): void {
  const orderOf = ({ params, operator }: PaperCall) => paperOrder(deps.db, params.code, operator.environment);

  consoleRoute(scope, deps, { url: "/operator/paper/:code", permission, handle: (call) => show(call) });

  for (const what of ["packet", "sheets", "document"] satisfies Print[])
    consoleRoute(scope, deps, {
      url: `/operator/paper/:code/${what}.pdf` as "/operator/paper/:code/print.pdf",
      permission,
      async handle(call) {
        const order = await orderOf(call);
        const pdf = await printFor(deps.envelopes, order, what, call.operator.actor);
        return { pdf, name: `${what}-${order.code.slice(0, 6)}.pdf` };
      },
      refused: (call, error) => show(call, undefined, error),
    });

  consoleRoute(scope, deps, {
    method: "POST",
    url: "/operator/paper/:code/moves/:move",
    permission,
    async handle(call) {
      const { params, form, operator } = call;
      const order = await orderOf(call);
      await moveByForm(deps, order, { move: params.move, form, operator });
      return done("/operator", "order-moved");
    },
    refused: (call, error) => show(call, { move: call.params.move, values: call.form, error }),
  });

  async function show(call: PaperCall, typed?: Typed, error?: string): Promise<string> {
    const order = await orderOf(call);
    const moves = movesOf(order, call.operator).filter((move) => /^(?:ship|deliver|fax)/.test(move));
    const body = paperBody({ order, moves, typed, error: error ?? typed?.error });
    return consolePage(deps, call.request, { title: `Order ${shortCode(order.code)}`, section: "today", body });
  }
}
