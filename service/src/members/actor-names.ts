import type { Sql } from "../platform/database/database.ts";
import { sql } from "../platform/database/sql.ts";
import { isUuid } from "../platform/text.ts";

const idsOf = (kind: string, actors: readonly string[]): string[] => [
  ...new Set(actors.filter((actor) => actor.startsWith(`${kind}:`)).map((actor) => actor.slice(kind.length + 1))),
];

/** What a firm calls those of its own who did something, by what the audit log calls them: a member's email, a key's name. */
export async function namesOfFirmActors(
  db: Sql,
  partnerId: string,
  actors: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const [users, keys] = [idsOf("member", actors).filter(isUuid), idsOf("key", actors).filter(isUuid)];
  if (users.length + keys.length === 0) return new Map();
  const rows = await db.query<{ actor: string; name: string }>(sql`
SELECT 'member:' || u.id AS actor, u.email AS name
FROM users u JOIN members m ON m.user_id = u.id WHERE m.partner_id = ${partnerId} AND u.id = ANY (${users}::uuid[])
UNION ALL
SELECT 'key:' || id, 'API key ' || coalesce(name, '…' || last4)
FROM partner_keys WHERE partner_id = ${partnerId} AND id = ANY (${keys}::uuid[])`);
  return new Map(rows.map(({ actor, name }) => [actor, name]));
}
