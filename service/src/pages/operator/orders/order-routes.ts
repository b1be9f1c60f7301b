import type { FastifyInstance } from "fastify";
import { auditLine } from "../../../audit/audit.ts";
import { addNote, movesOf, movesOfOthers, type OrderRecord, orderRecord } from "../../../console/console.ts";
import {
  type EnvelopeDeps,
  openOrderDocument,
  orderDocuments,
  readSigning,
  remindSigner,
  unlockSigner,
} from "../../../envelopes/envelopes.ts";
import { attemptsOf } from "../../../faxing/faxing.ts";
import type { MoveDeps } from "../../../fulfilment/fulfilment.ts";
import type { Owner } from "../../../identity/identity.ts";
import { may, type Operator, requirePermission } from "../../../operators/operators.ts";
import { targetOf } from "../../../orders/orders.ts";
import { finishings, openTakingIn, paperStatuses } from "../../../paper/paper.ts";
import { ServiceError } from "../../../platform/errors.ts";
import { actUnderWay } from "../../../providers/providers.ts";
import { shownLabels } from "../../../shipping/shipping.ts";
import { done } from "../../ui/flash-messages.ts";
import { shortCode } from "../../ui/format.ts";
import { documentToSave } from "../../ui/orders/document-list.ts";
import { documentView } from "../../ui/orders/document-view.ts";
import { viewerPolicy } from "../../ui/page/policy.ts";
import { type ConsoleCall, type ConsoleDeps, consolePage, consoleRoute } from "../frame/console.ts";
import { moveByForm } from "./move-by-form.ts";
import type { Typed } from "./move-forms.ts";
import { orderBody } from "./order-page.ts";

export type OrderPageDeps = ConsoleDeps & MoveDeps & { envelopes: EnvelopeDeps };

type OrderCall = ConsoleCall<{ code: string }>;

const numberOf = (text: string): number => (/^\d{1,2}$/.test(text) ? Number(text) : 0);

const recordOf = ({ db }: OrderPageDeps, { params, operator }: OrderCall) =>
  orderRecord(db, params.code, operator.environment);

/** An order of whichever firm, and what operators do to it. */
export function orderPageRoutes(scope: FastifyInstance, deps: OrderPageDeps): void {
  const show = (call: OrderCall, typed?: Typed, error?: string) => showOrder(deps, call, typed, error);

  consoleRoute(scope, deps, {
    url: "/operator/orders/:code",
    permission: "orders.read",
    handle: (call) => show(call),
  });

  consoleRoute(scope, deps, {
    method: "POST",
    url: "/operator/orders/:code/moves/:move",
    permission: ["orders.work", "signers.work"],
    async handle(call) {
      const { params, form, operator } = call;
      const { order } = await recordOf(deps, call);
      await moveByForm(deps, order, { move: params.move, form, operator });
      return done(`/operator/orders/${order.code}`, "order-moved");
    },
    refused: (call, error) => show(call, { move: call.params.move, values: call.form, error }),
  });

  consoleRoute(scope, deps, {
    method: "POST",
    url: "/operator/orders/:code/notes",
    permission: "orders.work",
    async handle(call) {
      const { id, order } = await recordOf(deps, call);
      await addNote(deps, { orderId: id, author: call.operator.actor, text: call.form["note"] ?? "" });
      return done(`/operator/orders/${order.code}#notes-title`, "order-noted");
    },
    refused: (call, error) => show(call, { move: "note", values: call.form, error }),
  });

  signerRoutes(scope, deps, show);
  documentRoutes(scope, deps);
}

/** The page of an order, also for a form about it that was refused. @throws ServiceError for who may not read orders */
export async function showOrder(deps: OrderPageDeps, call: OrderCall, typed?: Typed, error?: string): Promise<string> {
  const { operator, request } = call;
  const { clock, envelopes } = deps;
  requirePermission(operator, ["orders.read"]);
  const record = await recordOf(deps, call);
  const owner = ownerOf(record);
  const [{ signers }, documents, faxAttempts, labels, underWay, takingIn] = await Promise.all([
    readSigning(envelopes, record.order.code, owner),
    orderDocuments(deps.db, record.order.code, owner),
    attemptsOf(deps.db, record.id),
    shownLabels(deps.db, record.id),
    actUnderWay(deps.db, record.id),
    openTakingIn(deps.db, record.order.code),
  ]);
  const body = orderBody({
    operator,
    now: clock(),
    record,
    signers,
    documents,
    faxAttempts,
    labels,
    underWay,
    ...mayDo(record, operator, underWay !== null),
    takingIn,
    typed,
    error: error ?? typed?.error,
  });
  const title = `Order ${shortCode(record.order.code)}`;
  return consolePage(deps, request, { title, section: "orders", body, scripts: ["copy.js"] });
}

/** What an operator does about the links of signers. */
function signerRoutes(
  scope: FastifyInstance,
  deps: OrderPageDeps,
  show: (call: OrderCall, typed: undefined, error: string) => Promise<string>,
): void {
  for (const [name, change, message] of [
    ["remind", remindSigner, "signer-reminded"],
    ["unlock", unlockSigner, "signer-unlocked"],
  ] as const)
    consoleRoute(scope, deps, {
      method: "POST",
      url: `/operator/orders/:code/signers/:n/${name}` as "/operator/orders/:code/signers/:n/act",
      permission: "signers.work",
      async handle(call) {
        const record = await recordOf(deps, call);
        const { code } = record.order;
        const n = numberOf(call.params.n);
        await change(deps.envelopes, { owner: ownerOf(record), orderCode: code, n, actor: call.operator.actor });
        return done(`/operator/orders/${code}#signers-title`, message);
      },
      refused: (call, error) => show(call, undefined, error),
    });
}

/** An order's document, and the page that shows it; each reading of the bytes is in the audit log. */
function documentRoutes(scope: FastifyInstance, deps: OrderPageDeps): void {
  consoleRoute(scope, deps, {
    url: "/operator/orders/:code/documents/:documentId/view",
    permission: "orders.read",
    async handle(call) {
      const { documentId } = call.params;
      const record = await recordOf(deps, call);
      const { code: orderCode } = record.order;
      const documents = await orderDocuments(deps.db, orderCode, ownerOf(record));
      const document = documents.find((each) => each.documentId === documentId && each.deletedAt === null);
      if (!document) throw new ServiceError("not_found", "Document not found.");
      const back = `/operator/orders/${orderCode}`;
      const orderTitle = `Order ${shortCode(orderCode)}`;
      const body = documentView(deps.assets, { orderTitle, document, url: `${back}/documents/${documentId}`, back });
      const title = `Document of order ${shortCode(orderCode)}`;
      const page = consolePage(deps, call.request, {
        title,
        section: "orders",
        body,
        scripts: ["copy.js", "preview.js"],
      });
      return { page, headers: { "Content-Security-Policy": viewerPolicy() } };
    },
  });

  consoleRoute(scope, deps, {
    url: "/operator/orders/:code/documents/:documentId",
    permission: "orders.read",
    async handle(call) {
      const record = await recordOf(deps, call);
      const { code } = record.order;
      const { documentId } = call.params;
      const document = await openOrderDocument(deps.envelopes, {
        orderCode: code,
        owner: ownerOf(record),
        documentId,
      });
      const { partnerId, id: orderId } = record;
      const line = { at: deps.clock(), action: "document.read", actor: call.operator.actor, partnerId, orderId };
      await deps.db.query(auditLine({ ...line, detail: { document: documentId } }));
      return documentToSave(code, document);
    },
  });
}

const ownerOf = ({ partnerId, order: { environment } }: OrderRecord): Owner => ({ partnerId, environment });

const isClaimedByNotary = (tasks: OrderRecord["tasks"], { actor }: Operator): boolean =>
  tasks.some(({ kind, state, claimedBy }) => kind === "notarize" && state === "claimed" && claimedBy !== actor);

const mayDo = ({ order, letters, tasks }: OrderRecord, operator: Operator, isUnderWay: boolean) => ({
  moves: movesOf(order, operator, isUnderWay),
  movesOfOthers: movesOfOthers(order, operator, isUnderWay),
  finishingsNow: may(operator, "documents.take_in")
    ? finishings.filter(
        (on) => targetOf(order, on) !== null && !(on === "notarized" && isClaimedByNotary(tasks, operator)),
      )
    : [],
  mayWorkSigners: may(operator, "signers.work"),
  mayNote: may(operator, "orders.work"),
  mayPrint:
    may(operator, "orders.work") &&
    paperStatuses.some((status) => status === order.status) &&
    !isUnderWay &&
    // Lob prints what waits there to be mailed.
    !letters.some(({ stage }) => stage === "accepted"),
  mayRequestRefund: may(operator, "refunds.request") && targetOf(order, "refund_requested") !== null,
});
