/** What the collection reads of a schema. */
export type JsonSchema = {
  $ref?: string;
  type?: string;
  description?: string;
  examples?: unknown[];
  default?: unknown;
  const?: unknown;
  enum?: unknown[];
  anyOf?: JsonSchema[];
  properties?: Record<string, JsonSchema>;
  required?: string[];
  items?: JsonSchema;
  contentMediaType?: string;
};

/** An example of what a schema describes: its own, or one made of those of its members. */
export function exampleOf(schema: JsonSchema, schemas: Readonly<Record<string, JsonSchema>>): unknown {
  const { $ref, examples, enum: names, anyOf, properties, items, type } = schema;
  const referred = $ref === undefined ? undefined : schemas[$ref.replace("#/components/schemas/", "")];
  if (referred) return exampleOf(referred, schemas);
  if (examples?.[0] !== undefined) return examples[0];
  for (const known of [schema.default, schema.const, names?.[0]]) if (known !== undefined) return known;
  if (anyOf?.[0]) return exampleOf(anyOf[0], schemas);
  if (properties)
    return Object.fromEntries(Object.entries(properties).map(([name, each]) => [name, exampleOf(each, schemas)]));
  if (items) return [exampleOf(items, schemas)];
  return type === "string" ? "" : null;
}
