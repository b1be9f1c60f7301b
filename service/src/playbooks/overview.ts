import type { Clock } from "../platform/clock.ts";
import type { Sql } from "../platform/database.ts";
import { executionName, isExecutionId } from "./names.ts";
import * as store from "./store.ts";

export type OverviewDeps = { db: Sql; clock: Clock };

/** An execution as the operator's pages show it. */
export type ShownExecution = Omit<store.ListedExecution, "partnerId"> & { executionName: string };

export type Overview = {
  /** A page of those that may be decided, the first to expire at the top. */
  waiting: ShownExecution[];
  /** How many may be decided, on whatever page. */
  waitingTotal: number;
  /** The id to go on after, or null on the last page. */
  next: string | null;
  /** The latest that ended, by a decision or by time. */
  ended: ShownExecution[];
};

const pageSize = 100;
const endedShown = 20;

const shown = ({ partnerId: _partnerId, ...row }: store.ListedExecution): ShownExecution => ({
  ...row,
  executionName: executionName(row.id),
});

/** @param after the id of the last execution on the page before; anything else begins at the top. */
export async function overviewOfExecutions({ db, clock }: OverviewDeps, after: string): Promise<Overview> {
  const now = clock();
  const [rows, waitingTotal, ended] = await Promise.all([
    store.selectUndecided(db, now, isExecutionId(after) ? after : null, pageSize + 1),
    store.countUndecided(db, now),
    store.selectEnded(db, endedShown),
  ]);
  const waiting = rows.slice(0, pageSize).map(shown);
  const next = rows.length > pageSize ? (waiting.at(-1)?.id ?? null) : null;
  return { waiting, waitingTotal, next, ended: ended.map(shown) };
}

/** The execution of this id; undefined when there is none. */
export async function findExecution({ db }: { db: Sql }, id: string): Promise<ShownExecution | undefined> {
  const row = isExecutionId(id) ? await store.selectExecution(db, id) : undefined;
  return row && shown(row);
}
