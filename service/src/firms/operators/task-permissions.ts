import { type TaskKind, taskKinds } from "../tasks/tasks.ts";
import type { Permission } from "./roles.ts";
import { may, type Operator } from "./sessions.ts";

/** What a role needs to do a task of the kind. */
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
  delivery_trouble: "paper.work",
  fax_send: "paper.work",
  fax_exception: "paper.work",
  provider_unclear: "paper.work",
  refund_approval: "money.decide",
  taking_in_approval: "documents.take_in",
  payment_unapplied: "money.decide",
  access_request: "partners.manage",
  playbook_gate: "orders.work",
  key_expiry: "partners.manage",
  job_dead: "partners.manage",
};

type Roles = Pick<Operator, "roles">;

/** The kinds that the operator does. */
export const kindsToDo = (operator: Roles): TaskKind[] =>
  (Object.keys(taskKinds) as TaskKind[]).filter((kind) => may(operator, permissions[kind]));

/**
 * Whether the operator may take tasks of the kind from a queue. Notarizations are taken at the notary's desk alone, which knows who may
 * have which.
 */
export const mayDoTask = (operator: Roles, kind: TaskKind): boolean =>
  kind !== "notarize" && may(operator, permissions[kind]);

/** The kinds that the operator sees in queues: all where they read every order; else those that they take from there. */
export const kindsShownTo = (operator: Roles): TaskKind[] =>
  (Object.keys(taskKinds) as TaskKind[]).filter((kind) => may(operator, "orders.read") || mayDoTask(operator, kind));
