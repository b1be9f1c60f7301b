/**
 * The links by which members unsubscribe from a kind of mail without signing in. A GET changes nothing, because mail
 * programs open links by themselves. The button and a mail program's one-click request (RFC 8058) are POSTs.
 */
import type { FastifyInstance } from "fastify";
import {
  type MailKind,
  readLink,
  type SignInDeps,
  type UnsubscribeLink,
  unsubscribe,
} from "../../firms/members/members.ts";
import type { RateLimits } from "../../kernel/http/rate-limits.ts";
import { ServiceError } from "../../kernel/platform/errors.ts";
import type { Assets } from "../ui/assets/assets.ts";
import { layout } from "../ui/layout.ts";
import { credentialHeaders } from "../ui/page/headers.ts";
import { pageRoute } from "../ui/page/route.ts";
import { type Html, html } from "../ui/render.ts";

const about: Readonly<Record<MailKind, string>> = {
  orders: "emails about orders that you placed",
  closings: "the daily list of your closings",
  downloads: "emails about the first download of documents that you placed or sent",
  statements: "emails about new statements of your firm",
};

const still = (kind: MailKind): Html | false =>
  kind === "orders" &&
  html`<p>If nobody else of your firm gets such emails, trouble with an order is still mailed to the owner who joined first.</p>`;

const path = "/unsubscribe/:kind/:userId/:token";
const maxBytes = 4096;

export function unsubscribeRoutes(
  app: FastifyInstance,
  { members, limits, assets }: { members: SignInDeps; limits: RateLimits; assets: Assets },
): void {
  const page = (title: string, body: Html) =>
    layout(assets, { title, body: html`<div class="message"><h1>${title}</h1>${body}</div>` });

  pageRoute(
    app,
    { limits },
    {
      url: path,
      policy: "page",
      headers: credentialHeaders,
      async handle({ params }) {
        const link = await readLink(members, params);
        if (!link) throw unknown();
        const { kind, environment } = link;
        if (environment === "test") return page(...ofTest);
        return page(
          "Stop these emails?",
          html`<p>You will get no more ${about[kind]}.</p>
${still(kind)}
<form class="form-actions" method="post" action="${pathOf(params)}"><button type="submit">Stop them</button></form>
<p class="quiet-text">You can switch them on again under <a href="/dashboard/security#mails">Sign-in and security</a>.</p>`,
        );
      },
    },
  );

  app.register(async (scope) => {
    // Mail programs send multipart or URL-encoded forms (RFC 8058). The body is ignored, because the URL contains
    // everything.
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser("*", { parseAs: "string", bodyLimit: maxBytes }, (_request, _body, done) =>
      done(null, {}),
    );
    pageRoute(
      scope,
      { limits },
      {
        method: "POST",
        url: path,
        policy: "page",
        headers: credentialHeaders,
        async handle({ params }) {
          const link = await unsubscribe(members, params);
          if (!link) throw unknown();
          const { kind, environment } = link;
          if (environment === "test") return page(...ofTest);
          return page(
            "You get no more of these emails",
            html`<p>We send you no more ${about[kind]}. Emails that you need to sign in, and emails about money and your account, still come.</p>
${still(kind)}
<p class="quiet-text">You can switch them on again under <a href="/dashboard/security#mails">Sign-in and security</a>.</p>`,
          );
        },
      },
    );
  });
}

const pathOf = ({ kind, userId, token }: UnsubscribeLink): string => `/unsubscribe/${kind}/${userId}/${token}`;

/** A test mail's link changes nothing, because everybody with access to a firm's test mails can read the link. */
const ofTest = [
  "This email was a test",
  html`<p>The link in an email about test orders changes nothing. You can switch your emails off under <a href="/dashboard/security#mails">Sign-in and security</a>.</p>`,
] as const;

const unknown = (): ServiceError =>
  new ServiceError(
    "not_found",
    "This link is not complete, or has ended because you switched these emails on again. The link in the latest email works.",
  );
