import type { Environment } from "../../kernel/identity/identity.ts";
import { type Members, membersIn } from "../../kernel/platform/json.ts";
import { type Account, checkBy } from "../account.ts";
import type { Call } from "../calls/call.ts";
import type { KnowledgeQuiz, QuizQuestion } from "./port.ts";
import { away } from "./stripe.ts";

export type QuizSettings = { url: string; apiKey: string };

/**
 * The account of a quiz provider that implements the protocol of docs/identity-checks.md. The operator configures its
 * URL; there is no default provider.
 */
export const quizAccount = ({ url, apiKey }: QuizSettings): Account => ({
  provider: "quiz",
  baseUrl: url,
  authorization: `Bearer ${apiKey}`,
  verify: null,
  check: (call) => checkBy(call({ method: "GET", path: "/quizzes" }), () => "the key is accepted"),
});

export const createQuiz = (call: Call, environment: Environment): KnowledgeQuiz => ({
  name: "the provider of questions",
  environment,
  async ask(request) {
    const body = await ask(call, "/quizzes", request);
    const { id, questions } = body;
    if (typeof id !== "string" || !/^[\w-]{1,100}$/.test(id)) throw away("its answer has no id");
    if (!Array.isArray(questions) || questions.length !== request.questions || !questions.every(isQuestion))
      throw away("it asks other questions than the state wants");
    if (questions.some((each) => each.choices.length !== request.choices))
      throw away("its questions have other choices than the state wants");
    return { reference: id, questions: questions.map(({ text, choices }) => ({ text, choices })) };
  },
  async answer(reference, choices) {
    const { right, of } = await ask(call, `/quizzes/${reference}/answers`, { choices });
    if (!isCount(right) || !isCount(of) || right > of || of !== choices.length) throw away("it counts otherwise");
    return { right, of };
  },
});

const isCount = (value: unknown): value is number => Number.isInteger(value) && Number(value) >= 0;

const isText = (value: unknown): value is string => typeof value === "string" && value !== "" && value.length <= 500;

function isQuestion(value: unknown): value is QuizQuestion {
  const { text, choices } = (value ?? {}) as Partial<QuizQuestion>;
  return isText(text) && Array.isArray(choices) && choices.every(isText);
}

async function ask(call: Call, path: string, body: object): Promise<Members> {
  const outcome = await call({ method: "POST", path, body: JSON.stringify(body) });
  if (outcome.kind !== "answered") throw away(outcome.why);
  return membersIn(outcome.body);
}
