/** A schema as the published description uses it. */
export type JsonSchema = {
  $ref?: string;
  const?: unknown;
  enum?: unknown[];
  anyOf?: JsonSchema[];
  type?: string;
  items?: JsonSchema;
  properties?: Record<string, JsonSchema>;
  required?: string[];
  additionalProperties?: JsonSchema | boolean;
  patternProperties?: Record<string, JsonSchema>;
  /** `contentSchema`: the schema of the JSON that a text contains. */
  contentSchema?: JsonSchema;
};

const scalars: Readonly<Record<string, string>> = {
  string: "string",
  integer: "number",
  number: "number",
  boolean: "boolean",
  null: "null",
};

/**
 * Converts a schema to a TypeScript type; a named schema becomes `Schemas["Name"]`.
 * @throws Error for a keyword that this converter does not know
 */
export function typeOf(schema: JsonSchema): string {
  const { $ref, anyOf, type, items, contentSchema } = schema;
  if (contentSchema) return typeOf(contentSchema);
  if ($ref !== undefined) return `Schemas[${JSON.stringify($ref.replace("#/components/schemas/", ""))}]`;
  if ("const" in schema) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  if (anyOf) return anyOf.map((each) => `(${typeOf(each)})`).join(" | ");
  if (type === "array" && items) return `(${typeOf(items)})[]`;
  if (type === "object") return objectType(schema);
  if (Object.keys(schema).every((name) => name === "description")) return "unknown";
  const scalar = scalars[type ?? ""];
  if (scalar === undefined) throw new Error(`no type for ${JSON.stringify(schema)}`);
  return scalar;
}

function objectType({ properties = {}, required = [], additionalProperties, patternProperties }: JsonSchema): string {
  const [ofAll] = Object.values(patternProperties ?? {});
  const others = ofAll ?? (typeof additionalProperties === "object" ? additionalProperties : undefined);
  if (others) return `Record<string, ${typeOf(others)}>`;
  const members = Object.entries(properties).map(
    ([name, schema]) => `${JSON.stringify(name)}${required.includes(name) ? "" : "?"}: ${typeOf(schema)}`,
  );
  return `{ ${members.join("; ")} }`;
}
