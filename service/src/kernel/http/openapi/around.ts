import { type TSchema, Type } from "typebox";
import { requestId } from "../schema-parts.ts";

/** The problem details of RFC 9457, for callers that ask for them. */
const Problem = Type.Object(
  {
    type: Type.String({
      description: "`urn:signsealship:problem:` and the code.",
      examples: ["urn:signsealship:problem:not_found"],
    }),
    title: Type.String({ description: "The reason phrase of the status.", examples: ["Not Found"] }),
    status: Type.Integer({ description: "The HTTP status, repeated.", examples: [404] }),
    detail: Type.String({ description: "The message of the plain error.", examples: ["Order not found."] }),
    code: Type.String({
      description: "The stable machine code. The [errors guide](/docs/errors) lists all of them.",
      examples: ["not_found"],
    }),
    requestId: requestId(),
  },
  { description: "The refusal for a caller that sends `Accept: application/problem+json`." },
);

type Header = { description: string; schema: TSchema; example?: string };

const headers: Readonly<Record<string, Header>> = {
  "Request-Id": { description: "Names this request, for support.", schema: Type.String({ format: "uuid" }) },
  "Idempotent-Replayed": {
    description: "There when the answer is the kept one of an earlier request with this `Idempotency-Key`.",
    schema: Type.Literal("true"),
  },
  RateLimit: {
    description:
      "What remains of the window for this caller and when it ends, in seconds; there once the request was counted.",
    schema: Type.String(),
    example: '"partner-write";r=59;t=42',
  },
  "RateLimit-Policy": {
    description: "The policy's requests and its window in seconds; there once the request was counted.",
    schema: Type.String(),
    example: '"partner-write";q=60;w=60',
  },
  "Retry-After": { description: "Seconds after which to try again.", schema: Type.Integer({ minimum: 1 }) },
  "WWW-Authenticate": { description: "The scheme of the credential.", schema: Type.String(), example: "Bearer" },
};

type Media = { schema?: { $ref?: string } };
type Response = { description: string; headers?: object; content?: Record<string, Media> };
type Operation = {
  parameters?: { in: string; name: string }[];
  requestBody?: { required?: boolean; content: Record<string, unknown> };
  responses: Record<string, Response>;
  [bodyOptional]?: boolean;
};
type Document = {
  paths?: Record<string, unknown>;
  components?: { schemas?: object; headers?: object; responses?: object };
};

/** Marks a route's body as optional. The plugin that reads the schemas can't express this. */
export const bodyOptional = "x-body-optional";

const methods = ["get", "put", "post", "delete", "patch"];
const refusalSchemas = new Set(["#/components/schemas/Error", "#/components/schemas/UnknownVerdict"]);
const refusal = (description: string, error: string) => ({
  description,
  content: { "application/json": { schema: { $ref: "#/components/schemas/Error" }, example: { error } } },
});
/** The most bytes of a JSON or text body that the server reads. */
export const maxBodyBytes = 256 * 1024;

/** For a route that takes forms: the message for a body that is not a form and is too long. */
export const otherBodyTooLarge = (bytes: number): string =>
  `The body is too large: a body that is not multipart/form-data may have at most ${bytes / 1024} KiB.`;

const tooLarge = refusal("The body is too large.", "The body is too large.");
const otherTooLarge = refusal("The body is too large.", otherBodyTooLarge(maxBodyBytes));
const otherType = refusal(
  "The body has another media type than the route takes.",
  "Send the body as application/json.",
);

const unavailable = refusal(
  "Briefly unavailable, the database for one; `Retry-After` says when to try again.",
  "The service is briefly unavailable. Try again in a moment.",
);

/**
 * Adds the parts that are the same on every route: refusals of a body, problem details as an alternative body of each
 * refusal, and response headers.
 */
export function describeAround<D extends Document>(document: D): D {
  const operations = Object.values(document.paths ?? {}).flatMap((item) =>
    Object.entries(item as Record<string, Operation>).filter(([method]) => methods.includes(method)),
  );
  for (const [, operation] of operations) {
    describeBody(operation);
    operation.responses["503"] ??= structuredClone(unavailable);
    const keepsAnswers = operation.parameters?.some(({ name }) => name.toLowerCase() === "idempotency-key") ?? false;
    const isLimited = "429" in operation.responses;
    for (const [status, response] of Object.entries(operation.responses)) {
      addProblem(response);
      addHeaders(response, Number(status), { keepsAnswers, isLimited });
    }
  }
  const { components = {} } = document;
  return {
    ...document,
    components: {
      ...components,
      schemas: { ...components.schemas, Problem },
      headers,
    },
  };
}

function describeBody(operation: Operation): void {
  const { requestBody, responses } = operation;
  const optional = operation[bodyOptional] === true;
  delete operation[bodyOptional];
  if (!requestBody) return;
  if (optional) requestBody.required = false;
  // Only JSON routes get a 415. A route that takes forms with a document refuses a wrong media type with a 400, and
  // also a too large document (contract). Such a route has a 413 only for bodies that are not forms.
  const isJson = "application/json" in requestBody.content;
  if (isJson || "application/x-www-form-urlencoded" in requestBody.content)
    responses["413"] ??= structuredClone(tooLarge);
  else if ("multipart/form-data" in requestBody.content) responses["413"] ??= structuredClone(otherTooLarge);
  if (isJson) responses["415"] ??= structuredClone(otherType);
}

function addProblem({ content }: Response): void {
  const ref = content?.["application/json"]?.schema?.$ref;
  if (!content || ref === undefined || !refusalSchemas.has(ref)) return;
  content["application/problem+json"] = { schema: { $ref: "#/components/schemas/Problem" } };
}

function addHeaders(response: Response, status: number, about: { keepsAnswers: boolean; isLimited: boolean }): void {
  const names = [
    "Request-Id",
    ...(about.isLimited ? ["RateLimit", "RateLimit-Policy"] : []),
    ...(about.keepsAnswers && status < 300 ? ["Idempotent-Replayed"] : []),
    ...(status === 401 ? ["WWW-Authenticate"] : []),
    ...(status === 429 || status === 503 ? ["Retry-After"] : []),
  ];
  const refs = names.map((name) => [name, { $ref: `#/components/headers/${name}` }]);
  response.headers = { ...response.headers, ...Object.fromEntries(refs) };
}
