import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Operator } from "../../../firms/operators/operators.ts";
import {
  approveRefund,
  listRefunds,
  previewRefund,
  type RefundDeps,
  refundOf,
  refuseRefund,
  requestRefund,
  withdrawRefund,
} from "../../../orders/refunds/refunds.ts";
import { queueCounts } from "../../../upkeep/console/console.ts";
import { centsOf } from "../../ui/forms/cents.ts";
import type { PageCall } from "../../ui/page/route.ts";
import type { Html } from "../../ui/render.ts";
import { done } from "../flash-messages.ts";
import { type ConsoleFrame, consolePage, consoleRoute, operatorOf } from "../frame/console.ts";
import { openIn, otherEnvironment } from "../frame/elsewhere.ts";
import { listBody, newRefundBody, refundBody } from "./pages.ts";
import type { Typed } from "./words.ts";

export type RefundPagesDeps = { frame: ConsoleFrame; refunds: RefundDeps };

const path = "/operator/refunds";
const readers = ["refunds.request", "money.decide", "records.read"] as const;

const page = ({ frame }: RefundPagesDeps, request: FastifyRequest, title: string, body: Html) =>
  consolePage(frame, request, { title, section: "refunds", body });

/**
 * Adds the pages of refunds: an operator requests a refund, and another one decides. With REFUND_APPROVAL=solo, the
 * same person may do both.
 */
export function refundRoutes(scope: FastifyInstance, deps: RefundPagesDeps): void {
  const { refunds } = deps;
  consoleRoute(scope, deps.frame, {
    url: path,
    permission: readers,
    handle: async ({ operator, request }) => {
      const { db, clock, refundApproval } = refunds;
      const { environment } = operator;
      const [lists, asked, elsewhere] = await Promise.all([
        listRefunds(refunds, operator),
        queueCounts(db, environment, ["refund_asked"], clock()),
        queueCounts(db, otherEnvironment(environment), ["refund_asked", "refund_approval"], clock()),
      ]);
      const counts = { asked: openIn(asked), elsewhere: openIn(elsewhere) };
      return page(deps, request, "Refunds", listBody({ ...lists, ...counts, operator, refundApproval }));
    },
  });

  askRoutes(scope, deps);
  decideRoutes(scope, deps);
}

function askRoutes(scope: FastifyInstance, deps: RefundPagesDeps): void {
  const { refunds } = deps;

  async function showNew(request: FastifyRequest, operator: Operator, code: string, typed?: Typed): Promise<string> {
    const preview = await previewRefund(refunds, operator, code.trim());
    return page(deps, request, "Ask for a refund", newRefundBody(preview, operator, typed));
  }

  consoleRoute(scope, deps.frame, {
    url: `${path}/new`,
    permission: "refunds.request",
    handle: ({ operator, query, request }) => showNew(request, operator, query["order"] ?? ""),
  });

  consoleRoute(scope, deps.frame, {
    method: "POST",
    url: path,
    permission: "refunds.request",
    async handle({ operator, form: { order: code = "", reason = "", amount = "" } }) {
      const id = await requestRefund(refunds, operator, { code, reason, amountCents: centsOf(amount) });
      return done(`${path}/${id}`, "refund-requested");
    },
    refused: ({ operator, form, request }, error) =>
      showNew(request, operator, form["order"] ?? "", { error, text: form["reason"] ?? "", amount: form["amount"] }),
  });
}

function decideRoutes(scope: FastifyInstance, deps: RefundPagesDeps): void {
  const { refunds } = deps;

  async function showRequest(request: FastifyRequest, id: string, typed?: Typed): Promise<string> {
    const operator = operatorOf(request);
    const refund = await refundOf(refunds, operator, id);
    const preview = refund.state === "requested" ? await previewRefund(refunds, operator, refund.orderCode) : null;
    return page(
      deps,
      request,
      "Refund",
      refundBody({ refund, preview, operator, typed, refundApproval: refunds.refundApproval }),
    );
  }

  consoleRoute(scope, deps.frame, {
    url: `${path}/:id`,
    permission: readers,
    handle: ({ params, request }) => showRequest(request, params.id),
  });

  const decided = {
    method: "POST",
    refused: ({ params, form, request }: PageCall<{ id: string }>, error: string) =>
      showRequest(request, params.id, { error, text: form["note"] ?? "" }),
  } as const;

  consoleRoute(scope, deps.frame, {
    ...decided,
    url: `${path}/:id/approve`,
    permission: "money.decide",
    async handle({ operator, params }) {
      await approveRefund(refunds, operator, params.id);
      return done(`${path}/${params.id}`, "refund-approved");
    },
  });

  consoleRoute(scope, deps.frame, {
    ...decided,
    url: `${path}/:id/refuse`,
    permission: "money.decide",
    async handle({ operator, params, form: { note = "" } }) {
      await refuseRefund(refunds, operator, params.id, note);
      return done(`${path}/${params.id}`, "refund-refused");
    },
  });

  consoleRoute(scope, deps.frame, {
    ...decided,
    url: `${path}/:id/withdraw`,
    permission: ["refunds.request", "money.decide"],
    async handle({ operator, params }) {
      await withdrawRefund(refunds, operator, params.id);
      return done(`${path}/${params.id}`, "refund-withdrawn");
    },
  });
}
