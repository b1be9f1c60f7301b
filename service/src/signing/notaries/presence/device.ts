import { resumeSession, suspendSession } from "../../../firms/members/members.ts";
import type { Operator } from "../../../firms/operators/operators.ts";
import type { Tx } from "../../../kernel/platform/database/database.ts";
import { invalid, ServiceError } from "../../../kernel/platform/errors.ts";
import { slowHashHolds } from "../../../kernel/platform/slow-hash.ts";
import { lockOrder } from "../../../orders/order/order.ts";
import { endSignersTurn, giveToSigner, roomEnvelopeOf } from "../../envelopes/envelopes.ts";
import { claimedOrder, type DeskDeps } from "../claims/claims.ts";
import { markSignersSteps, principalOf } from "../sheets/room.ts";
import { lockOpenSheet, noteEvent } from "../sheets/sheet.ts";
import { openTurn, signsNext, turnWords } from "../sheets/steps.ts";
import { findSheet, isInHands, orderCodeOf } from "../sheets/store.ts";
import {
  closeHandOver,
  countAttempt,
  type HandOver,
  handOverOfSession,
  handOverOfSheet,
  insertHandOver,
  maxWrongPins,
} from "./hand-overs.ts";
import { atSheet, type Opened, type SheetDeps, sessionOf } from "./ipen.ts";

export const basisWords = {
  personal_knowledge: "personal knowledge",
  credential: "a credential that the notary saw",
  credible_witness: "a credible witness",
} as const;

/**
 * Hands the notary's device to the signer whose step is open. The notary's console session in this browser is then
 * suspended. The PIN, a passkey or a recovery code resumes it.
 * @returns the token of the signing pages
 * @throws ServiceError `conflict` when the open step is not a signer's, and when the notary has neither a PIN nor a
 * passkey
 */
export async function handOver(deps: SheetDeps, operator: Operator, code: string): Promise<string> {
  const { desk } = deps;
  const session = sessionOf(operator);
  const claimed = await claimedOrder(desk, operator, code);
  return atSheet(deps, operator, claimed, async (tx, { sheet, room }, { at, notary }) => {
    const turn = openTurn(sheet);
    if (turn?.step.by !== "signer" || turn.signer === null || !room)
      throw new ServiceError("conflict", `Another step is open: ${turn ? turnWords(sheet, turn) : "none"}.`);
    if (sheet.pinHash === null && !session.proof.hasPasskey)
      throw new ServiceError("conflict", "You have neither a PIN nor a passkey to get the device back with.");
    const { signer } = turn;
    const maySign = signsNext(sheet, turn);
    const basis = principalOf(sheet, signer)?.basis;
    const presence =
      `in the physical presence of the notary ${notary.commissionName}, ${notary.state}, commission ${notary.commissionNumber}` +
      (basis ? `, identified by ${basisWords[basis]}` : "");
    const actor = operator.actor;
    const before = await handOverOfSheet(tx, sheet.id);
    if (before) await closeHandOver(tx, before.id, "sign_in", at);
    const token = await giveToSigner(tx, desk.rowMac, room.id, { n: signer, maySign, presence, actor, at });
    await insertHandOver(tx, { sheetId: sheet.id, signer, sessionId: session.id, givenAt: at });
    await noteEvent(tx, desk.rowMac, sheet, { name: "handed_over", signer, detail: { maySign } }, { by: actor, at });
    if (!(await suspendSession(tx, desk.rowMac, session.id, at)))
      throw new ServiceError("conflict", "Your session has ended. Sign in again.");
    return token;
  });
}

/**
 * Returns the device to the notary, at the request of a console session that is not suspended. The notary has signed in
 * again in this browser, or uses another device.
 * @throws ServiceError `conflict` when the device was already returned
 */
export async function reclaimDevice(deps: SheetDeps, operator: Operator, code: string): Promise<void> {
  const claimed = await claimedOrder(deps.desk, operator, code);
  await atSheet(deps, operator, claimed, async (tx, { sheet, room }, { at }) => {
    const open = await handOverOfSheet(tx, sheet.id);
    if (!open || !(await closeHandOver(tx, open.id, "sign_in", at)))
      throw new ServiceError("conflict", "The device is back already.");
    await returned(tx, deps.desk, { sheet, room }, open, { by: operator.actor, at });
  });
}

async function returned(
  tx: Tx,
  { rowMac }: DeskDeps,
  { sheet, room }: Opened,
  { signer }: HandOver,
  { by, at }: { by: string; at: Date },
): Promise<void> {
  if (room) await endSignersTurn(tx, room.id, at);
  await noteEvent(tx, rowMac, sheet, { name: "handed_back", signer }, { by, at });
}

/** Identifies a browser that was handed over, by its suspended console session and that session's user. */
type Holding = { sessionId: string; userId: string };

/**
 * For the page of a handed-over device: tells if the notary has set a PIN, and if too many wrong PINs were entered.
 * Null for a browser that was not handed over.
 */
export async function heldBy({ desk }: Pick<SheetDeps, "desk">, { sessionId }: Holding) {
  const open = await handOverOfSession(desk.db, sessionId);
  const sheet = open && (await findSheet(desk, open.sheetId));
  return open && sheet ? { hasPin: sheet.pinHash !== null, isLocked: open.failures >= maxWrongPins } : null;
}

/**
 * Returns the device to the notary by PIN, in the browser that was handed over.
 * @returns the order's code
 * @throws ServiceError `validation` for a wrong PIN; `rate_limited` after five wrong PINs: the notary must then use a
 * passkey or sign in again
 */
export async function reclaimDeviceByPin(
  { desk }: Pick<SheetDeps, "desk">,
  { sessionId, userId }: Holding,
  pin: string,
): Promise<string> {
  const gone = () => new ServiceError("conflict", "The device is back already.");
  const open = await handOverOfSession(desk.db, sessionId);
  const sheet = open && (await findSheet(desk, open.sheetId));
  if (!open || !sheet) throw gone();
  if (sheet.pinHash === null) throw invalid("There is no PIN. Show your passkey.");
  if (!(await desk.db.transaction((tx) => countAttempt(tx, open.id))))
    throw new ServiceError("rate_limited", "Too many wrong PINs. The notary must use a passkey, or sign in again.");
  if (!(await slowHashHolds(sheet.pinHash, pin.trim()))) throw invalid("This PIN is not right.");
  return desk.db.transaction(async (tx) => {
    const at = desk.clock();
    const code = await orderCodeOf(tx, sheet);
    await lockOrder(tx, code);
    if (!(await closeHandOver(tx, open.id, "pin", at))) throw gone();
    const now = await findSheet({ ...desk, db: tx }, sheet.id);
    // Marks the steps that the signer has done, unless the act has ended or the notary has released the order since the
    // hand-over.
    if (now?.endedAt === null && (await isInHands(tx, now))) {
      const room = await roomEnvelopeOf(tx, sheet.orderId);
      const locked = await lockOpenSheet(tx, desk.rowMac, sheet.id);
      const marked = await markSignersSteps(tx, desk.rowMac, locked, room, at);
      await returned(tx, desk, { sheet: marked, room }, open, { by: `operator:${userId}`, at });
    }
    if (!(await resumeSession(tx, desk.rowMac, sessionId, at)))
      throw new ServiceError("conflict", "Your session has ended. Sign in again.");
    return code;
  });
}
