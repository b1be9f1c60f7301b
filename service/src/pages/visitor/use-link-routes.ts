import type { FastifyInstance } from "fastify";
import {
  cookieNames,
  cookieOf,
  lookAtLink,
  rememberedSeconds,
  type SignInDeps,
  sessionLimits,
  setCookie,
  signOut,
  useLink,
} from "../../firms/members/members.ts";
import type { RateLimits } from "../../kernel/http/rate-limits.ts";
import { ServiceError } from "../../kernel/platform/errors.ts";
import type { Assets } from "../ui/assets/assets.ts";
import { type PageAnswer, pageRoute } from "../ui/page/route.ts";
import { secondStepPath } from "./second-step-routes.ts";
import { unusableLinkPage, unusableOperatorLinkPage, useLinkPage } from "./sign-in-pages.ts";

export type SignInLinkDeps = SignInDeps & { limits: RateLimits; assets: Assets };

type LinkKind = {
  url: "/sign-in/:token" | "/operator/sign-in/:token";
  cookie: (typeof cookieNames)["session" | "operator"];
  seconds: number;
  /**
   * Returns the secret from the browser's cookie; undefined when the cookie is missing. Null for links that need no
   * cookie.
   */
  browserOf: (cookieHeader: string | undefined) => string | null | undefined;
  unusablePage: string;
};

/** Adds the mailed links by which people sign in, and the links from the command line. */
export function signInLinkRoutes(scope: FastifyInstance, deps: SignInLinkDeps): void {
  linkRoutes(scope, deps, {
    url: "/sign-in/:token",
    cookie: cookieNames.session,
    seconds: sessionLimits.member.wholeSeconds,
    browserOf: (header) => cookieOf(header, cookieNames.signIn),
    unusablePage: unusableLinkPage(deps.assets),
  });
  linkRoutes(scope, deps, {
    url: "/operator/sign-in/:token",
    cookie: cookieNames.operator,
    seconds: sessionLimits.operator.wholeSeconds,
    browserOf: () => null,
    unusablePage: unusableOperatorLinkPage(deps.assets),
  });
}

/**
 * Adds a link's page, and the route that uses the link when the person presses the page's button. A session always gets
 * a new token, to prevent session fixation.
 */
function linkRoutes(
  scope: FastifyInstance,
  deps: SignInLinkDeps,
  { url, cookie, seconds, browserOf, unusablePage }: LinkKind,
): void {
  pageRoute(scope, deps, {
    url,
    policy: "page",
    handle: ({ params, request: { headers } }) =>
      unlessUnusable(async () => {
        const { email } = await lookAtLink(deps, params.token, browserIn(headers.cookie));
        return useLinkPage(deps.assets, email);
      }),
  });

  pageRoute(scope, deps, {
    method: "POST",
    url,
    policy: "page",
    handle: ({ params, request: { headers } }) =>
      unlessUnusable(async () => {
        const used = await useLink(deps, params.token, browserIn(headers.cookie), headers["user-agent"]);
        await signOut(deps, headers.cookie, [cookie]);
        return {
          redirect: used.factorDue ? secondStepPath(used.returnTo) : used.returnTo,
          headers: {
            "Set-Cookie": [
              setCookie(cookie, used.sessionToken, seconds),
              ...(used.browserToken === null
                ? []
                : [setCookie(cookieNames.known, used.browserToken, rememberedSeconds)]),
            ],
          },
        };
      }),
  });

  function browserIn(header: string | undefined): string | null {
    const browser = browserOf(header);
    if (browser === undefined) throw new ServiceError("not_found", "This link cannot be used.");
    return browser;
  }

  async function unlessUnusable(work: () => Promise<PageAnswer>): Promise<PageAnswer> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      return { status: 404, page: unusablePage };
    }
  }
}
