import type { FastifyInstance } from "fastify";
import type { PasskeyDeps } from "../../../firms/members/members.ts";
import { chooseConsoleEnvironment } from "../../../firms/operators/operators.ts";
import { securityPage } from "../../ui/security/page.ts";
import { done } from "../flash-messages.ts";
import { type ConsoleFrame, consolePage, consoleRoute } from "../frame/console.ts";

export type AccountDeps = { frame: ConsoleFrame; passkeys: PasskeyDeps };

/** Adds the operators' own settings: passkeys and recovery codes, and the choice between live and test. */
export function accountRoutes(scope: FastifyInstance, deps: AccountDeps): void {
  securityPage(
    scope,
    { ...deps.passkeys, ...deps.frame },
    {
      path: "/operator/security",
      frame: (request, page) => consolePage(deps.frame, request, { section: "security", ...page }),
    },
  );

  consoleRoute(scope, deps.frame, {
    method: "POST",
    url: "/operator/environment",
    permission: [],
    async handle({ operator, form: { environment = "", return_to: returnTo } }) {
      await chooseConsoleEnvironment(deps.passkeys.db, operator, environment);
      return done(sectionOf(returnTo), "environment");
    },
  });
}

/** Redirects to the start of the section, because a page of one environment does not exist in the other. */
const sectionOf = (returnTo = ""): string => /^\/operator\/[a-z-]+(?=[/?]|$)/.exec(returnTo)?.[0] ?? "/operator";
