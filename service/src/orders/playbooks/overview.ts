import type { Environment } from "../../kernel/identity/identity.ts";
import type { Clock } from "../../kernel/platform/clock.ts";
import type { Sql } from "../../kernel/platform/database/database.ts";
import { pageOf } from "../../kernel/platform/database/page.ts";
import { isUuid } from "../../kernel/platform/text.ts";
import { type Callbacks, callbackPath } from "./callback-token.ts";
import * as store from "./list-store.ts";
import { executionIdOf, executionName } from "./names.ts";

export type OverviewDeps = { db: Sql; clock: Clock };

/** Executions for the command line: those that wait, the first to expire first; or all, newest first. */
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

/** The callback paths of executions, by execution name; null when the key of the token is no longer configured. */
export async function callbackPaths(db: Sql, callbacks: Callbacks, names: readonly string[]) {
  const hashes = await store.selectCallbackHashes(db, names.map(executionIdOf));
  return (name: string): string | null => {
    const id = executionIdOf(name);
    const token = callbacks.tokenOfHash(id, hashes.get(id) ?? Buffer.alloc(0));
    return token && callbackPath(token);
  };
}

/** An execution on the operator's pages. */
export type ShownExecution = Omit<store.ListedExecution, "partnerId"> & { executionName: string };

export type Overview = {
  /** One page of executions that can be decided. The first to expire comes first. */
  waiting: ShownExecution[];
  /** The number of waiting executions on all pages. */
  waitingTotal: number;
  /** The id after which the next page starts; null on the last page. */
  next: string | null;
  /** The executions that ended last, by a decision or by expiry. */
  ended: ShownExecution[];
};

const pageSize = 100;
const endedShown = 20;

const shown = ({ partnerId: _partnerId, ...row }: store.ListedExecution): ShownExecution => ({
  ...row,
  executionName: executionName(row.id),
});

/**
 * The executions of one environment, because live and test data are never mixed.
 * @param after the id of the last execution on the previous page; any other text shows the first page
 */
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

/**
 * Finds an execution of one environment by its id.
 * @param id may be malformed
 */
export async function findExecution(
  { db }: { db: Sql },
  environment: Environment,
  id: string,
): Promise<ShownExecution | undefined> {
  const row = isUuid(id) ? await store.selectExecution(db, id) : undefined;
  return row?.environment === environment ? shown(row) : undefined;
}
