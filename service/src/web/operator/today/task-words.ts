import type { Permission } from "../../../operators/operators.ts";
import { may, type Operator } from "../../../operators/operators.ts";
import { type Task, type TaskKind, taskKinds } from "../../../tasks/tasks.ts";

/** What a role needs to do a task of the kind. */
const permissions: Readonly<Record<TaskKind, Permission>> = {
  quote: "orders.work",
  order_on_hold: "orders.work",
  envelope_stuck: "signers.work",
  signer_locked: "signers.work",
  notarize: "notary.work",
  notarization_exception: "orders.work",
  label_print: "paper.work",
  packet_print: "paper.work",
  shipping_exception: "paper.work",
  fax_send: "paper.work",
  fax_exception: "paper.work",
  refund_approval: "money.decide",
  payment_unapplied: "money.decide",
  access_request: "partners.manage",
  playbook_gate: "orders.work",
  key_expiry: "health.read",
  job_dead: "health.read",
};

/** Whether the operator may do tasks of the kind. */
export const mayDo = (operator: Operator, kind: TaskKind): boolean => may(operator, permissions[kind]);

/** The kinds that the operator sees: their own; and all where they read every order. */
export const kindsOf = (operator: Operator): TaskKind[] =>
  (Object.keys(taskKinds) as TaskKind[]).filter((kind) => mayDo(operator, kind) || may(operator, "orders.read"));

/** The page where a task is done. */
export function pathOfTask({ kind, orderCode }: Pick<Task, "kind" | "orderCode">, operator: Operator): string {
  if (kind === "access_request" || kind === "playbook_gate") return "/operator/approvals";
  if (kind === "refund_approval") return "/operator/refunds";
  if (kind === "payment_unapplied") return "/operator/payments";
  if (kind === "key_expiry" || kind === "job_dead") return "/operator/health";
  if (may(operator, "orders.read")) return `/operator/orders/${orderCode}`;
  return kind === "notarize" ? "/operator/notary" : `/operator/paper/${orderCode}`;
}
