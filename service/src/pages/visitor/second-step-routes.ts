import type { FastifyInstance, FastifyRequest } from "fastify";
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
} from "../../firms/members/members.ts";
import { HttpError } from "../../kernel/http/errors/http-error.ts";
import type { RateLimits } from "../../kernel/http/rate-limits.ts";
import { accountNav } from "../ui/account-nav.ts";
import type { Assets } from "../ui/assets/assets.ts";
import { hiddenFields } from "../ui/forms/button-form.ts";
import { errorSummary, field } from "../ui/forms/fields.ts";
import { passkeyForm } from "../ui/forms/passkey-form.ts";
import { layout } from "../ui/layout.ts";
import { pageRoute } from "../ui/page/route.ts";
import { html } from "../ui/render.ts";

export type SecondStepDeps = PasskeyDeps & { limits: RateLimits; assets: Assets };

const path = "/sign-in/passkey";

/** The URL of the page that follows a sign-in link, for a person with a passkey. */
export const secondStepPath = (returnTo: string): string => `${path}?return_to=${encodeURIComponent(returnTo)}`;

/** The second step of signing in, for people with a passkey: the passkey or a recovery code. */
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

/** The page that asks for a passkey after a mailed link was used. */
function secondStepPage(
  assets: Pick<Assets, "url">,
  { email, returnTo, error }: { email: string; returnTo: string; error?: string },
): string {
  const carried = { return_to: returnTo };
  const action = "/sign-in/passkey";
  return layout(assets, {
    title: "Show your passkey",
    headerNav: accountNav(email),
    body: html`<div class="narrow"><h1>Show your passkey</h1>
<p class="lead">You are almost signed in as <strong class="breakable">${email}</strong>. Confirm it with your passkey within 10 minutes.</p>
${errorSummary(error)}
${passkeyForm({ kind: "show", action, options: `${action}/options`, answer: "passkey", carried, label: "Use your passkey" })}
<details class="question"><summary>Use a recovery code</summary><div>
<form class="form" method="post" action="${action}">
${hiddenFields(carried)}
${field({ name: "code", label: "Recovery code", hint: "You saved ten of them when you added your first passkey. Each works once.", required: true, maxLength: 60, autocomplete: "off" })}
<div class="form-actions"><button type="submit" class="quiet-button">Sign in</button></div>
</form></div></details>
<p class="quiet">Lost your passkey and your codes? Ask the operator of this service to remove your passkeys.</p></div>`,
    scripts: ["passkey.js"],
  });
}
