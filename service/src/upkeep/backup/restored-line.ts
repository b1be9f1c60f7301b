import { existsSync } from "node:fs";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { auditLine, hasLine } from "../../kernel/audit/audit.ts";
import type { Database } from "../../kernel/platform/database/database.ts";
import { sql } from "../../kernel/platform/database/sql.ts";
import { writeFileDurably } from "../../kernel/platform/durable-file.ts";

type Restored = { at: string; detail: object };

export const restoredLineFile = (dataDir: string): string => join(dataDir, "restored.json");

/**
 * Stores the audit line of a restore in a file, because its MAC needs keys that can be missing during the restore. The
 * next command or start writes the line to the audit log.
 */
export const leaveRestoredLine = (dataDir: string, restored: Restored): Promise<void> =>
  writeFileDurably(restoredLineFile(dataDir), JSON.stringify(restored), { mode: 0o600 });

/** Writes the audit line that a restore stored in a file. The line is written only once. */
export async function writeRestoredLine(db: Database, dataDir: string): Promise<void> {
  const file = restoredLineFile(dataDir);
  if (!existsSync(file)) return;
  const { at, detail } = JSON.parse(await readFile(file, "utf8")) as Restored;
  const line = { at: new Date(at), action: "restored", actor: "operator", detail };
  await db.query(auditLine(line, sql`(SELECT) AS one WHERE NOT ${hasLine(line)}`));
  await rm(file, { force: true });
}
