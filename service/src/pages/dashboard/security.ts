import type { FastifyInstance } from "fastify";
import {
  anyHour,
  changePasskeyForLive,
  clearCookie,
  cookieNames,
  endSession,
  type ListedSession,
  listSessions,
  type MailKind,
  type MemberDeps,
  mailHoursOf,
  mailKinds,
  mailZones,
  setMailHours,
  switchMails,
  wantedMails,
} from "../../firms/members/members.ts";
import { principalOf, sessionOf } from "../../kernel/http/authentication.ts";
import type { RateLimits } from "../../kernel/http/rate-limits.ts";
import { maySeeBilling, type Principal, type Session } from "../../kernel/identity/identity.ts";
import { passkeyChanges } from "../../kernel/platform/recent-proof.ts";
import { card } from "../ui/components.ts";
import { shortTime } from "../ui/format.ts";
import { askFirst } from "../ui/forms/ask-first.ts";
import { buttonForm } from "../ui/forms/button-form.ts";
import { select } from "../ui/forms/fields.ts";
import { type PageCall, pageRoute } from "../ui/page/route.ts";
import { records } from "../ui/records.ts";
import { type Html, html } from "../ui/render.ts";
import { type SecurityDeps as PageDeps, securityPage } from "../ui/security/page.ts";
import { done } from "./flash-messages.ts";
import { dashboardPage } from "./page-shell.ts";

export type SecurityDeps = PageDeps & MemberDeps;

const path = "/dashboard/security";

/** Adds the page of a person's passkeys, recovery codes and sessions, and of the firm's rule about passkeys. */
export function securityPages(forms: FastifyInstance, deps: SecurityDeps): void {
  const { refused } = securityPage(forms, deps, {
    path,
    frame: (request, page) => dashboardPage(deps, request, { section: "security", ...page }),
    more: async (request) =>
      html`${await sessionsCard(deps, sessionOf(request), path)}
${card("mails", "Emails to you", html`${mailSwitches(principalOf(request), await wantedMails(deps.db, sessionOf(request).userId))}${hoursForm(await mailHoursOf(deps.db, sessionOf(request).userId))}`)}
${card("live", "Passkeys for live", liveRule(principalOf(request), sessionOf(request)))}`,
  });
  sessionForm(forms, deps, { path, refused });

  pageRoute(forms, deps, {
    method: "POST",
    url: `${path}/mails`,
    refused,
    handle: async ({ form: { kind = "", mails = "" }, request }) => {
      await switchMails(deps, principalOf(request), { kind, to: mails });
      return done(path, mails === "on" ? "mails-on" : "mails-off");
    },
  });

  pageRoute(forms, deps, {
    method: "POST",
    url: `${path}/mail-hours`,
    refused,
    handle: async ({ form: { zone = "" }, request }) => {
      await setMailHours(deps, principalOf(request), zone);
      return done(path, "mail-hours-saved");
    },
  });

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

const mailWords: Readonly<Record<MailKind, { about: string; off: string; on: string; always?: string }>> = {
  orders: {
    about: "when an order that you placed is declined, held, failed, refunded or complete",
    off: "Stop emails about orders",
    on: "Email me about my orders",
    always:
      "Trouble with an order is always mailed to somebody: if its placer does not get such emails, to an owner who does, and otherwise to the owner who joined first, even if that owner stopped them. So is trouble with orders that an API key placed.",
  },
  closings: {
    about: "on business mornings, with your open closings: who must act, what is due, what is stuck",
    off: "Stop the daily list",
    on: "Email me the daily list",
  },
  downloads: {
    about: "when somebody first downloads documents that you placed or sent",
    off: "Stop emails about downloads",
    on: "Email me about first downloads",
  },
  statements: {
    about: "on the 1st, when the statement of your firm is ready",
    off: "Stop emails about statements",
    on: "Email me when a statement is ready",
  },
};

/** For each kind of mail that the person may get: if the person gets it, and a button that changes this. */
const mailSwitches = (principal: Principal, wanted: readonly MailKind[]): Html =>
  html`${mailKinds.map((kind) => {
    if (kind === "statements" && !maySeeBilling(principal)) return "";
    const { about, off, on, always } = mailWords[kind];
    const isOn = wanted.includes(kind);
    return html`<p>You get ${isOn ? "an email" : "no email"} ${about}.${always !== undefined && html` ${always}`}</p>
${buttonForm(`${path}/mails`, isOn ? off : on, { fields: { kind, mails: isOn ? "off" : "on" }, kind: "quiet-button" })}`;
  })}`;

/** The form that chooses the hours in which a person gets mails that are not urgent. */
const hoursForm = (zone: string): Html =>
  html`<form class="form room-part" method="post" action="${path}/mail-hours">
${select({
  form: "hours",
  name: "zone",
  label: "When these emails come",
  value: zone,
  options: [
    ...[...mailZones].map(([value, name]) => ({ value, label: `7 AM to 9 PM, ${name}` })),
    { value: anyHour, label: "At any hour" },
  ],
  hint: "At night they wait until 7 AM. Emails about a closing that is due today do not wait, and neither do links to sign in.",
})}
<div class="form-actions"><button type="submit" class="quiet-button">Save the hours</button></div>
</form>`;

/**
 * The firm's rule that some changes in live need a recent passkey; `passkeyChanges` names these changes. Only owners
 * with live access and a passkey can change the rule.
 */
function liveRule(principal: Principal, session: Session): Html {
  const { passkeyForLive, hasPasskey } = session.proof;
  const state = passkeyForLive
    ? `Members of your firm must show a passkey before they ${passkeyChanges}.`
    : `Your firm does not ask for a passkey before its members ${passkeyChanges}.`;
  const decides = principal.member?.role === "owner" && principal.member.liveAccess;
  if (!decides)
    return html`<p>${state}</p><p class="quiet">Only owners of the firm with live access can change this.</p>`;
  if (!hasPasskey) return html`<p>${state}</p><p class="quiet">Add a passkey of your own to change this.</p>`;
  const [to, label] = passkeyForLive ? ["off", "Stop asking for passkeys"] : ["on", "Ask for passkeys"];
  return html`<p>${state}</p>${buttonForm(`${path}/live`, label, { fields: { passkey: to }, kind: "quiet-button" })}`;
}

/**
 * The list of the member's sessions.
 * @param path the path of the security page
 */
const sessionsCard = async (deps: MemberDeps, session: Session, path: string): Promise<Html> =>
  card("sessions", "Your sessions", sessionTable(session, await listSessions(deps, session), path));

const sessionTable = (session: Session, sessions: readonly ListedSession[], path: string): Html =>
  records(
    "Where you are signed in",
    [{ label: "Browser" }, { label: "Signed in", utc: true }, { label: "Last seen", utc: true }, { label: "Action" }],
    sessions.map(({ id, device, createdAt, lastSeenAt }) => [
      `${device}${id === session.id ? " (this one)" : ""}`,
      shortTime(createdAt),
      shortTime(lastSeenAt),
      askFirst({
        label: "Sign out",
        about: `the session of ${device}`,
        text:
          id === session.id
            ? "You are signed out of this browser immediately."
            : "That browser is signed out immediately. Others stay signed in.",
        confirm: "Sign out now",
        action: `${path}/sessions/${id}/end`,
      }),
    ]),
  );

type SessionsPage = { path: string; refused: (call: PageCall, error: string) => Promise<string> };

function sessionForm(
  forms: FastifyInstance,
  deps: MemberDeps & { limits: RateLimits },
  { path, refused }: SessionsPage,
): void {
  pageRoute(forms, deps, {
    method: "POST",
    url: `${path}/sessions/:sessionId/end`,
    refused,
    handle: async ({ params, request }) => {
      const { sessionId } = params as { sessionId: string };
      const session = sessionOf(request);
      await endSession(deps, session, sessionId);
      if (sessionId !== session.id) return done(path, "session-ended");
      return { redirect: "/sign-in", headers: { "Set-Cookie": clearCookie(cookieNames.session) } };
    },
  });
}
