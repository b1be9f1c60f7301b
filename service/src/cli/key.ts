import * as partners from "../partners/partners.ts";
import { revokeWithWhatItMade } from "../revocation.ts";
import { lines, type Verb, withResources } from "./verb.ts";
import { webhookLine } from "./webhook.ts";

type Revoked = Awaited<ReturnType<typeof revokeWithWhatItMade>>;

function revokedText({ webhooks, members, ended, ...key }: Revoked): string {
  const made = [
    ...webhooks.map(webhookLine).map((line) => `webhook ${line}`),
    ...members.map(
      ({ userId, email, role, sessions }) => `member ${userId}  ${role}  ${email}  signed in ${sessions} times`,
    ),
  ];
  const what = ended ? "Ended with it:" : "Made with it, and still there:";
  const hint = ended ? [] : [`To end these: bin/signsealship key revoke ${key.keyId} --all`];
  return [lines(key), ...(made.length > 0 ? ["", what, ...made, ...hint] : [])].join("\n");
}

export const keyVerbs: Verb[] = [
  {
    name: "key issue",
    args: ["PARTNER_ID"],
    flags: "[--test]",
    options: { test: { type: "boolean" } },
    summary: "Issues a key and shows it only this once. A live key also enables live access for the partner.",
    run: ([partnerId = ""], values) =>
      withResources(async (resources) => {
        const issued = await partners.issueKey(resources, partnerId, values["test"] === true ? "test" : "live");
        return { json: issued, text: lines(issued) };
      }),
  },
  {
    name: "key list",
    args: ["PARTNER_ID"],
    flags: "",
    options: {},
    summary: "Lists a partner's keys, without the keys themselves.",
    run: ([partnerId = ""]) =>
      withResources(async (resources) => {
        const keys = await partners.listKeys(resources, partnerId);
        const text = keys.map(
          (key) =>
            `${key.keyId}  ${key.environment}  …${key.last4}  ${key.revokedAt ? `revoked ${key.revokedAt.toISOString()}` : "active"}`,
        );
        return { json: { keys }, text: text.join("\n") };
      }),
  },
  {
    name: "key revoke",
    args: ["KEY_ID"],
    flags: "[--all]",
    options: { all: { type: "boolean" } },
    summary:
      "Revokes a key, effective with the next request, and lists what was made with it; --all ends that, too: webhooks, memberships and their sessions.",
    run: ([keyId = ""], values) =>
      withResources(async (resources) => {
        const revoked = await revokeWithWhatItMade(resources, keyId, values["all"] === true);
        return { json: revoked, text: revokedText(revoked) };
      }),
  },
];
