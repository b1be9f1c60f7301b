import { hash } from "node:crypto";
import type { StoredBlobs } from "../../firms/partners/partners.ts";
import type { Environment, Owner } from "../../kernel/identity/identity.ts";
import { type Blobs, orDiscard } from "../../kernel/platform/blobs/blobs.ts";
import { type Clock, dayMs } from "../../kernel/platform/clock.ts";
import type { Sql } from "../../kernel/platform/database/database.ts";
import { sql } from "../../kernel/platform/database/sql.ts";
import { invalid } from "../../kernel/platform/errors.ts";
import { newCode } from "../../kernel/platform/ids.ts";
import type { Log } from "../../kernel/platform/logs.ts";
import type { MacTable } from "../../kernel/platform/protected-data.ts";
import type { Members, RowMac } from "../../kernel/platform/row-mac.ts";
import { tokenSha256 } from "../../kernel/platform/secrets.ts";
import { documentBlobs, documentUse } from "./documents.ts";
import { looksLikePdf, type Originals } from "./original.ts";
import type { OriginalDocument } from "./store.ts";
import type { TemplateUse } from "./template-use.ts";

const usableForMs = 7 * dayMs;

/** The facts in the row of a document that waits for its order. Hashes are lowercase hex SHA-256. */
type FillFacts = {
  tokenSha256: string;
  slug: string | null;
  sha256: string;
  bytes: number;
  pages: number;
  blobKey: string;
  expiresAt: Date;
  /**
   * `for...`: the only firm and environment whose orders may use the document. `template...`: the firm's template or
   * the catalog form that was filled in. All of them are null for a PDF that was uploaded or handed in.
   */
  forPartner: string | null;
  forEnvironment: Environment | null;
  templateId: string | null;
  templateVersion: number | null;
};

function fillMembers(facts: FillFacts): Members {
  const { tokenSha256, slug, sha256, bytes, pages, blobKey, expiresAt } = facts;
  const { forPartner, forEnvironment, templateId, templateVersion } = facts;
  // The MAC of a row without a firm doesn't cover the fields about the firm and the template.
  const owner = forPartner === null ? {} : { forPartner, forEnvironment, templateId, templateVersion };
  return { tokenSha256, slug, sha256, bytes, pages, blobKey, expiresAt, ...owner };
}

/** Columns of `fill_documents` that hold a `FillFacts`. */
const fillColumns = sql`encode(token_sha256, 'hex') AS "tokenSha256", slug, sha256, bytes, pages, blob_key AS "blobKey",
  expires_at AS "expiresAt", for_partner AS "forPartner", for_environment AS "forEnvironment", template_id AS "templateId",
  template_version AS "templateVersion"`;

export const fillRows: MacTable<FillFacts> = {
  table: sql`fill_documents`,
  key: sql`token_sha256`,
  mac: sql`row_mac`,
  rows: sql`SELECT token_sha256 AS key, ${fillColumns}, row_mac AS mac FROM fill_documents`,
  members: fillMembers,
  blobs: documentBlobs,
};

export const storedFills: StoredBlobs = (partnerId) => sql`
  SELECT blob_key, bytes FROM fill_documents
  WHERE (for_partner = ${partnerId} OR kept_for = ${partnerId}) AND used_at IS NULL`;

/**
 * Stores a completed PDF under a new fill token: 40 hex characters, valid for one order within seven days.
 * @throws ServiceError when the bytes are not a PDF or exceed `maxBytes`
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
    stored: null,
    forMs: usableForMs,
  });
  return { fillToken, expiresAt: expiresAt.toISOString() };
}

/** The kind of web form with which a firm uploaded a file: for one order, or for a closing. */
export type UploadForm = "order" | "closing";

export type FillDeps = { db: Sql; blobs: Blobs; rowMac: RowMac; clock: Clock; originals: Pick<Originals, "pagesOf"> };

/**
 * Stores a PDF under a new token. `stored`: the firm and the member who uploaded it; null for a PDF that an operator
 * handed in.
 */
export async function insertFill(
  deps: FillDeps,
  bytes: Buffer,
  {
    slug,
    stored,
    forMs,
  }: {
    slug: string | null;
    stored: { partnerId: string; userId: string | null; form: UploadForm } | null;
    forMs: number;
  },
): Promise<{ fillToken: string; expiresAt: Date; pages: number }> {
  const fillToken = newCode();
  const createdAt = deps.clock();
  const expiresAt = new Date(createdAt.getTime() + forMs);
  const sha256 = hash("sha256", bytes);
  const pages = await deps.originals.pagesOf(stored?.partnerId ?? "operator", bytes);
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
    ...nobodys,
  };
  const insert = sql`
    INSERT INTO fill_documents (token_sha256, slug, sha256, bytes, pages, blob_key, created_at, expires_at, kept_for, kept_by, kept_form, row_mac)
    VALUES (${tokenHash}, ${slug}, ${sha256}, ${bytes.length}, ${pages}, ${blobKey}, ${createdAt}, ${expiresAt},
      ${stored?.partnerId ?? null}, ${stored?.userId ?? null}, ${stored?.form ?? "order"}, ${deps.rowMac.of("fill_documents", fillMembers(facts))})`;
  await orDiscard(deps.blobs, blobKey, () => deps.db.query(insert));
  return { fillToken, expiresAt, pages };
}

const nobodys = { forPartner: null, forEnvironment: null, templateId: null, templateVersion: null } as const;

/** A document that was filled in from a firm's template or a catalog form; its blob is already stored. */
export type NewFilled = OriginalDocument & {
  token: string;
  slug: string | null;
  owner: Owner;
  use: TemplateUse;
  at: Date;
};

/** Stores the document under its fill's token. Within seven days, an order of the firm may use it. */
export async function insertFilled(tx: Sql, rowMac: RowMac, filled: NewFilled): Promise<Date> {
  const { token, slug, owner, use, at, sha256, bytes, pages, blobKey } = filled;
  const expiresAt = new Date(at.getTime() + usableForMs);
  const tokenHash = tokenSha256(token);
  const ownerAndTemplate = {
    forPartner: owner.partnerId,
    forEnvironment: owner.environment,
    templateId: use.templateId,
    templateVersion: use.version,
  };
  const facts = {
    tokenSha256: tokenHash.toString("hex"),
    slug,
    sha256,
    bytes,
    pages,
    blobKey,
    expiresAt,
    ...ownerAndTemplate,
  };
  await tx.query(sql`
    INSERT INTO fill_documents (token_sha256, slug, sha256, bytes, pages, blob_key, created_at, expires_at, for_partner,
      for_environment, template_id, template_version, row_mac)
    VALUES (${tokenHash}, ${slug}, ${sha256}, ${bytes}, ${pages}, ${blobKey}, ${at}, ${expiresAt}, ${ownerAndTemplate.forPartner},
      ${ownerAndTemplate.forEnvironment}, ${ownerAndTemplate.templateId}, ${ownerAndTemplate.templateVersion},
      ${rowMac.of("fill_documents", fillMembers(facts))})`);
  return expiresAt;
}

type FilledState = {
  usedAt: Date | null;
  expiresAt: Date;
  pages: number;
  /** The code of the order that used the document, if the document's own firm owns that order; otherwise null. */
  orderCode: string | null;
};

/** The states of filled-in documents by their tokens. Tokens without a row are left out. */
export async function fillStates(db: Sql, tokens: readonly string[]): Promise<ReadonlyMap<string, FilledState>> {
  // Finds the order that used the document by the blob key, which both have. Returns the order's code only if the
  // fill's own firm owns the order.
  const rows = await db.query<FilledState & { sha256: string }>(sql`
    SELECT encode(f.token_sha256, 'hex') AS sha256, f.used_at AS "usedAt", f.expires_at AS "expiresAt", f.pages, (
      SELECT o.code FROM documents d JOIN orders o ON o.id = d.order_id
      WHERE d.blob_key = f.blob_key AND o.partner_id = f.for_partner AND o.environment = f.for_environment
      ORDER BY d.id LIMIT 1) AS "orderCode@order"
    FROM fill_documents f WHERE f.token_sha256 = ANY (${tokens.map(tokenSha256)}::bytea[])`);
  const found = new Map(rows.map(({ sha256, ...state }) => [sha256, state]));
  return new Map(
    tokens.flatMap((token) => {
      const state = found.get(tokenSha256(token).toString("hex"));
      return state ? [[token, state] as const] : [];
    }),
  );
}

/**
 * A document that a token stands for. `slug` names the catalog document that was completed online; null for none. `use`
 * names the template or the catalog form from which the document was filled in.
 */
export type FilledDocument = OriginalDocument & { slug: string | null; use?: TemplateUse | null };

/**
 * The document of a token that an order of this firm and environment can use now. Undefined for a token that is used,
 * expired or unknown, or belongs to another firm or environment. Also undefined for a row whose MAC is invalid.
 */
export async function findFill(
  { db, rowMac, log }: { db: Sql; rowMac: RowMac; log: Log },
  { partnerId, environment }: Owner,
  token: string,
  now: Date,
): Promise<FilledDocument | undefined> {
  const [found] = await db.query<FillFacts & { mac: Buffer | null }>(sql`
    SELECT ${fillColumns}, row_mac AS mac FROM fill_documents
    WHERE token_sha256 = ${tokenSha256(token)} AND used_at IS NULL AND expires_at > ${now}
      AND (for_partner IS NULL OR for_partner = ${partnerId} AND for_environment = ${environment})`);
  if (!found) return undefined;
  const { slug, sha256, bytes, pages, blobKey, templateId, templateVersion } = found;
  const use = templateId !== null && templateVersion !== null ? { templateId, version: templateVersion } : null;
  if (rowMac.holds("fill_documents", fillMembers(found), found.mac))
    return { slug, sha256, bytes, pages, blobKey, use };
  log.error({ blobKey }, "a document that waits for its order is not what was written: its token is refused");
  return undefined;
}

/** Consumes the token. @returns false when another order has used it, or it has expired */
export async function consumeFill(db: Sql, token: string, now: Date): Promise<boolean> {
  const consumed = await db.query(sql`
    UPDATE fill_documents SET used_at = ${now}
    WHERE token_sha256 = ${tokenSha256(token)} AND used_at IS NULL AND expires_at > ${now} RETURNING 1`);
  return consumed.length === 1;
}

/** Deletes tokens that expired unused. The blobs of their documents become orphans, which another job deletes. */
export const sweepFills = (db: Sql, now: Date) =>
  db.query(sql`DELETE FROM fill_documents WHERE used_at IS NULL AND expires_at <= ${now}`);
