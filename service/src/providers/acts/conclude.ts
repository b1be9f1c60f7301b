import type { Tx } from "../../platform/database/database.ts";
import type { ActEnd, Intent } from "./act.ts";
import type { ActDeps } from "./deps.ts";
import { endIntent } from "./end.ts";
import { findIntent, lockIntent } from "./store.ts";

/** Ends an act by what an event says of it. @returns false when there is none, or it has ended */
export async function concludeIntent(
  deps: Pick<ActDeps, "clock" | "sealed" | "acts">,
  tx: Tx,
  which: Pick<Intent, "act" | "orderId" | "attempt">,
  end: Exclude<ActEnd<unknown>, { kind: "unclear" }>,
): Promise<boolean> {
  const act = deps.acts.get(which.act);
  const found = await findIntent(tx, deps.sealed, which);
  const intent = found && (await lockIntent(tx, deps.sealed, found.id));
  // Only what began can have been done.
  if (!act || !intent || !["begun", "unknown"].includes(intent.state)) return false;
  await endIntent(deps, tx, act, intent, end);
  return true;
}
