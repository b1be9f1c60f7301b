import { ServiceError } from "../../../kernel/platform/errors.ts";
import type { Need, Script, ScriptStep, StepName } from "./scripts.ts";

/** A signer of the order, who appears before the notary. `n` is the signer's number in the order, counted from 1. */
export type Person = { readonly n: number; readonly name: string };

/** An entry in a run sheet's record: a marked step or another event. */
export type Mark = {
  readonly position: number;
  readonly at: string;
  readonly by: string;
  readonly kind: "step" | "event";
  readonly name: string;
  /** The number of the run, counted from 1. An interrupted act begins again with a new run. */
  readonly run: number;
  readonly signer: number | null;
  readonly choice: string | null;
  readonly detail: unknown;
};

/**
 * A document that was signed before the act. The act's record names it only if the signers sign again, because the act
 * requires signatures in the notary's presence.
 */
export type SignedBefore = { readonly sha256: string };

/**
 * The event by which a run sheet states that the document was signed before, and that its signers sign again in this
 * act.
 */
export const signedAgain = "signed_again";

export const signedBeforeOf = ({ marks }: Pick<Progress, "marks">): SignedBefore | null =>
  (marks.find(({ kind, name }) => kind === "event" && name === signedAgain)?.detail as SignedBefore | undefined) ??
  null;

/** A step of the act to perform: for one signer, by number, or once for the whole act (null). */
export type Turn = { readonly step: ScriptStep; readonly signer: number | null };

export type Progress = {
  readonly script: Script;
  readonly people: readonly Person[];
  readonly run: number;
  readonly marks: readonly Mark[];
};

/**
 * The turns of an act in order. Consecutive steps for each signer are a group: one signer performs the whole group
 * before the next signer starts it.
 */
export function turnsOf({ script, people }: Pick<Progress, "script" | "people">): Turn[] {
  const turns: Turn[] = [];
  for (let at = 0; at < script.steps.length; ) {
    const step = script.steps[at];
    if (!step) break;
    if (step.per === "act") {
      turns.push({ step, signer: null });
      at++;
      continue;
    }
    const end = script.steps.findIndex(({ per }, index) => index > at && per === "act");
    const group = script.steps.slice(at, end === -1 ? undefined : end);
    for (const { n } of people) turns.push(...group.map((each) => ({ step: each, signer: n })));
    at += group.length;
  }
  return turns;
}

/** The mark of a step in the current run; undefined while the step is not marked. */
export const markOf = ({ marks, run }: Pick<Progress, "marks" | "run">, name: StepName, signer: number | null) =>
  marks.find(
    (mark) => mark.kind === "step" && mark.run === run && mark.name === name && (mark.signer ?? null) === signer,
  );

/**
 * The only step that can be marked now; null when all steps are marked. Pages show it, and requests are checked against
 * it.
 */
export const openTurn = (sheet: Progress): Turn | null =>
  turnsOf(sheet).find(({ step, signer }) => !markOf(sheet, step.name, signer)) ?? null;

/** True if the signer of this turn signs the document in this step or in the next one. */
export function signsNext(sheet: Progress, { step, signer }: Turn): boolean {
  const turns = turnsOf(sheet);
  const next = turns[turns.findIndex((turn) => turn.step === step && turn.signer === signer) + 1];
  return step.name === "sign" || (next?.step.name === "sign" && next.signer === signer);
}

/**
 * A function that returns the reason why a condition is not met; null when it is met. Acts in person and acts by audio
 * and video have different functions.
 */
export type Unmet = (need: Need, signer: number | null) => string | null;

/**
 * The reason why a turn's conditions are not met; null when they are. `unmet` checks all conditions except `identity`.
 * For that one, the signer's identification must be marked in the current run.
 */
export function obstacleOf(sheet: Progress, { step, signer }: Turn, unmet: Unmet): string | null {
  for (const need of step.needs) {
    const why =
      need === "identity"
        ? markOf(sheet, "identify", signer)
          ? null
          : `${nameOf(sheet, signer)} is not identified yet.`
        : unmet(need, signer);
    if (why !== null) return why;
  }
  return null;
}

export const nameOf = ({ people }: Pick<Progress, "people">, signer: number | null): string =>
  people.find(({ n }) => n === signer)?.name ?? "The signer";

const stepWords: Readonly<Record<StepName, string>> = {
  open: "Opening",
  appear: "Appearance",
  appear_online: "Appearance by audio and video",
  identify: "Identity",
  credential: "Credential, where one is used",
  alone: "Alone",
  willing: "Aware and willing",
  read: "Reading and consent",
  own_signature: "Own signature",
  oath: "Oath or affirmation",
  oath_alone: "Oath or affirmation",
  sign: "Signature",
  acknowledge: "Acknowledgment",
  compare: "Comparison",
  close: "Closing",
  notary_signs: "Notary’s signature",
};

export const turnWords = (sheet: Pick<Progress, "people">, { step, signer }: Turn): string =>
  signer === null ? stepWords[step.name] : `${stepWords[step.name]} (${nameOf(sheet, signer)})`;

export type Marked = { name: string; signer: number | null; choice: string | null };

/**
 * Finds the turn that a request wants to mark, and checks the request: the turn must be open, its conditions must be
 * met, and the choice must be one of the step's choices.
 * @throws ServiceError `conflict` naming the step that is open or the condition that is not met, `validation` for
 * another choice
 */
export function requireTurn(sheet: Progress, { name, signer, choice }: Marked, unmet: Unmet): Turn {
  const open = openTurn(sheet);
  if (!open) throw new ServiceError("conflict", "All steps of this act are marked.");
  if (open.step.name !== name || open.signer !== signer)
    throw new ServiceError("conflict", `Another step is open: ${turnWords(sheet, open)}.`);
  const why = obstacleOf(sheet, open, unmet);
  if (why !== null) throw new ServiceError("conflict", `${turnWords(sheet, open)} is not open yet: ${why}`);
  const { choices } = open.step;
  if (choices.length > 0 && !choices.includes(choice ?? ""))
    throw new ServiceError("validation", `choice must be one of ${choices.join(", ")}.`);
  if (choices.length === 0 && choice !== null) throw new ServiceError("validation", "choice is not asked for here.");
  return open;
}
