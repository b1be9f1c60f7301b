// The published OpenAPI description as a collection of Postman's format 2.1, which Postman, Bruno, Insomnia and
// Hoppscotch import.

type Parameter = {
  name: string;
  in: string;
  required?: boolean;
  description?: string;
  /** The parameter's example, if it has only one. Several examples are in the parameter's schema instead. */
  example?: unknown;
  schema: JsonSchema;
};
type Operation = {
  operationId: string;
  summary: string;
  description?: string;
  tags: string[];
  security?: object[];
  parameters?: Parameter[];
  requestBody?: { content: Record<string, { schema: JsonSchema }> };
};
type Described = {
  info: { title: string; description: string };
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, JsonSchema> };
};

const schema = "https://schema.getpostman.com/json/collection/v2.1.0/collection.json";

/** For each operation, the collection variable that a script sets from the response, for use in later requests. */
const remembered: Readonly<Record<string, string>> = {
  createOrder: "orderCode",
  createRoom: "roomCode",
  sealRoom: "verifyCode",
};
const variables = ["orderCode", "roomCode", "verifyCode"];

/** The optional form fields that the collection's requests send unless a user disables them. */
const sentAtFirst: ReadonlySet<string> = new Set(["document", "name", "svc_sign", "external_reference"]);

/**
 * Converts the published OpenAPI description to a Postman collection.
 * @param baseUrl the value of the variable `baseUrl`; users fill in the variable `key` themselves
 */
export function collectionOf(document: object, baseUrl: string): object {
  const { info, tags, paths, components } = document as Described;
  const operations = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  );
  const folders = tags.map(({ name, description }) => ({
    name,
    description,
    item: operations
      .filter(({ operation }) => operation.tags.includes(name))
      .map(({ path, method, operation }) => itemOf(path, method, operation, components.schemas)),
  }));
  return {
    info: { name: info.title, description: info.description, schema },
    auth: { type: "bearer", bearer: [{ key: "token", value: "{{key}}", type: "string" }] },
    variable: [
      { key: "baseUrl", value: baseUrl, type: "string" },
      { key: "key", value: "", type: "string" },
      ...variables.map((key) => ({ key, value: "", type: "string" })),
    ],
    item: folders.filter(({ item }) => item.length > 0),
  };
}

function itemOf(path: string, method: string, operation: Operation, schemas: Record<string, JsonSchema>): object {
  const { operationId, summary, description, security = [] } = operation;
  const variable = remembered[operationId];
  const exec = [
    `const { ${variable} } = pm.response.json();`,
    `pm.collectionVariables.set("${variable}", ${variable});`,
  ];
  return {
    name: summary,
    request: {
      method,
      ...(description && { description }),
      ...(security.length === 0 && { auth: { type: "noauth" } }),
      header: headersOf(operation),
      url: urlOf(path, operation),
      ...bodyOf(operation, schemas),
    },
    response: [],
    ...(variable && { event: [{ listen: "test", script: { type: "text/javascript", exec } }] }),
  };
}

function headersOf({ parameters = [], requestBody }: Operation): object[] {
  const isJson = requestBody?.content["application/json"] !== undefined;
  const sent = parameters.filter((parameter) => parameter.in === "header");
  return [
    ...(isJson ? [{ key: "Content-Type", value: "application/json" }] : []),
    ...sent.map(({ name, required, description, example }) =>
      // A variable gives each request its own `Idempotency-Key`. With a fixed key, a second order would get the
      // response of the first order.
      name.toLowerCase() === "idempotency-key"
        ? { key: name, value: "{{$guid}}", description }
        : { key: name, value: String(example ?? ""), description, ...(!required && { disabled: true }) },
    ),
  ];
}

function urlOf(path: string, { parameters = [] }: Operation): object {
  const inPath = path.slice(1).replace(/\{(\w+)\}/g, ":$1");
  const sent = (where: string) => parameters.filter((parameter) => parameter.in === where);
  const query = sent("query").map(({ name, description, example, schema: { examples, default: value } }) => ({
    key: name,
    value: String(example ?? examples?.[0] ?? value ?? ""),
    description,
    disabled: true,
  }));
  const variable = sent("path").map(({ name, description }) => ({
    key: name,
    value: valueOfParameter(path, name),
    description,
  }));
  return { raw: `{{baseUrl}}/${inPath}`, host: ["{{baseUrl}}"], path: inPath.split("/"), query, variable };
}

function valueOfParameter(path: string, name: string): string {
  const of = name === "code" && path.includes("/orders/") ? "orderCode" : name;
  return variables.includes(of) ? `{{${of}}}` : "";
}

function bodyOf({ requestBody }: Operation, schemas: Record<string, JsonSchema>): object {
  const [type, media] = Object.entries(requestBody?.content ?? {})[0] ?? [];
  if (type === undefined || !media) return {};
  const example = exampleOf(media.schema, schemas);
  if (type === "application/json") {
    const raw = JSON.stringify(example, (key, value: unknown) => (key === "orderCode" ? "{{orderCode}}" : value), 2);
    return { body: { mode: "raw", raw, options: { raw: { language: "json" } } } };
  }
  if (type === "multipart/form-data") return { body: { mode: "formdata", formdata: formOf(media.schema) } };
  const urlencoded = Object.entries(example as object).map(([key, value]) => ({ key, value: String(value) }));
  return { body: { mode: "urlencoded", urlencoded } };
}

function formOf({ properties = {}, required = [] }: JsonSchema): object[] {
  return Object.entries(properties).map(([key, { contentMediaType, description, examples }]) => {
    const isSent = required.includes(key) || sentAtFirst.has(key);
    const value =
      contentMediaType === "application/pdf"
        ? { type: "file", src: [] }
        : { type: "text", value: String(examples?.[0] ?? "") };
    return { key, description, ...value, ...(!isSent && { disabled: true }) };
  });
}

/** The members of a JSON schema that the collection uses. */
type JsonSchema = {
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

/** An example for a schema: the schema's own example, or else one that is built from the examples of its members. */
function exampleOf(schema: JsonSchema, schemas: Readonly<Record<string, JsonSchema>>): unknown {
  const { $ref, examples, enum: names, anyOf, properties, items, type } = schema;
  const referred = $ref === undefined ? undefined : schemas[$ref.replace("#/components/schemas/", "")];
  if (referred) return exampleOf(referred, schemas);
  if (examples?.[0] !== undefined) return examples[0];
  for (const sample of [schema.default, schema.const, names?.[0]]) if (sample !== undefined) return sample;
  if (anyOf?.[0]) return exampleOf(anyOf[0], schemas);
  if (properties)
    return Object.fromEntries(Object.entries(properties).map(([name, each]) => [name, exampleOf(each, schemas)]));
  if (items) return [exampleOf(items, schemas)];
  return type === "string" ? "" : null;
}
