import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { principalOf, sessionOf } from "../../../http/authentication.ts";
import type { Principal } from "../../../identity/identity.ts";
import {
  changeBranding,
  changeRole,
  chooseEnvironment,
  clearCookie,
  cookieNames,
  endSession,
  listMembers,
  listSessions,
  type MemberDeps,
  removeMember,
} from "../../../members/members.ts";
import { listKeys, readBranding } from "../../../partners/partners.ts";
import type { Assets } from "../../ui/assets.ts";
import { formBody } from "../../ui/forms/fields.ts";
import { formHeaders } from "../../ui/page-headers.ts";
import { attempt, done, sendPage } from "../page-shell.ts";
import { type SettingsView, settingsBody } from "./body.ts";

export type SettingsDeps = MemberDeps & { assets: Assets };

const path = "/dashboard/settings";
const hidden = { schema: { hide: true } };

/** The firm's keys, members and branding, one's own sessions, and the switch between live and test. */
export function settingsPage(forms: FastifyInstance, deps: SettingsDeps): void {
  async function show(
    request: FastifyRequest,
    reply: FastifyReply,
    problem: Pick<SettingsView, "error" | "typed"> = {},
  ): Promise<FastifyReply> {
    const principal = principalOf(request);
    const session = sessionOf(request);
    const [keys, members, branding, sessions] = await Promise.all([
      listKeys(deps, principal.partnerId),
      listMembers(deps, principal.partnerId),
      readBranding(deps, principal),
      listSessions(deps, session),
    ]);
    const view = { principal, session, keys, members, branding, sessions, ...problem };
    return sendPage(deps, request, reply, {
      title: "Firm and settings",
      section: "settings",
      body: settingsBody(view),
    });
  }

  forms.get(path, hidden, show);

  const change = (
    route: string,
    work: (request: FastifyRequest, principal: Principal) => Promise<unknown>,
    answer: (request: FastifyRequest, reply: FastifyReply) => FastifyReply,
  ) =>
    forms.post(route, hidden, (request, reply) =>
      attempt(
        reply,
        async () => {
          await work(request, principalOf(request));
          return answer(request, reply);
        },
        (error) => show(request, reply, { error, typed: formBody(request.body) }),
      ),
    );

  const say = (word: Parameters<typeof done>[2]) => (_request: FastifyRequest, reply: FastifyReply) =>
    done(reply, path, word);
  const userIdOf = ({ params }: FastifyRequest) => (params as { userId: string }).userId;
  const sessionIdOf = ({ params }: FastifyRequest) => (params as { sessionId: string }).sessionId;

  change(
    `${path}/branding`,
    (request, principal) => {
      const { brandName = "", accentColor = "", logoUrl = "" } = formBody(request.body);
      return changeBranding(deps, principal, { brandName, accentColor: accentColor.trim(), logoUrl: logoUrl.trim() });
    },
    say("branding-saved"),
  );
  change(
    `${path}/members/:userId/role`,
    (request, principal) => changeRole(deps, principal, userIdOf(request), formBody(request.body)["role"] ?? ""),
    say("role-changed"),
  );
  change(
    `${path}/members/:userId/remove`,
    (request, principal) => removeMember(deps, principal, userIdOf(request)),
    (request, reply) =>
      userIdOf(request) === sessionOf(request).userId
        ? done(reply, "/dashboard/link", "firm-left")
        : done(reply, path, "member-removed"),
  );
  change(
    `${path}/sessions/:sessionId/end`,
    (request) => endSession(deps, sessionOf(request), sessionIdOf(request)),
    (request, reply) =>
      sessionIdOf(request) === sessionOf(request).id ? signedOut(reply) : done(reply, path, "session-ended"),
  );

  forms.post("/dashboard/environment", hidden, (request, reply) =>
    attempt(
      reply,
      async () => {
        const { environment = "", return_to: returnTo } = formBody(request.body);
        await chooseEnvironment(deps, sessionOf(request), environment);
        return done(reply, sectionOf(returnTo), "environment");
      },
      (error) => show(request, reply, { error }),
    ),
  );
}

/** The browser's own session is over. */
const signedOut = (reply: FastifyReply): FastifyReply =>
  reply.headers(formHeaders).header("Set-Cookie", clearCookie(cookieNames.session)).redirect("/sign-in", 303);

/** The section that one was in: what it showed of the one environment is not there in the other. */
const sectionOf = (returnTo = ""): string =>
  /^\/dashboard\/(?:orders|rooms|passports|webhooks|analytics|settings)(?=[/?]|$)/.exec(returnTo)?.[0] ?? "/dashboard";
