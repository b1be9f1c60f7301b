import type { FastifyInstance } from "fastify";
import { chooseConsoleEnvironment } from "../../../operators/operators.ts";
import { done } from "../../ui/flash-messages.ts";
import { type SecurityDeps, securityPage } from "../../ui/security/page.ts";
import { type ConsoleDeps, consolePage, consoleRoute } from "../frame/console.ts";

export type AccountDeps = ConsoleDeps & SecurityDeps;

/** What operators set for themselves: passkeys and recovery codes, and whether they see live or test. */
export function accountRoutes(scope: FastifyInstance, deps: AccountDeps): void {
  securityPage(scope, deps, {
    path: "/operator/security",
    frame: (request, page) => consolePage(deps, request, { section: "security", ...page }),
  });

  consoleRoute(scope, deps, {
    method: "POST",
    url: "/operator/environment",
    permission: [],
    async handle({ operator, form: { environment = "", return_to: returnTo } }) {
      await chooseConsoleEnvironment(deps.db, operator, environment);
      return done(sectionOf(returnTo), "environment");
    },
  });
}

/** The section that one was in: what it showed of the one environment is not there in the other. */
const sectionOf = (returnTo = ""): string => /^\/operator\/[a-z-]+(?=[/?]|$)/.exec(returnTo)?.[0] ?? "/operator";
