import { may, type Operator } from "../../../operators/operators.ts";
import type { Task } from "../../../tasks/tasks.ts";

/** The page where a task is done. */
export function pathOfTask({ kind, orderCode }: Pick<Task, "kind" | "orderCode">, operator: Operator): string {
  if (kind === "access_request" || kind === "playbook_gate") return "/operator/approvals";
  if (kind === "refund_approval") return "/operator/refunds";
  if (kind === "payment_unapplied") return "/operator/payments";
  if (kind === "key_expiry" || kind === "job_dead") return "/operator/health";
  if (kind === "provider_unclear") return `/operator/acts/${orderCode}`;
  if (may(operator, "orders.read")) return `/operator/orders/${orderCode}`;
  return kind === "notarize" ? "/operator/notary" : `/operator/paper/${orderCode}`;
}
