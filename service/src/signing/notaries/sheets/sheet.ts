import type { Tx } from "../../../kernel/platform/database/database.ts";
import { sql } from "../../../kernel/platform/database/sql.ts";
import { ServiceError } from "../../../kernel/platform/errors.ts";
import { newUuid } from "../../../kernel/platform/ids.ts";
import type { RowMac } from "../../../kernel/platform/row-mac.ts";
import type { Script, StepName } from "./scripts.ts";
import { type Marked, openTurn, type Person, requireTurn, turnWords, type Unmet } from "./steps.ts";
import { appendMark, findSheet, insertSheet, lockSheet, type Sheet, type SheetOutcome, updateSheet } from "./store.ts";

/** The author and the time of a change to a run sheet. */
export type By = { readonly by: string; readonly at: Date };

export type Opening = {
  taskId: number;
  orderId: number;
  notaryId: string;
  script: Script;
  people: readonly Person[];
  pinHash?: string | null;
};

/**
 * Opens the run sheet of an act. The caller must have locked the order.
 * @throws ServiceError `conflict` while another sheet of the same task is open
 */
export async function openSheet(tx: Tx, rowMac: RowMac, opening: Opening, { at }: By): Promise<Sheet> {
  const id = newUuid();
  const people = opening.people.map(({ n, name }) => ({ n, name }));
  if (!(await insertSheet(tx, { pinHash: null, ...opening, id, people, openedAt: at })))
    throw new ServiceError("conflict", "An act is open for this order already.");
  const sheet = await findSheet({ db: tx, rowMac }, id);
  if (!sheet) throw new Error("the run sheet was not written");
  return sheet;
}

/**
 * Locks the run sheet of an act that has not ended, until the transaction ends.
 * @throws ServiceError `not_found`, or `conflict` for a sheet that has ended
 */
export async function lockOpenSheet(tx: Tx, rowMac: RowMac, id: string): Promise<Sheet> {
  const sheet = await lockSheet(tx, rowMac, id);
  if (!sheet) throw new ServiceError("not_found", "There is no such act.");
  if (sheet.endedAt !== null) throw new ServiceError("conflict", "This act has ended.");
  return sheet;
}

/**
 * Marks the open step of a run sheet. The transaction must have locked the sheet.
 * @throws ServiceError as `requireTurn`; also `conflict` naming the condition that is not met
 */
export async function markStep(
  tx: Tx,
  rowMac: RowMac,
  sheet: Sheet,
  { detail = null, ...mark }: Marked & { detail?: unknown },
  { by, at }: By,
  unmet: Unmet,
): Promise<Sheet> {
  requireTurn(sheet, mark, unmet);
  return appendMark(tx, rowMac, sheet, { kind: "step", ...mark, detail, by, at });
}

/** Appends an event that is not a step to the run sheet's record, such as a hand-over, a hold, or a witness's oath. */
export const noteEvent = (
  tx: Tx,
  rowMac: RowMac,
  sheet: Sheet,
  { name, signer = null, detail = null }: { name: string; signer?: number | null; detail?: unknown },
  { by, at }: By,
): Promise<Sheet> => appendMark(tx, rowMac, sheet, { kind: "event", name, signer, choice: null, detail, by, at });

/**
 * Restarts the act as a new run. The marks of the previous run stay stored, but no longer count.
 * @param keep the steps whose marks are copied to the new run
 */
export async function restartSheet(
  tx: Tx,
  rowMac: RowMac,
  sheet: Sheet,
  { cause, keep = [] }: { cause: string; keep?: readonly StepName[] },
  { by, at }: By,
): Promise<Sheet> {
  const preserved = sheet.marks.filter(
    ({ kind, run, name }) => kind === "step" && run === sheet.run && keep.some((each) => each === name),
  );
  const ended = await noteEvent(
    tx,
    rowMac,
    sheet,
    { name: "restarted", detail: { cause, keep: [...keep] } },
    { by, at },
  );
  await updateSheet(tx, sheet.id, sql`run = ${sheet.run + 1}`);
  let now: Sheet = { ...ended, run: sheet.run + 1 };
  for (const { name, signer, choice, detail } of preserved)
    now = await appendMark(tx, rowMac, now, { kind: "step", name, signer, choice, detail, by, at });
  return now;
}

/**
 * Ends an act with its outcome, and records who ended it.
 * @throws ServiceError `conflict` for the outcome `done` while a step is still open
 */
export async function endSheet(
  tx: Tx,
  rowMac: RowMac,
  sheet: Sheet,
  { outcome, detail = null }: { outcome: SheetOutcome; detail?: unknown },
  { by, at }: By,
): Promise<void> {
  const open = outcome === "done" ? openTurn(sheet) : null;
  if (open) throw new ServiceError("conflict", `A step is open: ${turnWords(sheet, open)}.`);
  await noteEvent(tx, rowMac, sheet, { name: "ended", detail: { outcome, detail } }, { by, at });
  await updateSheet(tx, sheet.id, sql`outcome = ${outcome}, ended_at = ${at}`);
}
