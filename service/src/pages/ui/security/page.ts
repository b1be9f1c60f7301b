import type { FastifyInstance, FastifyRequest } from "fastify";
import { sessionOf } from "../../../http/authentication.ts";
import type { RateLimits } from "../../../http/rate-limits.ts";
import {
  addPasskey,
  creationOptions,
  hasPasskeys,
  listPasskeys,
  type PasskeyDeps,
  removePasskey,
  renewRecoveryCodes,
} from "../../../members/members.ts";
import { invalid } from "../../../platform/errors.ts";
import { requireRecentProof } from "../../../platform/recent-proof.ts";
import type { AssetName, Assets } from "../assets/assets.ts";
import { done } from "../flash-messages.ts";
import { type PageCall, pageRoute } from "../page/route.ts";
import type { Html } from "../render.ts";
import { type SecurityView, securityBody } from "./body.ts";
import { recoveryCodesBody } from "./recovery-codes.ts";

export type SecurityDeps = PasskeyDeps & { assets: Assets; limits: RateLimits };

type FramedPage = { title: string; body: Html; scripts?: readonly Extract<AssetName, `${string}.js`>[] };

/** Where the page is shown. */
export type SecurityPlace = {
  path: string;
  frame: (request: FastifyRequest, page: FramedPage) => string;
  /** What else is on the page. */
  more?: (request: FastifyRequest) => Promise<Html>;
};

/**
 * A person's passkeys and recovery codes, by the session of the request.
 * @returns shows the page of a form again that was refused
 */
export function securityPage(forms: FastifyInstance, deps: SecurityDeps, { path, frame, more }: SecurityPlace) {
  const form = { method: "POST", refused } as const;

  pageRoute(forms, deps, { url: path, handle: ({ request }) => show(request) });

  pageRoute(forms, deps, {
    method: "POST",
    url: `${path}/passkeys/options`,
    handle: async ({ request }) => ({ json: await creationOptions(deps, sessionOf(request)) }),
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
      return codes ? codesPage(request, codes) : done(path, "passkey-added");
    },
  });

  pageRoute(forms, deps, {
    ...form,
    url: `${path}/passkeys/:id/remove`,
    handle: async ({ params, request }) => {
      await removePasskey(deps, sessionOf(request), (params as { id: string }).id);
      return done(path, "passkey-removed");
    },
  });

  pageRoute(forms, deps, {
    ...form,
    url: `${path}/recovery-codes`,
    handle: async ({ request }) => codesPage(request, await renewRecoveryCodes(deps, sessionOf(request))),
  });

  const codesPage = (request: FastifyRequest, codes: readonly string[]): string =>
    frame(request, { title: "Recovery codes", body: recoveryCodesBody(path, codes) });

  async function show(
    request: FastifyRequest,
    shown: Pick<SecurityView, "error" | "typed" | "isConfirmed"> = {},
  ): Promise<string> {
    const found = await listPasskeys(deps, sessionOf(request));
    const isPossible = hasPasskeys(deps);
    const body = securityBody({ path, ...found, isPossible, more: (await more?.(request)) ?? "", ...shown });
    return frame(request, { title: "Sign-in and security", body, scripts: ["passkey.js"] });
  }

  function refused({ request, form: typed }: PageCall, error: string): Promise<string> {
    return show(request, { error, typed });
  }
  return { refused };
}
