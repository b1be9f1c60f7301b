/**
 * Links that switch off a kind of mail without a session (RFC 8058). A link belongs to one person, kind and environment.
 * It ends when the person switches the kind on again.
 */
import { timingSafeEqual } from "node:crypto";
import type { Environment } from "../../kernel/identity/identity.ts";
import type { Database, Sql } from "../../kernel/platform/database/database.ts";
import { sql } from "../../kernel/platform/database/sql.ts";
import { derivedToken, deriveKey, keysOf, type SecretBytes } from "../../kernel/platform/secrets.ts";
import { isCode, isUuid } from "../../kernel/platform/text.ts";
import { type MailKind, mailKinds, switchOff } from "./mail-switches.ts";
import type { MemberDeps } from "./membership.ts";

/** `series` counts how often the person has switched the kind on again. */
export type LinkFacts = { userId: string; kind: MailKind; environment: Environment; series: number };

// The secret key is a parameter, because links mailed before a key rotation work as long as the earlier key is
// configured.
const tokenUnder = (key: SecretBytes, { userId, kind, environment, series }: LinkFacts): string =>
  derivedToken(deriveKey(key, "unsubscribe"), `${userId}/${kind}/${environment}/${series}`);

export async function linkSeriesOf(db: Sql, userId: string, kind: MailKind): Promise<number> {
  const [row] = await db.query<{ n: number }>(
    sql`SELECT n FROM mail_link_series WHERE user_id = ${userId} AND kind = ${kind}`,
  );
  return row?.n ?? 0;
}

/** The URL that switches off a kind of mail to a person. Only mails of that kind to that person contain it. */
export const unsubscribeUrl = (
  { baseUrl, secrets }: { baseUrl: string; secrets: SecretBytes },
  link: LinkFacts,
): string => `${baseUrl}/unsubscribe/${link.kind}/${link.userId}/${tokenUnder(secrets, link)}`;

export type UnsubscribeLink = { kind: string; userId: string; token: string };

type LinkDeps = { db: Database; clock: MemberDeps["clock"]; secrets: SecretBytes };

/**
 * The kind of mail that the link is about, and the environment of that mail. Null for a link that is invalid or has
 * ended.
 */
export async function readLink(
  { db, secrets }: Pick<LinkDeps, "db" | "secrets">,
  { kind: named, userId, token }: UnsubscribeLink,
): Promise<Pick<LinkFacts, "kind" | "environment"> | null> {
  const kind = mailKinds.find((each) => each === named);
  if (!kind || !isUuid(userId) || !isCode(token)) return null;
  const series = await linkSeriesOf(db, userId, kind);
  const sent = Buffer.from(token);
  const isOf = (environment: Environment) =>
    keysOf(secrets).some((key) =>
      timingSafeEqual(Buffer.from(tokenUnder(key, { userId, kind, environment, series })), sent),
    );
  const environment = (["live", "test"] as const).find(isOf);
  return environment ? { kind, environment } : null;
}

/**
 * Switches the kind of mail off. Using the link again changes nothing. A link in a test mail, which everybody with access
 * to the firm's test mails can read, never changes anything.
 * @returns as `readLink`
 */
export async function unsubscribe(deps: LinkDeps, link: UnsubscribeLink): ReturnType<typeof readLink> {
  const found = await readLink(deps, link);
  if (found?.environment === "live")
    await deps.db.transaction((tx) =>
      switchOff(tx, { userId: link.userId, kind: found.kind, at: deps.clock(), by: "link" }),
    );
  return found;
}
