import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Operator } from "../../../operators/operators.ts";
import {
  approveRefund,
  listRefunds,
  previewRefund,
  type RefundDeps,
  refundOf,
  refuseRefund,
  requestRefund,
  withdrawRefund,
} from "../../../refunds/refunds.ts";
import { done } from "../../ui/flash-messages.ts";
import type { PageCall } from "../../ui/page/route.ts";
import type { Html } from "../../ui/render.ts";
import { type ConsoleDeps, consolePage, consoleRoute, operatorOf } from "../frame/console.ts";
import { refundBody } from "./detail.ts";
import { listBody } from "./list.ts";
import { newRefundBody } from "./new.ts";
import type { Typed } from "./words.ts";

export type RefundPagesDeps = ConsoleDeps & RefundDeps;

const path = "/operator/refunds";
const readers = ["refunds.request", "money.decide", "records.read"] as const;

/** Refunds: asking for one, and deciding on what others asked for. */
export function refundRoutes(scope: FastifyInstance, deps: RefundPagesDeps): void {
  const page = (request: FastifyRequest, title: string, body: Html) =>
    consolePage(deps, request, { title, section: "refunds", body });

  consoleRoute(scope, deps, {
    url: path,
    permission: readers,
    handle: async ({ operator, request }) =>
      page(request, "Refunds", listBody({ ...(await listRefunds(deps, operator)), ...deps })),
  });

  consoleRoute(scope, deps, {
    url: `${path}/new`,
    permission: "refunds.request",
    handle: ({ operator, query, request }) => showNew(request, operator, query["order"] ?? ""),
  });

  consoleRoute(scope, deps, {
    method: "POST",
    url: path,
    permission: "refunds.request",
    async handle({ operator, form: { order: code = "", reason = "" } }) {
      const id = await requestRefund(deps, operator, { code, reason });
      return done(`${path}/${id}`, "refund-requested");
    },
    refused: ({ operator, form, request }, error) =>
      showNew(request, operator, form["order"] ?? "", { error, text: form["reason"] ?? "" }),
  });

  consoleRoute(scope, deps, {
    url: `${path}/:id`,
    permission: readers,
    handle: ({ params, request }) => showRequest(request, params.id),
  });

  const decided = {
    method: "POST",
    refused: ({ params, form, request }: PageCall<{ id: string }>, error: string) =>
      showRequest(request, params.id, { error, text: form["note"] ?? "" }),
  } as const;

  consoleRoute(scope, deps, {
    ...decided,
    url: `${path}/:id/approve`,
    permission: "money.decide",
    async handle({ operator, params }) {
      await approveRefund(deps, operator, params.id);
      return done(`${path}/${params.id}`, "refund-approved");
    },
  });

  consoleRoute(scope, deps, {
    ...decided,
    url: `${path}/:id/refuse`,
    permission: "money.decide",
    async handle({ operator, params, form: { note = "" } }) {
      await refuseRefund(deps, operator, params.id, note);
      return done(`${path}/${params.id}`, "refund-refused");
    },
  });

  consoleRoute(scope, deps, {
    ...decided,
    url: `${path}/:id/withdraw`,
    permission: "refunds.request",
    async handle({ operator, params }) {
      await withdrawRefund(deps, operator, params.id);
      return done(`${path}/${params.id}`, "refund-withdrawn");
    },
  });

  async function showNew(request: FastifyRequest, operator: Operator, code: string, typed?: Typed): Promise<string> {
    const preview = await previewRefund(deps, operator, code.trim());
    return page(request, "Ask for a refund", newRefundBody(preview, typed));
  }

  async function showRequest(request: FastifyRequest, id: string, typed?: Typed): Promise<string> {
    const operator = operatorOf(request);
    const refund = await refundOf(deps, operator, id);
    const preview = refund.state === "requested" ? await previewRefund(deps, operator, refund.orderCode) : null;
    return page(request, "Refund", refundBody({ refund, preview, operator, typed, ...deps }));
  }
}
