import type { FastifyInstance, FastifyRequest } from "fastify";
import { type FirmToJoin, firmToJoin, joinOwnFirm } from "../../firms/access-requests/access-requests.ts";
import {
  acceptInvitation,
  clearCookie,
  cookieNames,
  cookieOf,
  linkMember,
  lookAtInvitation,
  type MemberDeps,
  type Offer,
} from "../../firms/members/members.ts";
import { type Callers, sessionOf } from "../../kernel/http/authentication.ts";
import type { RateLimits } from "../../kernel/http/rate-limits.ts";
import { mayUseLive, type Session } from "../../kernel/identity/identity.ts";
import { isServiceError } from "../../kernel/platform/errors.ts";
import { accountNav } from "../ui/account-nav.ts";
import type { Assets } from "../ui/assets/assets.ts";
import { buttonForm } from "../ui/forms/button-form.ts";
import { errorSummary, field } from "../ui/forms/fields.ts";
import { invitationPath } from "../ui/invitation-path.ts";
import { layout } from "../ui/layout.ts";
import { pageRoute } from "../ui/page/route.ts";
import { type Html, html } from "../ui/render.ts";
import { done, flashOf } from "./flash-messages.ts";

export type InvitationPageDeps = MemberDeps & { assets: Assets; limits: RateLimits };

/** Shows the invitation whose link was opened in this browser, and accepts it. */
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
      if (!isServiceError(refusal, "not_found")) throw refusal;
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
  const what = liveAccess ? "You would see and change live orders, too." : "At first, you would work only in test.";
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
<p class="lead">It was accepted, withdrawn or sent again, or it is older than 7 days. Open the latest email, or ask the person who invited you to send it again.</p>
<p><a href="/dashboard">Go to the dashboard</a></p>`;

export type LinkPageDeps = MemberDeps & Pick<Callers, "resolveKey"> & { assets: Assets; limits: RateLimits };

const ownPath = "/dashboard/link/own";

/**
 * Adds the page that links a signed-in person to a firm. The firm is either the one that was created for the person's
 * email address, or the one whose API key the person enters.
 */
export function linkPage(forms: FastifyInstance, deps: LinkPageDeps): void {
  const show = async (request: FastifyRequest, error?: string) => {
    const session = sessionOf(request);
    const own = await firmToJoin(deps, session);
    return page(deps.assets, { session, own, flash: flashOf(request), error });
  };

  pageRoute(forms, deps, {
    method: "POST",
    url: ownPath,
    handle: async ({ request }) => {
      await joinOwnFirm(deps, sessionOf(request));
      return done("/dashboard", "linked");
    },
    refused: ({ request }, error) => show(request, error),
  });

  pageRoute(forms, deps, {
    url: "/dashboard/link",
    handle: ({ request }) => {
      const { principal } = sessionOf(request);
      // A member without live access may link again, this time with a live API key, if the firm has live access.
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

type LinkView = { session: Session; own: FirmToJoin | null; flash: Html | ""; error: string | undefined };

/**
 * The button with which a person joins the firm that was created for the person's email address. It needs no API key.
 */
const ownFirm = ({ firmName }: FirmToJoin): Html =>
  html`<p class="lead"><strong class="breakable">${firmName}</strong> was opened for your email address. Nobody belongs to it yet, so you become its owner.</p>
${buttonForm(ownPath, "Open the firm")}
<h2>Another firm</h2>`;

const page = (assets: Assets, { session, own, flash, error }: LinkView): string =>
  layout(assets, {
    title: "Connect to your firm",
    headerNav: accountNav(session.email),
    body: html`<div class="narrow">${flash}<h1>Connect to your firm</h1>
${own && html`${errorSummary(error)}${ownFirm(own)}`}
<p class="lead">If a colleague invited you, open the link in that email. Without an invitation ask an owner of your firm for one, under Team.
For a system you can also paste one of your firm’s API keys. A test key connects you to test alone, a live key to live as well. We check the key and do not store it.</p>
${!own && errorSummary(error)}
<form class="form" method="post" action="/dashboard/link">
${field({ name: "apiKey", label: "API key", hint: "It starts with svc_pk_ and was emailed to someone at your firm.", required: true, maxLength: 200, autocomplete: "off" })}
<div class="form-actions"><button type="submit">Connect</button></div>
</form>
<p class="quiet">No key yet? <a href="/request-access">Request partner access</a>, and we will email you one.</p></div>`,
  });
