import { readFileSync } from "node:fs";
import { addNotary, listNotaries, type Notary, requireNotary, setNotary, type Typed } from "../notaries/notaries.ts";
import { byCommandLine, requireOperator } from "../operators/operators.ts";
import { StartupError } from "../platform/errors.ts";
import { lines, textOption, UsageError, type Values, type Verb, withResources } from "./verb.ts";

/** Options by the fields that they set. */
const optionOf = {
  commissionName: "name",
  state: "state",
  county: "county",
  commissionNumber: "number",
  commissionStarts: "starts",
  commissionExpires: "expires",
  ronRegistration: "ron",
  ronStarts: "ron-starts",
  ronExpires: "ron-expires",
  tool: "tool",
  status: "status",
} as const;

const fileOf = { certificate: "certificate", certificateChain: "chain" } as const;

const options = Object.fromEntries(
  [...Object.values(optionOf), ...Object.values(fileOf)].map((name) => [name, { type: "string" as const }]),
);

const flags =
  "--name NAME --state OH --county COUNTY --number NUMBER --expires DAY [--ron NUMBER --ron-expires DAY] [--starts DAY] [--ron-starts DAY] [--tool NAME] [--certificate PEM_FILE] [--chain PEM_FILE] [--status active|suspended]";

function readFile(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new StartupError(`${path} cannot be read (${(error as NodeJS.ErrnoException).code})`);
  }
}

function typedIn(values: Values): Typed {
  const given = Object.entries(optionOf).map(([field, option]) => [field, textOption(values, option)] as const);
  const files = Object.entries(fileOf).map(([field, option]) => {
    const path = textOption(values, option);
    return [field, path === undefined ? undefined : path && readFile(path)] as const;
  });
  return Object.fromEntries(
    [...given, ...files].flatMap(([field, text]) => (text === undefined ? [] : [[field, text]])),
  );
}

const shown = ({ certificate, certificateChain: _, ...notary }: Notary) => ({
  ...notary,
  certificate: certificate === null ? "none" : "registered",
});

export const notaryVerbs: Verb[] = [
  {
    name: "notary add",
    args: ["EMAIL|USER_ID"],
    flags,
    options,
    summary: "Puts an operator with the role notary on record, with the commission.",
    run: ([who = ""], values) =>
      withResources(async (resources) => {
        const operator = await requireOperator(resources, who);
        const typed = { status: "active", ...typedIn(values) };
        const notaryId = await addNotary(resources, operator.id, typed, byCommandLine.actor);
        const answer = { notaryId, operatorId: operator.id };
        return { json: answer, text: lines(answer) };
      }),
  },
  {
    name: "notary list",
    args: [],
    flags: "",
    options: {},
    summary: "Lists the notaries on record, with their commissions.",
    run: () =>
      withResources(async ({ db }) => {
        const notaries = (await listNotaries(db)).map(shown);
        return { json: { notaries }, text: notaries.map(lines).join("\n\n") };
      }),
  },
  {
    name: "notary set",
    args: ["NOTARY_ID"],
    flags: flags.replace(/^(.*?) \[--ron/, (_, first: string) => `${first.replace(/(--\w+ \S+)/g, "[$1]")} [--ron`),
    options,
    summary: "Changes the record of a notary; what is not named stays. An empty value takes out what is optional.",
    run: ([id = ""], values) => {
      const typed = typedIn(values);
      if (Object.keys(typed).length === 0) throw new UsageError("notary set needs something to set");
      return withResources(async (resources) => {
        await setNotary(resources, id, typed, byCommandLine.actor);
        const answer = shown(await requireNotary(resources.db, id));
        return { json: answer, text: lines(answer) };
      });
    },
  },
];
