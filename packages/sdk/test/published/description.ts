import { type JsonSchema, typeOf } from "./type-of-schema.ts";

type Content = Record<string, { schema: JsonSchema }>;

export type Operation = {
  operationId: string;
  parameters?: { in: string; name: string }[];
  requestBody?: { content: Content };
  responses: Record<string, { content?: Content }>;
};

/** The parts of `/openapi.json` that this code reads. */
export type Description = {
  paths: Record<string, Record<string, Operation>>;
  webhooks: Record<string, { post: Operation }>;
  components: { schemas: Record<string, JsonSchema> };
};

export const operationsOf = ({ paths }: Description): Operation[] =>
  Object.values(paths).flatMap((methods) => Object.values(methods));

/** The type of a successful answer; undefined for a file. */
export function answerOf({ responses }: Operation): string | undefined {
  const [, success] = Object.entries(responses).find(([status]) => status.startsWith("2")) ?? [];
  const schema = success?.content?.["application/json"]?.schema;
  return schema && typeOf(schema);
}

function bodyOf({ requestBody }: Operation, mediaType: string): string | undefined {
  const schema = requestBody?.content[mediaType]?.schema;
  return schema && typeOf(schema);
}

function queryOf({ parameters = [] }: Operation): string {
  const names = parameters.filter((each) => each.in === "query").map(({ name }) => JSON.stringify(name));
  return names.join(" | ") || "never";
}

const declare = (name: string, members: [string, string | undefined][]) =>
  `type ${name} = {\n${members
    .filter(([, type]) => type !== undefined)
    .map(([member, type]) => `  ${JSON.stringify(member)}: ${type};`)
    .join("\n")}\n};`;

/**
 * The published description as TypeScript: `Schemas` by name; `Answers`, `Bodies` and `Forms` by operation; `Queries`
 * with the names of query parameters; `Webhooks` as the union of all webhook bodies.
 */
export function publishedTypes(description: Description): string {
  const operations = operationsOf(description);
  const by = (typeIn: (operation: Operation) => string | undefined) =>
    operations.map((operation): [string, string | undefined] => [operation.operationId, typeIn(operation)]);
  const schemas = Object.entries(description.components.schemas);
  const webhooks = Object.values(description.webhooks).map(({ post }) => bodyOf(post, "application/json"));
  return [
    declare(
      "Schemas",
      schemas.map(([name, schema]) => [name, typeOf(schema)]),
    ),
    declare("Answers", by(answerOf)),
    declare(
      "Bodies",
      by((operation) => bodyOf(operation, "application/json")),
    ),
    declare(
      "Forms",
      by((operation) => bodyOf(operation, "multipart/form-data")),
    ),
    declare("Queries", by(queryOf)),
    `type Webhooks = ${webhooks.join(" | ")};`,
  ].join("\n");
}
