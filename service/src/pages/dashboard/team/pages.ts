import type { FastifyInstance, FastifyRequest } from "fastify";
import {
  changeBillingView,
  changeLiveAccess,
  changeRole,
  type InvitationDeps,
  inviteMember,
  listInvitations,
  listMembers,
  removeMember,
  resendInvitation,
  withdrawInvitation,
} from "../../../firms/members/members.ts";
import { principalOf, sessionOf } from "../../../kernel/http/authentication.ts";
import type { RateLimits } from "../../../kernel/http/rate-limits.ts";
import type { Assets } from "../../ui/assets/assets.ts";
import { type PageCall, pageRoute } from "../../ui/page/route.ts";
import { done } from "../flash-messages.ts";
import { dashboardPage } from "../page-shell.ts";
import { type TeamView, teamBody } from "./body.ts";

export type TeamDeps = InvitationDeps & { assets: Assets; limits: RateLimits };

const path = "/dashboard/team";

/** Adds the pages of the firm's members and invitations. */
export function teamPages(forms: FastifyInstance, deps: TeamDeps): void {
  const form = {
    method: "POST",
    refused: ({ request, form: typed }: PageCall, error: string) => show(request, { error, typed }),
  } as const;

  pageRoute(forms, deps, { url: path, handle: ({ request }) => show(request) });
  memberForms(forms, deps, form);
  invitationForms(forms, deps, form);

  async function show(request: FastifyRequest, problem: Pick<TeamView, "error" | "typed"> = {}): Promise<string> {
    const principal = principalOf(request);
    const [members, invitations] = await Promise.all([
      listMembers(deps, principal.partnerId),
      listInvitations(deps, principal),
    ]);
    const body = teamBody({ principal, members, invitations, now: deps.clock(), ...problem });
    return dashboardPage(deps, request, { title: "Team", section: "team", body });
  }
}

type FormFrame = { method: "POST"; refused: (call: PageCall, error: string) => Promise<string> };

function memberForms(forms: FastifyInstance, deps: TeamDeps, form: FormFrame): void {
  pageRoute(forms, deps, {
    ...form,
    url: `${path}/members/:userId/role`,
    handle: async ({ params, form: { role = "" }, request }) => {
      await changeRole(deps, principalOf(request), params.userId, role);
      return done(path, "role-changed");
    },
  });

  pageRoute(forms, deps, {
    ...form,
    url: `${path}/members/:userId/live`,
    handle: async ({ params, form: { live = "" }, request }) => {
      await changeLiveAccess(deps, principalOf(request), params.userId, live);
      return done(path, "live-access-changed");
    },
  });

  pageRoute(forms, deps, {
    ...form,
    url: `${path}/members/:userId/billing`,
    handle: async ({ params, form: { billing = "" }, request }) => {
      await changeBillingView(deps, principalOf(request), params.userId, billing);
      return done(path, "billing-view-changed");
    },
  });

  pageRoute(forms, deps, {
    ...form,
    url: `${path}/members/:userId/remove`,
    handle: async ({ params, request }) => {
      await removeMember(deps, principalOf(request), params.userId);
      return params.userId === sessionOf(request).userId
        ? done("/dashboard/link", "firm-left")
        : done(path, "member-removed");
    },
  });
}

function invitationForms(forms: FastifyInstance, deps: TeamDeps, form: FormFrame): void {
  pageRoute(forms, deps, {
    ...form,
    url: `${path}/invitations`,
    handle: async ({ form: { email = "", role = "", live }, request }) => {
      await inviteMember(deps, principalOf(request), { email, role, liveAccess: live === "on" });
      return done(`${path}#invitations`, "invitation-sent");
    },
  });

  pageRoute(forms, deps, {
    ...form,
    url: `${path}/invitations/:invitationId/resend`,
    handle: async ({ params, request }) => {
      await resendInvitation(deps, principalOf(request), params.invitationId);
      return done(`${path}#invitations`, "invitation-sent");
    },
  });

  pageRoute(forms, deps, {
    ...form,
    url: `${path}/invitations/:invitationId/withdraw`,
    handle: async ({ params, request }) => {
      await withdrawInvitation(deps, principalOf(request), params.invitationId);
      return done(`${path}#invitations`, "invitation-withdrawn");
    },
  });
}
