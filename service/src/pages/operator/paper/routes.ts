import type { FastifyInstance } from "fastify";
import { keepFaxReport, openToPrint, type Print, paperOrder, printFor } from "../../../delivery/paper/paper.ts";
import { buyShownLabel, lettersOnRecord, openLabelFile, shownLabels } from "../../../delivery/shipping/shipping.ts";
import { may } from "../../../firms/operators/operators.ts";
import { wholeNumberIn } from "../../../kernel/platform/text.ts";
import { lastFax } from "../../../orders/fulfilment/fulfilment.ts";
import { actUnderWay } from "../../../providers/providers.ts";
import { movesOf } from "../../../upkeep/console/console.ts";
import { shortCode } from "../../ui/format.ts";
import { done } from "../flash-messages.ts";
import { type ConsoleCall, consolePage, consoleRoute } from "../frame/console.ts";
import { type UploadDeps, withUpload } from "../frame/uploads.ts";
import { hasLabelForNow } from "../orders/labels.ts";
import { moveByForm } from "../orders/move-by-form.ts";
import type { Typed } from "../orders/move-forms.ts";
import type { OrderPageDeps } from "../orders/order-routes.ts";
import { paperBody } from "./page.ts";

type PaperCall = ConsoleCall<{ code: string }>;

const permission = ["paper.work", "orders.work"] as const;

/**
 * Adds the page of an order for the people who print and send its document. It has only the facts that this work
 * requires. Also adds the files to print, and the forms for labels and shipments.
 */
export function paperRoutes(scope: FastifyInstance, deps: OrderPageDeps): void {
  const orderOf = ({ params, operator }: PaperCall) => paperOrder(deps.moves.db, params.code, operator.environment);

  consoleRoute(scope, deps.frame, { url: "/operator/paper/:code", permission, handle: (call) => show(call) });

  for (const what of ["packet", "sheets", "document", "fax"] satisfies (Print | "document")[])
    consoleRoute(scope, deps.frame, {
      url: `/operator/paper/:code/${what}.pdf` as "/operator/paper/:code/print.pdf",
      permission,
      async handle(call) {
        const order = await orderOf(call);
        const { actor } = call.operator;
        const name = `${what}-${order.code.slice(0, 6)}.pdf`;
        if (what === "document") return { pdf: await openToPrint(deps.paper, order, actor), name };
        const hasLabel = hasLabelForNow(await shownLabels(deps.moves.db, order.id));
        return { pdf: await printFor(deps.paper, order, { what, hasLabel, actor }), name };
      },
      refused: (call, error) => show(call, undefined, error),
    });

  consoleRoute(scope, deps.frame, {
    method: "POST",
    url: "/operator/paper/:code/moves/:move",
    permission,
    async handle(call) {
      const { params, form, operator } = call;
      const order = await orderOf(call);
      await moveByForm(deps.moves, order, { move: params.move, form, operator });
      return done("/operator", "order-moved");
    },
    refused: (call, error) => show(call, { move: call.params.move, values: call.form, error }),
  });

  consoleRoute(scope, deps.frame, {
    url: "/operator/paper/:code/labels/:number",
    permission,
    async handle(call) {
      const order = await orderOf(call);
      const number = wholeNumberIn(call.params.number, 0, 9999) ?? 0;
      const pdf = await openLabelFile(deps.moves, order, { number, actor: call.operator.actor });
      return { pdf, name: `label-${order.code.slice(0, 6)}-${number}.pdf` };
    },
    refused: (call, error) => show(call, undefined, error),
  });

  consoleRoute(scope, deps.frame, {
    method: "POST",
    url: "/operator/paper/:code/buy",
    permission,
    async handle(call) {
      const order = await orderOf(call);
      const { form, operator } = call;
      const mayExceed = may(operator, "orders.work");
      await buyShownLabel(deps.moves, order, { most: form["most"] ?? "", operator: operator.actor, mayExceed });
      return done(`/operator/paper/${order.code}`, "label-ordered");
    },
    refused: (call, error) => show(call, undefined, error),
  });

  const show = (call: PaperCall, typed?: Typed, error?: string) => showPaper(deps, call, typed, error);
}

async function showPaper(deps: OrderPageDeps, call: PaperCall, typed?: Typed, error?: string): Promise<string> {
  const order = await paperOrder(deps.moves.db, call.params.code, call.operator.environment);
  const [labels, letters, underWay] = await Promise.all([
    shownLabels(deps.moves.db, order.id),
    lettersOnRecord(deps.moves.db, order.id),
    actUnderWay(deps.moves.db, order.id),
  ]);
  const now = { isUnderWay: underWay !== null, lastFax: (await lastFax(deps.moves.db, order.id))?.status };
  const moves = movesOf(order, call.operator, now).filter((move) => /^(?:ship|deliver|fax)/.test(move));
  const mayExceed = may(call.operator, "orders.work");
  const view = { order, moves, underWay, labels, letters, mayExceed, typed, error: error ?? typed?.error };
  const body = paperBody(view, deps.frame.clock());
  return consolePage(deps.frame, call.request, { title: `Order ${shortCode(order.code)}`, section: "today", body });
}

/** Adds the upload of a scan of the fax machine's report. The route accepts multipart forms. */
export function faxReportRoute(scope: FastifyInstance, deps: OrderPageDeps, upload: UploadDeps): void {
  consoleRoute(scope, deps.frame, {
    method: "POST",
    url: "/operator/paper/:code/report",
    permission,
    async handle({ params: { code }, request, operator }) {
      const order = await paperOrder(deps.moves.db, code, operator.environment);
      return withUpload(upload, request, operator, async ({ bytes }) => {
        await keepFaxReport(deps.paper, order, bytes, operator.actor);
        return done(`/operator/paper/${code}`, "report-kept");
      });
    },
    refused: (call, error) => showPaper(deps, call, undefined, error),
  });
}
