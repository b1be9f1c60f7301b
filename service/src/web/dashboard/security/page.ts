import type { FastifyInstance, FastifyRequest } from "fastify";
import { principalOf, sessionOf } from "../../../http/authentication.ts";
import type { RateLimits } from "../../../http/rate-limits.ts";
import {
  addingOptions,
  addPasskey,
  changePasskeyForLive,
  hasPasskeys,
  listPasskeys,
  type PasskeyDeps,
  removePasskey,
  renewRecoveryCodes,
} from "../../../members/members.ts";
import { invalid } from "../../../platform/errors.ts";
import { requireRecentProof } from "../../../platform/proof.ts";
import type { Assets } from "../../ui/assets.ts";
import { done } from "../../ui/flash-messages.ts";
import { type PageCall, pageRoute } from "../../ui/page-route.ts";
import { dashboardPage } from "../page-shell.ts";
import { type SecurityView, securityBody } from "./body.ts";
import { recoveryCodesPage } from "./recovery-codes.ts";

export type SecurityDeps = PasskeyDeps & { assets: Assets; limits: RateLimits };

const path = "/dashboard/security";

/** A person's passkeys and recovery codes, and whether the firm asks for passkeys. */
export function securityPage(forms: FastifyInstance, deps: SecurityDeps): void {
  const form = {
    method: "POST",
    refused: ({ request, form: typed }: PageCall, error: string) => show(request, { error, typed }),
  } as const;

  pageRoute(forms, deps, { url: path, handle: ({ request }) => show(request) });

  pageRoute(forms, deps, {
    method: "POST",
    url: `${path}/passkeys/options`,
    handle: async ({ request }) => ({ json: await addingOptions(deps, sessionOf(request)) }),
  });

  pageRoute(forms, deps, {
    ...form,
    url: `${path}/passkeys`,
    handle: async ({ form: { name = "", answer = "" }, request }) => {
      const session = sessionOf(request);
      requireRecentProof(session.proof, deps.clock());
      if (answer === "" && request.confirmation) return show(request, { typed: { name }, isConfirmed: true });
      if (answer === "") throw invalid("No passkey came from your browser. It needs scripts turned on, and a passkey.");
      const codes = await addPasskey(deps, session, { name, answer });
      return codes ? recoveryCodesPage(deps, request, codes) : done(path, "passkey-added");
    },
  });

  pageRoute(forms, deps, {
    ...form,
    url: `${path}/passkeys/:id/remove`,
    handle: async ({ params, request }) => {
      await removePasskey(deps, sessionOf(request), params.id);
      return done(path, "passkey-removed");
    },
  });

  pageRoute(forms, deps, {
    ...form,
    url: `${path}/recovery-codes`,
    handle: async ({ request }) => recoveryCodesPage(deps, request, await renewRecoveryCodes(deps, sessionOf(request))),
  });

  pageRoute(forms, deps, {
    ...form,
    url: `${path}/live`,
    handle: async ({ form: { passkey = "" }, request }) => {
      await changePasskeyForLive(deps, principalOf(request), passkey);
      return done(path, "passkey-rule-changed");
    },
  });

  async function show(
    request: FastifyRequest,
    shown: Pick<SecurityView, "error" | "typed" | "isConfirmed"> = {},
  ): Promise<string> {
    const session = sessionOf(request);
    const found = await listPasskeys(deps, session);
    const body = securityBody({
      principal: principalOf(request),
      session,
      ...found,
      isPossible: hasPasskeys(deps),
      ...shown,
    });
    return dashboardPage(deps, request, {
      title: "Sign-in and security",
      section: "security",
      body,
      scripts: ["passkey.js"],
    });
  }
}
