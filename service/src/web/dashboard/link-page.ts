import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { type Callers, sessionOf } from "../../http/authentication.ts";
import type { Session } from "../../identity/identity.ts";
import { linkMember, type MemberDeps } from "../../members/members.ts";
import type { Assets } from "../ui/assets.ts";
import { errorSummary, field, formBody } from "../ui/forms/fields.ts";
import { layout } from "../ui/layout.ts";
import { formHeaders, htmlType } from "../ui/page-headers.ts";
import { type Html, html } from "../ui/render.ts";
import { signedInNav } from "./nav.ts";
import { attempt, done, said } from "./page-shell.ts";

export type LinkPageDeps = MemberDeps & Callers & { assets: Assets };

/** Where a signed-in person is linked to a firm, once, by a key of the firm. */
export function linkPage(forms: FastifyInstance, deps: LinkPageDeps): void {
  const send = (request: FastifyRequest, reply: FastifyReply, error?: string) =>
    reply
      .type(htmlType)
      .headers(formHeaders)
      .send(page(deps.assets, { session: sessionOf(request), said: said(request), error }));

  forms.get("/dashboard/link", { schema: { hide: true } }, async (request, reply) => {
    const { principal } = sessionOf(request);
    return principal ? reply.redirect("/dashboard", 303) : send(request, reply);
  });

  forms.post("/dashboard/link", { schema: { hide: true } }, async (request: FastifyRequest, reply) => {
    const session = sessionOf(request);
    return attempt(
      reply,
      async () => {
        await linkMember(deps, session, (formBody(request.body)["apiKey"] ?? "").trim());
        return done(reply, "/dashboard", "linked");
      },
      (message) => send(request, reply, message.replace(/^apiKey must be a/, "The key must be a")),
    );
  });
}

type LinkView = { session: Session; said: Html | ""; error: string | undefined };

const page = (assets: Assets, { session, said, error }: LinkView): string =>
  layout(assets, {
    title: "Link with your firm",
    headerNav: signedInNav(session.email),
    body: html`<div class="narrow">${said}<h1>Link with your firm</h1>
<p class="lead">Show once that you belong to it: paste one of its API keys. A test key will do. The key is checked, not kept.</p>
${errorSummary(error)}
<form class="form" method="post" action="/dashboard/link">
${field({ name: "apiKey", label: "API key", hint: "It begins with svc_pk_ and came to your firm’s work email.", required: true, maxLength: 200, autocomplete: "off" })}
<div class="form-actions"><button type="submit">Link</button></div>
</form>
<p class="quiet">No key yet? <a href="/request-access">Ask for partner access</a>, and it comes by mail.</p></div>`,
  });
