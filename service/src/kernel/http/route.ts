import type {
  FastifyError,
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  FastifySchema,
  onRequestAsyncHookHandler,
} from "fastify";
import { type Static, type TObject, type TSchema, Type } from "typebox";
import { invalid } from "../platform/errors.ts";
import { type Access, type CallerDeps, callerHooks, commonRefusalsOf, inTurn, securityOf } from "./access.ts";
import { requireScope } from "./authentication.ts";
import { HttpError } from "./errors/http-error.ts";
import { errors } from "./errors/schemas.ts";
import { wireError } from "./errors/wire-errors.ts";
import { bodyOptional, otherBodyTooLarge } from "./openapi/around.ts";
import type { Policy } from "./rate-limits.ts";
import { ref, text } from "./schema-parts.ts";
import { acceptTextForms, formTypes } from "./text-forms.ts";
import { acceptMultipart } from "./uploads/multipart.ts";
import { unknownMembers, warningsFor } from "./warnings.ts";

export type RouteDeps = CallerDeps;

/** The description of a route in /openapi.json. */
type About = { tag: string; operationId: string; summary: string; description?: string };

type Described = About & Access;

type Named = TSchema & { $id?: string };

/** A route that responds with JSON. `P` and `Q` are its path and query parameters, `A` its response. */
export type JsonRoute<P extends TObject, Q extends TObject, A extends TSchema> = Described & {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  url: string;
  policy: Policy;
  /** A hook of this route alone. It runs after the caller is identified. */
  guard?: onRequestAsyncHookHandler;
  params?: P;
  /**
   * The schema of the query. A text parameter, and a parameter that the schema doesn't name, may be sent only once.
   * Parameters of other types are not checked here, because the domain parses them.
   */
  query?: Q;
  /**
   * The schema of the body, for /openapi.json and for `warns`. The domain checks the body and uses the contract's
   * messages.
   */
  body?: Named;
  /**
   * The kind of parser for the body. Default: `upload` for a route with a `form`, and JSON for a route with a `body`.
   */
  bodyIs?: BodyKind;
  /**
   * Set if the route takes a multipart form instead of JSON: the form's schema, and the message that refuses a body of
   * another type.
   */
  form?: { schema: object; notForm: string };
  /**
   * True if the response has `warnings`, which list unknown members of the body. Only callers in the test environment
   * get them.
   */
  warns?: true;
  headers?: TObject;
  /** The status of the response; default 200. */
  status?: 200 | 201 | 202;
  answer: A;
  /** The refusals of this route alone: for each status, an example of the message. */
  refusals?: Readonly<Record<number, string>>;
  /** Schemas of refusals whose body is not `{error}`, by status. */
  otherAnswers?: Readonly<Record<number, TSchema>>;
  answerHeaders?: Readonly<Record<string, string>>;
  /** Runs before the response to any error is sent, also to an unknown one. */
  onRefusal?: (request: RouteRequest<P, Q>, error: Error) => Promise<void>;
  /**
   * Handles a request.
   * @returns the response body, or the mark `Sent` if the handler has already sent the response
   */
  handle: (request: RouteRequest<P, Q>, reply: FastifyReply) => Promise<Static<A> | Sent>;
};

export type RouteRequest<P extends TObject, Q extends TObject> = FastifyRequest<{
  Params: Static<P>;
  Querystring: Static<Q>;
}>;

/** Marks that the handler has sent its own response: a text, a file or an empty body. */
export type Sent = { readonly sent: FastifyReply };

const isSent = (answer: unknown): answer is Sent => (answer as Partial<Sent> | null)?.sent !== undefined;

export const json = "application/json; charset=utf-8";

/** Sends a text that is already serialized as JSON. */
export const sendText = (reply: FastifyReply, text: string | Buffer): Sent => ({ sent: reply.type(json).send(text) });

/**
 * Adds a JSON route with the steps that all routes share: authentication, the rate limit, the OpenAPI description, and
 * serialization.
 */
export function jsonRoute<P extends TObject, Q extends TObject, A extends TSchema>(
  app: FastifyInstance,
  deps: RouteDeps,
  route: JsonRoute<P, Q, A>,
): void {
  const { method, url, caller, scope, policy, guard, form, bodyIs = form && "upload" } = route;
  const addTo = (instance: FastifyInstance) =>
    instance.route({
      method,
      url,
      onRequest: inTurn([...callerHooks(deps, caller, policy), guard ?? [], scope ? requireScope(scope) : []].flat()),
      schema: schemaOf(app, route),
      ...((route.form || route.onRefusal) && { errorHandler: refuse(route) }),
      handler: answerOf(route),
    });
  if (bodyIs === undefined) addTo(app);
  else
    app.register(async (instance) => {
      await acceptBody[bodyIs](instance);
      addTo(instance);
    });
}

const answerOf =
  <P extends TObject, Q extends TObject, A extends TSchema>(route: JsonRoute<P, Q, A>) =>
  async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | string> => {
    if (route.query) requireEachOnce(request.query as object, route.query);
    const answer = await route.handle(request as RouteRequest<P, Q>, reply);
    if (isSent(answer)) return answer.sent;
    reply.code(route.status ?? 200).type(json);
    if (route.answerHeaders) reply.headers(route.answerHeaders);
    return JSON.stringify(route.warns ? warned(request, route, answer) : answer);
  };

const warned = (request: FastifyRequest, { body = {} }: { body?: object }, answer: unknown): object => ({
  ...(answer as object),
  ...warningsFor(request, () => unknownMembers(request.body, body)),
});

/** Fastify's error codes for a body that is not a form, or that is malformed for its own media type. */
const notFormCodes: ReadonlySet<string> = new Set([
  "FST_ERR_CTP_INVALID_MEDIA_TYPE",
  "FST_ERR_CTP_EMPTY_JSON_BODY",
  "FST_ERR_CTP_INVALID_JSON_BODY",
]);

/**
 * Creates the error handler of a route. It calls `onRefusal` and sends the error. For a body of the wrong type, a form
 * route sends its own message instead of Fastify's.
 */
const refuse =
  <P extends TObject, Q extends TObject, A extends TSchema>({ form, onRefusal }: JsonRoute<P, Q, A>) =>
  async (error: FastifyError, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    await onRefusal?.(request as RouteRequest<P, Q>, error);
    return wireError(form ? formRefusal(form, error, request) : error, request, reply);
  };

function formRefusal({ notForm }: { notForm: string }, error: FastifyError, { routeOptions }: FastifyRequest) {
  if (notFormCodes.has(error.code)) return invalid(notForm);
  if (error.code !== "FST_ERR_CTP_BODY_TOO_LARGE") return error;
  return new HttpError("payload_too_large", otherBodyTooLarge(routeOptions.bodyLimit));
}

function schemaOf<P extends TObject, Q extends TObject, A extends TSchema>(
  app: FastifyInstance,
  route: JsonRoute<P, Q, A>,
): FastifySchema {
  const { tag, operationId, summary, description, params, query, body, headers, bodyIs, form } = route;
  return {
    tags: [tag],
    security: securityOf(route),
    operationId,
    summary,
    ...(description && { description }),
    ...(params && { params }),
    ...(query && { querystring: query }),
    ...(headers && { headers }),
    ...(body && { body: shared(app, body) }),
    ...(form && { consumes: ["multipart/form-data"], body: form.schema }),
    ...(bodyIs === "form" && { consumes: [...formTypes] }),
    ...(bodyIs === "optional" && { [bodyOptional]: true }),
    response: {
      [route.status ?? 200]: shared(app, route.answer),
      ...errors({ ...commonRefusalsOf(route), ...route.refusals }),
      ...route.otherAnswers,
    },
  };
}

/**
 * Registers a schema that has an `$id`, so that /openapi.json describes it once, and returns a reference to it. Returns
 * any other schema unchanged.
 */
function shared(app: FastifyInstance, schema: Named): TSchema {
  if (schema.$id === undefined) return schema;
  if (!app.getSchema(schema.$id)) app.addSchema(schema);
  return ref(schema);
}

/**
 * Requires that each text parameter of the query was sent at most once. A parameter that the schema doesn't name counts
 * as a text. The domain checks all other values.
 * @throws ServiceError for a text that was sent more than once
 */
function requireEachOnce(query: object, { properties }: TObject): void {
  const isText = (name: string) => !(name in properties) || Type.IsString(properties[name]);
  const repeated = Object.entries(query).find(([name, value]) => typeof value !== "string" && isText(name));
  if (repeated) throw invalid(`${repeated[0]} must be sent once.`);
}

export const optionalText = (description: string, ...examples: string[]) =>
  Type.Optional(text(description, ...examples));

/** For routes without a body: reads and discards any body that is sent. */
function acceptNoBody(scope: FastifyInstance): void {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser("*", { parseAs: "string" }, (_request, _body, done) => done(null, undefined));
}

/** For routes with an optional JSON body: accepts an empty body as `{}`. */
function acceptEmptyJson(scope: FastifyInstance): void {
  const parse = scope.getDefaultJsonParser("error", "error");
  scope.removeContentTypeParser("application/json");
  scope.addContentTypeParser("application/json", { parseAs: "string" }, (request, body, done) => {
    if (String(body).trim() === "") done(null, {});
    else parse(request, String(body), done);
  });
  // Some clients send a media type such as text/plain even with an empty body.
  scope.addContentTypeParser("*", { parseAs: "string" }, (_request, body, done) => {
    if (body === "") done(null, {});
    else done(new HttpError("unsupported_media_type", "Send the body as application/json."));
  });
}

/** For each kind of request body, a function that sets the body parsers of the route's own Fastify scope. */
const acceptBody = {
  none: acceptNoBody,
  optional: acceptEmptyJson,
  form: acceptTextForms,
  upload: acceptMultipart,
} as const;

/**
 * The kinds of request bodies. `none`: a body is read and discarded. `optional`: JSON, where an empty body means `{}`.
 * `form`: text fields, read by `formFields`. `upload`: a form with a file, read by `readForm`.
 */
type BodyKind = keyof typeof acceptBody;
