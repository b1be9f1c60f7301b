import { auditLine } from "../../audit/audit.ts";
import { sql } from "../../platform/database/sql.ts";
import { invalid, ServiceError } from "../../platform/errors.ts";
import { isPlainText } from "../../platform/text.ts";
import type { SaidDone } from "./act.ts";
import type { ActDeps } from "./deps.ts";
import { endIntent } from "./end.ts";
import { lockIntent } from "./store.ts";
import { isStranded } from "./stranded.ts";

type Unclear = { orderId: number; intentId: number };

/**
 * Ends an act of which nobody knew by what a person found at the provider.
 * @param said null: it was not done, and people do it
 * @throws ServiceError when it is known already, when somebody else has claimed its task, and for ids that cannot be
 */
export async function resolveIntent(
  deps: ActDeps,
  { orderId, intentId }: Unclear,
  said: SaidDone | null,
  by: string,
): Promise<void> {
  if (said !== null) requirePlain(said);
  await deps.db.transaction(async (tx) => {
    const intent = await lockIntent(tx, deps.sealed, intentId);
    if (intent?.orderId !== orderId) throw new ServiceError("not_found", "No such act.");
    if (intent.state !== "unknown" && !isStranded(intent, deps.clock()))
      throw new ServiceError("conflict", "What came of this is known already.");
    const [task] = await tx.query<{ claimedBy: string | null }>(sql`
      SELECT claimed_by AS "claimedBy" FROM tasks WHERE order_id = ${orderId} AND kind = 'provider_unclear'
        AND subject = ${String(intentId)} AND state IN ('open', 'claimed', 'paused')`);
    if (task?.claimedBy && task.claimedBy !== by)
      throw new ServiceError("conflict", "Somebody else has claimed this task.");
    const act = deps.acts.get(intent.act);
    if (!act) throw new ServiceError("conflict", `This release does not know ${intent.act}.`);
    const detail = { act: intent.act, attempt: intent.attempt, done: said !== null, id: said?.id ?? null };
    await tx.query(auditLine({ at: deps.clock(), action: "provider.resolved", actor: by, orderId, detail }));
    const end =
      said === null
        ? ({ kind: "failed", code: "not_done", why: "A person found that it was not done." } as const)
        : ({ kind: "done", result: act.resultOf(said, intent) } as const);
    await endIntent(deps, tx, act, intent, end, by);
  });
}

const mostLength = 200;

function requirePlain({ id, tracking }: SaidDone): void {
  if (id === "" || id.length > mostLength || !isPlainText(id)) throw invalid("The id must have 1 to 200 characters.");
  if (tracking !== null && (tracking.length > mostLength || !isPlainText(tracking)))
    throw invalid("The tracking number must have at most 200 characters.");
}
