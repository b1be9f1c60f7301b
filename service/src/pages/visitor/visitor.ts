import type { FastifyInstance } from "fastify";
import { publicHeaders } from "../ui/page/headers.ts";
import { pageRoute } from "../ui/page/route.ts";
import { homePage } from "./home-page.ts";
import { type RequestAccessDeps, requestAccessRoutes } from "./request-access-routes.ts";
import { robotsRoute } from "./robots-route.ts";
import { type SignInRouteDeps, signInRoutes } from "./sign-in-routes.ts";

export type VisitorDeps = RequestAccessDeps & {
  baseUrl: string;
  /** Null where nobody can sign in. */
  signIn: SignInRouteDeps | null;
};

/** Pages for people who are not signed in: home, requesting access, signing in. */
export function visitorPages(app: FastifyInstance, deps: VisitorDeps): void {
  const home = homePage(deps.assets, deps.baseUrl);
  pageRoute(app, deps, { url: "/", policy: "page", headers: publicHeaders, handle: () => home });
  robotsRoute(app);
  requestAccessRoutes(app, deps);
  if (deps.signIn) signInRoutes(app, deps.signIn);
}
