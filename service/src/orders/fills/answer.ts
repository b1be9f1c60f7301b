import { orDiscard } from "../../kernel/platform/blobs/blobs.ts";
import type { StoredFile } from "../../kernel/platform/blobs/stored-file.ts";
import { isServiceError, nullIf, ServiceError } from "../../kernel/platform/errors.ts";
import { isUuid } from "../../kernel/platform/text.ts";
import { openUpload } from "../order/order.ts";
import { client, complete, filledDocument } from "./complete.ts";
import { type FillDeps, noSuchFill, readingOf } from "./fill.ts";
import {
  type Answers,
  answersOf,
  type Fault,
  missingIn,
  type Question,
  readAnswer,
  UnshownAnswers,
} from "./questions.ts";
import { type Fill, findFill, saveAnswers } from "./store.ts";
import { fillTokensOf, isLinkToken } from "./tokens.ts";

/** The fill whose link has this token. @throws ServiceError `not_found` for a wrong token */
export async function openFill(deps: FillDeps, id: string, token: string): Promise<Fill> {
  const fill =
    isUuid(id) && isLinkToken(deps.secrets, id, token) ? await findFill(readingOf(deps), id, null) : undefined;
  if (!fill) throw noSuchFill();
  return fill;
}

export const isOpen = ({ state, expiresAt }: Fill, now: Date): boolean => state === "open" && expiresAt > now;

/** The steps of a fill: the numbers of the document's pages that have questions. */
export const stepsOf = ({ questions }: Pick<Fill, "questions">): number[] => [
  ...new Set(questions.map(({ page }) => page)),
];

/** The questions of a step, each with its index in the fill's list of questions. @param step counted from 1 */
export function questionsAt(fill: Pick<Fill, "questions">, step: number): { question: Question; index: number }[] {
  const page = stepsOf(fill)[step - 1];
  return fill.questions.flatMap((question, index) => (question.page === page ? [{ question, index }] : []));
}

/**
 * The outcome of saving a step. `stale`: nothing was saved, because another window saved answers after this window was
 * opened, or because the fill has ended.
 */
export type StepResult = { faults: Fault[]; revision: number } | "stale";

type SentStep = {
  step: number;
  revision: number;
  /** Returns the texts that were sent for a question, found by its index in the fill's list. */
  sent: (index: number, question: Question) => string[];
  /**
   * True while the client is typing. The answers are then not test-printed into the document, because that occupies a
   * worker.
   */
  isTyping: boolean;
};

/** Saves the answers of a step. A refused answer leaves the earlier answer in place. */
export async function saveStep(
  deps: FillDeps,
  fill: Fill,
  { step, revision, sent, isTyping }: SentStep,
): Promise<StepResult> {
  requireOpen(deps, fill);
  if (revision !== fill.revision) return "stale";
  const faults: Fault[] = [];
  const changed: [string, readonly string[]][] = [];
  for (const { question, index } of questionsAt(fill, step)) {
    const read = readAnswer(question, sent(index, question));
    if ("rule" in read) faults.push(read);
    else changed.push([question.name, read.values]);
  }
  const unshown = isTyping ? [] : await unshownOf(deps, fill, changed);
  faults.push(...unshown);
  const shown = changed.filter(([name]) => !unshown.some((fault) => fault.name === name));
  const answers = new Map([...fill.answers, ...shown]);
  if (
    !(await saveAnswers(readingOf(deps), {
      id: fill.id,
      answers,
      revision,
      now: deps.templates.clock(),
    }))
  )
    return "stale";
  return { faults, revision: revision + 1 };
}

/** A fault for each changed answer that doesn't fit into its field, or has characters that no font contains. */
async function unshownOf(
  deps: FillDeps,
  fill: Fill,
  changed: readonly [string, readonly string[]][],
): Promise<Fault[]> {
  if (changed.length === 0) return [];
  try {
    await filledDocument(deps, fill, new Map([...fill.answers, ...changed]));
    return [];
  } catch (error) {
    // If the document can't be rendered now, such as while no worker is free, the answers are saved unchecked.
    // `finishFill` checks them again.
    if (error instanceof ServiceError) return [];
    return unshownFaults(error).filter(({ name }) => changed.some(([each]) => each === name));
  }
}

/** The reasons why the fill can't be finished; an empty list when it can. */
export async function faultsOf(deps: FillDeps, fill: Fill, answers: Answers): Promise<Fault[]> {
  const missing = missingIn(fill.questions, answers);
  if (missing.length > 0) return missing;
  try {
    await filledDocument(deps, fill, answers);
    return [];
  } catch (error) {
    return unshownFaults(error);
  }
}

function unshownFaults(error: unknown): Fault[] {
  if (!(error instanceof UnshownAnswers)) throw error;
  return error.answers.map(({ name, why }) => ({ name, rule: why === "long" ? "room" : "characters", limit: 0 }));
}

/**
 * A preview of the filled-in document.
 * @throws UnshownAnswers when an answer can't be shown in its field; ServiceError
 */
export async function previewOf(deps: FillDeps, fill: Fill): Promise<Buffer> {
  requireOpen(deps, fill);
  return (await filledDocument(deps, fill, fill.answers)).bytes;
}

/**
 * Writes the answers into the document and ends the fill.
 * @returns an empty list when the fill has ended; else the faults of the answers, or `stale` when the answers have
 * changed since the client saw them
 */
export async function finishFill(deps: FillDeps, fill: Fill, revision: number): Promise<Fault[] | "stale"> {
  requireOpen(deps, fill);
  if (revision !== fill.revision) return "stale";
  const missing = missingIn(fill.questions, fill.answers);
  if (missing.length > 0) return missing;
  const completed = await complete(deps, fill, fill.answers, client).catch(unshownFaults);
  if (Array.isArray(completed)) return completed;
  try {
    const { blobs, db } = deps.templates;
    await orDiscard(blobs, completed.blobKey, () => db.transaction((tx) => completed.write(tx)));
  } catch (error) {
    if (isServiceError(error, "conflict")) return "stale";
    throw error;
  }
  return [];
}

/**
 * Deletes all answers, including those from other windows and those that the firm prefilled. Only the values in the
 * uploaded form remain.
 */
export async function forgetAnswers(deps: FillDeps, fill: Fill): Promise<void> {
  requireOpen(deps, fill);
  const answers = answersOf(fill.questions);
  await saveAnswers(readingOf(deps), { id: fill.id, answers, revision: null, now: deps.templates.clock() });
}

/** The finished document, unless an order has used it or it has expired. @throws ServiceError `not_found` */
export async function finishedDocument(deps: FillDeps, { id, owner, state }: Fill): Promise<StoredFile> {
  if (state === "completed")
    for (const token of fillTokensOf(deps.secrets, id)) {
      const file = await openUpload({ ...deps.templates, log: deps.log }, token, owner).catch(nullIf("not_found"));
      if (file) return file;
    }
  throw noSuchFill();
}

function requireOpen({ templates: { clock } }: FillDeps, fill: Fill): void {
  if (!isOpen(fill, clock())) throw new ServiceError("conflict", "This form is no longer open.");
}
