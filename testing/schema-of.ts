import type { Sql } from "../service/src/kernel/platform/database/database.ts";
import { sql } from "../service/src/kernel/platform/database/sql.ts";

/**
 * Everything that migrations create in a database, as sorted lines: one for each object that `pg_dump --schema-only`
 * shows, and one for each role and each row of `service_rights`.
 */
export async function schemaOf(db: Sql): Promise<string[]> {
  const rows = await db.query<{ line: string }>(sql`
    WITH ours AS (SELECT oid, relname, relkind, relowner, relacl, reloptions, relpersistence FROM pg_class
      WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'v', 'm', 'S'))
    SELECT concat_ws(' ', relkind, relname, relowner::regrole, relacl, reloptions, relpersistence) AS line FROM ours
    UNION ALL SELECT concat_ws(' ', 'column', a.attrelid::regclass,
        row_number() OVER (PARTITION BY a.attrelid ORDER BY a.attnum), attname, format_type(atttypid, atttypmod), attnotnull,
        pg_get_expr(adbin, adrelid), attidentity, attgenerated, attstorage, attcollation::regcollation, attacl)
      FROM pg_attribute a JOIN ours ON ours.oid = attrelid LEFT JOIN pg_attrdef d ON (adrelid, adnum) = (attrelid, attnum)
      WHERE attnum > 0 AND NOT attisdropped
    UNION ALL SELECT concat_ws(' ', 'constraint', conrelid::regclass, conname, pg_get_constraintdef(c.oid), convalidated)
      FROM pg_constraint c JOIN ours ON ours.oid = conrelid
    UNION ALL SELECT pg_get_indexdef(indexrelid) FROM pg_index JOIN ours ON ours.oid = indrelid
    UNION ALL SELECT concat_ws(' ', pg_get_triggerdef(t.oid), tgenabled)
      FROM pg_trigger t JOIN ours ON ours.oid = tgrelid WHERE NOT tgisinternal
    UNION ALL SELECT concat_ws(' ', pg_get_functiondef(p.oid), proowner::regrole, proacl) FROM pg_proc p
      WHERE pronamespace = 'public'::regnamespace
        AND NOT EXISTS (SELECT FROM pg_depend WHERE objid = p.oid AND deptype = 'e')
    UNION ALL SELECT concat_ws(' ', 'sequence', seqrelid::regclass, seqtypid::regtype, seqstart, seqincrement, seqmax, seqcycle)
      FROM pg_sequence
    UNION ALL SELECT concat_ws(' ', 'extension', extname, extversion) FROM pg_extension
    UNION ALL SELECT concat_ws(' ', 'comment', classoid::regclass, ours.relname, objsubid, description)
      FROM pg_description JOIN ours ON ours.oid = objoid
    UNION ALL SELECT concat_ws(' ', 'role', rolname, rolsuper, rolcanlogin, rolcreaterole, rolcreatedb) FROM pg_roles
    UNION ALL SELECT concat_ws(' ', 'schema', nspname, nspacl) FROM pg_namespace WHERE nspname = 'public'
    UNION ALL SELECT concat_ws(' ', 'rights', sha256) FROM service_rights`);
  return rows.map(({ line }) => line).sort();
}
