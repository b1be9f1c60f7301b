import assert from "node:assert/strict";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { openHarness } from "@signsealship/testing/harness";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { newPartner } from "@signsealship/testing/service";
import { type Static, Type } from "typebox";
import Schema from "typebox/schema";

// The parts of Postman's published schema (collection 2.1.0) that are used here.
const closed = { additionalProperties: false };
const text = Type.String();
const named = { key: text, description: Type.Optional(text), disabled: Type.Optional(Type.Boolean()) };
const Pair = Type.Object({ ...named, value: text }, closed);
const Variable = Type.Object({ ...named, value: text, type: Type.Optional(Type.Literal("string")) }, closed);
const FormField = Type.Union([
  Type.Object({ ...named, type: Type.Literal("text"), value: text }, closed),
  Type.Object({ ...named, type: Type.Literal("file"), src: Type.Array(text) }, closed),
]);
const Body = Type.Union([
  Type.Object({ mode: Type.Literal("raw"), raw: text, options: Type.Object({}) }, closed),
  Type.Object({ mode: Type.Literal("formdata"), formdata: Type.Array(FormField) }, closed),
  Type.Object({ mode: Type.Literal("urlencoded"), urlencoded: Type.Array(Pair) }, closed),
]);
const Url = Type.Object(
  {
    raw: text,
    host: Type.Array(text),
    path: Type.Array(text),
    query: Type.Array(Pair),
    variable: Type.Array(Variable),
  },
  closed,
);
const Request = Type.Object(
  {
    method: text,
    description: Type.Optional(text),
    auth: Type.Optional(Type.Object({ type: Type.Literal("noauth") }, closed)),
    header: Type.Array(Pair),
    url: Url,
    body: Type.Optional(Body),
  },
  closed,
);
const Script = Type.Object({ type: text, exec: Type.Array(text) }, closed);
const Item = Type.Object(
  {
    name: text,
    request: Request,
    response: Type.Array(Type.Unknown()),
    event: Type.Optional(Type.Array(Type.Object({ listen: Type.Literal("test"), script: Script }, closed))),
  },
  closed,
);
const Collection = Type.Object(
  {
    info: Type.Object({ name: text, description: text, schema: text }, closed),
    auth: Type.Object({ type: Type.Literal("bearer"), bearer: Type.Array(Variable) }, closed),
    variable: Type.Array(Variable),
    item: Type.Array(Type.Object({ name: text, description: text, item: Type.Array(Item) }, closed)),
  },
  closed,
);
type Collection = Static<typeof Collection>;
type Item = Static<typeof Item>;

const values = new Map<string, string>();
const harness = await forTests(openHarness({ PLAYBOOKS: "on" }));
const collection = (await (await fetch(`${harness.service.baseUrl}/docs/collection.json`)).json()) as Collection;
for (const { key, value } of collection.variable) values.set(key, value);
values.set("baseUrl", harness.service.baseUrl);
values.set("key", (await newPartner(harness.service)).key);

const items = (): Item[] => collection.item.flatMap(({ item }) => item);

test("the collection matches Postman's schema, and has every operation once", async () => {
  assert.ok(Schema.Check(Collection, collection));
  assert.equal(collection.info.schema, "https://schema.getpostman.com/json/collection/v2.1.0/collection.json");
  const { paths } = (await (await fetch(`${harness.service.baseUrl}/openapi.json`)).json()) as { paths: object };
  const operations = Object.values(paths).flatMap((item) => Object.keys(item as object));
  assert.equal(items().length, operations.length);
});

test("every variable in its requests exists", () => {
  const names = JSON.stringify(items()).matchAll(/\{\{([$\w]+)\}\}/g);
  for (const [, name = ""] of names) assert.ok(values.has(name) || name === "$guid", name);
});

test("only Idempotency-Key gets a new value for each request; an optional header is off, with its example", () => {
  const headers = items().flatMap(({ request }) => request.header);
  const isKey = (key: string) => key.toLowerCase() === "idempotency-key";
  for (const { key, value } of headers) assert.equal(value === "{{$guid}}", isKey(key), key);
  assert.ok(headers.some(({ key }) => isKey(key)));
  const prefer = headers.filter(({ key }) => key.toLowerCase() === "prefer");
  assert.ok(prefer.length > 0);
  for (const { value, disabled } of prefer) assert.deepEqual([value, disabled], ["wait=5", true]);
});

const filled = (value: string): string =>
  value.replace(/\{\{([^}]+)\}\}/g, (_, name: string) =>
    name === "$guid" ? crypto.randomUUID() : (values.get(name) ?? ""),
  );

function bodyOf({ body }: Item["request"]): FormData | string | undefined {
  if (body?.mode === "raw") return filled(body.raw);
  if (body?.mode !== "formdata") return undefined;
  const form = new FormData();
  for (const field of body.formdata.filter(({ disabled }) => !disabled))
    if (field.type === "file") form.append(field.key, new Blob([Buffer.from(makePdf())]), "deed.pdf");
    else form.append(field.key, filled(field.value));
  return form;
}

/**
 * Sends a request of the collection like a program that has imported the collection. Stores the variables that the
 * request's script sets.
 */
async function send(name: string): Promise<{ status: number; answer: Record<string, unknown> }> {
  const item = items().find((each) => each.name === name);
  assert.ok(item, name);
  const { method, header, url, auth } = item.request;
  const bound = new Map(url.variable.map(({ key, value }) => [key, filled(value)]));
  const path = url.path.map((part) => (part.startsWith(":") ? bound.get(part.slice(1)) : part)).join("/");
  const sent = header.filter(({ disabled }) => !disabled);
  const headers = new Headers(sent.map(({ key, value }): [string, string] => [key, filled(value)]));
  if (!auth) headers.set("Authorization", `Bearer ${values.get("key")}`);
  const body = bodyOf(item.request);
  const response = await fetch(`${filled(url.host.join("."))}/${path}`, { method, headers, ...(body && { body }) });
  const answer = (await response.json()) as Record<string, unknown>;
  for (const [, kept = ""] of JSON.stringify(item.event ?? []).matchAll(/const \{ (\w+) \}/g))
    values.set(kept, String(answer[kept]));
  return { status: response.status, answer };
}

test("its requests work in order, each with the results of earlier ones", async () => {
  const wanted: [string, number][] = [
    ["Get your account", 200],
    ["Place an order", 201],
    ["Get an order", 200],
    ["List orders", 200],
    ["Simulate a payment", 200],
    ["Create a room", 200],
    ["Attach an order", 200],
    ["View a room", 200],
    ["Seal a room", 200],
    ["Verify a closing passport", 200],
    ["Create a webhook", 200],
    ["Seal a PDF", 200],
  ];
  for (const [name, status] of wanted) {
    const sent = await send(name);
    assert.equal(sent.status, status, `${name}: ${JSON.stringify(sent.answer)}`);
  }
});
