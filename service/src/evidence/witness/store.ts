import { hash } from "node:crypto";
import type { Tx } from "../../kernel/platform/database/database.ts";
import { sql } from "../../kernel/platform/database/sql.ts";
import { MacOfRow } from "../../kernel/platform/database/state-mac.ts";
import type { MacTable } from "../../kernel/platform/protected-data.ts";
import type { Members, RowMac } from "../../kernel/platform/row-mac.ts";

/** The newest state of a log that this witness cosigned; size 0 before the first one. */
export type WitnessedState = { witness: string; origin: string; size: number; root: Buffer };

type StoredState = WitnessedState & {
  note: string | null;
  restoredAt: Date | null;
  askedOn: string | null;
  asked: number;
  mac: Buffer;
};

const table = "witness_logs";

const stateMembers = ({ witness, origin, size, root }: WitnessedState): Members => ({
  witness,
  origin,
  size,
  root: root.toString("hex"),
});

const columns = sql`witness, origin, size, root, note, restored_at AS "restoredAt",
  to_char(asked_on, 'YYYY-MM-DD') AS "askedOn", asked, row_mac AS mac`;

const stateRows: MacTable<WitnessedState> = {
  table: sql`witness_logs`,
  key: sql`origin`,
  mac: sql`row_mac`,
  rows: sql`SELECT origin AS key, ${columns} FROM witness_logs`,
  members: stateMembers,
};

export const protectedTables = [stateRows];

const emptyRoot = hash("sha256", "", "buffer");

/** Locks the state of a log until the transaction ends, so that comparing and storing are atomic. */
export async function lockState(tx: Tx, witness: string, origin: string): Promise<StoredState> {
  const first = { witness, origin, size: 0, root: emptyRoot };
  await tx.query(sql`
    INSERT INTO witness_logs (witness, origin, size, root, row_mac)
    VALUES (${witness}, ${origin}, 0, ${emptyRoot}, ${new MacOfRow(table, stateMembers(first))}) ON CONFLICT DO NOTHING`);
  const [state] = await tx.query<StoredState>(sql`
    SELECT ${columns} FROM witness_logs WHERE witness = ${witness} AND origin = ${origin} FOR NO KEY UPDATE`);
  if (!state) throw new Error(`the state of ${origin} is gone`);
  return state;
}

export const stateHolds = (rowMac: RowMac, state: StoredState): boolean =>
  rowMac.holds(table, stateMembers(state), state.mac);

export const countQuestion = (tx: Tx, { witness, origin }: WitnessedState, day: string) =>
  tx.query(sql`
    UPDATE witness_logs SET asked = CASE WHEN asked_on = ${day} THEN asked + 1 ELSE 1 END, asked_on = ${day}
    WHERE witness = ${witness} AND origin = ${origin}`);

export const updateState = (tx: Tx, { witness, origin, size, root }: WitnessedState, note: string) =>
  tx.query(sql`
    UPDATE witness_logs SET size = ${size}, root = ${root}, note = ${note},
      row_mac = ${new MacOfRow(table, stateMembers({ witness, origin, size, root }))}
    WHERE witness = ${witness} AND origin = ${origin}`);

export const selectStates = (db: Pick<Tx, "query">, witness: string) =>
  db.query<StoredState>(sql`SELECT ${columns} FROM witness_logs WHERE witness = ${witness} ORDER BY origin`);

/** The newest note that was cosigned; null before the first one. */
export async function selectNote(db: Pick<Tx, "query">, witness: string, origin: string): Promise<string | null> {
  const [row] = await db.query<{ note: string | null }>(sql`
    SELECT note FROM witness_logs WHERE witness = ${witness} AND origin = ${origin}`);
  return row?.note ?? null;
}

/**
 * Halts the witness for all logs in a restored database. The database may lack later states that the witness cosigned,
 * so the same key must never cosign these logs again.
 */
export const endWitnessing = async (tx: Tx, at: Date): Promise<void> =>
  void (await tx.query(sql`UPDATE witness_logs SET restored_at = ${at} WHERE restored_at IS NULL`));
