import type { Operator } from "../../../firms/operators/operators.ts";
import { invalid, ServiceError } from "../../../kernel/platform/errors.ts";
import { oathKinds, readWitnessIdentity } from "../acts/act.ts";
import { claimedOrder } from "../desk/desk.ts";
import { accepted, formReader, type Typed } from "../form-reader.ts";
import { atSheet, type SheetDeps } from "./ipen.ts";
import { noteEvent } from "./sheet.ts";
import { openTurn, turnWords } from "./steps.ts";
import { witnessOf } from "./vouching.ts";

/**
 * Records that a credible witness was identified, or swore who the signer is: in this order, while the signer's
 * identity is the open step. The signers and the notary can't be witnesses.
 * @throws ServiceError naming the field and the rule, or the open step
 */
export async function noteWitness(deps: SheetDeps, operator: Operator, code: string, typed: Typed): Promise<void> {
  const claimed = await claimedOrder(deps.desk, operator, code);
  const part = formReader(typed).oneOf("part", ["identified", "sworn"] as const);
  if (!part) throw invalid("part must be identified or sworn.");
  const signer = /^\d{1,2}$/.test(typed["signer"] ?? "") ? Number(typed["signer"]) : null;
  await atSheet(deps, operator, claimed, async (tx, { sheet }, { at, notary }) => {
    const turn = openTurn(sheet);
    if (signer === null || turn?.step.name !== "identify" || turn.signer !== signer)
      throw new ServiceError("conflict", `Another step is open: ${turn ? turnWords(sheet, turn) : "none"}.`);
    const by = { by: operator.actor, at };
    const { rowMac } = deps.desk;
    if (part === "identified") {
      const detail = accepted(readWitnessIdentity(typed, signer, sheet.script.mode === "ron"));
      if ([...sheet.people.map(({ name }) => name), notary.commissionName].some((name) => isSame(name, detail.name)))
        throw invalid(`principal_${signer}_witness_name must be of somebody who neither signs nor notarizes.`);
      if (detail.credential.expiresOn < at.toISOString().slice(0, 10))
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
  });
}

const isSame = (one: string, other: string): boolean => folded(one) === folded(other);
const folded = (name: string): string =>
  name
    .normalize("NFKD")
    .replaceAll(/[^\p{L}]+/gu, " ")
    .trim()
    .toLowerCase()
    .split(" ")
    .toSorted()
    .join(" ");
