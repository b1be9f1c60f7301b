import type { FastifyInstance, FastifyRequest } from "fastify";
import { refuseCrossSite } from "../../../http/authentication.ts";
import type { RateLimits } from "../../../http/rate-limits.ts";
import { may, type Operator, type Permission, type ResolveOperator } from "../../../operators/operators.ts";
import { ServiceError } from "../../../platform/errors.ts";
import { accountNav } from "../../ui/account-nav.ts";
import type { AssetName, Assets } from "../../ui/assets.ts";
import { flashOf } from "../../ui/flash-messages.ts";
import { acceptForms } from "../../ui/forms/form-body.ts";
import { layout } from "../../ui/layout.ts";
import { formHeaders, htmlType } from "../../ui/page-headers.ts";
import { type PageCall, type PageRoute, pageRoute } from "../../ui/page-route.ts";
import { type Html, html } from "../../ui/render.ts";
import { guestPage } from "./guest-page.ts";
import { type Section, sideNav } from "./nav.ts";

export type ConsoleDeps = { ownOrigin: string; limits: RateLimits; assets: Assets; resolveOperator: ResolveOperator };

const operators = new WeakMap<FastifyRequest, Operator>();

/** The operator that the scope's hook has found. */
export function operatorOf(request: FastifyRequest): Operator {
  const operator = operators.get(request);
  if (!operator) throw new Error("route outside the console's scope");
  return operator;
}

/** A scope of the console: every request needs an operator's session, every write must come from one of our own pages. */
export function consoleScope(
  app: FastifyInstance,
  { assets, limits, ownOrigin, resolveOperator }: ConsoleDeps,
  routes: (scope: FastifyInstance) => void,
): void {
  const guest = guestPage(assets);
  app.register(async (scope) => {
    acceptForms(scope);
    scope.addHook("onRequest", limits.limit("page"));
    scope.addHook("onRequest", async (request, reply) => {
      const operator = await resolveOperator(request.headers.cookie);
      if (!operator) return reply.code(401).type(htmlType).headers(formHeaders).send(guest);
      operators.set(request, operator);
      refuseCrossSite(request, ownOrigin);
    });
    routes(scope);
  });
}

type Call<Url extends string> = Parameters<PageRoute<Url>["handle"]>[0] & { operator: Operator };

export type ConsoleRoute<Url extends string> = Omit<PageRoute<Url>, "handle" | "refused"> & {
  /** One of these is needed; without, the answer is 403. */
  permission: Permission | readonly Permission[];
  handle: (call: Call<Url>) => ReturnType<PageRoute<Url>["handle"]>;
  refused?: (call: Call<Url>, error: string) => string | Promise<string>;
};

/** A page's route in the console, for whom a permission lets in. */
export function consoleRoute<Url extends string>(
  scope: FastifyInstance,
  deps: Pick<ConsoleDeps, "limits">,
  { permission, handle, refused, ...route }: ConsoleRoute<Url>,
): void {
  const permissions = typeof permission === "string" ? [permission] : permission;
  const withOperator = <C extends PageCall>(call: C) => ({ ...call, operator: operatorOf(call.request) });
  pageRoute<Url>(scope, deps, {
    ...route,
    handle(call) {
      const asked = withOperator(call);
      if (!permissions.some((each) => may(asked.operator, each)))
        throw new ServiceError("role_required", "Your roles do not permit this.");
      return handle(asked);
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

/** A page of the console in its frame; what was just done is said on top of it. */
export function consolePage(
  { assets }: { assets: Pick<Assets, "url"> },
  request: FastifyRequest,
  { title, section, body, scripts = [] }: ConsolePage,
): string {
  const operator = operatorOf(request);
  return layout(assets, {
    title,
    headerNav: accountNav(operator.name),
    side: sideNav(operator, section),
    body: html`${flashOf(request)}${body}`,
    scripts,
  });
}
