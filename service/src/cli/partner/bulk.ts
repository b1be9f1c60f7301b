import type { BulkProgress, BulkRow, Client } from "@signsealship/sdk";
import { StartupError } from "../../kernel/platform/errors.ts";
import { defineVerb, lines, readInput, UsageError, type Verb } from "../verb.ts";
import { ask, partnerOf, partnerOptions } from "./api.ts";

const shown = ({ bulkId, rows, waiting, placed, failed, canceled }: BulkProgress): string =>
  lines({ bulk: bulkId, rows, waiting, placed, failed, canceled });

async function allRows(bulk: Client["bulk"], bulkId: string): Promise<BulkRow[]> {
  const all: BulkRow[] = [];
  let cursor: string | undefined;
  do {
    const { rows, nextCursor } = await bulk.rows(bulkId, { limit: 500, cursor });
    all.push(...rows);
    cursor = nextCursor ?? undefined;
  } while (cursor !== undefined);
  return all;
}

/** The verbs for partners about bulk orders, over HTTP. */
export const partnerBulkVerbs: readonly Verb[] = [
  defineVerb({
    name: "bulk create",
    args: ["FILE"],
    options: {
      ...partnerOptions,
      template: {
        type: "string",
        value: "TEMPLATE_ID",
        required: true,
        help: "TEMPLATE_ID: the template of all rows.",
      },
      "byod-confirmed": {
        type: "boolean",
        required: true,
        help: "Attests that the documents are the clients' own, completed ones. Required.",
      },
    },
    summary: "Checks every row of a CSV file of people and values; bulk place then orders them.",
    examples: ["bulk create people.csv --template 0b5f7d1e-... --byod-confirmed"],
    async run([file = ""], values) {
      const template = values.template;
      if (template === undefined) throw new UsageError("--template is required: the template of all rows");
      if (values["byod-confirmed"] !== true) throw new UsageError("--byod-confirmed is required");
      const bytes = await readInput(file);
      const fields = { template, byodConfirmed: true } as const;
      const json = await ask(partnerOf(values), ({ bulk }) => bulk.create(fields, new Uint8Array(bytes)));
      const { bulkId, rows, totalCents, errors } = json;
      if (bulkId === null)
        throw new StartupError(errors.map(({ row, message }) => `row ${row}: ${message}`).join("\n"));
      return { json, text: lines({ bulk: bulkId, rows, totalCents: totalCents ?? "-" }) };
    },
  }),
  defineVerb({
    name: "bulk place",
    args: ["BULK_ID"],
    options: partnerOptions,
    summary: "Places all rows of a bulk that wait. Run again after an interruption, it places no row twice.",
    async run([bulkId = ""], values) {
      const json = await ask(partnerOf(values), ({ bulk }) => bulk.placeAll(bulkId));
      return { json, text: shown(json) };
    },
  }),
  defineVerb({
    name: "bulk show",
    args: ["BULK_ID"],
    options: partnerOptions,
    summary: "Shows how far a bulk is.",
    async run([bulkId = ""], values) {
      const json = await ask(partnerOf(values), ({ bulk }) => bulk.get(bulkId));
      return { json, text: shown(json) };
    },
  }),
  defineVerb({
    name: "bulk rows",
    args: ["BULK_ID"],
    options: partnerOptions,
    summary: "Lists all rows of a bulk: the order of each, or why it failed.",
    async run([bulkId = ""], values) {
      const rows = await ask(partnerOf(values), ({ bulk }) => allRows(bulk, bulkId));
      const text = rows.map(({ row, state, orderCode, reason }) =>
        `${row}  ${state}  ${orderCode ?? reason ?? ""}`.trimEnd(),
      );
      return { json: { rows }, text: text.join("\n") };
    },
  }),
  ...(["retry", "cancel"] as const).map((verb) =>
    defineVerb({
      name: `bulk ${verb}`,
      args: ["BULK_ID"],
      options: partnerOptions,
      summary:
        verb === "retry"
          ? "Lets the failed rows of a bulk wait again; bulk place then orders them."
          : "Gives up the rows of a bulk that have no order, and deletes their people.",
      async run([bulkId = ""], values) {
        const json = await ask(partnerOf(values), ({ bulk }) => bulk[verb](bulkId));
        return { json, text: shown(json) };
      },
    }),
  ),
];
