import type { FastifyInstance, FastifyRequest } from "fastify";
import { sessionOf } from "../../http/authentication.ts";
import type { RateLimits } from "../../http/rate-limits.ts";
import type { Session } from "../../identity/identity.ts";
import {
  acceptInvitation,
  clearCookie,
  cookieNames,
  cookieOf,
  lookAtInvitation,
  type MemberDeps,
  type Offer,
} from "../../members/members.ts";
import { ServiceError } from "../../platform/errors.ts";
import { accountNav } from "../ui/account-nav.ts";
import type { Assets } from "../ui/assets/assets.ts";
import { done } from "../ui/flash-messages.ts";
import { buttonForm } from "../ui/forms/button-form.ts";
import { errorSummary } from "../ui/forms/fields.ts";
import { invitationPath } from "../ui/invitation-path.ts";
import { layout } from "../ui/layout.ts";
import { pageRoute } from "../ui/page/route.ts";
import { type Html, html } from "../ui/render.ts";

export type InvitationPageDeps = MemberDeps & { assets: Assets; limits: RateLimits };

/** Where a signed-in person sees the invitation whose link was opened in the browser, and accepts it. */
export function invitationPage(forms: FastifyInstance, deps: InvitationPageDeps): void {
  pageRoute(forms, deps, { url: invitationPath, handle: ({ request }) => show(request) });

  pageRoute(forms, deps, {
    method: "POST",
    url: invitationPath,
    handle: async ({ request }) => {
      await acceptInvitation(deps, sessionOf(request), tokenOf(request));
      const headers = { "Set-Cookie": clearCookie(cookieNames.invitation) };
      return { ...done("/dashboard", "invitation-accepted"), headers };
    },
    refused: async ({ request }, error) => pageOf(await show(request, error)),
  });

  async function show(request: FastifyRequest, error?: string): Promise<{ page: string; status?: number }> {
    const session = sessionOf(request);
    try {
      const offer = await lookAtInvitation(deps, session, tokenOf(request));
      const body = offer ? offered(offer, session, error) : forAnother(session);
      return { page: frame(deps.assets, session, body), ...(!offer && { status: 403 }) };
    } catch (refusal) {
      if (!(refusal instanceof ServiceError) || refusal.code !== "not_found") throw refusal;
      return { page: frame(deps.assets, session, unusable), status: 404 };
    }
  }
}

const pageOf = ({ page }: { page: string }): string => page;

const tokenOf = ({ headers }: FastifyRequest): string => cookieOf(headers.cookie, cookieNames.invitation) ?? "";

const frame = (assets: Assets, { email }: Session, body: Html): string =>
  layout(assets, {
    title: "Invitation",
    headerNav: accountNav(email),
    body: html`<div class="narrow">${body}</div>`,
  });

function offered(
  { firmName, role, liveAccess, invitedBy }: Offer,
  { email, principal }: Session,
  error?: string,
): Html {
  const what = liveAccess ? "You would see and change live orders, too." : "You would work in test alone at first.";
  const acts = "The owners of the firm see your email address, and what you do there.";
  return html`<h1>Join ${firmName}</h1>
${errorSummary(error)}
<p class="lead"><span class="breakable">${invitedBy}</span> invites you to join ${firmName} as ${role === "owner" ? "an owner" : "a member"}.</p>
<p>${what} ${acts}</p>
${
  principal
    ? html`<p><strong>You belong to ${principal.firmName} already.</strong> A person belongs to one firm: to accept, leave that one first, under <a href="/dashboard/team">Team</a>.</p>`
    : buttonForm(invitationPath, "Accept the invitation")
}
<p class="quiet">You are signed in as <span class="breakable">${email}</span>. If you do not know this firm, close this page: nothing happens.</p>`;
}

const forAnother = ({ email }: Session): Html =>
  html`<h1>This invitation is for another address</h1>
<p class="lead">You are signed in as <strong class="breakable">${email}</strong>. Sign out, and sign in with the address that got the invitation. Then open its link again.</p>
${buttonForm("/sign-out", "Sign out", { kind: "quiet-button" })}`;

const unusable = html`<h1>This invitation cannot be used</h1>
<p class="lead">It was accepted, withdrawn or sent again, or it is older than 7 days. Open the latest email, or ask who invited you to send it again.</p>
<p><a href="/dashboard">Go to the dashboard</a></p>`;
