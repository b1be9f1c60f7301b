import type { Sql } from "../platform/database/database.ts";
import { sql } from "../platform/database/sql.ts";

/** The version of a price book, by its content; a content that is new gets the next version. */
export async function priceBookVersion(db: Sql, book: { sha256: string; content: object }): Promise<number> {
  const [row] = await db.query<{ version: number }>(sql`
    WITH added AS (
      INSERT INTO price_books (sha256, content) VALUES (${book.sha256}, ${book.content})
      ON CONFLICT (sha256) DO NOTHING RETURNING version
    )
    SELECT version FROM added UNION ALL SELECT version FROM price_books WHERE sha256 = ${book.sha256}`);
  // Both are empty only when another node added the same content at this very moment: now it is there.
  return row?.version ?? priceBookVersion(db, book);
}
