import type { Owner, Principal } from "../../kernel/identity/identity.ts";
import type { StoredFile } from "../../kernel/platform/blobs/stored-file.ts";
import { memoryHolder } from "../../kernel/platform/bounds/memory-budget.ts";
import { dayMs } from "../../kernel/platform/clock.ts";
import type { Sql } from "../../kernel/platform/database/database.ts";
import { type Statement, sql } from "../../kernel/platform/database/sql.ts";
import { ServiceError } from "../../kernel/platform/errors.ts";
import type { Log } from "../../kernel/platform/logs.ts";
import { tokenSha256 } from "../../kernel/platform/secrets.ts";
import { isCode } from "../../kernel/platform/text.ts";
import { documentUse } from "./documents.ts";
import { type FillDeps, findFill, insertFill, type UploadForm } from "./fill.ts";
import { looksLikePdf } from "./original.ts";

/**
 * The most unused files that a firm may have stored at once, for each kind of form. Used and expired files don't count.
 * The limits keep the store from filling up. A closing's form stores all of its files before it is sent, and its draft
 * can wait for days.
 */
export const maxUploads: Readonly<Record<UploadForm, number>> = { order: 15, closing: 300 };

/** The most unused files that one member may have stored. */
export const maxUploadsByMember: Readonly<Record<UploadForm, number>> = { order: 5, closing: 100 };

/**
 * How long a file is stored. A closing's draft lasts 14 days from its first save, which can come after the first
 * upload. So its files are stored one day longer.
 */
const uploadMs: Readonly<Record<UploadForm, number>> = { order: dayMs, closing: 15 * dayMs };

/**
 * Stores a file that a firm uploaded with a web form, so that for a limited time the firm need not upload it again.
 * @returns the file's fill token and number of pages. Null when the file is not a PDF, and when the firm or the member
 * has no room for another file.
 */
export async function keepUpload(
  deps: FillDeps,
  bytes: Buffer,
  { partnerId, member }: Principal,
  form: UploadForm,
): Promise<{ fillToken: string; pages: number } | null> {
  if (!looksLikePdf(bytes)) return null;
  const userId = member?.userId ?? null;
  const stored = await deps.db.query<{ userId: string | null }>(sql`
    SELECT kept_by AS "userId" FROM fill_documents
    WHERE kept_for = ${partnerId} AND kept_form = ${form} AND used_at IS NULL AND expires_at > ${deps.clock()}`);
  const own = stored.filter((each) => each.userId === userId);
  return stored.length >= maxUploads[form] || own.length >= maxUploadsByMember[form]
    ? null
    : insertFill(deps, bytes, { slug: null, stored: { partnerId, userId, form }, forMs: uploadMs[form] });
}

/**
 * Deletes stored files that no order has used, by the hashes of their tokens. Their blobs become orphans, which another
 * job deletes. Tokens of another firm have no effect.
 */
export const releaseUploads = (
  db: Sql,
  tokenHashes: readonly Buffer[],
  { partnerId, form }: { partnerId: string; form: UploadForm },
) =>
  db.query(sql`
    DELETE FROM fill_documents
    WHERE token_sha256 = ANY (${tokenHashes}::bytea[]) AND kept_for = ${partnerId} AND kept_form = ${form}
      AND used_at IS NULL`);

/** Deletes unused files of one kind of web form that were stored before `before`, unless a draft names them. */
export const releaseUnnamed = (
  db: Sql,
  { form, before, isNamed }: { form: UploadForm; before: Date; isNamed: (tokenSha256: Statement) => Statement },
) =>
  db.query(sql`
    DELETE FROM fill_documents
    WHERE kept_form = ${form} AND kept_for IS NOT NULL AND used_at IS NULL AND created_at <= ${before}
      AND NOT ${isNamed(sql`token_sha256`)}`);

/**
 * The time when the first of the usable files with these token hashes expires; null when none of them is usable any
 * more.
 */
export async function endOfUploads(
  db: Sql,
  tokenHashes: readonly Buffer[],
  { partnerId, form }: { partnerId: string; form: UploadForm },
  now: Date,
): Promise<Date | null> {
  const [first] = await db.query<{ expiresAt: Date }>(sql`
    SELECT expires_at AS "expiresAt" FROM fill_documents
    WHERE token_sha256 = ANY (${tokenHashes}::bytea[]) AND kept_for = ${partnerId} AND kept_form = ${form}
      AND used_at IS NULL AND expires_at > ${now}
    ORDER BY expires_at LIMIT 1`);
  return first?.expiresAt ?? null;
}

/** Of these tokens, those whose files the firm can still use in an order. */
export async function usableUploads(
  { db, clock }: Pick<FillDeps, "db" | "clock">,
  tokens: readonly string[],
  partnerId: string,
): Promise<ReadonlySet<string>> {
  const rows = await db.query<{ sha256: string }>(sql`
    SELECT encode(token_sha256, 'hex') AS sha256 FROM fill_documents
    WHERE token_sha256 = ANY (${tokens.map(tokenSha256)}::bytea[]) AND kept_for = ${partnerId} AND used_at IS NULL
      AND expires_at > ${clock()}`);
  const found = new Set(rows.map(({ sha256 }) => sha256));
  return new Set(tokens.filter((token) => found.has(tokenSha256(token).toString("hex"))));
}

/**
 * Opens a stored file so that its pages can be shown. The firm uploaded it with a web form, or somebody filled it in
 * online for the firm.
 * @throws ServiceError `not_found` for a token that is unknown, used, expired or another firm's, for an altered row,
 * and for a missing file
 */
export async function openUpload(
  deps: Pick<FillDeps, "db" | "blobs" | "rowMac" | "clock"> & { log: Log },
  token: string,
  { partnerId, environment }: Owner,
): Promise<StoredFile> {
  const unknown = () => new ServiceError("not_found", "The file that we kept has expired. Choose it again.");
  if (!isCode(token)) throw unknown();
  const [usable] = await deps.db.query(sql`
    SELECT FROM fill_documents
    WHERE token_sha256 = ${tokenSha256(token)} AND (kept_for = ${partnerId} OR for_partner = ${partnerId})`);
  const found = usable ? await findFill(deps, { partnerId, environment }, token, deps.clock()) : undefined;
  if (!found) throw unknown();
  const file = await deps.blobs.open(
    found.blobKey,
    documentUse(found.sha256),
    memoryHolder({ partnerId, environment }),
  );
  if (!file) throw unknown();
  return file;
}
