import type { FastifyInstance, FastifyRequest } from "fastify";
import { HttpError } from "../../http/errors/http-error.ts";
import type { RateLimits } from "../../http/rate-limits.ts";
import {
  cookieNames,
  dueSessionOf,
  type PasskeyDeps,
  requestOptions,
  returnPath,
  sessionLimits,
  setCookie,
  signInByPasskey,
  signInByRecoveryCode,
} from "../../members/members.ts";
import type { Assets } from "../ui/assets/assets.ts";
import { pageRoute } from "../ui/page/route.ts";
import { secondStepPage } from "./second-step-page.ts";

export type SecondStepDeps = PasskeyDeps & { limits: RateLimits; assets: Assets };

const path = "/sign-in/passkey";

/** Where somebody goes whose link was used, and who has a passkey. */
export const secondStepPath = (returnTo: string): string => `${path}?return_to=${encodeURIComponent(returnTo)}`;

/** The second step of signing in, of who has a passkey: showing it, or a recovery code. */
export function secondStepRoutes(scope: FastifyInstance, deps: SecondStepDeps): void {
  const dueOf = ({ headers }: FastifyRequest) => dueSessionOf(deps, headers.cookie);

  pageRoute(scope, deps, {
    url: path,
    policy: "page",
    handle: async ({ query, request }) => {
      const due = await dueOf(request);
      const returnTo = returnPath(query["return_to"]);
      return due ? secondStepPage(deps.assets, { email: due.email, returnTo }) : { redirect: "/sign-in" };
    },
  });

  pageRoute(scope, deps, {
    method: "POST",
    url: `${path}/options`,
    policy: "page",
    handle: async ({ request }) => {
      const due = await dueOf(request);
      if (!due) throw new HttpError("sign_in_required", "Sign in to continue.");
      return { json: await requestOptions(deps, due) };
    },
  });

  pageRoute(scope, deps, {
    method: "POST",
    url: path,
    policy: "page",
    handle: async ({ form: { passkey = "", code, return_to: returnTo }, request }) => {
      const due = await dueOf(request);
      if (!due) return { redirect: "/sign-in" };
      const token =
        code === undefined ? await signInByPasskey(deps, due, passkey) : await signInByRecoveryCode(deps, due, code);
      const cookie = setCookie(cookieNames.session, token, sessionLimits.member.wholeSeconds);
      return { redirect: returnPath(returnTo), headers: { "Set-Cookie": cookie } };
    },
    refused: async ({ form: { return_to: returnTo }, request }, error) => {
      const email = (await dueOf(request))?.email ?? "";
      return secondStepPage(deps.assets, { email, returnTo: returnPath(returnTo), error });
    },
  });
}
