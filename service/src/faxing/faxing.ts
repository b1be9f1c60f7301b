/** Faxes by Telnyx: an order's document with its cover sheet, sent once, followed to its end, and certified. */
import type { Taker } from "../fulfilment/fulfilment.ts";
import type { PaperDeps } from "../paper/paper.ts";
import type { Clock } from "../platform/clock.ts";
import type { Database } from "../platform/database/database.ts";
import { sql } from "../platform/database/sql.ts";
import type { Jobs } from "../platform/jobs/jobs.ts";
import type { Log } from "../platform/logs.ts";
import { actsOfOrder, type Providers } from "../providers/providers.ts";
import type { Receipts } from "../receipts/receipts.ts";
import { faxAct } from "./act.ts";
import { faxCertificate } from "./certificate.ts";
import { actName, actor, type FaxDeps, faxQueue, pollMs } from "./deps.ts";
import { faxEvent, followFaxes } from "./follow.ts";
import { carryOn, newAttempt } from "./record.ts";
import { isOver } from "./states.ts";
import { attemptsOf, followSoon, updateAttempt } from "./store.ts";

export { reasonWords } from "./reasons.ts";
export type { FaxState } from "./states.ts";
export { attemptsOf, type FaxAttempt } from "./store.ts";
export { sweepFaxNumbers } from "./sweep.ts";

export type FaxingDeps = {
  db: Database;
  clock: Clock;
  log: Log;
  providers: Providers;
  receipts: Receipts;
  envelopes: PaperDeps;
  /** From which application and number faxes are sent; null without an account. */
  telnyx: { faxApp: string | null; faxFrom: string | null } | null;
};

/** Sets the acts, the handlers of events and the jobs of faxes. @returns who takes orders on */
export function openFaxing(jobs: Jobs, deps: FaxingDeps): Taker[] {
  const { telnyx, providers, receipts, envelopes: paper, ...rest } = deps;
  receipts.register("fax_certificate", faxCertificate);
  const { faxApp: app, faxFrom: from } = telnyx ?? { faxApp: null, faxFrom: null };
  const faxDeps: FaxDeps = { ...rest, providers, paper, app: app ?? "", from: from ?? "" };
  providers.defineAct(faxAct(faxDeps));
  providers.onEvent("telnyx", (event) => faxEvent(faxDeps, event));
  jobs.work<{ orderId: number }>(faxQueue, ({ orderId }) => followFaxes(faxDeps, orderId), { maxAttempts: 40 });
  return app && from && providers.has("telnyx") ? [faxTaker(faxDeps)] : [];
}

/** The task stays open until Telnyx has the fax: it waits with the order on hold, and is people's where Telnyx is away. */
const faxTaker = (deps: FaxDeps): Taker => ({
  kind: "fax_send",
  actor,
  async take(tx, order, at) {
    const last = (await attemptsOf(tx, order.id, true)).at(-1);
    if (order.faxTo === null) return null;
    const acts = (await actsOfOrder(tx, order.id)).filter(({ act }) => act === actName);
    // Nobody faxes what may be on its way; if it is not, its end opens the task again.
    if (acts.some(({ state }) => state === "begun" || state === "unknown")) return { outcome: "being sent by Telnyx" };
    // A person had claimed the task before Telnyx was asked, and did not do it after all.
    const isGivenUp = acts.some(({ attempt, state }) => attempt === last?.attempt && state === "withdrawn");
    if (last?.state === "waiting" && isGivenUp) await updateAttempt(tx, last.id, sql`state = 'withdrawn'`);
    if (!last || isOver(last.state) || isGivenUp) {
      await newAttempt(deps, tx, order, { attempt: (last?.attempt ?? 0) + 1, retries: 0, dueAt: at });
      await carryOn(deps, tx, order.id);
    }
    await followSoon(tx, order.id, pollMs);
    return "beside";
  },
});
