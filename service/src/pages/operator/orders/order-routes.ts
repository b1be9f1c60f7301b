import type { FastifyInstance } from "fastify";
import { attemptsOf } from "../../../delivery/faxing/faxing.ts";
import { finishings, openAcceptance, type PaperDeps, paperStatuses } from "../../../delivery/paper/paper.ts";
import { shownLabels } from "../../../delivery/shipping/shipping.ts";
import { may, mayNow, type Operator, requirePermission } from "../../../firms/operators/operators.ts";
import type { Owner } from "../../../kernel/identity/identity.ts";
import { nullIfAltered } from "../../../kernel/platform/database/state-mac.ts";
import { ServiceError } from "../../../kernel/platform/errors.ts";
import { wholeNumberIn } from "../../../kernel/platform/text.ts";
import { finishedTarget, type MoveDeps } from "../../../orders/fulfilment/fulfilment.ts";
import { targetOf } from "../../../orders/order/order.ts";
import { type AcceptsPayment, lossesToBook, payAgainOf } from "../../../orders/payments/payments.ts";
import { actUnderWay } from "../../../providers/providers.ts";
import {
  type EnvelopeDeps,
  orderDocuments,
  readSigning,
  remindSigner,
  unlockSigner,
} from "../../../signing/envelopes/envelopes.ts";
import { latestInPersonRequest } from "../../../signing/notaries/notaries.ts";
import {
  addNote,
  movesOf,
  movesOfOthers,
  type OrderRecord,
  openDocumentAsOperator,
  orderRecord,
} from "../../../upkeep/console/console.ts";
import { shortCode } from "../../ui/format.ts";
import { documentToSave } from "../../ui/orders/document-list.ts";
import { documentView } from "../../ui/orders/document-view.ts";
import { viewerPolicy } from "../../ui/page/policy.ts";
import { done } from "../flash-messages.ts";
import { type ConsoleCall, type ConsoleFrame, consolePage, consoleRoute } from "../frame/console.ts";
import { mayByName } from "../frame/passkey-first.ts";
import { moneyRoutes } from "./money-routes.ts";
import { moveByForm } from "./move-by-form.ts";
import type { Typed } from "./move-forms.ts";
import { orderBody } from "./order-page.ts";

export type OrderPageDeps = {
  frame: ConsoleFrame;
  moves: MoveDeps;
  envelopes: EnvelopeDeps;
  paper: PaperDeps;
  acceptsPayment: AcceptsPayment;
};

type OrderCall = ConsoleCall<{ code: string }>;

const numberOf = (text: string): number => wholeNumberIn(text, 0, 99) ?? 0;

const recordOf = ({ moves: { db } }: OrderPageDeps, { params, operator }: OrderCall) =>
  orderRecord(db, params.code, operator.environment);

/** Adds the page of an order of any firm, and the operators' actions. */
export function orderPageRoutes(scope: FastifyInstance, deps: OrderPageDeps): void {
  const show = (call: OrderCall, typed?: Typed, error?: string) => showOrder(deps, call, typed, error);

  consoleRoute(scope, deps.frame, {
    url: "/operator/orders/:code",
    permission: "orders.read",
    handle: (call) => show(call),
  });

  consoleRoute(scope, deps.frame, {
    method: "POST",
    url: "/operator/orders/:code/moves/:move",
    permission: ["orders.work", "signers.work"],
    async handle(call) {
      const { params, form, operator } = call;
      const { order } = await recordOf(deps, call);
      await moveByForm(deps.moves, order, { move: params.move, form, operator });
      return done(`/operator/orders/${order.code}`, "order-moved");
    },
    refused: (call, error) => show(call, { move: call.params.move, values: call.form, error }),
  });

  consoleRoute(scope, deps.frame, {
    method: "POST",
    url: "/operator/orders/:code/notes",
    permission: "orders.work",
    async handle(call) {
      const { id, order } = await recordOf(deps, call);
      await addNote(deps.moves, { orderId: id, author: call.operator.actor, text: call.form["note"] ?? "" });
      return done(`/operator/orders/${order.code}#notes-title`, "order-noted");
    },
    refused: (call, error) => show(call, { move: "note", values: call.form, error }),
  });

  moneyRoutes(scope, deps, show);
  signerRoutes(scope, deps, show);
  documentRoutes(scope, deps);
}

/**
 * The page of an order, with the error of a rejected form.
 * @throws ServiceError when the operator has no right to read orders; `not_found` for an unknown order, or one of the
 * other environment
 */
export async function showOrder(deps: OrderPageDeps, call: OrderCall, typed?: Typed, error?: string): Promise<string> {
  const { operator, request } = call;
  const { frame, moves, envelopes } = deps;
  const { db } = moves;
  requirePermission(operator, ["orders.read"]);
  const record = await recordOf(deps, call);
  const owner = ownerOf(record);
  const [{ signers }, documents, faxAttempts, labels, underWay, acceptance, inPerson, payAgain, losses] =
    await Promise.all([
      readSigning(envelopes, record.order.code, owner),
      orderDocuments(envelopes, record.order.code, owner),
      attemptsOf(db, record.id),
      shownLabels(db, record.id),
      actUnderWay(db, record.id),
      openAcceptance(db, record.order.code),
      latestInPersonRequest(db, record.id),
      payAgainOf(db, deps.acceptsPayment, {
        id: record.id,
        status: record.order.status,
        environment: operator.environment,
      }).catch(nullIfAltered),
      lossesToBook(db, record.id).catch(nullIfAltered),
    ]);
  const body = orderBody({
    operator,
    now: frame.clock(),
    record,
    signers,
    documents,
    faxAttempts,
    labels,
    underWay,
    ...mayDo(record, operator, underWay !== null),
    acceptance,
    inPerson: inPerson ?? null,
    payAgain,
    mayDecideMoney: mayNow(operator, "money.decide"),
    mayBookMoney: mayByName(operator, "money.decide"),
    losses,
    typed,
    error: error ?? typed?.error,
  });
  const title = `Order ${shortCode(record.order.code)}`;
  return consolePage(deps.frame, request, { title, section: "orders", body, scripts: ["copy.js"] });
}

/** Adds the actions on signers: sending a reminder, and unlocking a signer. */
function signerRoutes(
  scope: FastifyInstance,
  deps: OrderPageDeps,
  show: (call: OrderCall, typed: undefined, error: string) => Promise<string>,
): void {
  for (const [name, change, message] of [
    ["remind", remindSigner, "signer-reminded"],
    ["unlock", unlockSigner, "signer-unlocked"],
  ] as const)
    consoleRoute(scope, deps.frame, {
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

/** Adds an order's document, and the page that shows it. Each read is recorded in the audit log. */
function documentRoutes(scope: FastifyInstance, deps: OrderPageDeps): void {
  consoleRoute(scope, deps.frame, {
    url: "/operator/orders/:code/documents/:documentId/view",
    permission: "orders.read",
    async handle(call) {
      const { documentId } = call.params;
      const record = await recordOf(deps, call);
      const { code: orderCode } = record.order;
      const documents = await orderDocuments(deps.envelopes, orderCode, ownerOf(record));
      const document = documents.find((each) => each.documentId === documentId && each.deletedAt === null);
      if (!document) throw new ServiceError("not_found", "Document not found.");
      const back = `/operator/orders/${orderCode}`;
      const orderTitle = `Order ${shortCode(orderCode)}`;
      const body = documentView(deps.frame.assets, {
        orderTitle,
        document,
        url: `${back}/documents/${documentId}`,
        back,
      });
      const title = `Document of order ${shortCode(orderCode)}`;
      const page = consolePage(deps.frame, call.request, {
        title,
        section: "orders",
        body,
        scripts: ["copy.js", "preview.js"],
      });
      return { page, headers: { "Content-Security-Policy": viewerPolicy() } };
    },
  });

  consoleRoute(scope, deps.frame, {
    url: "/operator/orders/:code/documents/:documentId",
    permission: "orders.read",
    async handle(call) {
      const record = await recordOf(deps, call);
      const { code } = record.order;
      const document = await openDocumentAsOperator(deps.envelopes, record, call.params.documentId, call.operator);
      return documentToSave({ code, title: null }, document);
    },
  });
}

const ownerOf = ({ partnerId, order: { environment } }: OrderRecord): Owner => ({ partnerId, environment });

const isClaimedByNotary = (tasks: OrderRecord["tasks"], { actor }: Operator): boolean =>
  tasks.some(({ kind, state, claimedBy }) => kind === "notarize" && state === "claimed" && claimedBy !== actor);

const mayDo = ({ order, letters, tasks, history }: OrderRecord, operator: Operator, isUnderWay: boolean) => ({
  moves: movesOf(order, operator, { isUnderWay, lastFax: history.faxes.at(-1)?.status }),
  movesOfOthers: movesOfOthers(order, operator, { isUnderWay, lastFax: history.faxes.at(-1)?.status }),
  finishingsNow: may(operator, "documents.take_in")
    ? finishings.filter(
        (on) => finishedTarget(order, on) !== null && !(on === "notarized" && isClaimedByNotary(tasks, operator)),
      )
    : [],
  mayWorkSigners: may(operator, "signers.work"),
  mayNote: may(operator, "orders.work"),
  mayPrint:
    may(operator, "orders.work") &&
    paperStatuses.some((status) => status === order.status) &&
    !isUnderWay &&
    // Operators don't print a letter that Lob has accepted.
    !letters.some(({ stage }) => stage === "accepted"),
  mayRequestRefund: may(operator, "refunds.request") && targetOf(order, "refund_requested") !== null,
});
