import { basename } from "node:path";
import type { TemplateSummary } from "@signsealship/sdk";
import { defineVerb, lines, type Options, UsageError, type ValuesOf, type Verb } from "../verb.ts";
import { ask, partnerOf, partnerOptions } from "./api.ts";
import { readDocument } from "./document.ts";

const saveOptions = {
  ...partnerOptions,
  document: { type: "string", value: "FILE", help: "FILE: the form as a PDF, at most 35 MB." },
  name: { type: "string", help: "The template's name." },
  roles: { type: "string", value: "JSON", help: 'JSON: who signs, as [{"name":"Buyer"}].' },
  fields: { type: "string", value: "JSON", help: "JSON: where they sign, as an order's fields." },
  message: { type: "string", value: "TEXT", help: "Your words to the signers." },
  sign: { type: "boolean", help: "Orders are signed." },
  notarize: { type: "boolean", help: "Orders are notarized online." },
  order: { type: "string", value: "CODE", help: "CODE: in place of --document, an order of yours." },
} as const satisfies Options;

/** Parses a flag's value as JSON; undefined without the flag. @throws UsageError naming the flag */
function jsonOf<Value>(flag: "roles" | "fields", text: string | undefined): Value | undefined {
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    throw new UsageError(`--${flag} must be JSON`);
  }
}

const documentOf = async (path: string | undefined) =>
  path === undefined ? null : { pdf: await readDocument(path), fileName: basename(path) };

// The values are not checked here, because the service's refusals about names and values are more precise.
const fieldsOf = (values: ValuesOf<typeof saveOptions>) => ({
  name: values.name,
  roles: jsonOf<[]>("roles", values.roles),
  fields: jsonOf<[]>("fields", values.fields),
  message: values.message,
  ...(values.sign && { svcSign: true }),
  ...(values.notarize && { svcNotary: true }),
});

const flags: Readonly<Record<string, string>> = { svc_sign: "--sign", svc_notary: "--notarize" };
const flagOf = (field: string) => flags[field] ?? (field in saveOptions ? `--${field}` : null);

const summaryLine = ({ templateId, version, name, roles, services }: TemplateSummary) =>
  `${templateId}  v${version}  ${services || "-"}  ${roles.map((role) => role.name).join(", ") || "-"}  ${name}`;

/** The verbs for partners about templates, over HTTP. */
export const partnerTemplateVerbs: readonly Verb[] = [
  defineVerb({
    name: "template create",
    args: [],
    options: { ...saveOptions, name: { ...saveOptions.name, required: true } },
    summary: "Makes a template of a PDF, or of one of your orders; order create --template places orders from it.",
    examples: [`template create --name Lease --document lease.pdf --sign --roles '[{"name":"Tenant"}]'`],
    async run(_args, values) {
      const fields = {
        ...fieldsOf(values),
        name: values.name ?? "",
        order: values.order,
      };
      const document = await documentOf(values.document);
      const json = await ask(partnerOf(values), ({ templates }) => templates.create(fields, document), flagOf);
      return { json, text: lines({ template: json.templateId, version: json.version }) };
    },
  }),
  defineVerb({
    name: "template publish",
    args: ["TEMPLATE_ID"],
    options: saveOptions,
    summary: "Adds a version of a template; what is left out stays, and orders that were placed keep theirs.",
    async run([templateId = ""], values) {
      const document = await documentOf(values.document);
      const json = await ask(
        partnerOf(values),
        ({ templates }) => templates.addVersion(templateId, fieldsOf(values), document),
        flagOf,
      );
      return { json, text: lines({ template: json.templateId, version: json.version }) };
    },
  }),
  defineVerb({
    name: "template list",
    args: [],
    options: { ...partnerOptions, archived: { type: "boolean", help: "Only the archived ones." } },
    summary: "Lists your templates, newest first, a hundred at a time.",
    async run(_args, values) {
      const archived = values.archived ? ("true" as const) : undefined;
      const json = await ask(partnerOf(values), (client) => client.templates.list({ archived, limit: 100 }));
      return { json, text: json.templates.map(summaryLine).join("\n") };
    },
  }),
  defineVerb({
    name: "template show",
    args: ["TEMPLATE_ID"],
    options: partnerOptions,
    summary: "Shows the latest version of a template; --json has its roles and fields.",
    async run([templateId = ""], values) {
      const json = await ask(partnerOf(values), ({ templates }) => templates.get(templateId));
      const { roles, fields, ...facts } = json;
      const shown = { ...facts, roles: roles.map(({ name }) => name).join(", "), fields: fields?.length ?? "-" };
      return { json, text: lines(shown) };
    },
  }),
  defineVerb({
    name: "template propose",
    args: ["FILE"],
    options: { ...partnerOptions, roles: saveOptions.roles },
    summary: "Finds the places of a PDF that ask to be signed or filled in; --json has them as an order's fields.",
    examples: [`template propose lease.pdf --roles '[{"name":"Tenant"},{"name":"Landlord"}]'`],
    async run([file = ""], values) {
      const document = { pdf: await readDocument(file), fileName: basename(file) };
      const roles = jsonOf<[]>("roles", values.roles);
      const json = await ask(partnerOf(values), ({ templates }) => templates.proposeFields(document, roles), flagOf);
      const rows = json.fields.map(
        ({ page, kind, signer, confidence, words }) =>
          `page ${page}  ${kind}  ${signer === null ? "-" : `signer ${signer}`}  ${confidence}  ${words}`,
      );
      return { json, text: [`${json.fields.length} places (${json.state})`, ...rows].join("\n") };
    },
  }),
  ...(["retire", "restore"] as const).map((verb) =>
    defineVerb({
      name: `template ${verb}`,
      args: ["TEMPLATE_ID"],
      options: partnerOptions,
      summary:
        verb === "retire"
          ? "Archives a template: it places no more orders, and running orders go on."
          : "Brings an archived template back.",
      async run([templateId = ""], values) {
        const json = await ask(partnerOf(values), ({ templates }) =>
          verb === "retire" ? templates.archive(templateId) : templates.restore(templateId),
        );
        return { json, text: summaryLine(json) };
      },
    }),
  ),
];
