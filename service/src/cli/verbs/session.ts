import { type AnySession, endAnySession, endSessionsOf, listAnySessions } from "../../firms/members/members.ts";
import { defineVerb, UsageError, type Verb } from "../verb.ts";
import { withResources } from "../with-resources.ts";

const readable = ({ sessionId, email, operator, device, createdAt, lastSeenAt }: AnySession): string =>
  `${sessionId}  ${email ?? "operator link"}${operator ? "  operator" : ""}  ${device}  since ${createdAt.toISOString()}  last seen ${lastSeenAt.toISOString()}`;

export const sessionVerbs: Verb[] = [
  defineVerb({
    name: "session list",
    args: ["[EMAIL|PARTNER_ID|operator]"],
    options: {},
    summary:
      "Lists who is signed in, operators included, the latest first: all, or those of an address, a firm or the operators.",
    run: ([owner]) =>
      withResources(async (resources) => {
        const sessions = await listAnySessions(resources, owner);
        return { json: { sessions }, text: sessions.map(readable).join("\n") };
      }),
  }),
  defineVerb({
    name: "session end",
    args: ["[SESSION_ID]"],
    options: {
      all: {
        type: "string",
        value: "EMAIL|PARTNER_ID|operator",
        help: "Every session of an address, a firm, or the operators.",
      },
    },
    summary: "Ends a session, or all sessions of an address, a firm or the operators, effective with the next request.",
    run: ([sessionId], values) => {
      const owner = values.all;
      if ((sessionId === undefined) === (owner === undefined))
        throw new UsageError("session end needs either a SESSION_ID or --all");
      return withResources(async (resources) => {
        const ended =
          owner === undefined ? await endAnySession(resources, sessionId ?? "") : await endSessionsOf(resources, owner);
        return { json: { ended }, text: ended.map((id) => `ended: ${id}`).join("\n") };
      });
    },
  }),
];
