import type { FastifyInstance } from "fastify";
import { principalOf, sessionOf } from "../../http/authentication.ts";
import type { Principal, Session } from "../../identity/identity.ts";
import { changePasskeyForLive, type MemberDeps } from "../../members/members.ts";
import { card } from "../ui/components.ts";
import { done } from "../ui/flash-messages.ts";
import { buttonForm } from "../ui/forms/button-form.ts";
import { pageRoute } from "../ui/page/route.ts";
import { type Html, html } from "../ui/render.ts";
import { type SecurityDeps as PageDeps, securityPage } from "../ui/security/page.ts";
import { dashboardPage } from "./page-shell.ts";
import { sessionForm, sessionsCard } from "./sessions.ts";

export type SecurityDeps = PageDeps & MemberDeps;

const path = "/dashboard/security";

/** A person's passkeys, recovery codes and sessions, and whether the firm asks for passkeys. */
export function securityPages(forms: FastifyInstance, deps: SecurityDeps): void {
  const { refused } = securityPage(forms, deps, {
    path,
    frame: (request, page) => dashboardPage(deps, request, { section: "security", ...page }),
    more: async (request) =>
      html`${await sessionsCard(deps, sessionOf(request), path)}
${card("live", "Passkeys for live", liveRule(principalOf(request), sessionOf(request)))}`,
  });
  sessionForm(forms, deps, { path, refused });

  pageRoute(forms, deps, {
    method: "POST",
    url: `${path}/live`,
    refused,
    handle: async ({ form: { passkey = "" }, request }) => {
      await changePasskeyForLive(deps, principalOf(request), passkey);
      return done(path, "passkey-rule-changed");
    },
  });
}

/** Owners who work in live say so for the firm. */
function liveRule(principal: Principal, session: Session): Html {
  const { passkeyForLive, hasPasskey } = session.proof;
  const state = passkeyForLive
    ? "Members of your firm must show a passkey before they create or rotate live webhooks, or give live access."
    : "Your firm does not ask for a passkey before live webhooks or live access are changed.";
  const decides = principal.member?.role === "owner" && principal.member.liveAccess;
  if (!decides)
    return html`<p>${state}</p><p class="quiet">Only owners of the firm with live access can change this.</p>`;
  if (!hasPasskey) return html`<p>${state}</p><p class="quiet">Add a passkey of your own to change this.</p>`;
  const [to, label] = passkeyForLive ? ["off", "Stop asking for passkeys"] : ["on", "Ask for passkeys"];
  return html`<p>${state}</p>${buttonForm(`${path}/live`, label, { fields: { passkey: to }, kind: "quiet-button" })}`;
}
