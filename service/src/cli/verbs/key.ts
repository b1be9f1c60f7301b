import { issueKeyByOperator, rotateKeyByOperator } from "../../firms/members/members.ts";
import * as partners from "../../firms/partners/partners.ts";
import { revokeWithCreated } from "../../upkeep/revocation.ts";
import { defineVerb, lines, type Options, ruledOption, type ValuesOf, type Verb } from "../verb.ts";
import { withResources } from "../with-resources.ts";
import { webhookLine } from "./webhook.ts";

type Revoked = Awaited<ReturnType<typeof revokeWithCreated>>;

function revokedText({ webhooks, members, ended, ...key }: Revoked): string {
  const createdLines = [
    ...webhooks.map(webhookLine).map((line) => `webhook ${line}`),
    ...members.map(
      ({ userId, email, role, sessions }) => `member ${userId}  ${role}  ${email}  signed in ${sessions} times`,
    ),
  ];
  const what = ended ? "Ended with it:" : "Made with it, and still there:";
  const hint = ended ? [] : [`To end these: bin/signsealship key revoke ${key.keyId} --all`];
  return [lines(key), ...(createdLines.length > 0 ? ["", what, ...createdLines, ...hint] : [])].join("\n");
}

const issueOptions = {
  test: { type: "boolean", help: "A test key: nothing real happens. Without it the key is live." },
  name: { type: "string", help: "What the key is for, as its owners will read it." },
  scopes: {
    type: "string",
    value: "SCOPE[,SCOPE]",
    help: "What it may do, comma-separated: read, orders, rooms, seal, webhooks, spend.",
  },
  expires: { type: "string", value: "DAYS|YYYY-MM-DD", help: "After so many days, or on a day (YYYY-MM-DD)." },
} as const satisfies Options;

/** Reads the flags that describe a key. @throws ServiceError for an invalid name, scopes or expiry */
function keyOptions(values: ValuesOf<typeof issueOptions>, now: Date) {
  const name = ruledOption(values, "name", partners.keyName);
  const listed = (text: string) => partners.keyScopes(text.split(",").map((scope) => scope.trim()));
  const scopes = ruledOption(values, "scopes", listed);
  const expiresAt = ruledOption(values, "expires", (text) => partners.keyExpiry(text, now));
  return { ...(name && { name }), ...(scopes && { scopes }), ...(expiresAt && { expiresAt }) };
}

type Key = Awaited<ReturnType<typeof partners.listKeys>>[number];

function stateOf({ revokedAt, expiresAt }: Key, now: Date): string {
  if (revokedAt) return `revoked ${revokedAt.toISOString()}`;
  if (expiresAt && expiresAt <= now) return `expired ${expiresAt.toISOString()}`;
  return expiresAt ? `active until ${expiresAt.toISOString()}` : "active";
}

const keyLine = (key: Key, now: Date): string =>
  [
    key.keyId,
    key.environment,
    `…${key.last4}`,
    stateOf(key, now),
    `last used ${key.lastUsedAt?.toISOString() ?? "never"}`,
    `may ${key.scopes?.join(",") ?? "everything"}`,
    ...(key.name === null ? [] : [key.name]),
  ].join("  ");

export const keyVerbs: Verb[] = [
  defineVerb({
    name: "key issue",
    args: ["PARTNER_ID"],
    options: issueOptions,
    summary:
      "Issues a key and shows it only this once. Without --scopes it may do everything. A live key also enables live access for the partner.",
    run: ([partnerId = ""], values) =>
      withResources(async (resources) => {
        const environment = values.test ? "test" : "live";
        const options = { actor: "operator", ...keyOptions(values, resources.clock()) };
        const issued = await issueKeyByOperator(resources, partnerId, environment, options);
        return { json: issued, text: lines(issued) };
      }),
  }),
  defineVerb({
    name: "key list",
    args: ["PARTNER_ID"],
    options: {},
    summary: "Lists a partner's keys, without the keys themselves.",
    run: ([partnerId = ""]) =>
      withResources(async (resources) => {
        const keys = await partners.listKeys(resources, partnerId);
        const now = resources.clock();
        return { json: { keys }, text: keys.map((key) => keyLine(key, now)).join("\n") };
      }),
  }),
  defineVerb({
    name: "key rotate",
    args: ["KEY_ID"],
    options: {
      overlap: {
        type: "string",
        help: "How many hours the old key goes on: 0, 1, 24 (default) or 72.",
        values: partners.overlapHours.map(String),
      },
    },
    summary:
      "Issues a key in the place of another and shows it only this once; the old one goes on for the hours of the overlap (24).",
    run: ([keyId = ""], values) =>
      withResources(async (resources) => {
        const overlap = ruledOption(values, "overlap", partners.keyOverlap) ?? 24;
        const rotated = await rotateKeyByOperator(resources, keyId, overlap);
        return { json: rotated, text: lines(rotated) };
      }),
  }),
  defineVerb({
    name: "key revoke",
    args: ["KEY_ID"],
    options: {
      all: { type: "boolean", help: "Ends what was made with it, too: webhooks, memberships and their sessions." },
    },
    summary:
      "Revokes a key, effective with the next request, and lists what was made with it; --all ends that, too: webhooks, memberships and their sessions.",
    run: ([keyId = ""], values) =>
      withResources(async (resources) => {
        const revoked = await revokeWithCreated(resources, keyId, values.all ?? false);
        return { json: revoked, text: revokedText(revoked) };
      }),
  }),
];
