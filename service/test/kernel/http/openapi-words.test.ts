import assert from "node:assert/strict";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { openHarness } from "@signsealship/testing/harness";
import Schema from "typebox/schema";

type JsonSchema = {
  $ref?: string;
  description?: string;
  examples?: unknown[];
  properties?: Record<string, JsonSchema>;
  items?: JsonSchema;
  contentSchema?: JsonSchema;
  anyOf?: JsonSchema[];
};
type Content = Record<string, { schema?: JsonSchema; example?: unknown }>;
type Operation = {
  operationId: string;
  summary: string;
  description?: string;
  tags: string[];
  parameters?: { name: string; description?: string; schema: JsonSchema }[];
  requestBody?: { content: Content };
  responses: Record<string, { content?: Content }>;
};
type Document = {
  tags: { name: string; description?: string }[];
  paths: Record<string, Record<string, Operation>>;
  webhooks: Record<string, { post: Operation }>;
  components: { schemas: Record<string, JsonSchema> };
};
type Field = { where: string; schema: JsonSchema };

const harness = await forTests(openHarness({ PLAYBOOKS: "on" }));
const document = (await (await fetch(`${harness.service.baseUrl}/openapi.json`)).json()) as Document;
const events = Object.values(document.webhooks).map(({ post }) => post);
const operations = [...Object.values(document.paths).flatMap((methods) => Object.values(methods)), ...events];

/** The members of a schema, and of the schemas inside it. */
function* fieldsOf(schema: JsonSchema, where: string): Iterable<Field> {
  for (const [name, field] of Object.entries(schema.properties ?? {})) {
    yield { where: `${where}.${name}`, schema: field };
    yield* fieldsOf(field, `${where}.${name}`);
  }
  for (const part of [schema.items, schema.contentSchema, ...(schema.anyOf ?? [])])
    if (part) yield* fieldsOf(part, where);
}

const contents = ({ requestBody, responses }: Operation) => [
  ...Object.values(requestBody?.content ?? {}),
  ...Object.values(responses).flatMap(({ content }) => Object.values(content ?? {})),
];

/** Every top-level schema of the document: components, parameters, bodies and responses. */
const roots = (): Field[] => [
  ...Object.entries(document.components.schemas).map(([where, schema]) => ({ where, schema })),
  ...operations.flatMap((operation) => [
    ...(operation.parameters ?? []).map(({ name, schema }) => ({ where: `${operation.operationId} ${name}`, schema })),
    ...contents(operation).flatMap(({ schema }) => (schema ? [{ where: operation.operationId, schema }] : [])),
  ]),
];
const allFields = (): Field[] => roots().flatMap(({ where, schema }) => [...fieldsOf(schema, where)]);

test("every operation, parameter, field and tag has a description", () => {
  const wanting = [
    ...operations.map(({ operationId: where, description }) => ({ where, description })),
    ...operations.flatMap(({ operationId, parameters = [] }) =>
      parameters.map(({ name, description }) => ({ where: `${operationId} ${name}`, description })),
    ),
    ...allFields().map(({ where, schema }) => ({ where, description: schema.description })),
    ...document.tags.map(({ name: where, description }) => ({ where, description })),
  ];
  assert.ok(wanting.length > 400);
  assert.deepEqual(
    wanting.filter(({ description = "" }) => description.trim() === "").map(({ where }) => where),
    [],
  );
});

test("no description has an angle bracket that a page would read as HTML", () => {
  const texts = JSON.stringify(document).matchAll(/"description":"((?:[^"\\]|\\.)*)"/g);
  const plain = [...texts].map(([, words = ""]) => words.replace(/`[^`]*`/g, ""));
  assert.deepEqual(
    plain.filter((words) => /[<>]/.test(words)),
    [],
  );
});

test("every operation has one tag of the list, and every tag is used", () => {
  const known = document.tags.map(({ name }) => name);
  assert.equal(new Set(known).size, known.length);
  for (const { operationId, tags } of operations)
    assert.ok(tags.length === 1 && known.includes(`${tags}`), operationId);
  assert.deepEqual(new Set(operations.flatMap(({ tags }) => tags)), new Set(known));
});

/** A schema together with the schemas to which it refers. */
function whole(schema: JsonSchema): object {
  const text = JSON.stringify(schema).replaceAll("#/components/schemas/", "#/$defs/");
  const defs = JSON.stringify(document.components.schemas).replaceAll("#/components/schemas/", "#/$defs/");
  return { ...(JSON.parse(text) as object), $defs: JSON.parse(defs) as object };
}

test("every example matches its schema", () => {
  const examples = [...roots(), ...allFields()].flatMap(({ where, schema }) =>
    (schema.examples ?? []).map((example) => ({ where, schema, example })),
  );
  const inBodies = operations.flatMap((operation) =>
    contents(operation).flatMap(({ schema, example }) =>
      schema && example !== undefined ? [{ where: operation.operationId, schema, example }] : [],
    ),
  );
  assert.ok(examples.length > 150);
  for (const { where, schema, example } of [...examples, ...inBodies])
    assert.ok(Schema.Check(whole(schema), example), `${where}: ${JSON.stringify(example)}`);
});

const firstExample = (schema: JsonSchema | undefined) => schema?.examples?.[0];

test("the example of an order adds up", () => {
  const { properties = {} } = document.components.schemas["CreatedOrder"] ?? {};
  const lines = firstExample(properties["lines"]) as { amountCents: number }[];
  const [subtotal, discount, total] = ["subtotalCents", "discountCents", "totalCents"].map((name) =>
    Number(firstExample(properties[name])),
  );
  assert.equal(
    lines.reduce((sum, { amountCents }) => sum + amountCents, 0),
    subtotal,
  );
  assert.equal(Number(subtotal) - Number(discount), total);
});

test("an event is listed by its topic, and its example has an id and a status of its own", () => {
  const statuses = {
    "order.created": "QuoteReady",
    "payment.cleared": "EsignPending",
    "shipment.delivered": "Delivered",
  };
  for (const [topic, { post }] of Object.entries(document.webhooks)) {
    assert.equal(post.summary, topic);
    const body = post.requestBody?.content["application/json"]?.schema;
    const { id, data } = body?.properties ?? {};
    assert.ok(String(firstExample(id)).length > 30, topic);
    const wanted = (statuses as Record<string, string>)[topic];
    if (wanted) assert.equal(firstExample(data?.properties?.["status"]), wanted);
  }
});
