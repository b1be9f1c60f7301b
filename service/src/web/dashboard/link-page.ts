import type { FastifyInstance, FastifyRequest } from "fastify";
import { type Callers, sessionOf } from "../../http/authentication.ts";
import type { RateLimits } from "../../http/rate-limits.ts";
import { mayUseLive, type Session } from "../../identity/identity.ts";
import { linkMember, type MemberDeps } from "../../members/members.ts";
import { accountNav } from "../ui/account-nav.ts";
import type { Assets } from "../ui/assets/assets.ts";
import { done, flashOf } from "../ui/flash-messages.ts";
import { errorSummary, field } from "../ui/forms/fields.ts";
import { layout } from "../ui/layout.ts";
import { pageRoute } from "../ui/page/route.ts";
import { type Html, html } from "../ui/render.ts";

export type LinkPageDeps = MemberDeps & Pick<Callers, "resolveKey"> & { assets: Assets; limits: RateLimits };

/** Where a signed-in person is linked to a firm, once, by a key of the firm. */
export function linkPage(forms: FastifyInstance, deps: LinkPageDeps): void {
  const show = (request: FastifyRequest, error?: string) =>
    page(deps.assets, { session: sessionOf(request), flash: flashOf(request), error });

  pageRoute(forms, deps, {
    url: "/dashboard/link",
    handle: ({ request }) => {
      const { principal } = sessionOf(request);
      // Whoever lacks live access of a live firm may connect once more, with a live key.
      const hasAll = principal !== null && (!principal.liveEnabled || mayUseLive(principal));
      return hasAll ? { redirect: "/dashboard" } : show(request);
    },
  });

  pageRoute(forms, deps, {
    method: "POST",
    url: "/dashboard/link",
    handle: async ({ form: { apiKey = "" }, request }) => {
      await linkMember(deps, sessionOf(request), apiKey.trim(), request.ip);
      return done("/dashboard", "linked");
    },
    refused: ({ request }, error) => show(request, error.replace(/^apiKey must be a/, "The key must be a")),
  });
}

type LinkView = { session: Session; flash: Html | ""; error: string | undefined };

const page = (assets: Assets, { session, flash, error }: LinkView): string =>
  layout(assets, {
    title: "Connect to your firm",
    headerNav: accountNav(session.email),
    body: html`<div class="narrow">${flash}<h1>Connect to your firm</h1>
<p class="lead">If a colleague invited you, open the link in that email. Otherwise paste one of your firm’s API keys to show that you belong to it. A test key connects you to test alone, a live key to live as well. We check the key and do not store it.</p>
${errorSummary(error)}
<form class="form" method="post" action="/dashboard/link">
${field({ name: "apiKey", label: "API key", hint: "It starts with svc_pk_ and was emailed to someone at your firm.", required: true, maxLength: 200, autocomplete: "off" })}
<div class="form-actions"><button type="submit">Connect</button></div>
</form>
<p class="quiet">No key yet? <a href="/request-access">Request partner access</a>, and we will email you one.</p></div>`,
  });
