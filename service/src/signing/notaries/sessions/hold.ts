/** Interrupts the act of a live session: blocks its signature, or restarts the whole act. */
import type { Tx } from "../../../kernel/platform/database/database.ts";
import { sql } from "../../../kernel/platform/database/sql.ts";
import type { RowMac } from "../../../kernel/platform/row-mac.ts";
import { endSignersTurn, roomEnvelopeOf, setSignature } from "../../envelopes/envelopes.ts";
import { proofVoid, type VoidedChecks } from "../identity/results.ts";
import { checksOf } from "../identity/store.ts";
import { endWithoutAct } from "../sheets/room.ts";
import { type By, lockOpenSheet, noteEvent, restartSheet } from "../sheets/sheet.ts";
import { openTurn, signsNext } from "../sheets/steps.ts";
import { findSheet, outcomeOf, type Sheet } from "../sheets/store.ts";
import { atSession } from "./end.ts";
import { isHere } from "./holding.ts";
import type { Restart } from "./interruption.ts";
import type { Room } from "./rooms.ts";
import type { LiveDeps } from "./session.ts";
import { type LiveSession, updateLive } from "./store.ts";

/**
 * How an act restarts: from which step, and whose identity checks are voided. `proofsOf` is a signer's number or `all`;
 * by default no checks are voided.
 */
type Again = { readonly from: Restart; readonly proofsOf?: number | "all" };

/**
 * Restarts the act, and voids the identity checks of `proofsOf`. If no step of the current run is marked yet, only
 * voids the checks. Does nothing if the act has ended.
 *
 * Once somebody has signed, only an acknowledgment can restart, because in other acts the oath must come before the
 * signature. An act that can't restart ends together with its session, and the next session begins with the original
 * document.
 */
export async function beginAgain(
  deps: LiveDeps,
  tx: Tx,
  session: LiveSession,
  { from, proofsOf }: Again,
  at: Date,
): Promise<void> {
  const { rowMac } = deps.sheets.desk;
  if ((await outcomeOf(tx, session.sheetId)) !== null) return;
  const by = { by: "system", at };
  let sheet = await lockOpenSheet(tx, rowMac, session.sheetId);
  // The identity checks are voided even if nothing is marked yet, because the person may have passed them before the
  // session.
  if (proofsOf !== undefined) sheet = await voidProofs(tx, rowMac, sheet, proofsOf, by);
  if (!sheet.marks.some(({ kind, run }) => kind === "step" && run === sheet.run)) return;
  const envelope = await roomEnvelopeOf(tx, session.orderId);
  const isSigned = envelope?.signers.some(({ signedAt }) => signedAt !== null) ?? false;
  if (isSigned && sheet.script.act !== "acknowledgment") return endWithoutAct(tx, rowMac, session, "technical", by);
  if (envelope) await endSignersTurn(tx, envelope.id, at);
  const keep = from === "identity" ? [] : (["identify", "credential"] as const);
  await restartSheet(tx, rowMac, sheet, { cause: "interrupted", keep }, by);
}

/** Voids the identity checks that a signer, or everybody, has passed until now. The order must be locked. */
export async function voidProofs(tx: Tx, rowMac: RowMac, sheet: Sheet, of: number | "all", by: By): Promise<Sheet> {
  const checks = await checksOf(tx, sheet.orderId);
  const passed = checks.filter(({ state, person }) => state === "passed" && (of === "all" || person === of));
  const detail: VoidedChecks = { checks: passed.map(({ id }) => id) };
  return noteEvent(tx, rowMac, sheet, { name: proofVoid, signer: of === "all" ? null : of, detail }, by);
}

/**
 * Puts on hold a session that is no longer recorded. Does not wait for `watch.ts`, which checks only once a second,
 * because a signature could be accepted meanwhile.
 */
export async function holdUnrecorded(deps: LiveDeps, room: Room): Promise<void> {
  await atSession(deps, { id: room.session, orderId: room.orderId }, async (tx, session, at) => {
    if (session.state !== "live" || !isHere(deps, room)) return;
    await updateLive(tx, session.id, sql`state = 'held'`);
    await openSignature(tx, deps, session, false, at);
  });
  deps.rooms.tell(room.session, { kind: "changed" });
}

/**
 * Allows the signature if the session is live and the next step of the run sheet is the signer's signature. Otherwise
 * blocks it. Notes on the sheet whether the session is live or held. Does nothing for an act in which no signer signs.
 * @param isLive true if the session is live
 */
export async function openSignature(
  tx: Tx,
  deps: LiveDeps,
  session: LiveSession,
  isLive: boolean,
  at: Date,
): Promise<void> {
  const envelope = await roomEnvelopeOf(tx, session.orderId);
  const sheet = await findSheet({ ...deps.sheets.desk, db: tx }, session.sheetId);
  if (!envelope || !sheet || sheet.endedAt !== null) return;
  const turn = openTurn(sheet);
  await setSignature(tx, envelope.id, isLive && turn !== null && signsNext(sheet, turn));
  const by = { by: "system", at };
  await noteEvent(tx, deps.sheets.desk.rowMac, sheet, { name: isLive ? "together" : "held" }, by);
}
