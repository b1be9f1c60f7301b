import type { FastifyInstance } from "fastify";
import { publicHeaders } from "../ui/page/headers.ts";
import { pageRoute } from "../ui/page/route.ts";
import { homePage } from "./home-page.ts";
import { type RequestAccessDeps, requestAccessRoutes } from "./request-access-routes.ts";
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

// Lists only public pages: other addresses may be credentials, so this file must not spell them out.
const robots = `User-agent: *
Allow: /$
Allow: /docs
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
