import * as members from "../../firms/members/members.ts";
import { requirePartner } from "../../firms/partners/partners.ts";
import { defineVerb, lines, onOff, onOrOff, UsageError, type Verb } from "../verb.ts";
import { withResources } from "../with-resources.ts";

export const memberVerbs: Verb[] = [
  defineVerb({
    name: "member list",
    args: ["PARTNER_ID"],
    options: {},
    summary: "Lists a partner's members, each with the key that linked them.",
    run: ([partnerId = ""]) =>
      withResources(async (resources) => {
        await requirePartner(resources, partnerId);
        const found = await members.listMembers(resources, partnerId);
        const text = found.map(
          ({ userId, email, role, liveAccess, keyId }) =>
            `${userId}  ${role}  ${liveAccess ? "live" : "test"}  ${email}  by key ${keyId}`,
        );
        return { json: { members: found }, text: text.join("\n") };
      }),
  }),
  defineVerb({
    name: "member set",
    args: ["USER_ID", "[ROLE]"],
    options: { live: { type: "string", help: "on or off: whether the member works in live.", values: onOrOff } },
    summary: "Sets a member's role (owner or member), or whether the member works in live, too.",
    run: ([userId = "", role], values) => {
      const live = onOff(values, "live");
      if (role === undefined && live === undefined) throw new UsageError("member set needs a ROLE or --live on|off");
      return withResources(async (resources) => {
        const answer = await members.setMember(resources, userId, { role, live });
        return { json: answer, text: lines(answer) };
      });
    },
  }),
  defineVerb({
    name: "member remove",
    args: ["USER_ID"],
    options: {},
    summary: "Removes a member, effective with the next request. Also revoke any keys that the person knows.",
    run: ([userId = ""]) =>
      withResources(async (resources) => {
        const answer = await members.dropMember(resources, userId);
        return { json: answer, text: lines(answer) };
      }),
  }),
  defineVerb({
    name: "member passkeys",
    args: ["USER_ID"],
    options: {
      remove: { type: "boolean", help: "Takes all passkeys and recovery codes away, and signs the person out." },
    },
    summary:
      "Lists a person's passkeys. For a person who has lost them, --remove deletes them and the recovery codes, and signs the person out.",
    run: ([userId = ""], { remove }) =>
      withResources(async (resources) => {
        if (remove === true) {
          const answer = await members.dropPasskeys(resources, userId);
          return { json: answer, text: lines(answer) };
        }
        const passkeys = await members.listPasskeysOf(resources, userId);
        const text = passkeys.map(
          ({ id, name, createdAt, lastUsedAt }) =>
            `${id}  since ${createdAt.toISOString()}  last used ${lastUsedAt?.toISOString() ?? "never"}  ${name}`,
        );
        return { json: { userId, passkeys }, text: text.join("\n") };
      }),
  }),
];
