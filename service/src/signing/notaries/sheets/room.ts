import { isDeepStrictEqual } from "node:util";
import type { Sql, Tx } from "../../../kernel/platform/database/database.ts";
import { ServiceError } from "../../../kernel/platform/errors.ts";
import type { RowMac } from "../../../kernel/platform/row-mac.ts";
import { completeRoom, type RoomEnvelope, roomEnvelopeOf, voidRoom } from "../../envelopes/envelopes.ts";
import type { Act, Principal } from "../acts/act.ts";
import { type By, endSheet, lockOpenSheet, markStep } from "./sheet.ts";
import { markOf, openTurn, type Progress, turnWords, type Unmet } from "./steps.ts";
import {
  hasSignersSheet,
  haveSigners,
  openSheetOf,
  openSheetsOfOrder,
  type Sheet,
  type SheetOutcome,
} from "./store.ts";

/**
 * The envelope whose signers sign in the open act of an order; undefined without such an act. A document that was
 * prepared for an act that never began must not be used, because it lacks the signers' earlier signatures.
 */
export const roomOfAct = async (db: Sql, orderId: number): Promise<RoomEnvelope | undefined> =>
  (await hasSignersSheet(db, orderId)) ? roomEnvelopeOf(db, orderId) : undefined;

/**
 * Requires that the open act of an order is this notary's. A claim ends the act of the notary who had the order before,
 * but nodes of an earlier release don't end it.
 * @throws ServiceError `conflict` for the act of another notary
 */
export function requireOwn(sheet: Pick<Sheet, "notaryId"> | undefined, notaryId: string): void {
  if (sheet && sheet.notaryId !== notaryId)
    throw new ServiceError(
      "conflict",
      "Another notary left an act open for this order. Give the order back and claim it again: that ends the act.",
    );
}

/**
 * Discards the document that was prepared for an act of the order, if the act never began. The order must be locked.
 */
export async function voidUnused(tx: Tx, rowMac: RowMac, orderId: number, at: Date): Promise<void> {
  if (await hasSignersSheet(tx, orderId)) return;
  const room = await roomEnvelopeOf(tx, orderId);
  if (room) await voidRoom(tx, rowMac, room.id, "the act before the notary did not begin", at);
}

/**
 * Returns the reason why a condition of a step is not met, for acts in person. Null when it is met. Only `consent` is
 * checked: nothing is recorded, and the notary sees who is present.
 */
export const unmetIn =
  (room: RoomEnvelope | undefined): Unmet =>
  (need, signer) => {
    if (need !== "consent") return null;
    const one = room?.signers.find(({ n }) => n === signer);
    return one?.consent ? null : `${one?.name ?? "The signer"} has not agreed to sign electronically.`;
  };

/**
 * Marks on the run sheet the steps that signers have done on the signing pages. The envelope stores consents and
 * signatures, so no step is lost if the service stops before the mark.
 */
export async function markSignersSteps(
  tx: Tx,
  rowMac: RowMac,
  sheet: Sheet,
  room: RoomEnvelope | undefined,
  at: Date,
): Promise<Sheet> {
  let now = sheet;
  for (let turn = openTurn(now); turn && turn.step.by === "signer"; turn = openTurn(now)) {
    const { step, signer: n } = turn;
    const signer = room?.signers.find((each) => each.n === n);
    if (!room || !signer?.consent || (step.name === "sign" && signer.signedAt === null)) return now;
    const detail =
      step.name === "sign"
        ? { signedAt: signer.signedAt?.toISOString(), revision: room.head.number, sha256: room.head.sha256 }
        : { consent: signer.consent };
    const mark = { name: step.name, signer: n, choice: null, detail };
    now = await markStep(tx, rowMac, now, mark, { by: `signer:${n}`, at }, unmetIn(room));
  }
  return now;
}

/**
 * A run sheet's id, and the position and hash of its last mark. An act names them, so that the notary's signature of
 * the act covers all marks.
 */
export const headOf = ({ id, headPosition, headSha256 }: Sheet): NonNullable<Act["sheet"]> => ({
  id,
  position: headPosition,
  sha256: headSha256 ?? "",
});

/**
 * Requires that the open sheet of a task is this notary's, and has only one step left: the notary's signature on the
 * noted act. Without an open sheet, requires that the act names no sheet.
 * @throws ServiceError `conflict` naming the open step, or the difference between the act and the sheet
 */
export function requireReady(sheet: Sheet | undefined, act: Act, notaryId: string): void {
  requireOwn(sheet, notaryId);
  if (!sheet) {
    if (act.sheet) throw new ServiceError("conflict", "The act that you noted has ended. Note the act again.");
    return;
  }
  const turn = openTurn(sheet);
  if (turn?.step.name !== "notary_signs")
    throw new ServiceError("conflict", `A step of the act is open: ${turn ? turnWords(sheet, turn) : "none"}.`);
  const { script, marks } = sheet;
  if (act.act !== script.act || act.mode !== script.mode)
    throw new ServiceError("conflict", "The act that you noted is of another kind than the one that you did.");
  const last = marks.findLast(({ kind }) => kind === "step")?.position ?? 0;
  if (act.sheet?.id !== sheet.id || act.sheet.position < last)
    throw new ServiceError("conflict", "Note the act again: steps were marked since.");
  if (act.startedAt.slice(0, 16) < sheet.openedAt.toISOString().slice(0, 16))
    throw new ServiceError("conflict", "started_at must not be before the act was opened.");
  requirePrincipals(sheet, act);
}

/**
 * Requires that the noted act names the same principals, with the same identity, as the marks. The marks are what the
 * notary stated during the act, so the journal must agree with them.
 * @throws ServiceError `conflict`
 */
function requirePrincipals(sheet: Sheet, { principals }: Act): void {
  const wrong = (what: string) => new ServiceError("conflict", `${what} Note the act again as you marked it.`);
  if (principals.length !== sheet.people.length)
    throw wrong("The principals that you noted are not those who appeared.");
  for (const { n, name } of sheet.people) {
    const marked = principalOf(sheet, n);
    // Compares the principals by their numbers, because two signers may have the same name.
    const noted = principals[n - 1];
    if (!marked || noted?.name !== name) throw wrong(`${name} appeared, and is not principal ${n}.`);
    if (!isDeepStrictEqual(identityOf(noted), identityOf(marked)))
      throw wrong(`The identity of ${name} is another one than you marked.`);
  }
}

const identityOf = ({ name: _, address: __, ...identity }: Principal) => identity;

/** The facts about a principal, from the mark of the identity step; undefined while that step is not marked. */
export const principalOf = (sheet: Progress, n: number): Principal | undefined =>
  markOf(sheet, "identify", n)?.detail as Principal | undefined;

type Ended = { document: { bytes: number; sha256: string } } & By;

/**
 * Ends the open run sheet of a task with the notary's signature, in the transaction that writes the journal and changes
 * the order's status. Without a sheet, only discards a document that was prepared for an act that never began.
 * @throws ServiceError as `requireReady`
 */
export async function endWithSignature(
  tx: Tx,
  rowMac: RowMac,
  { taskId, orderId, notaryId }: { taskId: number; orderId: number; notaryId: string },
  act: Act,
  { document, by, at }: Ended,
): Promise<void> {
  const open = await openSheetOf({ db: tx, rowMac }, taskId);
  requireReady(open, act, notaryId);
  if (!open) return voidUnused(tx, rowMac, orderId, at);
  const sheet = await lockOpenSheet(tx, rowMac, open.id);
  const { bytes, sha256 } = document;
  const mark = { name: "notary_signs", signer: null, choice: null, detail: { bytes, sha256 } };
  const signed = await markStep(tx, rowMac, sheet, mark, { by, at }, () => null);
  await endSheet(tx, rowMac, signed, { outcome: "done" }, { by, at });
  const room = haveSigners(sheet.script) ? await roomEnvelopeOf(tx, orderId) : undefined;
  if (room) await completeRoom(tx, rowMac, room.id, { notarizedSha256: sha256, bytes, at });
}

/**
 * Ends the open run sheets of an order without an act, and voids the signatures that signers made in these acts. Also
 * discards a document that was prepared for an act whose sheet was never opened.
 */
export async function endWithoutAct(
  tx: Tx,
  rowMac: RowMac,
  { orderId }: { orderId: number },
  outcome: Exclude<SheetOutcome, "done">,
  { by, at }: By,
): Promise<void> {
  for (const { id } of await openSheetsOfOrder({ db: tx, rowMac }, orderId))
    await endSheet(tx, rowMac, await lockOpenSheet(tx, rowMac, id), { outcome }, { by, at });
  const room = await roomEnvelopeOf(tx, orderId);
  if (room) await voidRoom(tx, rowMac, room.id, `the notary ended the act: ${outcome}`, at);
}

/**
 * The outcome of an act that ends because its order no longer waits for a notary. `status` is the order's status now.
 */
export const outcomeWithOrder = (status: string): "identity" | "abandoned" =>
  status === "IdentityLocked" ? "identity" : "abandoned";
