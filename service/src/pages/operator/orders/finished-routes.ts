import type { FastifyInstance } from "fastify";
import {
  type ApprovalDeps,
  acceptFinished,
  approveFinished,
  endAcceptance,
  type FinishedDeps,
  type FinishedReport,
  type Finishing,
  finishings,
  reportOnFinished,
} from "../../../delivery/paper/paper.ts";
import { ServiceError } from "../../../kernel/platform/errors.ts";
import { askInPersonElsewhere, askTechnologyFee } from "../../../signing/notaries/notaries.ts";
import { orderRecord } from "../../../upkeep/console/console.ts";
import { done } from "../flash-messages.ts";
import { type ConsoleCall, consolePage, consoleRoute } from "../frame/console.ts";
import { confirmedIn } from "../frame/upload-report.ts";
import { type UploadDeps, withUpload } from "../frame/uploads.ts";
import { finishedBody } from "./finished-forms.ts";
import { type OrderPageDeps, showOrder } from "./order-routes.ts";

export type FinishedRouteDeps = {
  orderPage: OrderPageDeps;
  upload: UploadDeps;
  finished: FinishedDeps;
  approval: ApprovalDeps;
};

type Call = ConsoleCall<{ code: string; on: string }>;

const permission = "documents.take_in" as const;

const isFinishing = (text: string): text is Finishing => finishings.some((each) => each === text);

/**
 * Adds the upload of a document that was signed or notarized on paper or elsewhere: the verifier's report, and
 * accepting the document. The routes accept multipart forms.
 */
export function finishedRoutes(scope: FastifyInstance, deps: FinishedRouteDeps): void {
  const finishing = { finished: deps.finished, moves: deps.orderPage.moves };
  const refused = (call: Call, problem: string) => showOrder(deps.orderPage, call, undefined, problem);

  async function orderOf({ params: { code, on }, operator }: Call) {
    if (!isFinishing(on)) throw new ServiceError("not_found", "Not found.");
    const { order, partnerId } = await orderRecord(deps.orderPage.moves.db, code, operator.environment);
    return { on, order: { ...order, partnerId } };
  }

  const page = (call: Call, on: Finishing, report: FinishedReport, typed?: { problem: string; reason: string }) =>
    consolePage(deps.orderPage.frame, call.request, {
      title: "What you uploaded",
      section: "orders",
      body: finishedBody(call.params.code, on, report, typed),
      scripts: ["copy.js"],
    });

  consoleRoute(scope, deps.orderPage.frame, {
    method: "POST",
    url: "/operator/orders/:code/finished/:on/check",
    permission,
    handle: (call) =>
      withUpload(deps.upload, call.request, call.operator, async ({ bytes }) => {
        const { on, order } = await orderOf(call);
        const report = await reportOnFinished(deps.finished, order, on, bytes);
        const failed = report.checks.some(({ state }) => state === "fails");
        return { page: page(call, on, report), status: failed ? 400 : 200 };
      }),
    refused,
  });

  consoleRoute(scope, deps.orderPage.frame, {
    method: "POST",
    url: "/operator/orders/:code/finished/:on",
    permission,
    handle: (call) =>
      withUpload(deps.upload, call.request, call.operator, async ({ bytes, fields }) => {
        const { on, order } = await orderOf(call);
        const reason = fields.get("reason") ?? "";
        const upload = { bytes, confirmed: { ...confirmedIn(fields), reason } };
        const accepted = await acceptFinished(finishing, call.operator, order, on, upload);
        if (typeof accepted !== "string")
          return { page: page(call, on, accepted.report, { problem: accepted.problem, reason }), status: 400 };
        return done(`/operator/orders/${order.code}`, accepted === "sealed" ? "order-moved" : "taking-in-requested");
      }),
    refused,
  });

  consoleRoute(scope, deps.orderPage.frame, {
    method: "POST",
    url: "/operator/orders/:code/taking-in/approve",
    permission,
    handle: (call) =>
      withUpload(deps.upload, call.request, call.operator, async ({ bytes }) => {
        const { code } = call.params;
        const { order, partnerId } = await orderRecord(deps.orderPage.moves.db, code, call.operator.environment);
        await approveFinished({ ...finishing, approval: deps.approval }, call.operator, { ...order, partnerId }, bytes);
        return done(`/operator/orders/${code}`, "order-moved");
      }),
    refused: (call, problem) => showOrder(deps.orderPage, call, undefined, problem),
  });
}

/**
 * Adds the forms that end a request to accept a document that was notarized elsewhere: another person rejects the
 * request, or the requester withdraws it.
 */
export function acceptanceRoutes(
  scope: FastifyInstance,
  deps: Pick<FinishedRouteDeps, "orderPage" | "approval">,
): void {
  for (const state of ["refused", "withdrawn"] as const)
    consoleRoute(scope, deps.orderPage.frame, {
      method: "POST",
      url: `/operator/orders/:code/taking-in/${state}` as "/operator/orders/:code/taking-in/state",
      permission,
      async handle({ params: { code }, operator, form }) {
        await orderRecord(deps.orderPage.moves.db, code, operator.environment);
        const decision = state === "refused" ? { state, note: form["note"] ?? "" } : { state };
        await endAcceptance({ ...deps.orderPage.moves, ...deps.approval }, operator, code, decision);
        return done(`/operator/orders/${code}`, state === "refused" ? "taking-in-refused" : "taking-in-withdrawn");
      },
      refused: (call, problem) => showOrder(deps.orderPage, call, undefined, problem),
    });
}

/**
 * Adds the form that asks a firm to agree to an act on paper. The firm's agreement also requests the refund of the
 * technology fee. If that request failed, another form repeats it.
 */
export function inPersonOrderRoutes(scope: FastifyInstance, { orderPage }: Pick<FinishedRouteDeps, "orderPage">): void {
  consoleRoute(scope, orderPage.frame, {
    method: "POST",
    url: "/operator/orders/:code/in-person",
    permission: "documents.take_in",
    async handle({ operator, params: { code }, form }) {
      await askInPersonElsewhere(orderPage.moves, operator, code, form);
      return done(`/operator/orders/${code}#in-person-title`, "in-person-asked");
    },
    refused: (call, error) => showOrder(orderPage, call, { move: "in-person", values: call.form, error }),
  });
  consoleRoute(scope, orderPage.frame, {
    method: "POST",
    url: "/operator/orders/:code/technology-fee",
    permission: "refunds.request",
    async handle({ operator, params: { code } }) {
      await askTechnologyFee(orderPage.moves, operator, code);
      return done(`/operator/orders/${code}#in-person-title`, "refund-requested");
    },
    refused: (call, error) => showOrder(orderPage, call, undefined, error),
  });
}
