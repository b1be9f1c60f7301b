import { isDoneByHand } from "../fulfilment/fulfilment.ts";
import { may, type Operator, type Permission } from "../operators/operators.ts";
import { type OrderState, type PeopleEvent, targetOf } from "../orders/orders.ts";

/** What a person can do to an order by a form of the console, and who may. The first that the table allows is the one to do. */
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

/** Whether the operator's roles permit the move, wherever the order stands. Agents do paper work, too. */
export const mayMove = (operator: Operator, move: ConsoleMove): boolean =>
  may(operator, moves[move]) || (moves[move] === "paper.work" && may(operator, "orders.work"));

/** What the table allows of the order now. @param isUnderWay whether a provider may be doing what people would do */
const movesNow = (order: OrderState, isUnderWay: boolean): ConsoleMove[] =>
  (Object.keys(moves) as ConsoleMove[]).filter(
    (move) => targetOf(order, move) !== null && !(isUnderWay && isDoneByHand(move)),
  );

/** What is allowed of the order now and the operator may do, the most wanted first. */
export const movesOf = (order: OrderState, operator: Operator, isUnderWay: boolean): ConsoleMove[] =>
  movesNow(order, isUnderWay).filter((move) => mayMove(operator, move));

/** The moves that are allowed now, and only other roles may do. */
export const movesOfOthers = (order: OrderState, operator: Operator, isUnderWay: boolean): ConsoleMove[] =>
  movesNow(order, isUnderWay).filter((move) => !mayMove(operator, move));
