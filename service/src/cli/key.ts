import * as partners from "../partners/partners.ts";
import { lines, type Verb, withResources } from "./verb.ts";

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
    flags: "",
    options: {},
    summary: "Revokes a key, effective with the next request.",
    run: ([keyId = ""]) =>
      withResources(async (resources) => {
        const key = await partners.revokeKey(resources, keyId);
        return { json: key, text: lines(key) };
      }),
  },
];
