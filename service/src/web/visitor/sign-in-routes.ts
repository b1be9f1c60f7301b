import type { FastifyInstance, FastifyReply } from "fastify";
import { type Callers, readSession, refuseCrossSite } from "../../http/authentication.ts";
import type { RateLimits } from "../../http/rate-limits.ts";
import {
  askForLink,
  clearCookie,
  cookieNames,
  cookieOf,
  linkSeconds,
  lookAtLink,
  newToken,
  operatorSessionSeconds,
  returnPath,
  type SignInDeps,
  sessionSeconds,
  setCookie,
  signOut,
  useLink,
} from "../../members/members.ts";
import { ServiceError } from "../../platform/errors.ts";
import type { Assets } from "../ui/assets.ts";
import { acceptForms, formBody } from "../ui/forms/fields.ts";
import { formHeaders, htmlType } from "../ui/page-headers.ts";
import { linkSentPage, signInPage, unusableLinkPage, unusableOperatorLinkPage, useLinkPage } from "./sign-in-pages.ts";

export type SignInRouteDeps = SignInDeps & Callers & { limits: RateLimits; assets: Assets };

type TokenRoute = { Params: { token: string } };

/** Signing in by a mailed link, by the operator's link, and signing out. */
export function signInRoutes(people: FastifyInstance, deps: SignInRouteDeps): void {
  const { assets, limits, ownOrigin } = deps;
  const look = { onRequest: limits.limit("page"), schema: { hide: true } };
  const send = (reply: FastifyReply, page: string) => reply.type(htmlType).headers(formHeaders).send(page);

  people.get<{ Querystring: { return_to?: unknown } }>(
    "/sign-in",
    { ...look, onRequest: [look.onRequest, readSession(deps)] },
    async ({ query, session }, reply) => {
      const returnTo = returnPath(typeof query.return_to === "string" ? query.return_to : undefined);
      if (session) return reply.redirect(returnTo, 303);
      return send(reply, signInPage(assets, { returnTo }));
    },
  );

  people.register(async (scope) => {
    acceptForms(scope);
    scope.addHook("onRequest", async (request) => refuseCrossSite(request, ownOrigin));
    const write = { onRequest: limits.limit("sign-in"), schema: { hide: true } };

    scope.post("/sign-in", write, async ({ body, headers, ip }, reply) => {
      const { email = "", return_to: returnTo } = formBody(body);
      // One secret a browser: of several links that it asked for each works.
      const browser = cookieOf(headers.cookie, cookieNames.signIn) ?? newToken();
      try {
        await askForLink(deps, { email, browser, ip, returnTo });
      } catch (error) {
        if (!(error instanceof ServiceError)) throw error;
        const again = { email, returnTo: returnPath(returnTo), error: error.message };
        return send(reply.code(400), signInPage(assets, again));
      }
      reply.header("Set-Cookie", setCookie(cookieNames.signIn, browser, linkSeconds));
      return send(reply, linkSentPage(assets, email.trim()));
    });

    scope.post("/sign-out", { ...write, onRequest: limits.limit("page") }, async ({ headers }, reply) => {
      await signOut(deps, headers.cookie);
      reply.header("Set-Cookie", [clearCookie(cookieNames.session), clearCookie(cookieNames.operator)]);
      return reply.headers(formHeaders).redirect("/", 303);
    });

    linkRoutes(scope, "/sign-in/:token", {
      cookie: cookieNames.session,
      seconds: sessionSeconds,
      browserOf: (header) => cookieOf(header, cookieNames.signIn),
      unusablePage: unusableLinkPage(assets),
    });
    linkRoutes(scope, "/operator/sign-in/:token", {
      cookie: cookieNames.operator,
      seconds: operatorSessionSeconds,
      browserOf: () => null,
      unusablePage: unusableOperatorLinkPage(assets),
    });
  });

  type LinkKind = {
    cookie: (typeof cookieNames)["session" | "operator"];
    seconds: number;
    /** What the browser has to show; undefined when it has not got it. */
    browserOf: (cookieHeader: string | undefined) => string | null | undefined;
    unusablePage: string;
  };

  /** Looking at a link, and using it: a session always gets a new token, whatever cookie the browser brought. */
  function linkRoutes(
    scope: FastifyInstance,
    path: string,
    { cookie, seconds, browserOf, unusablePage }: LinkKind,
  ): void {
    const unusable = (reply: FastifyReply, error: unknown) => {
      if (!(error instanceof ServiceError)) throw error;
      return send(reply.code(404), unusablePage);
    };
    const browserOr404 = (header: string | undefined): string | null => {
      const browser = browserOf(header);
      if (browser === undefined) throw new ServiceError("not_found", "This link cannot be used.");
      return browser;
    };

    scope.get<TokenRoute>(path, look, async ({ params, headers }, reply) => {
      try {
        const { email } = await lookAtLink(deps, params.token, browserOr404(headers.cookie));
        return send(reply, useLinkPage(assets, email));
      } catch (error) {
        return unusable(reply, error);
      }
    });

    scope.post<TokenRoute>(path, look, async ({ params, headers }, reply) => {
      try {
        const browser = browserOr404(headers.cookie);
        const { sessionToken, returnTo } = await useLink(deps, params.token, browser, headers["user-agent"]);
        await signOut(deps, headers.cookie, [cookie]);
        reply.header("Set-Cookie", setCookie(cookie, sessionToken, seconds));
        return reply.headers(formHeaders).redirect(returnTo, 303);
      } catch (error) {
        return unusable(reply, error);
      }
    });
  }
}
