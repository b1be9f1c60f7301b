import type {
  FastifyError,
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  FastifySchema,
  onRequestAsyncHookHandler,
} from "fastify";
import { type Static, type TObject, type TSchema, Type } from "typebox";
import type { Scope } from "../identity/identity.ts";
import { invalid } from "../platform/errors.ts";
import {
  type Callers,
  readSession,
  requireKey,
  requireKeyOrSession,
  requireScope,
  requireSession,
  scopeMissing,
} from "./authentication.ts";
import { acceptBody, type BodyKind } from "./bodies.ts";
import { errors } from "./error-schemas.ts";
import { bodyOptional } from "./openapi-around.ts";
import type { Policy, RateLimits } from "./rate-limits.ts";
import { ref, text } from "./schema-parts.ts";
import { formTypes } from "./text-forms.ts";
import { unknownMembers, warningsFor } from "./warnings.ts";
import { wireError } from "./wire-errors.ts";

/** What every route needs: who calls, and how often one may. */
export type RouteDeps = Callers & { limits: RateLimits };

/** Who may call a route (contract, Authentication), and the scope that a restricted key needs for it. */
export type Access =
  | { caller: "key" | "key-or-session"; scope: Scope }
  | { caller: "session" | "anybody"; scope?: undefined };

export type Caller = Access["caller"];

const tooMany = { 429: "Rate limit exceeded. Try again in 42 seconds." };
const notLinked = "This session is not linked to a partner. Link with a partner API key first.";

/** The refusals that all routes of a caller have in common: status and an example of the message, for /openapi.json. */
const commonRefusals: Readonly<Record<Caller, Record<number, string>>> = {
  key: { 401: "A valid partner API key is required.", ...tooMany },
  "key-or-session": { 401: "Sign in to continue.", 403: notLinked, ...tooMany },
  session: { 401: "Sign in to continue.", 403: "This request came from another site.", ...tooMany },
  anybody: tooMany,
};

/** For keys with the scope as the role that is needed (OpenAPI 3.1, Security Requirement Object). */
function securityOf({ caller, scope }: Access): Record<string, string[]>[] {
  switch (caller) {
    case "key":
      return [{ partnerKey: [scope] }];
    case "key-or-session":
      return [{ partnerKey: [scope] }, { session: [] }];
    case "session":
      return [{ session: [] }];
    case "anybody":
      return [];
  }
}

/** The refusals that the routes of a caller have in common, as a sentence for each status. */
function commonRefusalsOf({ caller, scope }: Access): Record<number, string> {
  return { ...(caller === "key" && { 403: scopeMissing(scope) }), ...commonRefusals[caller] };
}

/**
 * The hooks that find the caller and count the request. `partner-write` counts by firm, so after the caller is known; the others
 * count by session or address, before a credential is looked at.
 */
export function callerHooks(deps: RouteDeps, caller: Caller, policy: Policy): onRequestAsyncHookHandler[] {
  const session = caller === "session" || caller === "key-or-session" ? [readSession(deps)] : [];
  const credential = credentialHooks(deps, caller);
  const count = deps.limits.limit(policy);
  return policy === "partner-write" ? [...session, ...credential, count] : [...session, count, ...credential];
}

function credentialHooks(deps: RouteDeps, caller: Caller): onRequestAsyncHookHandler[] {
  switch (caller) {
    case "key":
      return [countingBadKeys(deps, requireKey(deps.resolveKey))];
    case "key-or-session":
      return [countingBadKeys(deps, requireKeyOrSession(deps))];
    case "session":
      return [requireSession(deps)];
    case "anybody":
      return [];
  }
}

/** Refusals of a key count against the caller's network; a good key is never kept waiting by its neighbors' bad ones. */
function countingBadKeys(
  { limits }: RouteDeps,
  authenticate: (request: FastifyRequest) => Promise<void>,
): onRequestAsyncHookHandler {
  const count = limits.limit("bad-key");
  return async (request, reply) => {
    try {
      await authenticate(request);
    } catch (error) {
      if (request.headers.authorization !== undefined) await count(request, reply);
      throw error;
    }
  };
}

/** What a route says of itself in /openapi.json. */
export type About = { tag: string; operationId: string; summary: string; description?: string };

type Described = About & Access;

type Named = TSchema & { $id?: string };

/** A route that answers JSON. `P` and `Q` are its path and query parameters, `A` its answer. */
export type JsonRoute<P extends TObject, Q extends TObject, A extends TSchema> = Described & {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  url: string;
  policy: Policy;
  /** Runs once the caller is known. */
  guard?: onRequestAsyncHookHandler;
  params?: P;
  /** Each text is taken once. What is described as anything else comes as it was sent; the domain reads it. */
  query?: Q;
  /** The body's schema: described in /openapi.json; the domain checks it with the contract's own messages. */
  body?: Named;
  /** Default: JSON where there is a schema. */
  bodyIs?: BodyKind;
  /** A multipart form in the place of a JSON body: its description, and the refusal of a body of another type. */
  form?: { schema: object; notForm: string };
  /** Names the members of the body that are unknown, to callers with a test key; `answer` has `warnings` then. */
  warns?: true;
  headers?: TObject;
  /** Default 200. */
  status?: 200 | 201;
  answer: A;
  /** The route's own refusals: status and an example of the message. */
  refusals?: Readonly<Record<number, string>>;
  /** Schemas of answers that are no `{error}`. */
  otherAnswers?: Readonly<Record<number, TSchema>>;
  answerHeaders?: Readonly<Record<string, string>>;
  /** Comes before the answer to a refusal. */
  onRefusal?: (request: RouteRequest<P, Q>, error: Error) => Promise<void>;
  /** @returns the answer, or that one was sent already */
  handle: (request: RouteRequest<P, Q>, reply: FastifyReply) => Promise<Static<A> | Sent>;
};

export type RouteRequest<P extends TObject, Q extends TObject> = FastifyRequest<{
  Params: Static<P>;
  Querystring: Static<Q>;
}>;

/** Says that the handler has sent an answer of its own: a ready text, a file, an empty one. */
export type Sent = { readonly sent: FastifyReply };

const isSent = (answer: unknown): answer is Sent => (answer as Partial<Sent> | null)?.sent !== undefined;

export const json = "application/json; charset=utf-8";

/** Sends JSON that is a text already. */
export const sendText = (reply: FastifyReply, text: string | Buffer): Sent => ({ sent: reply.type(json).send(text) });

/** Adds a JSON route with its frame: caller, limit, description, and the answer as text. */
export function jsonRoute<P extends TObject, Q extends TObject, A extends TSchema>(
  app: FastifyInstance,
  deps: RouteDeps,
  route: JsonRoute<P, Q, A>,
): void {
  const { method, url, caller, scope, policy, guard, bodyIs } = route;
  const addTo = (instance: FastifyInstance) =>
    instance.route({
      method,
      url,
      onRequest: [...callerHooks(deps, caller, policy), guard ?? [], scope ? requireScope(scope) : []].flat(),
      schema: schemaOf(app, route),
      ...((route.form || route.onRefusal) && { errorHandler: refuse(route) }),
      handler: answerOf(route),
    });
  if (bodyIs === undefined) addTo(app);
  else
    app.register(async (instance) => {
      acceptBody[bodyIs](instance);
      addTo(instance);
    });
}

const answerOf =
  <P extends TObject, Q extends TObject, A extends TSchema>(route: JsonRoute<P, Q, A>) =>
  async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    if (route.query) requireEachOnce(request.query as object, route.query);
    const answer = await route.handle(request as RouteRequest<P, Q>, reply);
    if (isSent(answer)) return answer.sent;
    reply.code(route.status ?? 200).headers(route.answerHeaders ?? {});
    return reply.type(json).send(JSON.stringify(route.warns ? warned(request, route, answer) : answer));
  };

const warned = (request: FastifyRequest, { body = {} }: { body?: object }, answer: unknown): object => ({
  ...(answer as object),
  ...warningsFor(request, () => unknownMembers(request.body, body)),
});

/** What the framework has against the type of a body is said in the form's own words. */
const refuse =
  <P extends TObject, Q extends TObject, A extends TSchema>({ form, onRefusal }: JsonRoute<P, Q, A>) =>
  async (error: FastifyError, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    await onRefusal?.(request as RouteRequest<P, Q>, error);
    const isOfType = error.code?.startsWith("FST_ERR_CTP_") ?? false;
    return wireError(form && isOfType ? invalid(form.notForm) : error, request, reply);
  };

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

/** A schema with an `$id` is described once, under that name. */
function shared(app: FastifyInstance, schema: Named): TSchema {
  if (schema.$id === undefined) return schema;
  if (!app.getSchema(schema.$id)) app.addSchema(schema);
  return ref(schema);
}

/** @throws ServiceError for a text in the query that was sent more than once; what is no text is for the domain to check */
function requireEachOnce(query: object, { properties }: TObject): void {
  const isText = (name: string) => !(name in properties) || Type.IsString(properties[name]);
  const repeated = Object.entries(query).find(([name, value]) => typeof value !== "string" && isText(name));
  if (repeated) throw invalid(`${repeated[0]} must be sent once.`);
}

/** A text in a query that may be left out. */
export const optionalText = (description: string, ...examples: string[]) =>
  Type.Optional(text(description, ...examples));
