import { ServiceError } from "../../../kernel/platform/errors.ts";
import { type oathKinds, type Principal, typedPrincipal, type Witness } from "../acts/act.ts";
import type { Typed } from "../form-reader.ts";
import { type Mark, nameOf, type Progress } from "../sheets/steps.ts";

/** The run sheet's record about a signer's credible witness in the current run. */
type WitnessState = {
  identified: Witness | null;
  sworn: { oath: (typeof oathKinds)[number]; knows: string } | null;
};

const lastOf = ({ marks, run }: Pick<Progress, "marks" | "run">, name: string, signer: number): Mark | undefined =>
  marks.findLast((mark) => mark.kind === "event" && mark.run === run && mark.name === name && mark.signer === signer);

/**
 * Reads the run sheet's record about a signer's credible witness. An oath counts only if it follows the latest
 * identification of the witness.
 */
export function witnessOf(sheet: Pick<Progress, "marks" | "run">, signer: number): WitnessState {
  const identified = lastOf(sheet, "witness_identified", signer);
  const sworn = lastOf(sheet, "witness_sworn", signer);
  const counts = identified && sworn && sworn.position > identified.position;
  return {
    identified: (identified?.detail as Witness | undefined) ?? null,
    sworn: counts ? (sworn.detail as WitnessState["sworn"]) : null,
  };
}

/**
 * Completes the form of a signer's identity with the run sheet's facts about the credible witness. The mark that
 * identifies the signer then names this witness.
 * @throws ServiceError `conflict` while the witness is not identified, or has not sworn since then
 */
export function withWitness(sheet: Progress, typed: Typed, signer: number): Typed {
  const { identified, sworn } = witnessOf(sheet, signer);
  if (!identified) throw new ServiceError("conflict", "The credible witness is not identified yet.");
  if (!sworn) throw new ServiceError("conflict", `${identified.name} has not sworn who ${nameOf(sheet, signer)} is.`);
  const principal: Principal = {
    name: "",
    address: "",
    basis: "credible_witness",
    credential: null,
    witness: { ...identified, ...sworn },
  };
  const {
    [`principal_${signer}_name`]: _,
    [`principal_${signer}_address`]: __,
    ...otherFacts
  } = typedPrincipal(principal, signer);
  return { ...typed, ...otherFacts };
}
