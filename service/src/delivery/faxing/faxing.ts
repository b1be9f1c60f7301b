import type { Database, Sql } from "../../kernel/platform/database/database.ts";
import type { ReceiptContent, Receipts } from "../receipts/receipts.ts";
import { attemptRows, attemptsOf, findAttempt, followSoon, updateAttempt } from "./store.ts";
/**
 * Faxes an order's document with a cover sheet through Telnyx, follows each fax to its end, and certifies the
 * transmission.
 */

import type { Clock } from "../../kernel/platform/clock.ts";
import { sql } from "../../kernel/platform/database/sql.ts";
import type { Jobs } from "../../kernel/platform/jobs/jobs.ts";
import type { Log } from "../../kernel/platform/logs.ts";
import type { Taker } from "../../orders/fulfilment/fulfilment.ts";
import { actsOfOrder, type Providers } from "../../providers/providers.ts";
import type { PaperDeps } from "../paper/paper.ts";
import { faxAct } from "./act.ts";
import { actName, actor, type FaxDeps, faxQueue, pollMs } from "./deps.ts";
import { faxEvent, followFaxes } from "./follow.ts";
import { newAttempt, resume } from "./record.ts";
import { isOver } from "./states.ts";

export { reasonWords } from "./reasons.ts";
export type { FaxState } from "./states.ts";
export { attemptsOf, type FaxAttempt, sweepFaxNumbers } from "./store.ts";

export const protectedTables = [attemptRows];

export type FaxingDeps = {
  db: Database;
  clock: Clock;
  log: Log;
  providers: Providers;
  receipts: Receipts;
  paper: PaperDeps;
  /** The Telnyx application and sending number; null without an account. */
  telnyx: { faxApp: string | null; faxFrom: string | null } | null;
};

/**
 * Registers the acts, event handlers and jobs of faxes.
 * @returns a list with the provider that does faxing tasks instead of people. The list is empty if the Telnyx account,
 * its fax application or the sending number is not configured
 */
export function openFaxing(jobs: Jobs, deps: FaxingDeps): Taker[] {
  const { telnyx, providers, receipts, paper, ...rest } = deps;
  receipts.register("fax_certificate", faxCertificate);
  const { faxApp: app, faxFrom: from } = telnyx ?? { faxApp: null, faxFrom: null };
  const faxDeps: FaxDeps = { ...rest, providers, paper, app: app ?? "", from: from ?? "" };
  providers.defineAct(faxAct(faxDeps));
  providers.onEvent("telnyx", (event) => faxEvent(faxDeps, event));
  jobs.work<{ orderId: number }>(faxQueue, ({ orderId }) => followFaxes(faxDeps, orderId), { maxAttempts: 40 });
  return app && from && providers.has("telnyx") ? [faxTaker(faxDeps)] : [];
}

/**
 * The provider that faxes the documents of orders. Until Telnyx has accepted the fax, the order may be put on hold, and
 * Telnyx may be unreachable. So the task for staff stays open until then. Only while the outcome of a request is
 * unknown, the task is closed earlier.
 */
const faxTaker = (deps: FaxDeps): Taker => ({
  kind: "fax_send",
  actor,
  async accept(tx, order, at) {
    const last = (await attemptsOf(tx, order.id, true)).at(-1);
    if (order.faxTo === null) return null;
    const acts = (await actsOfOrder(tx, order.id)).filter(({ act }) => act === actName);
    // While the outcome of the request is unknown, Telnyx may be sending the document, so staff must not fax it too. If
    // the look-up finds that the fax was not sent, the task is opened again.
    if (acts.some(({ state }) => state === "begun" || state === "unknown")) return { outcome: "being sent by Telnyx" };
    // True if the last attempt's act was withdrawn before its request to Telnyx, because a person had claimed the task.
    // The task is open again, so that person has released it.
    const isAbandoned = acts.some(({ attempt, state }) => attempt === last?.attempt && state === "withdrawn");
    if (last?.state === "waiting" && isAbandoned) await updateAttempt(tx, last.id, sql`state = 'withdrawn'`);
    const isElsewhere = last?.state === "waiting" && last.faxTo !== order.faxTo;
    if (isElsewhere) await updateAttempt(tx, last.id, sql`state = 'withdrawn'`);
    if (!last || isOver(last.state) || isAbandoned || isElsewhere) {
      await newAttempt(deps, tx, order, { attempt: (last?.attempt ?? 0) + 1, retries: 0, dueAt: at });
      await resume(deps, tx, order.id);
    }
    await followSoon(tx, order.id, pollMs);
    return "taskStaysOpen";
  },
});

/** The content of a fax's transmission certificate. */
export async function faxCertificate(db: Sql, orderId: number, attemptId: number): Promise<ReceiptContent | null> {
  const fax = await findAttempt(db, attemptId);
  if (!fax || fax.orderId !== orderId || fax.state !== "delivered") return null;
  const attempts = await attemptsOf(db, orderId);
  const { pages, sentPages, seconds, startedAt, endedAt } = fax;
  const source = fax.eventId === null ? "Telnyx’s answer to this service" : "the attached event, which Telnyx signed";
  return {
    title: "Fax transmission certificate",
    sentence: `According to ${source}, the receiving machine confirmed ${confirmed(pages, sentPages)}. This does not show that a person read the fax.`,
    rows: [
      ["To", fax.faxTo],
      ["From", fax.faxFrom],
      ["Pages confirmed", pages === null ? "not reported" : String(pages)],
      ["Pages sent, with cover", sentPages === null ? "not known" : String(sentPages)],
      ["Began", startedAt ? instant(startedAt) : "not reported"],
      [
        "Ended",
        endedAt ? `${fax.eventId === null ? "before Telnyx’s answer at " : ""}${instant(endedAt)}` : "not reported",
      ],
      ["Duration of the call", seconds === null ? "not reported" : `${seconds} seconds`],
      ["Attempt", `${fax.attempt} of ${attempts.length}`],
      ["Document, SHA-256", fax.documentSha256 ?? "not known"],
      ["Faxed file, SHA-256", fax.sentSha256 ?? "not known"],
      ["Fax at Telnyx", fax.faxId ?? ""],
    ],
    events: fax.eventId === null ? [] : [fax.eventId],
  };
}

/** The certificate never states more pages than the receiving machine confirmed. */
const confirmed = (pages: number | null, sent: number | null): string =>
  pages === null
    ? "this fax; the number of confirmed pages was not reported"
    : sent !== null && pages < sent
      ? `${pages} of the ${sent} pages of this fax, and not the other ${sent - pages}`
      : "the pages of this fax";

const instant = (at: Date): string => `${at.toISOString().slice(0, 19).replace("T", " ")} UTC`;
