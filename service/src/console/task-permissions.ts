import { may, type Operator, type Permission } from "../operators/operators.ts";
import { type TaskKind, taskKinds } from "../tasks/tasks.ts";

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

type Roles = Pick<Operator, "roles">;

/** Whether the operator may do tasks of the kind. */
export const mayDoTask = (operator: Roles, kind: TaskKind): boolean => may(operator, permissions[kind]);

/** The kinds that the operator does. */
export const kindsToDo = (operator: Roles): TaskKind[] =>
  (Object.keys(taskKinds) as TaskKind[]).filter((kind) => mayDoTask(operator, kind));

/** The kinds that the operator sees: their own; and all where they read every order. */
export const kindsShownTo = (operator: Roles): TaskKind[] =>
  may(operator, "orders.read") ? (Object.keys(taskKinds) as TaskKind[]) : kindsToDo(operator);
