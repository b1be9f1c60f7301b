import { operatorName } from "../../../../firms/operators/operators.ts";
import { changeRow } from "../../../../kernel/platform/database/change-rows.ts";
import type { Sql, Tx } from "../../../../kernel/platform/database/database.ts";
import { type Statement, sql } from "../../../../kernel/platform/database/sql.ts";
import {
  type Marked,
  marked,
  type StateMac,
  verified,
  writeStateMacs,
} from "../../../../kernel/platform/database/state-mac.ts";
import { stateRows } from "../../../../kernel/platform/protected-data.ts";

type ChangeOutcome = "requested" | "confirmed" | "refused" | "withdrawn";

/** A change of a U.S. state's rules for notaries. Each change contains a whole new version of the rules. */
export type RuleChange = {
  id: string;
  state: string;
  version: number;
  /** The rules as text, written by `rulesText`. */
  rules: string;
  sourceUrl: string;
  /** `YYYY-MM-DD`: the first day on which the version applies. */
  effectiveOn: string;
  requestedBy: string;
  requestedByName: string;
  requestedAt: Date;
  outcome: ChangeOutcome;
  decidedByName: string | null;
  decidedAt: Date | null;
  note: string | null;
};

/**
 * The columns of a version and of its decision that the MAC covers. A database trigger allows one decision on a
 * version, and no other change.
 */
const changeState: StateMac = {
  table: sql`notary_rule_versions`,
  key: sql`id`,
  mac: sql`row_mac`,
  covered: (
    v,
  ) => sql`${v}.id, ${v}.state, ${v}.version, ${v}.rules, ${v}.source_url, ${v}.effective_on, ${v}.requested_by,
    extract(epoch FROM ${v}.requested_at), ${v}.outcome, ${v}.decided_by, extract(epoch FROM ${v}.decided_at), ${v}.solo, ${v}.note`,
};

export const changeRows = stateRows(changeState, { backfill: { set: "firms, signers and notaries" } });

const select = (seen: Statement) => sql`
  SELECT v.id, v.state, v.version, v.rules::text AS rules, v.source_url AS "sourceUrl",
    to_char(v.effective_on, 'YYYY-MM-DD') AS "effectiveOn", v.requested_by AS "requestedBy", ${operatorName(sql`v.requested_by`)} AS "requestedByName",
    v.requested_at AS "requestedAt", v.outcome, ${operatorName(sql`v.decided_by`)} AS "decidedByName", v.decided_at AS "decidedAt", v.note, ${seen}
  FROM notary_rule_versions v`;

const markedChanges = select(marked(changeState, sql`v`));
const verifiedChanges = select(verified(changeState, sql`v`));

/** The confirmed versions of all U.S. states' rules, sorted by state and then by the order in which they apply. */
export const selectConfirmed = (db: Sql) =>
  db.query<RuleChange & Marked>(sql`
    ${markedChanges} WHERE v.outcome = 'confirmed' ORDER BY v.state, v.effective_on, v.version`);

/** The latest 100 versions of a U.S. state's rules, the latest first. */
export const selectOfState = (db: Sql, state: string) =>
  db.query<RuleChange & Marked>(sql`${markedChanges} WHERE v.state = ${state} ORDER BY v.version DESC LIMIT 100`);

/** The U.S. states whose rules have a change that waits for confirmation. */
export async function selectWaiting(db: Sql): Promise<ReadonlySet<string>> {
  const rows = await db.query<{ state: string }>(
    sql`SELECT state FROM notary_rule_versions WHERE outcome = 'requested'`,
  );
  return new Set(rows.map(({ state }) => state));
}

/**
 * Locks a version of a state's rules until the transaction ends.
 * @throws ServiceError `unavailable` for a version whose MAC is invalid
 */
export async function lockChange(tx: Tx, id: string): Promise<RuleChange | undefined> {
  await tx.query(sql`SELECT FROM notary_rule_versions WHERE id = ${id} FOR NO KEY UPDATE`);
  const [found] = await tx.query<RuleChange>(sql`${verifiedChanges} WHERE v.id = ${id}`);
  return found;
}

export type NewChange = Pick<RuleChange, "id" | "state" | "rules" | "sourceUrl" | "effectiveOn" | "requestedBy"> & {
  at: Date;
};

/**
 * Stores a new version of a state's rules.
 * @returns the version's number; undefined while another change of the state is pending
 */
export async function insertChange(tx: Tx, change: NewChange): Promise<number | undefined> {
  const { id, state, rules, sourceUrl, effectiveOn, requestedBy, at } = change;
  const [inserted] = await tx.query<{ version: number }>(sql`
    INSERT INTO notary_rule_versions (id, state, version, rules, source_url, effective_on, requested_by, requested_at)
    SELECT ${id}, ${state}, coalesce(max(version), 0) + 1, ${rules}::jsonb, ${sourceUrl}, ${effectiveOn}::date, ${requestedBy}::uuid,
      ${at}::timestamptz
    FROM notary_rule_versions WHERE state = ${state}
    ON CONFLICT DO NOTHING RETURNING version`);
  if (inserted) await writeStateMacs(tx, changeState, sql`id = ${id}`);
  return inserted?.version;
}

export type ChangeDecision = {
  outcome: Exclude<ChangeOutcome, "requested">;
  by: string;
  at: Date;
  solo: boolean;
  note: string | null;
};

/** Stores the decision on a version. The caller must have locked the version with `lockChange`. */
export const updateDecision = (tx: Tx, id: string, { outcome, by, at, solo, note }: ChangeDecision): Promise<void> =>
  changeRow(
    tx,
    changeState,
    id,
    sql`outcome = ${outcome}, decided_by = ${by}, decided_at = ${at}, solo = ${solo}, note = ${note}`,
  );
