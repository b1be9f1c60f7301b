import type { FastifyInstance } from "fastify";
import {
  askForLink,
  clearCookie,
  cookieNames,
  cookieOf,
  linkSeconds,
  newToken,
  type PasskeyDeps,
  returnPath,
  type SignInDeps,
  setCookie,
  signOut,
} from "../../firms/members/members.ts";
import { type Callers, readSession, refuseCrossSite } from "../../kernel/http/authentication.ts";
import type { RateLimits } from "../../kernel/http/rate-limits.ts";
import { isCode } from "../../kernel/platform/text.ts";
import type { Assets } from "../ui/assets/assets.ts";
import { acceptForms } from "../ui/forms/form-body.ts";
import { invitationPath } from "../ui/invitation-path.ts";
import { publicHeaders } from "../ui/page/headers.ts";
import { pageRoute } from "../ui/page/route.ts";
import { homePage } from "./home-page.ts";
import { type RequestAccessDeps, requestAccessRoutes } from "./request-access-routes.ts";
import { secondStepRoutes } from "./second-step-routes.ts";
import { linkSentPage, signInPage } from "./sign-in-pages.ts";
import { type SiteDeps, siteRoutes } from "./site-pages.ts";
import { unsubscribeRoutes } from "./unsubscribe-routes.ts";
import { signInLinkRoutes } from "./use-link-routes.ts";

export type VisitorDeps = RequestAccessDeps &
  SiteDeps & {
    baseUrl: string;
    /** Null if signing in is not configured. */
    signIn: SignInRouteDeps | null;
  };

/** Adds the pages for people who are not signed in: home, requesting access, signing in. */
export function visitorPages(app: FastifyInstance, deps: VisitorDeps): void {
  const home = homePage(deps.assets, deps.baseUrl);
  pageRoute(app, deps, { url: "/", policy: "page", headers: publicHeaders, handle: () => home });
  robotsRoute(app);
  siteRoutes(app, deps);
  requestAccessRoutes(app, deps);
  if (!deps.signIn) return;
  signInRoutes(app, deps.signIn);
  unsubscribeRoutes(app, deps.signIn);
}

// Lists only public pages, because other URLs may be credentials.
const robots = `User-agent: *
Allow: /$
Allow: /docs
Allow: /prices$
Allow: /privacy$
Allow: /terms$
Allow: /contact$
Allow: /verify$
Allow: /request-access$
Allow: /assets/
Disallow: /
`;

/** `/robots.txt` (RFC 9309). */
function robotsRoute(app: FastifyInstance): void {
  app.get("/robots.txt", { schema: { hide: true } }, (_request, reply) =>
    reply.headers(publicHeaders).type("text/plain; charset=utf-8").send(robots),
  );
}

type SignInRouteDeps = {
  members: SignInDeps & PasskeyDeps;
  callers: Callers;
  limits: RateLimits;
  assets: Assets;
  /** True if no mail is sent, so that the service's terminal shows the link. */
  mailsStayHere: boolean;
};

/** Adds signing in with a mailed link or the operator's link, and signing out. */
function signInRoutes(app: FastifyInstance, deps: SignInRouteDeps): void {
  const { members, callers, limits, assets, mailsStayHere } = deps;

  pageRoute(app, deps, {
    url: "/sign-in",
    policy: "page",
    onRequest: readSession(callers),
    handle: ({ query, request }) => {
      const returnTo = returnPath(query["return_to"]);
      return request.session ? { redirect: returnTo } : signInPage(assets, { returnTo });
    },
  });

  invitationLinkRoutes(app, deps);

  app.register(async (scope) => {
    acceptForms(scope);
    scope.addHook("onRequest", async (request) => refuseCrossSite(request, callers.ownOrigin));

    pageRoute(scope, deps, {
      method: "POST",
      url: "/sign-in",
      policy: "sign-in",
      handle: async ({ form: { email = "", return_to: returnTo }, request: { headers, ip } }) => {
        // All sign-in links that one browser requests share one secret, so that each of these links works.
        const browser = cookieOf(headers.cookie, cookieNames.signIn) ?? newToken();
        const rememberedToken = cookieOf(headers.cookie, cookieNames.known);
        await askForLink(members, { email, browser, proof: rememberedToken, ip, returnTo });
        return {
          page: linkSentPage(assets, email.trim(), mailsStayHere),
          headers: { "Set-Cookie": setCookie(cookieNames.signIn, browser, linkSeconds) },
        };
      },
      refused: ({ form: { email = "", return_to: returnTo } }, error) =>
        signInPage(assets, { email, returnTo: returnPath(returnTo), error }),
    });

    pageRoute(scope, deps, {
      method: "POST",
      url: "/sign-out",
      policy: "page",
      handle: async ({ request: { headers } }) => {
        await signOut(members, headers.cookie);
        return {
          redirect: "/",
          headers: { "Set-Cookie": [clearCookie(cookieNames.session), clearCookie(cookieNames.operator)] },
        };
      },
    });

    signInLinkRoutes(scope, { ...members, limits, assets });
    secondStepRoutes(scope, { ...members, limits, assets });
  });
}

const cookieSeconds = 24 * 3600;

/**
 * Adds the link of an invitation. It moves the token from the URL to a cookie, so that after signing in, the browser
 * returns to a URL without the token. The response is the same for every link, and no link is used up.
 */
function invitationLinkRoutes(app: FastifyInstance, deps: { limits: RateLimits }): void {
  pageRoute(app, deps, {
    url: "/invitation/:token",
    policy: "page",
    handle: ({ params: { token } }) => ({
      redirect: invitationPath,
      headers: isCode(token) ? { "Set-Cookie": setCookie(cookieNames.invitation, token, cookieSeconds) } : {},
    }),
  });
}
