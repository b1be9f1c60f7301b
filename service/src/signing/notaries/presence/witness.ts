import type { Operator } from "../../../firms/operators/operators.ts";
import type { Tx } from "../../../kernel/platform/database/database.ts";
import { invalid, ServiceError } from "../../../kernel/platform/errors.ts";
import type { RowMac } from "../../../kernel/platform/row-mac.ts";
import { wholeNumberIn } from "../../../kernel/platform/text.ts";
import { oathKinds, readWitnessIdentity } from "../acts/act.ts";
import { claimedOrder } from "../claims/claims.ts";
import type { Notary } from "../commissions/store.ts";
import { accepted, formReader, type Typed } from "../form-reader.ts";
import { isSameName } from "../identity/results.ts";
import { type By, noteEvent } from "../sheets/sheet.ts";
import { openTurn, turnWords } from "../sheets/steps.ts";
import type { Sheet } from "../sheets/store.ts";
import { atSheet, type SheetDeps } from "./ipen.ts";
import { witnessOf } from "./vouching.ts";

/**
 * Reads the event that a request records for a credible witness (`identified` or `sworn`), and the number of the
 * signer.
 * @throws ServiceError `validation` for other values
 */
export function readWitnessPart(typed: Typed) {
  const part = formReader(typed).oneOf("part", ["identified", "sworn"] as const);
  if (!part) throw invalid("part must be identified or sworn.");
  return { part, signer: wholeNumberIn(typed["signer"], 0, 99) ?? null };
}

/**
 * Records that a signer's credible witness was identified, or has sworn who the signer is. The open step must be the
 * signer's identification. The witness must be identified before the oath. Signers and the notary can't be witnesses.
 * @throws ServiceError naming the field and the rule, or the step that is open
 */
export async function noteWitness(deps: SheetDeps, operator: Operator, code: string, typed: Typed): Promise<void> {
  const claimed = await claimedOrder(deps.desk, operator, code);
  const { part, signer } = readWitnessPart(typed);
  await atSheet(deps, operator, claimed, async (tx, { sheet }, { at, notary }) => {
    const by = { by: operator.actor, at };
    await writeWitness(tx, deps.desk.rowMac, { sheet, notary, part, signer, typed, by });
  });
}

type Witnessed = ReturnType<typeof readWitnessPart> & {
  sheet: Sheet;
  notary: Pick<Notary, "commissionName">;
  typed: Typed;
  by: By;
  /** The name of the witness whom the notary invited to the session. Absent for an act in person. */
  named?: string;
};

/**
 * Writes the witness's identification or oath to the run sheet.
 * @throws as `noteWitness`
 */
export async function writeWitness(tx: Tx, rowMac: RowMac, witnessed: Witnessed): Promise<void> {
  const { sheet, notary, part, signer, typed, by, named } = witnessed;
  const turn = openTurn(sheet);
  if (signer === null || turn?.step.name !== "identify" || turn.signer !== signer)
    throw new ServiceError("conflict", `Another step is open: ${turn ? turnWords(sheet, turn) : "none"}.`);
  if (part === "identified") {
    const detail = accepted(readWitnessIdentity(typed, signer, sheet.script.mode === "ron"));
    if ([...sheet.people.map(({ name }) => name), notary.commissionName].some((name) => isSameName(name, detail.name)))
      throw invalid(`principal_${signer}_witness_name must be of somebody who neither signs nor notarizes.`);
    if (named !== undefined && !isSameName(named, detail.name))
      throw invalid(`principal_${signer}_witness_name must be of the witness in the session: ${named}.`);
    if (detail.credential.expiresOn < by.at.toISOString().slice(0, 10))
      throw invalid(`principal_${signer}_expires must not be past: the witness needs a credential that is in date.`);
    await noteEvent(tx, rowMac, sheet, { name: "witness_identified", signer, detail }, by);
    return;
  }
  if (!witnessOf(sheet, signer).identified)
    throw new ServiceError("conflict", "The credible witness is identified before they swear.");
  const read = formReader(typed);
  const detail = accepted(
    read.done({ oath: read.requiredOneOf("oath", oathKinds), knows: read.required("knows", { max: 500 }) }),
  );
  await noteEvent(tx, rowMac, sheet, { name: "witness_sworn", signer, detail }, by);
}
