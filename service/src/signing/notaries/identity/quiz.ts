import { auditLine } from "../../../kernel/audit/audit.ts";
import type { Tx } from "../../../kernel/platform/database/database.ts";
import { invalid, ServiceError } from "../../../kernel/platform/errors.ts";
import { wholeNumberIn } from "../../../kernel/platform/text.ts";
import type { QuizQuestion } from "../../../providers/providers.ts";
import type { QuizRules } from "../eligibility/online-rules.ts";
import { accepted, formReader, type Typed } from "../form-reader.ts";
import {
  concludeCheck,
  type IdentityDeps,
  kindsOf,
  type LockedCheck,
  lockOpenCheck,
  meansFor,
  type OpenedCheck,
  openCheck,
} from "./checks.ts";
import { insertTry, triesOf } from "./proofs.ts";
import { endProof, lockCheck, type Proof, type ProofEnd, proofsOf, setProof } from "./store.ts";

/**
 * The most tries of a quiz in one check. A try that the provider interrupted counts too: it is not failed, but it costs
 * money.
 */
const maxTries = 8;

export type AskedQuiz = { proofId: string; questions: QuizQuestion[]; seconds: number };

/**
 * Requests questions about the person from the provider. The person's data is passed to the provider and not stored.
 * @throws ServiceError naming every wrong field; `conflict` while a quiz is running, after a passed quiz, and after the
 * last try; otherwise as `lockOpenCheck`
 */
export async function beginQuiz(deps: IdentityDeps, token: string, typed: Typed): Promise<AskedQuiz> {
  const { desk, quiz } = deps;
  const read = formReader(typed);
  const about = accepted(
    read.done({ address: read.required("address", { max: 300 }), dateOfBirth: read.requiredDate("birth") }),
  );
  const found = await openCheck(deps, token);
  if (!quiz || !meansFor(deps, found.order.environment).questions)
    throw new ServiceError("unavailable", "Questions are not available now.");
  const attempt = await desk.db.transaction(async (tx) => begin(deps, tx, await lockOpenCheck(deps, tx, found)));
  if (attempt === "failed for good") throw new ServiceError("conflict", "The time for the questions ran out.");
  const { id, rules, before } = attempt;
  const repeats = before === null ? null : { reference: before, renewed: rules.renewed };
  const { questions, choices } = rules;
  const asked = await quiz
    .ask({ id, person: { name: found.name, ...about }, questions, choices, repeats })
    .catch(async (error: unknown) => {
      await breakOff(deps, found, id);
      throw error;
    });
  await desk.db.transaction(async (tx) => {
    const { proofs } = await lockOpenCheck(deps, tx, found);
    if (proofs.find((proof) => proof.id === id)?.state !== "begun")
      throw new ServiceError("conflict", "These questions came too late. Begin again.");
    await setProof(tx, id, { reference: asked.reference });
  });
  return { proofId: id, questions: asked.questions, seconds: rules.seconds };
}

const rulesOf = ({ quiz }: { quiz: QuizRules | null }): QuizRules => {
  if (!quiz) throw new ServiceError("not_found", "This check asks no questions.");
  return quiz;
};

async function begin(deps: IdentityDeps, tx: Tx, locked: LockedCheck) {
  const { check, at } = locked;
  if (!kindsOf(check).includes("questions")) throw new ServiceError("not_found", "This check asks no questions.");
  const rules = rulesOf(check);
  const tries = triesOf(locked.proofs, "questions");
  if (tries.some(({ state }) => state === "passed"))
    throw new ServiceError("conflict", "You have passed this part already.");
  const open = tries.find(({ state }) => state === "begun" || state === "answering");
  if (open) {
    if (secondsSince(open, at) <= rules.seconds + graceSeconds)
      throw new ServiceError("conflict", "Your questions are open in another window. Answer them there.");
    // The time of the earlier try is over. If the provider had sent the questions and no answers came, the try failed.
    // Otherwise it is inconclusive: the person never saw the questions, or the provider never evaluated the answers.
    const state = open.state === "begun" && open.reference !== null ? "failed" : "inconclusive";
    if (await endTry(deps, tx, locked, open, { state, at })) return "failed for good" as const;
  }
  const all = triesOf(await proofsOf(tx, [check.id]), "questions");
  if (all.length >= maxTries) throw new ServiceError("conflict", "The questions were begun too often. Ask the notary.");
  const id = await insertTry(tx, locked, { kind: "questions", attempt: all.length + 1, provider: "quiz" });
  return { id, rules, before: all.at(-1)?.reference ?? null };
}

/** A try blocks the next one for this long after its time limit, because its answers may still be in transit. */
const graceSeconds = 5;

const secondsSince = ({ begunAt }: Pick<Proof, "begunAt">, at: Date): number =>
  Math.ceil((at.getTime() - begunAt.getTime()) / 1000);

/**
 * Evaluates the answers of the open quiz, once. The time limit runs on this service's clock, and starts before the
 * questions are fetched.
 * @returns the outcome of the quiz
 * @throws ServiceError `conflict` for a quiz that has ended; `validation` when a question has no valid answer
 */
export async function answerQuiz(deps: IdentityDeps, token: string, typed: Typed): Promise<"passed" | "failed"> {
  const { desk, quiz } = deps;
  const found = await openCheck(deps, token);
  const rules = rulesOf(found.check);
  const chosen = Array.from({ length: rules.questions }, (_, index) => typed[`answer_${index + 1}`] ?? "");
  const choices = chosen.map((text) => wholeNumberIn(text, 0, rules.choices - 1) ?? -1);
  if (!quiz) throw new ServiceError("unavailable", "Questions are not available now.");
  const claimed = await desk.db.transaction(async (tx) => {
    const locked = await lockOpenCheck(deps, tx, found);
    const open = triesOf(locked.proofs, "questions").find(({ state }) => state === "begun");
    if (!open || open.reference === null || open.id !== typed["quiz"])
      throw new ServiceError("conflict", "These questions are closed.");
    const seconds = secondsSince(open, locked.at);
    if (seconds > rules.seconds) {
      await endTry(deps, tx, locked, open, { state: "failed", at: locked.at, seconds });
      return null;
    }
    if (choices.includes(-1)) throw invalid("Each question needs one of its answers.");
    await setProof(tx, open.id, "answering");
    return { id: open.id, reference: open.reference, seconds };
  });
  if (claimed === null) return "failed";
  const { id, reference, seconds } = claimed;
  const counted = await quiz.answer(reference, choices).catch(async (error: unknown) => {
    await breakOff(deps, found, id);
    throw error;
  });
  const { right: correct, of: asked } = counted;
  const state = correct * 100 >= rules.percent * asked ? "passed" : "failed";
  await desk.db.transaction(async (tx) => {
    const locked = await lockOpenCheck(deps, tx, found);
    const open = locked.proofs.find((proof) => proof.id === id);
    if (open?.state === "answering")
      await endTry(deps, tx, locked, open, { state, at: locked.at, correct, asked, seconds });
  });
  return state;
}

/**
 * Ends a try of a quiz.
 * @returns true if the whole identity check failed with it
 */
async function endTry(deps: IdentityDeps, tx: Tx, locked: LockedCheck, proof: Proof, end: ProofEnd): Promise<boolean> {
  const { check, order, at } = locked;
  await endProof(tx, proof.id, end);
  const { orderId, partnerId } = order;
  const { state: outcome, correct, asked, seconds } = end;
  const detail = { checkId: check.id, proofId: proof.id, kind: "questions", outcome, correct, asked, seconds };
  await tx.query(auditLine({ at, action: "identity.proof", actor: "signer", partnerId, orderId, detail }));
  const failures = triesOf(await proofsOf(tx, [check.id]), "questions").filter(({ state }) => state === "failed");
  const isLast = failures.length > rulesOf(check).retakes;
  await concludeCheck(deps, tx, locked, isLast);
  return isLast;
}

/** Ends a try as inconclusive because the provider did not answer. A try that has already ended stays unchanged. */
const breakOff = ({ desk }: IdentityDeps, { check, order }: OpenedCheck, proofId: string): Promise<void> =>
  desk.db.transaction(async (tx) => {
    await lockCheck(tx, check.id);
    const at = desk.clock();
    const [actor, outcome] = ["identity-check", "inconclusive"] as const;
    if (!(await endProof(tx, proofId, { state: outcome, at }))) return;
    const { orderId, partnerId } = order;
    const detail = { checkId: check.id, proofId, kind: "questions", outcome };
    await tx.query(auditLine({ at, action: "identity.proof", actor, partnerId, orderId, detail }));
  });
