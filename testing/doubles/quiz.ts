import { randomUUID } from "node:crypto";
import { startHttpDouble } from "./http-double.ts";

type Asked = {
  id: string;
  person: { name: string; address: string; dateOfBirth: string };
  questions: number;
  choices: number;
  repeats: { reference: string; renewed: number } | null;
};

export type QuizDouble = {
  /** The value of QUIZ_URL. */
  url: string;
  asked: Asked[];
  /** The double's answer to the next request. */
  next: "answer" | "fail" | "fewer questions";
  /** The index of the right choice, from 0, the same for each question. */
  right: number;
  close: () => Promise<void>;
};

/** A double of a provider of knowledge-based questions, with the protocol of docs/identity-checks.md. */
export async function startQuiz(): Promise<QuizDouble> {
  const quizzes = new Map<string, Asked>();
  const server = await startHttpDouble((request, bytes, response) => {
    const { method, url = "" } = request;
    const reply = (status: number, body: object) =>
      response.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(body));
    if (method === "GET" && url === "/quizzes") return void reply(200, { quizzes: quizzes.size });
    const order = double.next;
    double.next = "answer";
    if (order === "fail") return void reply(503, { error: "ordered" });
    const body = JSON.parse(bytes.toString()) as Asked & { choices: number | number[] };
    if (method === "POST" && url === "/quizzes") {
      const id = randomUUID();
      quizzes.set(id, body);
      double.asked.push(body);
      const questions = Array.from({ length: body.questions - (order === "fewer questions" ? 1 : 0) }, (_, n) => ({
        text: `Question ${n + 1} of quiz ${double.asked.length}: where did you live?`,
        choices: Array.from({ length: body.choices }, (__, choice) => `Street ${choice + 1}`),
      }));
      return void reply(200, { id, questions });
    }
    const [, id = ""] = /^\/quizzes\/([\w-]+)\/answers$/.exec(url) ?? [];
    if (!quizzes.has(id)) return void reply(404, { error: "no such quiz" });
    const chosen = (body as unknown as { choices: number[] }).choices;
    reply(200, { right: chosen.filter((choice) => choice === double.right).length, of: chosen.length });
  });
  const double: QuizDouble = { url: server.url, asked: [], next: "answer", right: 2, close: server.close };
  return double;
}
