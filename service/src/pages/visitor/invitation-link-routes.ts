import type { FastifyInstance } from "fastify";
import { cookieNames, setCookie } from "../../firms/members/members.ts";
import type { RateLimits } from "../../kernel/http/rate-limits.ts";
import { isCode } from "../../kernel/platform/text.ts";
import { invitationPath } from "../ui/invitation-path.ts";
import { pageRoute } from "../ui/page/route.ts";

const cookieSeconds = 24 * 3600;

/**
 * The link of an invitation. The token goes into a cookie, and out of the address: signing in leads back to a page that has none. It
 * answers every link alike, and uses nothing up.
 */
export function invitationLinkRoutes(app: FastifyInstance, deps: { limits: RateLimits }): void {
  pageRoute(app, deps, {
    url: "/invitation/:token",
    policy: "page",
    handle: ({ params: { token } }) => ({
      redirect: invitationPath,
      headers: isCode(token) ? { "Set-Cookie": setCookie(cookieNames.invitation, token, cookieSeconds) } : {},
    }),
  });
}
