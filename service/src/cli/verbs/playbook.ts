import { wholeNumberIn } from "../../kernel/platform/text.ts";
import { callbackPaths, createCallbacks, decideByOperator, listExecutions } from "../../orders/playbooks/playbooks.ts";
import { defineVerb, lines, UsageError, type Verb } from "../verb.ts";
import { withResources } from "../with-resources.ts";

const defaultLimit = 100;
const maxLimit = 10_000;

function limitOf(text: string | undefined): number {
  const limit = text === undefined ? defaultLimit : wholeNumberIn(text, 1, maxLimit);
  if (limit === undefined) throw new UsageError(`--limit must be a number from 1 to ${maxLimit}`);
  return limit;
}

export const playbookVerbs: Verb[] = [
  defineVerb({
    name: "playbook list",
    args: [],
    options: {
      all: { type: "boolean", help: "Those that ended, too, the newest first." },
      limit: { type: "string", value: "N", help: "At most so many." },
    },
    summary: "Lists executions waiting for a decision, with their callbacks; with --all every execution, newest first.",
    run: (_args, values) => {
      const what = { all: values.all ?? false, limit: limitOf(values.limit) };
      return withResources(async ({ db, secrets, config }) => {
        const listed = await listExecutions(db, what);
        const pathOf = await callbackPaths(
          db,
          createCallbacks(secrets),
          listed.map(({ executionName }) => executionName),
        );
        const executions = listed.map((execution) => {
          const path = pathOf(execution.executionName);
          return { ...execution, callbackUrl: path && config.baseUrl + path };
        });
        const text = executions.map((execution) => lines(execution)).join("\n\n");
        return { json: { executions }, text };
      });
    },
  }),
  defineVerb({
    name: "playbook decide",
    args: ["EXECUTION", "DECISION"],
    options: {},
    summary: "Ends a waiting execution with this decision as its outcome.",
    run: ([execution = "", decision = ""]) =>
      withResources(async (resources) => {
        const answer = await decideByOperator(resources, execution, decision);
        return { json: answer, text: lines(answer) };
      }),
  }),
];
