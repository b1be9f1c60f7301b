import { invalid, ServiceError } from "../../kernel/platform/errors.ts";
import { isPlainLines, isPlainText, shownText } from "../../kernel/platform/text.ts";
import { runOr, type Task, type Workers } from "../../kernel/platform/workers/task.ts";
import type { FillInput, FillOutput, Unshown } from "./pdf/fill-form.ts";
import type { Answers, Question, WhyNot } from "./pdf/question.ts";

export type { Answers, Question } from "./pdf/question.ts";

const reading: Task<null, { questions: Question[] } | { whyNot: WhyNot }> = {
  name: "read the questions of a form",
  module: import.meta.resolve("./pdf/questions-task.ts"),
  limitMs: 5_000,
};
const filling: Task<FillInput, FillOutput> = {
  name: "fill in a form",
  module: import.meta.resolve("./pdf/fill-form-task.ts"),
  limitMs: 10_000,
};

const whyNot: Readonly<Record<WhyNot, string>> = {
  encrypted: "is encrypted",
  signed: "is signed or certified",
  no_fields: "has no form fields that are open",
  secret_fields: "has fields for passwords or files",
  too_many: "has more than 500 fields",
  unreadable: "has fields that can't be read",
};

/** The subject of an error message about an uploaded file. Other messages begin with the name of a field. */
export const uploaded = "FILE";

const whenCostly = () => ({ whyNot: "unreadable" }) as const;

/** Thrown for a document that can't be filled in online. */
export class Unfillable extends ServiceError {
  readonly why: WhyNot;

  constructor(why: WhyNot, subject = "template") {
    super(
      "validation",
      `${subject} can't be filled in online: ${subject === uploaded ? "it" : "its document"} ${whyNot[why]}.`,
    );
    this.why = why;
  }
}

/**
 * Reads the questions of a document's form fields.
 * @param subject begins the message of the error
 * @throws ServiceError saying why the document can't be filled in
 */
export async function questionsIn(
  workers: Workers,
  holder: string,
  bytes: Buffer,
  subject?: string,
): Promise<Question[]> {
  const found = await runOr(workers, reading, { holder, bytes, input: null }, whenCostly);
  if ("whyNot" in found) throw new Unfillable(found.whyNot, subject);
  return found.questions;
}

/** Thrown for answers that can't be printed into their fields. */
export class UnshownAnswers extends Error {
  readonly answers: readonly Unshown[];

  constructor(answers: readonly Unshown[]) {
    super(`${answers.length} answers can't be shown`);
    this.answers = answers;
  }
}

type Form = { bytes: Buffer; sha256: string; questions: readonly Question[] };

/** Writes the answers into the form's own fields. @throws UnshownAnswers, ServiceError */
export async function filledIn(workers: Workers, holder: string, form: Form, answers: Answers): Promise<Buffer> {
  const { bytes, sha256: docSha256, questions } = form;
  const options = questions.flatMap(({ options: all }) => all.map(({ label }) => label));
  const output = await runOr(workers, filling, { holder, bytes, input: { answers, options, docSha256 } }, whenCostly);
  if ("whyNot" in output) throw new Unfillable(output.whyNot);
  if ("unshown" in output) throw new UnshownAnswers(output.unshown);
  return Buffer.concat([bytes, output.tail]);
}

const maxAnswerLength = 4_000;
/** Characters that change the direction of text, or break a line invisibly. */
const misleading = /[\u200E\u200F\u2028-\u202E\u2066-\u2069]/u;

/**
 * The reason why an answer is refused. `limit`: the allowed number of characters; 0 for a rule without such a limit.
 */
export type Fault = {
  readonly name: string;
  readonly rule: "long" | "room" | "characters" | "option" | "missing";
  readonly limit: number;
};

/** Reads the texts sent for a question. Ignores empty texts; without any other text, there is no answer. */
export function readAnswer(question: Question, sent: readonly string[]): { values: string[] } | Fault {
  const { name, kind, options, lines, maxLength } = question;
  const fault = (rule: Fault["rule"], limit = 0): Fault => ({ name, rule, limit });
  if (kind === "checkbox") return { values: sent.some((each) => each !== "") ? ["on"] : [] };
  const texts = [...new Set(sent.map((each) => each.replaceAll("\r\n", "\n").trim()))].filter((each) => each !== "");
  if (kind !== "text") {
    const areOptions = texts.every((each) => options.some(({ value }) => value === each));
    if (!areOptions || (kind !== "list" && texts.length > 1)) return fault("option");
    return { values: texts };
  }
  const [text] = texts;
  if (text === undefined) return { values: [] };
  const max = Math.min(maxLength ?? maxAnswerLength, maxAnswerLength);
  if ([...text].length > max) return fault("long", max);
  if (!(lines ? isPlainLines(text) : isPlainText(text)) || misleading.test(text)) return fault("characters");
  return { values: [text.replaceAll("\r", "\n").replaceAll("\t", " ")] };
}

export const missingIn = (questions: readonly Question[], answers: Answers): Fault[] =>
  questions.flatMap(({ name, required }) =>
    required && (answers.get(name) ?? []).length === 0 ? [{ name, rule: "missing" as const, limit: 0 }] : [],
  );

/** The answers that the uploaded form already contains, without invalid ones. */
export const answersOf = (questions: readonly Question[]): Answers =>
  new Map(
    questions.flatMap((question): [string, readonly string[]][] => {
      const read = readAnswer(question, question.value);
      return "values" in read && read.values.length > 0 ? [[question.name, read.values]] : [];
    }),
  );

/**
 * Reads the API's `values`: a text; true or false for a check box; a list of texts for a list.
 * @throws ServiceError naming the field and the rule
 */
export function readValues(questions: readonly Question[], values: unknown): Answers {
  if (values === undefined || values === null) return new Map();
  if (typeof values !== "object" || Array.isArray(values)) throw invalid("values must be an object.");
  return new Map(
    Object.entries(values).map(([name, value]): [string, readonly string[]] => {
      const question = questions.find((each) => each.name === name);
      const at = `values.${shownText(name)}`;
      if (!question) throw invalid(`${at} names no field of the form.`);
      const read = readAnswer(question, sentOf(at, question, value));
      if ("rule" in read) throw invalid(`${at} ${ruleWords(read, question)}.`);
      return [name, read.values];
    }),
  );
}

function sentOf(at: string, { kind }: Question, value: unknown): string[] {
  if (kind === "checkbox") {
    if (typeof value !== "boolean") throw invalid(`${at} must be true or false.`);
    return value ? ["on"] : [];
  }
  if (kind === "list") {
    if (!Array.isArray(value) || value.some((each) => typeof each !== "string"))
      throw invalid(`${at} must be a list of texts.`);
    return value;
  }
  if (typeof value !== "string") throw invalid(`${at} must be text.`);
  return [value];
}

const ruleWords = ({ rule, limit }: Fault, { options }: Question): string => {
  if (rule === "long") return `must have at most ${limit} characters`;
  if (rule === "option")
    return `must be one of ${options
      .slice(0, 20)
      .map(({ value }) => shownText(value))
      .join(", ")}`;
  return "must be text without control characters";
};
