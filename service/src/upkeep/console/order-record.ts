import { type LetterOnRecord, lettersOnRecord } from "../../delivery/shipping/shipping.ts";
import { may, namesOfActors, type Operator, type Permission } from "../../firms/operators/operators.ts";
import { joinFirm, verifiedFirm } from "../../firms/partners/partners.ts";
import { auditLine } from "../../kernel/audit/audit.ts";
import type { Environment } from "../../kernel/identity/identity.ts";
import type { Database } from "../../kernel/platform/database/database.ts";
import { sql } from "../../kernel/platform/database/sql.ts";
import { isCode } from "../../kernel/platform/text.ts";
import { aheadMoves, isDoneByHand, type OrderHistory, orderHistory } from "../../orders/fulfilment/fulfilment.ts";
import {
  findOrder,
  fromOrders,
  hasOrderCode,
  type OrderState,
  orderNotFound,
  type PeopleEvent,
  type PublicOrderRow,
  targetOf,
} from "../../orders/order/order.ts";
import type { Address } from "../../orders/pricing/pricing.ts";
import { type ActOnRecord, actsOfOrder } from "../../providers/providers.ts";
import { openOrderDocument, type StoredDeps } from "../../signing/envelopes/envelopes.ts";
import { notesOfOrder, type OrderNote } from "./notes.ts";
import { type Task, tasksOfOrder } from "./task-lists.ts";

/** An order as the operator's page shows it, without its documents and signers. */
export type OrderRecord = {
  order: PublicOrderRow;
  id: number;
  partnerId: string;
  firmName: string;
  customerName: string | null;
  signerState: string | null;
  shipMethod: string | null;
  shipTo: Address | null;
  shipFrom: Address | null;
  /**
   * The reason why EasyPost called the recipient's address undeliverable; null when EasyPost accepted or did not check
   * that address.
   */
  addressProblem: string | null;
  isRush: boolean;
  history: OrderHistory;
  tasks: Task[];
  /** The requests to providers for this order, such as a purchase of a label. */
  acts: ActOnRecord[];
  /** The letters that Lob accepted. */
  letters: LetterOnRecord[];
  notes: OrderNote[];
  /** The names of operators, by the `actor` that stands for each of them in the audit log. */
  names: ReadonlyMap<string, string>;
};

type Facts = Omit<OrderRecord, "order" | "history" | "tasks" | "acts" | "letters" | "notes" | "names">;

/**
 * An order of any firm, as the operator's page shows it.
 * @throws ServiceError `not_found` for an unknown code, and for an order in the other environment
 */
export async function orderRecord(db: Database, code: string, environment: Environment): Promise<OrderRecord> {
  const [facts] = isCode(code)
    ? await db.query<Facts>(sql`
        SELECT o.id, o.partner_id AS "partnerId", p.name AS "firmName", o.customer_name AS "customerName",
          o.signer_state AS "signerState", o.ship_method AS "shipMethod", o.ship_to AS "shipTo", o.ship_from AS "shipFrom",
          o.carrier_rate ->> 'addressProblem' AS "addressProblem", o.lines @> '[{"type": "RushFee"}]' AS "isRush", ${verifiedFirm}
        ${fromOrders} ${joinFirm(sql`o.partner_id`)} WHERE ${hasOrderCode(code)} AND o.environment = ${environment}`)
    : [];
  const order = facts && (await findOrder(db, code));
  if (!order) throw orderNotFound();
  const [history, tasks, acts, letters, notes] = await Promise.all([
    orderHistory(db, code),
    tasksOfOrder(db, facts.id),
    actsOfOrder(db, facts.id),
    lettersOnRecord(db, facts.id),
    notesOfOrder(db, facts.id),
  ]);
  const actors = [
    ...history.history.map(({ actor }) => actor),
    ...notes.map(({ author }) => author),
    ...tasks.flatMap(({ claimedBy, endedBy }) => [claimedBy ?? "", endedBy ?? ""]),
  ];
  return { ...facts, order, history, tasks, acts, letters, notes, names: await namesOfActors(db, actors) };
}

/**
 * Opens a document of an order for an operator, and records the access in the audit log.
 * @throws as `openOrderDocument`
 */
export async function openDocumentAsOperator(
  deps: StoredDeps,
  { id: orderId, partnerId, order }: OrderRecord,
  documentId: string,
  { actor }: Operator,
): ReturnType<typeof openOrderDocument> {
  const owner = { partnerId, environment: order.environment };
  const document = await openOrderDocument(deps, { orderCode: order.code, owner, documentId });
  const line = { at: deps.clock(), action: "document.read", actor, partnerId, orderId };
  await deps.db.query(auditLine({ ...line, detail: { document: documentId } }));
  return document;
}

/** The changes of status that the console offers, with the permission for each, in order of priority. */
const moves = {
  priced: "orders.work",
  released: "orders.work",
  sign_reissued: "signers.work",
  notarization_reopened: "orders.work",
  next_segment: "orders.work",
  shipped: "paper.work",
  delivered: "paper.work",
  shipping_retried: "paper.work",
  fax_sent: "paper.work",
  fax_delivered: "paper.work",
  fax_retried: "paper.work",
  shipping_failed: "paper.work",
  fax_failed: "paper.work",
  held: "orders.work",
  cancelled: "orders.work",
} as const satisfies Partial<Record<PeopleEvent, Permission>>;

export type ConsoleMove = keyof typeof moves;

export const isConsoleMove = (text: string): text is ConsoleMove => Object.hasOwn(moves, text);

/**
 * True if the operator's roles permit the move, whatever the order's status. An operator with `orders.work` may also
 * make the moves that need `paper.work`.
 */
export const mayMove = (operator: Operator, move: ConsoleMove): boolean =>
  may(operator, moves[move]) || (moves[move] === "paper.work" && may(operator, "orders.work"));

type Moving = OrderState & { environment: Environment };

type Now = {
  /** True if a provider may be doing work that staff could also do manually. */
  isUnderWay: boolean;
  /** The state of the order's last recorded fax. */
  lastFax: string | undefined;
};

/**
 * The moves that the order's status allows. A fax may be sent before the order reaches its fax statuses, so this
 * includes the moves of that fax. Leaves out manual work while a provider may be doing the same work.
 */
function movesNow(order: Moving, { isUnderWay, lastFax }: Now): ConsoleMove[] {
  const ahead: readonly PeopleEvent[] = aheadMoves(order, lastFax);
  return (Object.keys(moves) as ConsoleMove[]).filter(
    (move) => (targetOf(order, move) !== null || ahead.includes(move)) && !(isUnderWay && isDoneByHand(move)),
  );
}

/** The moves that are allowed now and that the operator may make, in order of priority. */
export const movesOf = (order: Moving, operator: Operator, now: Now): ConsoleMove[] =>
  movesNow(order, now).filter((move) => mayMove(operator, move));

/** The moves that are allowed now but need another role. */
export const movesOfOthers = (order: Moving, operator: Operator, now: Now): ConsoleMove[] =>
  movesNow(order, now).filter((move) => !mayMove(operator, move));
