import type { Database, Sql } from "../platform/database/database.ts";
import { largeObjectFunctions, missingTimeouts, readRights } from "../platform/database/service-role.ts";
import { sql } from "../platform/database/sql.ts";
import type { Found } from "./finding.ts";

type Role = { name: string; isSuperuser: boolean; loose: string[]; makesObjects: boolean };

const where = "see 'Two roles' in docs/operating.md";

/** Whether the role that the service works as can do more than it has to. @param migrations their folder */
export async function databaseRights(db: Sql, migrations: string): Promise<Found> {
  const { appendOnly } = await readRights(migrations);
  const [role] = await db.query<Role>(sql`
    SELECT rolname AS name, rolsuper AS "isSuperuser", ARRAY(
      SELECT t FROM unnest(${Object.keys(appendOnly)}::text[]) AS t
      WHERE has_table_privilege(t, 'UPDATE') OR has_table_privilege(t, 'DELETE') OR has_table_privilege(t, 'TRUNCATE')
    ) AS loose, EXISTS (
      SELECT FROM unnest(${largeObjectFunctions}::text[]) AS f WHERE has_function_privilege('pg_catalog.' || f, 'EXECUTE')
    ) AS "makesObjects"
    FROM pg_roles WHERE rolname = current_user`);
  if (!role) throw new Error("the role is unknown");
  if (role.isSuperuser) return { warning: `${role.name} is a superuser: ${where}` };
  if (role.loose.length > 0)
    return { warning: `${role.name} may change or remove rows of ${role.loose.join(", ")}: ${where}` };
  if (role.makesObjects) return { warning: `${role.name} may make large objects: ${where}` };
  return `${role.name} can only add to append-only tables`;
}

/** Whether sessions do what the service relies on: a pooler may lose statements, timeouts and notifications. */
export async function databaseSessions(db: Database): Promise<Found> {
  const hint = "see 'Behind PgBouncer' in docs/operating.md";
  try {
    await db.checkStatements();
  } catch (error) {
    const why = error instanceof Error ? (error.cause ?? error) : error;
    throw new Error(`prepared statements do not work (${why instanceof Error ? why.message : why}): ${hint}`);
  }
  const timeouts = await missingTimeouts(db);
  if (timeouts.length > 0) return { warning: `sessions have no ${timeouts.join(", ")}: ${hint}` };
  await db.checkNotifications();
  return "prepared statements, timeouts and notifications work";
}
