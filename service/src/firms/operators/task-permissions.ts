import { type TaskKind, taskKinds } from "../../kernel/tasks/tasks.ts";
import { needsPasskey, type Permission } from "./roles.ts";
import { requireDecidesNow } from "./second-person.ts";
import { may, mustAddPasskey, type Operator, requirePasskeyOf, requirePermission } from "./sessions.ts";

/** The permission needed to do a task of each kind. */
const permissions: Readonly<Record<TaskKind, Permission>> = {
  quote: "orders.work",
  order_on_hold: "orders.work",
  envelope_stuck: "signers.work",
  signer_locked: "signers.work",
  notarize: "notary.work",
  notarization_exception: "orders.work",
  label_print: "paper.work",
  postage_dearer: "paper.work",
  packet_print: "paper.work",
  shipping_exception: "paper.work",
  arrival: "paper.work",
  delivery_trouble: "paper.work",
  fax_send: "paper.work",
  fax_exception: "paper.work",
  provider_unclear: "paper.work",
  refund_asked: "refunds.request",
  refund_approval: "money.decide",
  technology_fee: "refunds.request",
  taking_in_approval: "documents.take_in",
  payment_unapplied: "money.decide",
  refund_by_hand: "money.decide",
  bank_payment: "money.decide",
  debit_failed: "money.decide",
  dispute: "money.decide",
  refund_failed: "money.decide",
  money_difference: "money.decide",
  statement_difference: "money.decide",
  receipt_issuer: "partners.manage",
  firm_charge: "money.decide",
  order_altered: "money.decide",
  document_altered: "orders.work",
  access_request: "partners.manage",
  live_access: "partners.manage",
  closing_seal: "partners.manage",
  playbook_gate: "orders.work",
  notary_rules: "notaries.manage",
  key_expiry: "partners.manage",
  job_dead: "partners.manage",
};

type Roles = Pick<Operator, "roles">;

export const kindsToDo = (operator: Roles): TaskKind[] =>
  (Object.keys(taskKinds) as TaskKind[]).filter((kind) => may(operator, permissions[kind]));

/**
 * True if the operator may claim tasks of the kind from a queue. Notarizations are claimed at the notary's desk
 * instead, because only the desk knows which notary claims.
 */
export const mayDoTask = (operator: Roles, kind: TaskKind): boolean =>
  kind !== "notarize" && may(operator, permissions[kind]);

/** True if the operator must add a passkey before they can do tasks of the kind. */
export const needsPasskeyFirst = (operator: Pick<Operator, "session">, kind: TaskKind): boolean =>
  mustAddPasskey(operator, permissions[kind]);

/**
 * Requires the right to claim tasks of the kind.
 * @throws ServiceError without the role; without a passkey when the kind's permission needs one; and always for
 * `notarize`
 */
export function requireTaskPermission(operator: Operator, kind: TaskKind): void {
  requirePermission(operator, kind === "notarize" ? [] : [permissions[kind]]);
}

/**
 * Requires the right to end a task of the kind. If the kind's permission needs a passkey, so does the end of the task.
 * @throws ServiceError as `requireTaskPermission`, and without a needed recent passkey check. Also for a task that
 * needs `money.decide` while the operator's right to decide has not begun
 */
export function requireTaskEnd(operator: Operator, kind: TaskKind, now: Date): void {
  requireTaskPermission(operator, kind);
  if (needsPasskey(permissions[kind])) requirePasskeyOf(operator, now);
  if (permissions[kind] === "money.decide") requireDecidesNow(operator, now);
}

/**
 * The kinds that the operator sees in queues: all kinds for an operator with the right to read every order, otherwise
 * the kinds that the operator may claim.
 */
export const kindsShownTo = (operator: Roles): TaskKind[] =>
  (Object.keys(taskKinds) as TaskKind[]).filter((kind) => may(operator, "orders.read") || mayDoTask(operator, kind));
