import type { Environment } from "../identity/identity.ts";
import type { Clock } from "../platform/clock.ts";
import type { Sql } from "../platform/database/database.ts";
import { pageOf } from "../platform/database/page.ts";
import { isUuid } from "../platform/text.ts";
import { type Callbacks, callbackPath } from "./callback-token.ts";
import * as store from "./list-store.ts";
import { executionIdOf, executionName } from "./names.ts";

export type OverviewDeps = { db: Sql; clock: Clock };

/** Executions for the command line: those that wait, the first to expire at the top, or all, newest first. */
export async function listExecutions(db: Sql, { all, limit }: { all: boolean; limit: number }) {
  const rows = await (all ? store.selectNewest(db, limit) : store.selectWaiting(db, limit));
  return rows.map(({ id, outcome, arguments: values, ...row }) => ({
    executionName: executionName(id),
    ...row,
    state: outcome === null ? "Waiting" : "Completed",
    outcome,
    ...values,
  }));
}

/** Paths of executions' callbacks by their names; null for one whose key is not there any more. */
export async function callbackPaths(db: Sql, callbacks: Callbacks, names: readonly string[]) {
  const hashes = await store.selectCallbackHashes(db, names.map(executionIdOf));
  return (name: string): string | null => {
    const id = executionIdOf(name);
    const token = callbacks.tokenOfHash(id, hashes.get(id) ?? Buffer.alloc(0));
    return token && callbackPath(token);
  };
}

/** An execution as the operator's pages show it. */
export type ShownExecution = Omit<store.ListedExecution, "partnerId"> & { executionName: string };

export type Overview = {
  /** A page of those that may be decided, the first to expire at the top. */
  waiting: ShownExecution[];
  /** How many may be decided, on all pages. */
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

/** Of one environment: live and test are never shown together. @param after the id of the last execution on the page before; anything else begins at the top. */
export async function overviewOfExecutions(
  { db, clock }: OverviewDeps,
  environment: Environment,
  after: string,
): Promise<Overview> {
  const now = clock();
  const [rows, waitingTotal, ended] = await Promise.all([
    store.selectUndecided(db, environment, now, isUuid(after) ? after : null, pageSize + 1),
    store.countUndecided(db, environment, now),
    store.selectEnded(db, environment, endedShown),
  ]);
  const { items, nextCursor: next } = pageOf(rows, pageSize, ({ id }) => id);
  return { waiting: items.map(shown), waitingTotal, next, ended: ended.map(shown) };
}

/** The execution of this id; undefined when there is none in the environment. */
export async function findExecution(
  { db }: { db: Sql },
  environment: Environment,
  id: string,
): Promise<ShownExecution | undefined> {
  const row = isUuid(id) ? await store.selectExecution(db, id) : undefined;
  return row?.environment === environment ? shown(row) : undefined;
}
