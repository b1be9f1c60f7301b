import type { FastifyInstance, FastifyRequest } from "fastify";
import type { ConfirmationDeps } from "../../../firms/members/members.ts";
import {
  needsPasskey,
  type Operator,
  type Permission,
  passkeySubjects,
  type ResolveOperator,
  requirePasskeyOf,
  requirePermission,
} from "../../../firms/operators/operators.ts";
import { refuseCrossSite } from "../../../kernel/http/authentication.ts";
import { HttpError } from "../../../kernel/http/errors/http-error.ts";
import { wireStatus } from "../../../kernel/http/errors/wire-errors.ts";
import type { RateLimits } from "../../../kernel/http/rate-limits.ts";
import type { Clock } from "../../../kernel/platform/clock.ts";
import { isServiceError, ServiceError } from "../../../kernel/platform/errors.ts";
import { accountNav } from "../../ui/account-nav.ts";
import type { AssetName, Assets } from "../../ui/assets/assets.ts";
import { notice } from "../../ui/components.ts";
import { confirming } from "../../ui/confirmation/confirming.ts";
import { wantsJson } from "../../ui/error-page.ts";
import { acceptForms, leaveForms } from "../../ui/forms/form-body.ts";
import { layout } from "../../ui/layout.ts";
import { formHeaders, htmlType } from "../../ui/page/headers.ts";
import { type PageCall, type PageRoute, pageRoute } from "../../ui/page/route.ts";
import { type Html, html } from "../../ui/render.ts";
import { flashOf } from "../flash-messages.ts";
import { type Section, sideNav } from "./nav.ts";

/** The dependencies of every page of the console. */
export type ConsoleFrame = { clock: Clock; limits: RateLimits; assets: Assets };

export type ConsoleDeps = {
  frame: ConsoleFrame;
  ownOrigin: string;
  resolveOperator: ResolveOperator;
  confirmation: ConfirmationDeps;
};

const confirmArea = {
  path: "/operator",
  back: { path: "/operator", label: "Back to the console" },
  onlyPasskey: `You need a passkey for ${passkeySubjects}`,
} as const;

declare module "fastify" {
  interface FastifyContextConfig {
    /** The permissions for a route of the console: the operator needs at least one of them. */
    permissions?: readonly Permission[];
  }
}

const operators = new WeakMap<FastifyRequest, Operator>();

/** The request's operator, whom the hook of the console's scope has set. */
export function operatorOf(request: FastifyRequest): Operator {
  const operator = operators.get(request);
  if (!operator) throw new Error("route outside the console's scope");
  return operator;
}

type ScopeKind = "forms" | "uploads";

/**
 * Opens a scope of the console: every request requires an operator's session, and every write must come from one of our
 * own pages.
 * @param kind `uploads` for routes that read multipart forms
 */
export function consoleScope(
  app: FastifyInstance,
  deps: ConsoleDeps,
  routes: (scope: FastifyInstance) => void,
  kind: ScopeKind = "forms",
): void {
  const { frame, ownOrigin, resolveOperator, confirmation } = deps;
  const { assets, limits } = frame;
  const guest = guestPage(assets);
  async function resolve(request: FastifyRequest): Promise<Operator | null> {
    const operator = await resolveOperator(request.headers.cookie);
    if (operator) operators.set(request, operator);
    request.session = operator?.session ?? null;
    return operator;
  }
  app.register(async (scope) => {
    if (kind === "forms") acceptForms(scope);
    else leaveForms(scope);
    scope.addHook("onRequest", limits.limit("page"));
    scope.addHook("onRequest", async (request, reply) => {
      if (!(await resolve(request))) return reply.code(401).type(htmlType).headers(formHeaders).send(guest);
      refuseCrossSite(request, ownOrigin);
      // No stored code or id contains a NUL, and PostgreSQL rejects a query with one. So the URL names nothing that
      // exists.
      if (Object.values(request.params as Record<string, string>).some((value) => value.includes("\0")))
        throw new ServiceError("not_found", "Not found.");
    });
    if (kind === "uploads") return routes(scope);
    confirming(scope, { confirmation, assets, limits }, confirmArea, async (request) => {
      // Too many wrong confirmation codes may have ended the session.
      if (!(await resolve(request))) throw new HttpError("sign_in_required", "Sign in to continue.");
    });
    routes(scope);
  });
}

/** A request, as passed to the handler of a console route. */
export type ConsoleCall<Params = unknown> = PageCall<Params> & { operator: Operator };

type Call<Url extends string> = Parameters<PageRoute<Url>["handle"]>[0] & { operator: Operator };

export type ConsoleRoute<Url extends string> = Omit<PageRoute<Url>, "handle" | "refused"> & {
  /**
   * The operator needs at least one of these; otherwise the response is 403. When the list is empty, every operator has
   * access.
   */
  permission: Permission | readonly Permission[];
  handle: (call: Call<Url>) => ReturnType<PageRoute<Url>["handle"]>;
  refused?: (call: Call<Url>, error: string) => string | Promise<string>;
};

/**
 * Checks the operator's rights for a route: one of its permissions. For a POST whose permissions all need a passkey,
 * also requires a recent one.
 * @throws ServiceError
 */
export function requireRights({ routeOptions, method }: FastifyRequest, operator: Operator, now: Date): void {
  const { permissions = [] } = routeOptions.config;
  if (permissions.length === 0) return;
  requirePermission(operator, permissions);
  if (method === "POST" && permissions.every(needsPasskey)) requirePasskeyOf(operator, now);
}

/**
 * True if a form with a file was rejected because the operator's passkey was not used recently. The page that asks for
 * the passkey can't contain the file, so the form is shown again instead.
 */
const lacksPasskeyForFile = (request: FastifyRequest, error: unknown): error is ServiceError =>
  isServiceError(error, "passkey_required") &&
  /^multipart\/form-data/i.test(request.headers["content-type"] ?? "") &&
  !wantsJson(request);

/** Adds a page or form to the console, for operators with one of its permissions. */
export function consoleRoute<Url extends string>(
  scope: FastifyInstance,
  frame: Pick<ConsoleFrame, "limits" | "clock">,
  { permission, handle, refused, ...route }: ConsoleRoute<Url>,
): void {
  const permissions = [permission].flat();
  const withOperator = <C extends PageCall>(call: C) => ({ ...call, operator: operatorOf(call.request) });
  pageRoute<Url>(scope, frame, {
    ...route,
    config: { permissions },
    async handle(call) {
      const asked = withOperator(call);
      try {
        requireRights(call.request, asked.operator, frame.clock());
        return await handle(asked);
      } catch (error) {
        if (!refused || !lacksPasskeyForFile(call.request, error)) throw error;
        return { page: await refused(asked, error.message), status: wireStatus[error.code] };
      }
    },
    ...(refused && { refused: (call, error) => refused(withOperator(call), error) }),
  });
}

export type ConsolePage = {
  title: string;
  section: Section;
  body: Html;
  scripts?: readonly Extract<AssetName, `${string}.js`>[];
};

const commandLineBanner = notice(
  "attention",
  "You came by a link of the command line",
  "It is for emergencies: it opens everything, and the log does not name you. For daily work sign in by email.",
);

/** Renders a console page in its frame, with the flash message of the last action. */
export function consolePage(
  { assets }: { assets: Pick<Assets, "url"> },
  request: FastifyRequest,
  { title, section, body, scripts = [] }: ConsolePage,
): string {
  const operator = operatorOf(request);
  return layout(assets, {
    title,
    headerNav: accountNav(operator.name),
    side: sideNav(operator, section, request.url),
    body: html`${operator.session === null && commandLineBanner}${flashOf(request)}${body}`,
    scripts: ["keys.js", ...scripts],
  });
}

/** The page for people without an operator's session. It reveals nothing about the console. */
const guestPage = (assets: Pick<Assets, "url">): string =>
  layout(assets, {
    title: "For the operator",
    body: html`<div class="narrow"><h1>For the operator</h1>
<p class="lead">For the people who run this service. There are no passwords.</p>
<p><a href="/sign-in?return_to=%2Foperator" class="button">Sign in by email</a></p>
<p>Nobody can sign in? Run <code>bin/signsealship operator link</code> on the machine of the service, and open the link it prints. It works once, within 10 minutes.</p></div>`,
  });
