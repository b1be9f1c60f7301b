import { type Operator, requirePerson } from "../../../firms/operators/operators.ts";
import { auditLine } from "../../../kernel/audit/audit.ts";
import type { Tx } from "../../../kernel/platform/database/database.ts";
import { invalid, ServiceError } from "../../../kernel/platform/errors.ts";
import { slowHash } from "../../../kernel/platform/slow-hash.ts";
import { wholeNumberIn } from "../../../kernel/platform/text.ts";
import type { Workers } from "../../../kernel/platform/workers/task.ts";
import { lockOrder } from "../../../orders/order/order.ts";
import { openRoomEnvelope, type PlaceBlock, type RoomEnvelope, roomEnvelopeOf } from "../../envelopes/envelopes.ts";
import { actKinds, actWords, type Principal, principalField, readIdentity } from "../acts/act.ts";
import { type Claimed, claimedOrder, type DeskDeps, lockClaimed } from "../claims/claims.ts";
import { signedBeforeAct } from "../claims/documents.ts";
import { modeWords } from "../eligibility/eligible.ts";
import { accepted, formReader, type Typed } from "../form-reader.ts";
import { findHours } from "../schedule/hours-store.ts";
import { endWithoutAct, markSignersSteps, requireOwn, unmetIn, voidUnused } from "../sheets/room.ts";
import type { Script, Scripts, SheetMode } from "../sheets/scripts.ts";
import { lockOpenSheet, markStep, noteEvent, openSheet } from "../sheets/sheet.ts";
import {
  type Marked,
  nameOf,
  obstacleOf,
  openTurn,
  signedAgain,
  type Turn,
  turnsOf,
  turnWords,
  type Unmet,
} from "../sheets/steps.ts";
import { haveSigners, openSheetOf, type Sheet } from "../sheets/store.ts";
import { type HandOver, handOverOfSheet } from "./hand-overs.ts";
import { type Spoken, spokenAt } from "./spoken.ts";
import { withWitness } from "./vouching.ts";

/** The dependencies that acts with a run sheet need in addition to those of the desk. */
export type SheetDeps = {
  desk: DeskDeps;
  workers: Workers;
  scripts: Scripts;
  /** Returns the function that finds a place in the document for the notary's block. */
  placeFor: PlaceFor;
};

export type PlaceFor = (claimed: Claimed, script: Script) => PlaceBlock;

const minPinLength = 6;

/**
 * Opens an act in person. If signers sign during the act, prepares the document. Then begins the run sheet (the record
 * of the act's steps).
 * @throws ServiceError naming the field and the rule, or the reason why such an act is impossible for this order
 */
export async function beginAct(deps: SheetDeps, operator: Operator, code: string, typed: Typed): Promise<void> {
  const session = sessionOf(operator);
  const read = formReader(typed);
  const act = read.requiredOneOf("act", actKinds);
  const pin = read.matching("pin", new RegExp(`^\\d{${minPinLength},12}$`), `must have ${minPinLength} to 12 digits`);
  if (pin === null && !session.proof.hasPasskey) read.fault("pin", "is required, because you have no passkey");
  accepted(read.done({ act, pin }));
  const claimed = await claimedOrder(deps.desk, operator, code);
  const pinHash = pin === null ? null : await slowHash(pin);
  await openAct(deps, operator, claimed, { act, mode: "ipen", pinHash });
}

type NewAct = { act: Script["act"]; mode: SheetMode; pinHash: string | null };

/**
 * Prepares the document if signers sign during the act, and begins the run sheet.
 * @param also is called to write the caller's own rows in the same transaction
 * @throws ServiceError naming the reason why such an act is impossible for this order
 */
export async function openAct(
  deps: SheetDeps,
  operator: Operator,
  claimed: Claimed,
  { act, mode, pinHash }: NewAct,
  also: (tx: Tx, sheet: Sheet, locked: Locked) => Promise<void> = async () => {},
): Promise<void> {
  const { desk } = deps;
  const { script, signedBefore } = await scriptFor(deps, claimed, act, mode);
  const { taskId, orderId } = claimed.order;
  await desk.db.transaction(async (tx) => {
    const { at, notary } = await lockClaimed(tx, desk, operator, claimed);
    const sheet = await openSheetOf({ ...desk, db: tx }, taskId);
    requireOwn(sheet, notary.id);
    if (sheet) throw new ServiceError("conflict", openAlready);
    // If the service stopped before an earlier act began, its prepared document may be left. That document is discarded
    // here, and a new one is prepared below.
    await endWithoutAct(tx, desk.rowMac, { orderId }, "abandoned", { by: operator.actor, at });
  });
  const prepared = haveSigners(script) ? await prepare(deps, claimed, script) : null;
  const open = desk.db.transaction(async (tx) => {
    const locked = await lockClaimed(tx, desk, operator, claimed);
    const { at, notary, order } = locked;
    // In the meantime, a request from another tab may have begun an act. If so, it discarded the document that this
    // request had prepared, and prepared its own.
    if (prepared === null) await voidUnused(tx, desk.rowMac, orderId, at);
    else if ((await roomEnvelopeOf(tx, orderId))?.id !== prepared) throw new ServiceError("conflict", openAlready);
    const people = order.signers.map(({ name }, index) => ({ n: index + 1, name }));
    const by = { by: operator.actor, at };
    const opened = await openSheet(
      tx,
      desk.rowMac,
      { taskId, orderId, notaryId: notary.id, script, people, pinHash },
      by,
    );
    const sheet =
      signedBefore === null
        ? opened
        : await noteEvent(tx, desk.rowMac, opened, { name: signedAgain, detail: signedBefore }, by);
    const detail = { sheet: sheet.id, act, mode: script.mode };
    await tx.query(
      auditLine({
        at,
        action: "notary.act_opened",
        actor: operator.actor,
        partnerId: order.partnerId,
        orderId,
        detail,
      }),
    );
    await also(tx, sheet, locked);
  });
  await open.catch(async (error) => {
    if (prepared !== null) await discard(desk, claimed, prepared);
    throw error;
  });
}

/**
 * Discards the document of an act that did not begin. If this fails, the next act or the release of the order discards
 * it.
 */
async function discard({ db, rowMac, clock, log }: DeskDeps, { order }: Claimed, prepared: number): Promise<void> {
  await db
    .transaction(async (tx) => {
      await lockOrder(tx, order.code);
      // Another tab may have prepared its own document for the act that it begins next. That one must stay.
      if ((await roomEnvelopeOf(tx, order.orderId))?.id === prepared)
        await voidUnused(tx, rowMac, order.orderId, clock());
    })
    .catch((error: Error) => log.error({ err: error }, "the document of an act that did not begin was not discarded"));
}

const openAlready = "An act is open for this order already.";

export function sessionOf(operator: Operator) {
  requirePerson(operator, "Sign in by email: an act needs a person.");
  if (!operator.session) throw invalid("Sign in by email: an act needs a person.");
  return operator.session;
}

/**
 * The steps of an act. A jurat and a witnessed signature need a signature in the notary's presence. So if the document
 * is already signed, the signers sign it again, beginning with the original.
 *
 * `signedBefore`: the document with the earlier signatures, if the act does not use them; otherwise null.
 * @throws ServiceError naming the reason why such an act is impossible for this order
 */
async function scriptFor(
  { desk, scripts }: SheetDeps,
  { eligibility, notary, order }: Claimed,
  act: Script["act"],
  mode: SheetMode,
) {
  const { modes, obstacles, rules } = eligibility;
  if (!modes.includes(mode))
    throw invalid(`An act ${modeWords[mode]} is not open to you for this order. ${obstacles.join(" ")}`.trim());
  if (!rules.acts.value.includes(act))
    throw invalid(`act must be one that is offered in ${notary.state}: ${rules.acts.value.join(", ")}.`);
  const before = await signedBeforeAct(desk.db, order.orderId);
  const about = { act, mode, state: notary.state };
  const script = scripts.of({ ...about, isSigned: before !== null });
  if (script) return { script, signedBefore: null };
  const again = scripts.of({ ...about, isSigned: false });
  if (again) return { script: again, signedBefore: before };
  throw invalid(`act must not be ${actWords[act]} ${modeWords[mode]}: it has no run sheet.`);
}

/** Prepares an act's document for the fields of its signers and its notary. @returns the id of the envelope */
function prepare({ desk, workers, placeFor }: SheetDeps, claimed: Claimed, script: Script): Promise<number> {
  const isRemote = script.mode === "ron";
  const deps = { ...desk, workers };
  return openRoomEnvelope(deps, claimed.order.orderId, placeFor(claimed, script), isRemote).catch((error: Error) => {
    if (error instanceof ServiceError) throw error;
    if (error.name !== "PdfRefusal" && error.name !== "UnfitField") throw error;
    throw new ServiceError("conflict", `This document can’t be signed before you: ${error.message}.`);
  });
}

export type Opened = { sheet: Sheet; room: RoomEnvelope | undefined };

/** The state that an act's page shows. */
export type SheetView = Opened & {
  turns: ({ turn: Turn; isMarked: boolean } & Spoken)[];
  open: Turn | null;
  obstacle: string | null;
  handOver: HandOver | undefined;
};

/**
 * Data for the page of the open act.
 * @param conditions the conditions of its steps; by default those of an act in person
 * @returns null when no act of the notary is open
 */
export async function sheetOf(
  { desk }: Pick<SheetDeps, "desk">,
  claimed: Claimed,
  conditions: (room: RoomEnvelope | undefined) => Unmet = unmetIn,
): Promise<SheetView | null> {
  const { order, notary } = claimed;
  const sheet = await openSheetOf(desk, order.taskId);
  if (sheet?.notaryId !== notary.id) return null;
  const zone = (await findHours(desk.db, notary.id))?.zone ?? null;
  const room = await roomEnvelopeOf(desk.db, order.orderId);
  const open = openTurn(sheet);
  const spoken = spokenAt(claimed, sheet, { zone, now: desk.clock() });
  const turns = turnsOf(sheet);
  const at = turns.findIndex(({ step, signer }) => step.name === open?.step.name && signer === open.signer);
  return {
    sheet,
    room,
    open,
    turns: turns.map((turn, index) => ({
      turn,
      isMarked: at === -1 || index < at,
      ...spoken(turn),
    })),
    obstacle: open && open.step.by === "notary" ? obstacleOf(sheet, open, conditions(room)) : null,
    handOver: await handOverOfSheet(desk.db, sheet.id),
  };
}

type Locked = Awaited<ReturnType<typeof lockClaimed>>;

/**
 * Runs work on the open run sheet of an order that the notary has claimed. Locks the order, the notary and the sheet.
 * Before the work, marks the steps that signers have done on the signing pages.
 * @param mode the mode that the sheet must have, because acts in person and acts by audio and video have different
 * conditions
 */
export function atSheet<T>(
  { desk }: Pick<SheetDeps, "desk">,
  operator: Operator,
  claimed: Claimed,
  work: (tx: Tx, opened: Opened, locked: Locked) => Promise<T>,
  mode: SheetMode = "ipen",
): Promise<T> {
  return desk.db.transaction(async (tx) => {
    const locked = await lockClaimed(tx, desk, operator, claimed);
    const found = await openSheetOf({ ...desk, db: tx }, locked.order.taskId);
    requireOwn(found, locked.notary.id);
    if (found?.script.mode !== mode)
      throw new ServiceError("conflict", `No act ${modeWords[mode]} is open for this order.`);
    const room = await roomEnvelopeOf(tx, locked.order.orderId);
    const sheet = await lockOpenSheet(tx, desk.rowMac, found.id);
    return work(tx, { sheet: await markSignersSteps(tx, desk.rowMac, sheet, room, locked.at), room }, locked);
  });
}

/**
 * Marks a step of the notary.
 * @throws ServiceError `conflict` naming the open step if it is another one, or the condition that is not met;
 * `validation` naming every wrong field
 */
export async function markAct(deps: SheetDeps, operator: Operator, code: string, typed: Typed): Promise<void> {
  const claimed = await claimedOrder(deps.desk, operator, code);
  const mark = markedIn(typed);
  const { name, signer } = mark;
  await atSheet(deps, operator, claimed, async (tx, { sheet, room }, { at }) => {
    const turn = openTurn(sheet);
    if (turn?.step.by === "signer" && turn.step.name === name)
      throw new ServiceError("conflict", `${turnWords(sheet, turn)} is the signer’s own step: hand the device over.`);
    if (turn?.step.name === "notary_signs" && name === "notary_signs")
      throw new ServiceError("conflict", "Your own signature marks this step: note the act, and sign.");
    // The fields of the identity are read only if this identification is the open step. Otherwise `markStep` below
    // throws an error that names the open step.
    const isIdentified = name === "identify" && signer !== null && turn?.step.name === name && turn.signer === signer;
    const detail = isIdentified ? identificationIn(sheet, typed, signer) : null;
    await markStep(tx, deps.desk.rowMac, sheet, { ...mark, detail }, { by: operator.actor, at }, unmetIn(room));
  });
}

/** Reads which step a form marks. For an identification, the choice is the basis. */
export function markedIn(typed: Typed): Marked {
  const name = typed["step"] ?? "";
  const signer = wholeNumberIn(typed["signer"], 0, 99) ?? null;
  const choice = name === "identify" && signer !== null ? principalField(signer, "basis") : "choice";
  return { name, signer, choice: typed[choice] || null };
}

/** Reads how the notary identified a signer. @throws ServiceError `validation` naming every wrong field */
function identificationIn(sheet: Sheet, typed: Typed, signer: number): Principal {
  const isVouched = typed[principalField(signer, "basis")] === "credible_witness";
  const identity = isVouched ? withWitness(sheet, typed, signer) : typed;
  return { ...accepted(readIdentity(identity, signer, false)), name: nameOf(sheet, signer) };
}
