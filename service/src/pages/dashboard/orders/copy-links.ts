import type { FastifyInstance } from "fastify";
import { principalOf } from "../../../kernel/http/authentication.ts";
import type { RateLimits } from "../../../kernel/http/rate-limits.ts";
import { actorOf } from "../../../kernel/identity/identity.ts";
import { wholeNumberIn } from "../../../kernel/platform/text.ts";
import { type CopyLink, type EnvelopeDeps, endCopyLink } from "../../../signing/envelopes/envelopes.ts";
import { plainTime } from "../../ui/format.ts";
import { buttonForm } from "../../ui/forms/button-form.ts";
import { type PageCall, pageRoute } from "../../ui/page/route.ts";
import { type Html, html } from "../../ui/render.ts";
import { done } from "../flash-messages.ts";

type Links = readonly CopyLink[];

/**
 * The links with which signers read the finished documents. They are not in the list of signers, because a link that
 * was mailed after the notarization would look like a second request to sign.
 */
export const copyLinksPart = (orderCode: string, links: Links): Html =>
  html`<p>With these links, signers read and save the finished documents. End one that went to the wrong person: it stops working at once, for all documents of a closing that it opens.</p>
<ul>${links.map(
    ({ attempt, n, name, email, issuedAt }) =>
      html`<li><strong>${name}</strong> <span class="breakable">${email}</span>, link of ${plainTime(issuedAt)}
${buttonForm(`/dashboard/orders/${orderCode}/copy-links/${n}/end`, "End the link", { kind: "quiet-button", about: `of ${name}`, fields: { attempt: String(attempt) } })}</li>`,
  )}</ul>`;

type LinkCall = PageCall<{ code: string; n: string }>;

type CopyLinkDeps = { envelopes: EnvelopeDeps; limits: RateLimits };

const numberOf = (text: string | undefined): number => wholeNumberIn(text, 0, 999) ?? 0;

/**
 * Adds the form that ends a link to the finished documents.
 * @param refused renders the order's page with an error
 */
export function copyLinkForm(
  forms: FastifyInstance,
  { envelopes, limits }: CopyLinkDeps,
  refused: (call: LinkCall, error: string) => Promise<string>,
): void {
  pageRoute(
    forms,
    { limits },
    {
      method: "POST",
      policy: "partner-write",
      url: "/dashboard/orders/:code/copy-links/:n/end",
      refused,
      async handle({ params: { code, n }, form, request }) {
        const owner = principalOf(request);
        const link = { attempt: numberOf(form["attempt"]), n: numberOf(n) };
        const { isWhole } = await endCopyLink(envelopes, { owner, orderCode: code, ...link, actor: actorOf(owner) });
        const message = isWhole ? "copy-link-ended" : "copy-link-ended-in-part";
        return done(`/dashboard/orders/${code}#copy-links-title`, message);
      },
    },
  );
}
