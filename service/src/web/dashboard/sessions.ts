import type { FastifyInstance } from "fastify";
import { sessionOf } from "../../http/authentication.ts";
import type { RateLimits } from "../../http/rate-limits.ts";
import type { Session } from "../../identity/identity.ts";
import {
  clearCookie,
  cookieNames,
  endSession,
  type ListedSession,
  listSessions,
  type MemberDeps,
} from "../../members/members.ts";
import { card } from "../ui/components.ts";
import { done } from "../ui/flash-messages.ts";
import { shortTime } from "../ui/format.ts";
import { askFirst } from "../ui/forms/ask-first.ts";
import { type PageCall, pageRoute } from "../ui/page/route.ts";
import { records } from "../ui/records.ts";
import type { Html } from "../ui/render.ts";

/** Where a person is signed in. @param path of the page that it is on */
export const sessionsCard = async (deps: MemberDeps, session: Session, path: string): Promise<Html> =>
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

export function sessionForm(
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
