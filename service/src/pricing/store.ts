import type { Sql } from "../platform/database.ts";

/** The version of a price book, by its content; a content that is new gets the next version. */
export async function priceBookVersion(sql: Sql, book: { sha256: string; content: object }): Promise<number> {
  const [row] = await sql.rows<{ version: number }>(
    `WITH added AS (
       INSERT INTO price_books (sha256, content) VALUES ($1, $2) ON CONFLICT (sha256) DO NOTHING RETURNING version
     )
     SELECT version FROM added UNION ALL SELECT version FROM price_books WHERE sha256 = $1`,
    [book.sha256, JSON.stringify(book.content)],
  );
  // Both are empty only when another node added the same content at this very moment: now it is there.
  return row?.version ?? priceBookVersion(sql, book);
}
