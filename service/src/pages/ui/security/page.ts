import type { FastifyInstance, FastifyRequest } from "fastify";
import {
  addPasskey,
  creationOptions,
  hasPasskeys,
  listPasskeys,
  type PasskeyDeps,
  removePasskey,
  renewRecoveryCodes,
} from "../../../firms/members/members.ts";
import { sessionOf } from "../../../kernel/http/authentication.ts";
import type { RateLimits } from "../../../kernel/http/rate-limits.ts";
import { invalid } from "../../../kernel/platform/errors.ts";
import { requireRecentProof } from "../../../kernel/platform/recent-proof.ts";
import type { AssetName, Assets } from "../assets/assets.ts";
import { card, notice, pageHead } from "../components.ts";
import { accountMessages, flashesOf } from "../flash-messages.ts";
import { type PageCall, pageRoute } from "../page/route.ts";
import { type Html, html } from "../render.ts";
import { type SecurityView, securityBody } from "./body.ts";

export type SecurityDeps = PasskeyDeps & { assets: Assets; limits: RateLimits };

const { done } = flashesOf(accountMessages);

type FramedPage = { title: string; body: Html; scripts?: readonly Extract<AssetName, `${string}.js`>[] };

/** Describes the security page of the dashboard or of the console: its URL, and the layout around it. */
export type SecurityPlace = {
  path: string;
  frame: (request: FastifyRequest, page: FramedPage) => string;
  /** Renders further cards below the page's own. */
  more?: (request: FastifyRequest) => Promise<Html>;
};

/**
 * Adds the routes of a person's passkeys and recovery codes.
 * @returns `refused`, which renders the page again with an error
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

/**
 * The page with new recovery codes. They are shown only in the response that created them: no page links to them, and
 * no cache stores them.
 */
const recoveryCodesBody = (path: string, codes: readonly string[]): Html =>
  html`${pageHead("Your recovery codes", "Each signs you in once, in the place of a passkey.")}
<div class="panels">
${notice("attention", "Save the codes now", "This is the only time they are shown. Keep them apart from your passkeys: print them, or put them into a password manager.")}
${card("codes", "Recovery codes", html`<ul class="recovery-codes">${codes.map((code) => html`<li><code>${code}</code></li>`)}</ul>`)}
<div class="form-actions"><a class="button" href="${path}">I saved them</a></div>
</div>`;
