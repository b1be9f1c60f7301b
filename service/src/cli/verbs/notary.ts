import { writeFileSync } from "node:fs";
import { byCommandLine, requireOperator } from "../../firms/operators/operators.ts";
import { readConfig } from "../../kernel/config/config.ts";
import { StartupError } from "../../kernel/platform/errors.ts";
import {
  addNotary,
  importRules,
  isDay,
  listNotaries,
  type Notary,
  requireNotary,
  setNotary,
  type Typed,
} from "../../signing/notaries/notaries.ts";
import { root } from "../../upkeep/resources.ts";
import { defineVerb, lines, type Option, readInput, UsageError, type ValuesOf, type Verb } from "../verb.ts";
import { withResources } from "../with-resources.ts";

/** For each field of a notary's profile, the flag that sets it. Error messages name the flag. */
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

type OptionName = (typeof optionOf)[keyof typeof optionOf] | (typeof fileOf)[keyof typeof fileOf];

type TextOption = Option & { type: "string" };

const text = (help: string, more: Partial<Option> = {}): TextOption => ({ ...more, type: "string", help });
const day = { value: "DAY" };
const pemFile = { value: "PEM_FILE" };

const options: Readonly<Record<OptionName, TextOption>> = {
  name: text("As the commission names the notary."),
  state: text("The state of the commission, as OH."),
  county: text("The county of the commission."),
  number: text("The number of the commission."),
  starts: text("Its first day (YYYY-MM-DD).", day),
  expires: text("Its last day.", day),
  ron: text("The number of the registration for remote notarization.", { value: "NUMBER" }),
  "ron-starts": text("Its first day.", day),
  "ron-expires": text("Its last day.", day),
  tool: text("What the notary signs and records with."),
  status: text("active or suspended.", { values: ["active", "suspended"] }),
  certificate: text("A PEM file of the notary's own certificate.", pemFile),
  chain: text("A PEM file of the certificates above it.", pemFile),
};

const needed = (name: OptionName): TextOption => ({ ...options[name], required: true });

/** The published comparison of the notary laws of all jurisdictions. It asks to be cited by its DOI. */
const publishedTable = {
  title: "RON laws of 51 US jurisdictions, signsealship.com",
  license: "CC BY 4.0",
  url: "https://doi.org/10.5281/zenodo.22213684",
};

const readText = async (path: string): Promise<string> => (await readInput(path, path)).toString();

function writeFile(path: string, text: string): void {
  try {
    writeFileSync(path, text);
  } catch (error) {
    throw new StartupError(`${path} cannot be written (${(error as NodeJS.ErrnoException).code})`);
  }
}

async function typedIn(values: ValuesOf<typeof options>): Promise<Typed> {
  const fields = Object.entries(optionOf).map(([field, option]) => [field, values[option]] as const);
  const files: [field: string, text: string | undefined][] = [];
  for (const [field, option] of Object.entries(fileOf)) {
    const path = values[option];
    files.push([field, path && (await readText(path))]);
  }
  return Object.fromEntries(
    [...fields, ...files].flatMap(([field, text]) => (text === undefined ? [] : [[field, text]])),
  );
}

const shown = ({ certificate, certificateChain: _, ...notary }: Notary) => ({
  ...notary,
  certificate: certificate === null ? "none" : "registered",
});

export const notaryVerbs: Verb[] = [
  defineVerb({
    name: "notary add",
    args: ["EMAIL|USER_ID"],
    options: {
      ...options,
      name: needed("name"),
      state: needed("state"),
      county: needed("county"),
      number: needed("number"),
      expires: needed("expires"),
    },
    summary: "Puts an operator with the role notary on record, with the commission.",
    run: ([who = ""], values) =>
      withResources(async (resources) => {
        const operator = await requireOperator(resources, who);
        const typed = { status: "active", ...(await typedIn(values)) };
        const notaryId = await addNotary(resources, operator.id, typed, byCommandLine.actor);
        const answer = { notaryId, operatorId: operator.id };
        return { json: answer, text: lines(answer) };
      }),
  }),
  defineVerb({
    name: "notary list",
    args: [],
    options: {},
    summary: "Lists the notaries on record, with their commissions.",
    run: () =>
      withResources(async ({ db }) => {
        const notaries = (await listNotaries(db)).map(shown);
        return { json: { notaries }, text: notaries.map(lines).join("\n\n") };
      }),
  }),
  defineVerb({
    name: "notary set",
    args: ["NOTARY_ID"],
    options,
    summary: "Changes the record of a notary; what is not named stays. An empty value takes out what is optional.",
    async run([id = ""], values) {
      const typed = await typedIn(values);
      if (Object.keys(typed).length === 0) throw new UsageError("notary set needs something to set");
      return withResources(async (resources) => {
        await setNotary(resources, id, typed, byCommandLine.actor);
        const answer = shown(await requireNotary(resources.db, id));
        return { json: answer, text: lines(answer) };
      });
    },
  }),
  defineVerb({
    name: "notary rules import",
    args: ["FILE"],
    options: {
      output: { type: "string", value: "FILE", required: true, help: "The file to write." },
      "as-of": { type: "string", value: "DAY", help: "The day of the table (YYYY-MM-DD); today without it." },
      title: { type: "string", help: "Whose table it is." },
      license: { type: "string", value: "NAME", help: "Its license." },
      url: { type: "string", help: "Where it is published." },
    },
    summary:
      "Writes a file for NOTARY_RULES: the rules of now with what a table of the states' laws (CSV or JSON) says. Whose table it is defaults to the RON law comparison of signsealship.com (CC BY 4.0).",
    async run([file = ""], values) {
      const output = values.output;
      if (!output) throw new UsageError("notary rules import needs --output FILE");
      const asOf = values["as-of"] ?? new Date().toISOString().slice(0, 10);
      if (!isDay(asOf)) throw new UsageError("--as-of must be a day like 2026-01-31");
      const { notaryRules } = readConfig(process.env, process.cwd(), root);
      const attribution = {
        title: values.title ?? publishedTable.title,
        license: values.license ?? publishedTable.license,
        url: values.url ?? publishedTable.url,
      };
      const { yaml, ...answer } = importRules(
        await readText(file),
        { table: file, rules: notaryRules },
        { attribution, asOf },
      );
      writeFile(output, yaml);
      const text = [
        lines({ states: answer.states.length, remote: answer.remote.join(", ") || "none", output }),
        ...answer.doubtful.map((each) => `not offered, for it was not understood: ${each}`),
        ...(answer.unread.length > 0 ? [`not understood, and left out: ${answer.unread.join(", ")}`] : []),
        `Read it before you use it, then set NOTARY_RULES=${output}.`,
      ].join("\n");
      return { json: { ...answer, output }, text };
    },
  }),
];
