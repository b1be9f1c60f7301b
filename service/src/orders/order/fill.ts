import { hash } from "node:crypto";
import type { Blobs } from "../platform/blobs/blobs.ts";
import { type Clock, dayMs } from "../platform/clock.ts";
import type { Sql } from "../platform/database/database.ts";
import { sql } from "../platform/database/sql.ts";
import { invalid } from "../platform/errors.ts";
import { newCode } from "../platform/ids.ts";
import type { Log } from "../platform/logs.ts";
import type { Members, RowMac } from "../platform/row-mac.ts";
import type { Workers } from "../platform/workers/task.ts";
import { documentUse } from "./document-row.ts";
import { looksLikePdf, pagesOf } from "./original.ts";
import type { OriginalDocument } from "./store.ts";

const usableForMs = 7 * dayMs;

const tokenSha256 = (token: string): Buffer => hash("sha256", token, "buffer");

/** What the row of a waiting document says; hashes are lowercase hex SHA-256. */
export type FillFacts = {
  tokenSha256: string;
  slug: string | null;
  sha256: string;
  bytes: number;
  pages: number;
  blobKey: string;
  expiresAt: Date;
};

export function fillMembers(facts: FillFacts): Members {
  const { tokenSha256, slug, sha256, bytes, pages, blobKey, expiresAt } = facts;
  return { tokenSha256, slug, sha256, bytes, pages, blobKey, expiresAt };
}

/** Columns of `fill_documents` for its facts. */
export const fillColumns = sql`encode(token_sha256, 'hex') AS "tokenSha256", slug, sha256, bytes, pages, blob_key AS "blobKey",
  expires_at AS "expiresAt"`;

/**
 * Stores a completed PDF behind a new fill token: 40 hex characters, good for one order within seven days.
 * @throws ServiceError when the bytes are no PDF or more than `maxBytes`.
 */
export async function addFill(
  deps: FillDeps,
  bytes: Buffer,
  options: { slug: string | null; maxBytes: number },
): Promise<{ fillToken: string; expiresAt: string }> {
  if (!looksLikePdf(bytes)) throw invalid("FILE must be a PDF.");
  if (bytes.length > options.maxBytes) throw invalid(`FILE must have at most ${options.maxBytes} bytes.`);
  const { fillToken, expiresAt } = await insertFill(deps, bytes, {
    ...options,
    keptFor: null,
    forMs: usableForMs,
  });
  return { fillToken, expiresAt: expiresAt.toISOString() };
}

/** So many at a time: refused forms would fill the store. */
const mostKept = 5;

/**
 * Keeps a file that came with a firm's form that was refused, for a day, so that it need not be sent again.
 * @returns its fill token and pages; null for what is no PDF, and for a firm that has five of them
 */
export async function keepUpload(
  deps: FillDeps,
  bytes: Buffer,
  partnerId: string,
): Promise<{ fillToken: string; pages: number } | null> {
  if (!looksLikePdf(bytes)) return null;
  const kept = await deps.db.query(sql`
    SELECT FROM fill_documents WHERE kept_for = ${partnerId} AND used_at IS NULL AND expires_at > ${deps.clock()}`);
  return kept.length >= mostKept ? null : insertFill(deps, bytes, { slug: null, keptFor: partnerId, forMs: dayMs });
}

type FillDeps = { db: Sql; blobs: Blobs; rowMac: RowMac; clock: Clock; workers: Workers };

async function insertFill(
  deps: FillDeps,
  bytes: Buffer,
  { slug, keptFor, forMs }: { slug: string | null; keptFor: string | null; forMs: number },
): Promise<{ fillToken: string; expiresAt: Date; pages: number }> {
  const fillToken = newCode();
  const createdAt = deps.clock();
  const expiresAt = new Date(createdAt.getTime() + forMs);
  const sha256 = hash("sha256", bytes);
  const pages = await pagesOf(deps.workers, keptFor ?? "operator", bytes);
  const tokenHash = tokenSha256(fillToken);
  const blobKey = await deps.blobs.put(bytes, documentUse(sha256));
  const facts = {
    tokenSha256: tokenHash.toString("hex"),
    slug,
    sha256,
    bytes: bytes.length,
    pages,
    blobKey,
    expiresAt,
  };
  await deps.db.query(sql`
    INSERT INTO fill_documents (token_sha256, slug, sha256, bytes, pages, blob_key, created_at, expires_at, kept_for, row_mac)
    VALUES (${tokenHash}, ${slug}, ${sha256}, ${bytes.length}, ${pages}, ${blobKey}, ${createdAt}, ${expiresAt}, ${keptFor},
      ${deps.rowMac.of("fill_documents", fillMembers(facts))})`);
  return { fillToken, expiresAt, pages };
}

/** `slug` is the catalog's document that it was completed as, or null. */
export type FilledDocument = OriginalDocument & { slug: string | null };

/** The document behind a token that is neither used nor expired; undefined for a row that is not what was written, too. */
export async function findFill(
  { db, rowMac, log }: { db: Sql; rowMac: RowMac; log: Log },
  token: string,
  now: Date,
): Promise<FilledDocument | undefined> {
  const [found] = await db.query<FillFacts & { mac: Buffer | null }>(sql`
    SELECT ${fillColumns}, row_mac AS mac FROM fill_documents
    WHERE token_sha256 = ${tokenSha256(token)} AND used_at IS NULL AND expires_at > ${now}`);
  if (!found) return undefined;
  const { slug, sha256, bytes, pages, blobKey } = found;
  if (rowMac.holds("fill_documents", fillMembers(found), found.mac)) return { slug, sha256, bytes, pages, blobKey };
  log.error({ blobKey }, "a document that waits for its order is not what was written: its token is refused");
  return undefined;
}

/** Uses the token up; false when another order was faster or it has expired. */
export async function takeFill(db: Sql, token: string, now: Date): Promise<boolean> {
  const taken = await db.query(sql`
    UPDATE fill_documents SET used_at = ${now}
    WHERE token_sha256 = ${tokenSha256(token)} AND used_at IS NULL AND expires_at > ${now} RETURNING 1`);
  return taken.length === 1;
}

/** Forgets tokens that expired unused; their blobs become orphans and are swept. */
export const sweepFills = (db: Sql, now: Date) =>
  db.query(sql`DELETE FROM fill_documents WHERE used_at IS NULL AND expires_at <= ${now}`);
