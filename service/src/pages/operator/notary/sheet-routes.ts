import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Operator } from "../../../firms/operators/operators.ts";
import {
  abandonAct,
  beginAct,
  claimedOrder,
  handOver,
  identitiesOf,
  markAct,
  noteWitness,
  reclaimDevice,
  type SheetDeps,
  sheetOf,
  type Typed,
} from "../../../signing/notaries/notaries.ts";
import { shortCode } from "../../ui/format.ts";
import { done } from "../flash-messages.ts";
import { consolePage, consoleRoute } from "../frame/console.ts";
import { orderPath } from "./order-path.ts";
import { type NotaryDeskDeps, orderPage } from "./routes.ts";
import { sheetBody } from "./sheet-page.ts";

const permission = "notary.work" as const;
const base = "/operator/notary/orders/:code/sheet" as const;

/** Adds the run sheet of an act in person. Each step is a request; the run sheet decides whether it is accepted. */
export function sheetRoutes(scope: FastifyInstance, deps: NotaryDeskDeps & { notarySheets: SheetDeps }): void {
  const { frame, identity, notaryDesk, notarySheets } = deps;

  async function show(request: FastifyRequest, operator: Operator, code: string, typed: Typed = {}, problem?: string) {
    const claimed = await claimedOrder(notaryDesk, operator, code);
    const view = await sheetOf(notarySheets, claimed);
    if (view?.sheet.script.mode !== "ipen") return null;
    const identities = await identitiesOf(identity, claimed.order);
    const body = sheetBody({ claimed, view, identities, typed, problem });
    return consolePage(frame, request, { title: `Act for order ${shortCode(code)}`, section: "notary", body });
  }

  consoleRoute(scope, frame, {
    url: base,
    permission,
    handle: async ({ request, operator, params: { code } }) =>
      (await show(request, operator, code)) ?? { redirect: orderPath(code) },
  });

  consoleRoute(scope, frame, {
    method: "POST",
    url: base,
    permission,
    async handle({ operator, params: { code }, form }) {
      await beginAct(notarySheets, operator, code, form);
      return { redirect: orderPath(code, "/sheet") };
    },
    refused: ({ request, operator, params: { code } }, problem) =>
      orderPage(deps, request, operator, code, { problem }),
  });

  const refused = async (
    {
      request,
      operator,
      params: { code },
      form,
    }: { request: FastifyRequest; operator: Operator; params: { code: string }; form: Typed },
    problem: string,
  ) =>
    (await show(request, operator, code, form, problem)) ??
    (await orderPage(deps, request, operator, code, { problem }));

  const changes = [
    ["mark", markAct, "step-marked", (code: string) => orderPath(code, "/sheet")],
    ["witness", noteWitness, "witness-noted", (code: string) => orderPath(code, "/sheet")],
    ["back", reclaimDevice, "device-back", (code: string) => orderPath(code, "/sheet")],
    ["end", abandonAct, "act-ended", (code: string) => orderPath(code)],
  ] as const;
  for (const [verb, change, message, back] of changes)
    consoleRoute(scope, frame, {
      method: "POST",
      url: `${base}/${verb}`,
      permission,
      async handle({ operator, params: { code }, form }) {
        await change(notarySheets, operator, code, form);
        return done(back(code), message);
      },
      refused,
    });

  consoleRoute(scope, frame, {
    method: "POST",
    url: `${base}/hand-over`,
    permission,
    handle: async ({ operator, params: { code } }) => ({
      redirect: `/sign/${await handOver(notarySheets, operator, code)}`,
    }),
    refused,
  });
}
