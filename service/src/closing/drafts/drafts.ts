/**
 * Closings that a member has begun in the web form and has not placed. A draft belongs to one member, is encrypted, and
 * is deleted with its files after at most 14 days. Ended drafts stay as empty rows until then, so that a late save
 * can't revive one.
 */
import type { Environment, Principal } from "../../kernel/identity/identity.ts";
import { type Clock, dayMs } from "../../kernel/platform/clock.ts";
import { type ColumnCipher, columnCipher } from "../../kernel/platform/column-cipher.ts";
import type { Database, Sql, Tx } from "../../kernel/platform/database/database.ts";
import { type Statement, sql } from "../../kernel/platform/database/sql.ts";
import { isAltered } from "../../kernel/platform/database/state-mac.ts";
import { AlteredRecordError, ServiceError } from "../../kernel/platform/errors.ts";
import { newUuid } from "../../kernel/platform/ids.ts";
import type { ProtectedTable } from "../../kernel/platform/protected-data.ts";
import { type SecretBytes, tokenSha256 } from "../../kernel/platform/secrets.ts";
import { isUuid } from "../../kernel/platform/text.ts";
import { endOfUploads, releaseUnnamed, releaseUploads } from "../../orders/order/order.ts";

const cipherUse = "closing_draft";

export const protectedTables: readonly ProtectedTable[] = [
  {
    table: sql`closing_drafts`,
    key: sql`id`,
    ciphers: [{ use: cipherUse, column: sql`fields`, context: sql`id::text` }],
  },
];

const lifetimeMs = 14 * dayMs;
const maxDrafts = 20;
/** The start page decrypts all drafts of the member, so their size is bounded. */
const maxBytes = 256 * 1024;
/**
 * A file that no draft mentions is deleted after this time. A form is first saved within seconds of its first upload,
 * so this is long enough.
 */
const unnamedMs = dayMs;

export type DraftDeps = { db: Database; clock: Clock; cipher: ColumnCipher };

export const openDrafts = ({
  db,
  clock,
  secrets,
}: Omit<DraftDeps, "cipher"> & { secrets: SecretBytes }): DraftDeps => ({
  db,
  clock,
  cipher: columnCipher(secrets, cipherUse),
});

/** The fields of the closing's web form by their names. */
type Fields = Readonly<Record<string, string>>;

type Owner = { partnerId: string; environment: Environment; userId: string };

export type Draft = { id: string; version: number; fields: Fields; updatedAt: Date; expiresAt: Date };

/** The state of the closing's web form that a browser window wants to save. */
type DraftToSave = {
  id: string;
  /** The version that the window has seen last; 0 for a draft that was never saved. */
  version: number;
  window: string;
  fields: Fields;
  /** The tokens of the uploaded files. */
  files: readonly string[];
  /**
   * True if this window's form is saved as a new draft when another window has changed the draft. If false, the form is
   * not saved in that case.
   */
  mayCopy: boolean;
};

export type SavedDraft = Pick<Draft, "id" | "version" | "expiresAt"> & {
  /** True if another window had changed the draft, so that this window's form was saved as a new draft. */
  isCopy: boolean;
};

/**
 * The member to whom drafts of this caller belong.
 * @throws ServiceError for a caller who is not a member of the firm
 */
function ownerOf({ partnerId, environment, member }: Principal): Owner {
  if (!member) throw new ServiceError("conflict", "Only a member of the firm has drafts.");
  return { partnerId, environment, userId: member.userId };
}

const ownedBy = ({ partnerId, environment, userId }: Owner): Statement =>
  sql`partner_id = ${partnerId} AND environment = ${environment} AND user_id = ${userId}`;

const tokenHashes = (tokens: readonly string[]): Buffer[] => tokens.map((token) => tokenSha256(token));

/**
 * Serializes the transactions that change a member's drafts, so that limits are exact, and a draft is not copied while
 * its files are deleted.
 */
const lockMember = (tx: Tx, { userId }: Pick<Owner, "userId">) =>
  tx.query(sql`SELECT pg_advisory_xact_lock(hashtextextended(${`closing drafts ${userId}`}, 0))`);

/**
 * Saves the web form. If another window has changed the draft and `mayCopy` is true, the form becomes a separate draft.
 * Both drafts expire together, because they use the same files.
 * @returns null when the draft was placed or discarded, has expired, or was changed by another window while `mayCopy`
 * is false
 * @throws ServiceError when the member has too many drafts, or the form is too long
 */
export async function saveDraft(deps: DraftDeps, principal: Principal, sent: DraftToSave): Promise<SavedDraft | null> {
  const owner = ownerOf(principal);
  if (!isUuid(sent.id) || !isUuid(sent.window)) return null;
  if (Buffer.byteLength(JSON.stringify(sent.fields)) > maxBytes)
    throw new ServiceError("conflict", "The form is too long to be saved as a draft. You can still place it.");
  return deps.db.transaction(async (tx) => {
    await lockMember(tx, owner);
    const updated = await update(tx, deps, owner, sent);
    if (updated) return { id: sent.id, ...updated, isCopy: false };
    const [existing] = await tx.query<{ isOpen: boolean; expiresAt: Date }>(sql`
      SELECT ended_at IS NULL AND expires_at > ${deps.clock()} AS "isOpen", expires_at AS "expiresAt"
      FROM closing_drafts WHERE id = ${sent.id} AND ${ownedBy(owner)}`);
    if (existing ? !(existing.isOpen && sent.mayCopy) : sent.version > 0) return null;
    const isCopy = existing !== undefined;
    const id = isCopy ? newUuid() : sent.id;
    const inserted = await insert(tx, deps, owner, { ...sent, id }, existing?.expiresAt ?? null);
    return inserted && { ...inserted, isCopy };
  });
}

async function update(tx: Tx, { clock, cipher }: DraftDeps, owner: Owner, sent: DraftToSave) {
  const { id, version, window, fields, files } = sent;
  const now = clock();
  const [saved] = await tx.query<{ version: number; expiresAt: Date }>(sql`
    UPDATE closing_drafts SET fields = ${sealed(cipher, id, owner, fields)}, files = ${tokenHashes(files)}::bytea[],
      version = version + 1, saved_in = ${window}, updated_at = ${now}
    WHERE id = ${id} AND ${ownedBy(owner)} AND ended_at IS NULL AND expires_at > ${now}
      AND (version = ${version} OR saved_in = ${window})
    RETURNING version, expires_at AS "expiresAt"`);
  return saved;
}

/**
 * Inserts a draft.
 * @param end the expiry of the draft that is copied; null for a new draft
 * @returns null when a draft with this id exists already
 */
async function insert(
  tx: Tx,
  { clock, cipher }: DraftDeps,
  owner: Owner,
  { id, window, fields, files }: DraftToSave,
  end: Date | null,
) {
  const now = clock();
  const expiresAt = end ?? (await endOfNew(tx, owner, files, now));
  const open = await tx.query(sql`
    SELECT FROM closing_drafts WHERE ${ownedBy(owner)} AND ended_at IS NULL AND expires_at > ${now} LIMIT ${maxDrafts}`);
  if (open.length >= maxDrafts)
    throw new ServiceError(
      "conflict",
      `You have ${maxDrafts} closings that are not placed. Place or discard one of them: this one is not saved.`,
    );
  const rows = await tx.query(sql`
    INSERT INTO closing_drafts (id, partner_id, environment, user_id, fields, files, saved_in, created_at, updated_at,
      expires_at)
    VALUES (${id}, ${owner.partnerId}, ${owner.environment}, ${owner.userId}, ${sealed(cipher, id, owner, fields)},
      ${tokenHashes(files)}::bytea[], ${window}, ${now}, ${now}, ${expiresAt})
    ON CONFLICT DO NOTHING RETURNING 1`);
  return rows.length === 1 ? { id, version: 1, expiresAt } : null;
}

/** The expiry of a new draft: after 14 days, or earlier when the first of its uploaded files expires. */
async function endOfNew(tx: Tx, { partnerId }: Owner, files: readonly string[], now: Date): Promise<Date> {
  const filesEnd = await endOfUploads(tx, tokenHashes(files), { partnerId, form: "closing" }, now);
  return new Date(Math.min(now.getTime() + lifetimeMs, filesEnd?.getTime() ?? Number.POSITIVE_INFINITY));
}

const sealed = (cipher: ColumnCipher, id: string, owner: Owner, fields: Fields): Buffer =>
  cipher.encrypt(Buffer.from(JSON.stringify({ owner, fields })), id);

type Row = Omit<Draft, "fields"> & { fields: Buffer };

const columns = sql`id, version, fields, updated_at AS "updatedAt", expires_at AS "expiresAt"`;

/**
 * Decrypts a row.
 * @throws AlteredRecordError for an altered row, even if only its owner was changed
 * @throws MissingKeyError
 */
function opened({ cipher }: DraftDeps, owner: Owner, row: Row): Draft {
  const content = JSON.parse(cipher.decrypt(row.fields, row.id).toString()) as { owner: Owner; fields: Fields };
  const { partnerId, environment, userId } = content.owner;
  if (partnerId !== owner.partnerId || environment !== owner.environment || userId !== owner.userId)
    throw new AlteredRecordError(`draft ${row.id}`);
  return { ...row, fields: content.fields };
}

/** The member's open draft; undefined for any other id. */
export async function findDraft(deps: DraftDeps, principal: Principal, id: string): Promise<Draft | undefined> {
  const owner = ownerOf(principal);
  if (!isUuid(id)) return undefined;
  const [row] = await deps.db.query<Row>(sql`
    SELECT ${columns} FROM closing_drafts
    WHERE id = ${id} AND ${ownedBy(owner)} AND ended_at IS NULL AND expires_at > ${deps.clock()}`);
  return row && opened(deps, owner, row);
}

/** The member's open drafts, those that were saved last at the top. */
export async function draftsOf(deps: DraftDeps, principal: Principal): Promise<Draft[]> {
  const owner = ownerOf(principal);
  const rows = await deps.db.query<Row>(sql`
    SELECT ${columns} FROM closing_drafts
    WHERE ${ownedBy(owner)} AND ended_at IS NULL AND expires_at > ${deps.clock()}
    ORDER BY updated_at DESC, id LIMIT ${maxDrafts}`);
  return rows.flatMap((row) => {
    try {
      return [opened(deps, owner, row)];
    } catch (error) {
      if (!isAltered(error)) throw error;
      // Leaves out a row that was altered in the database, so that the page with the other drafts still works.
      return [];
    }
  });
}

/**
 * Ends the draft of a closing, in the transaction that places the closing. For a draft that was never saved, inserts an
 * ended row, so that a late save finds it and saves nothing.
 */
export async function endDraft(tx: Sql, { clock }: Pick<DraftDeps, "clock">, principal: Principal, id: string) {
  const owner = ownerOf(principal);
  if (!isUuid(id)) return;
  const now = clock();
  await tx.query(sql`
    INSERT INTO closing_drafts (id, partner_id, environment, user_id, saved_in, created_at, updated_at, expires_at, ended_at)
    VALUES (${id}, ${owner.partnerId}, ${owner.environment}, ${owner.userId}, ${id}, ${now}, ${now},
      ${new Date(now.getTime() + lifetimeMs)}, ${now})
    ON CONFLICT (id) DO UPDATE SET fields = NULL, files = '{}', ended_at = ${now}
    WHERE closing_drafts.partner_id = ${owner.partnerId} AND closing_drafts.environment = ${owner.environment}
      AND closing_drafts.user_id = ${owner.userId} AND closing_drafts.ended_at IS NULL`);
}

/** Discards a draft, and deletes its files. Files that another draft uses, or that an order has used, stay. */
export async function discardDraft({ db, clock }: DraftDeps, principal: Principal, id: string): Promise<void> {
  const owner = ownerOf(principal);
  if (!isUuid(id)) return;
  await db.transaction(async (tx) => {
    await lockMember(tx, owner);
    const [draft] = await tx.query<{ files: Buffer[] }>(sql`
      SELECT files FROM closing_drafts WHERE id = ${id} AND ${ownedBy(owner)} AND ended_at IS NULL FOR NO KEY UPDATE`);
    if (!draft) return;
    await tx.query(sql`
      UPDATE closing_drafts SET fields = NULL, files = '{}', ended_at = ${clock()} WHERE id = ${id}`);
    await release(tx, owner.partnerId, draft.files);
  });
}

/** Deletes a file that the saved form no longer names. Keeps the file if any open draft of the firm names it. */
export async function releaseFile({ db }: DraftDeps, principal: Principal, token: string): Promise<void> {
  const owner = ownerOf(principal);
  await db.transaction(async (tx) => {
    await lockMember(tx, owner);
    await release(tx, owner.partnerId, tokenHashes([token]));
  });
}

async function release(tx: Sql, partnerId: string, files: readonly Buffer[]) {
  if (files.length === 0) return;
  const used = await tx.query<{ file: Buffer }>(sql`
    SELECT unnest(files) AS file FROM closing_drafts
    WHERE partner_id = ${partnerId} AND ended_at IS NULL AND files && ${files}::bytea[]`);
  const unused = files.filter((file) => !used.some((each) => each.file.equals(file)));
  await releaseUploads(tx, unused, { partnerId, form: "closing" });
}

const maxAtOnce = 200;

/**
 * Deletes expired drafts with their files. Also deletes files that were uploaded over a day ago and that no draft
 * names.
 */
export async function sweepDrafts(db: Database, now: Date): Promise<void> {
  for (let isMore = true; isMore; ) {
    const due = await db.query<{ id: string; userId: string }>(sql`
      SELECT id, user_id AS "userId" FROM closing_drafts WHERE expires_at <= ${now} LIMIT ${maxAtOnce}`);
    for (const { id, userId } of due)
      await db.transaction(async (tx) => {
        await lockMember(tx, { userId });
        const gone = await tx.query<{ partnerId: string; files: Buffer[] }>(sql`
          DELETE FROM closing_drafts WHERE id = ${id} RETURNING partner_id AS "partnerId", files`);
        for (const { partnerId, files } of gone) await release(tx, partnerId, files);
      });
    isMore = due.length === maxAtOnce;
  }
  await releaseUnnamed(db, {
    form: "closing",
    before: new Date(now.getTime() - unnamedMs),
    isNamed: (file) =>
      sql`EXISTS (SELECT FROM closing_drafts d WHERE d.ended_at IS NULL AND d.files @> ARRAY[${file}])`,
  });
}
