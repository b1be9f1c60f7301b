import type { StoredBlobs } from "../../firms/partners/partners.ts";
import type { Environment, Owner } from "../../kernel/identity/identity.ts";
import { dayMs } from "../../kernel/platform/clock.ts";
import { type ColumnCipher, columnCipher } from "../../kernel/platform/column-cipher.ts";
import { changeRowIf, changeRows } from "../../kernel/platform/database/change-rows.ts";
import type { Database, Sql, Tx } from "../../kernel/platform/database/database.ts";
import { nothing, type Statement, sql } from "../../kernel/platform/database/sql.ts";
import { type StateMac, verified, writeStateMacs } from "../../kernel/platform/database/state-mac.ts";
import { AlteredRecordError } from "../../kernel/platform/errors.ts";
import type { Language } from "../../kernel/platform/languages.ts";
import { stateRows } from "../../kernel/platform/protected-data.ts";
import type { SecretBytes } from "../../kernel/platform/secrets.ts";
import type { TemplateUse } from "../order/order.ts";
import { joinVersion, type UseOfVersion } from "../templates/templates.ts";
import type { Answers, Question } from "./pdf/question.ts";

const uses = { form: "fill_form", answers: "fill_answers" } as const;

/** The columns of a fill that its MAC covers. A trigger forbids ending a fill twice and changing its firm. */
export const fillState: StateMac = {
  table: sql`fills`,
  key: sql`id`,
  mac: sql`row_mac`,
  covered: (
    r,
  ) => sql`${r}.id, ${r}.partner_id, ${r}.environment, ${r}.template_id, ${r}.version, ${r}.state, ${r}.revision, ${r}.mails,
    ${r}.created_by, extract(epoch FROM ${r}.created_at), extract(epoch FROM ${r}.expires_at), extract(epoch FROM ${r}.ended_at)`,
};

/**
 * Counts the size of each open fill's form toward the firm's storage, because the finished fill will store a filled-in
 * copy.
 */
export const storedForms: StoredBlobs = (partnerId) => sql`
  SELECT v.blob_key, v.bytes FROM fills f ${joinVersion} WHERE f.partner_id = ${partnerId} AND f.state = 'open'`;

/** SQL condition: true if an open fill uses this template version. */
export const isOpenInFills: UseOfVersion = ({ templateId, version }) =>
  sql`EXISTS (SELECT FROM fills f WHERE f.template_id = ${templateId} AND f.version = ${version} AND f.state = 'open')`;

export const fillTable = stateRows(fillState, {
  ciphers: [
    { use: uses.form, column: sql`form`, context: sql`id::text` },
    { use: uses.answers, column: sql`answers`, context: sql`id::text` },
  ],
});

/**
 * The parts of a fill that never change. They contain the owner, so a row that an attacker copied to another firm is
 * rejected.
 */
export type FillForm = {
  readonly owner: Owner;
  readonly use: TemplateUse;
  /** True if `use` names the operator's form of a catalog document. Otherwise it names a template of the firm. */
  readonly isCatalogForm?: boolean;
  /** The template's name. */
  readonly title: string;
  readonly slug: string | null;
  readonly questions: readonly Question[];
  readonly person: { readonly name: string | null; readonly email: string | null; readonly language: Language };
  /** The URL that the last page links to; null for none. */
  readonly returnUrl: string | null;
};

type FillState = "open" | "completed" | "canceled";

type Row = {
  id: string;
  partnerId: string;
  environment: Environment;
  state: FillState;
  form: Buffer;
  answers: Buffer | null;
  revision: number;
  mails: number;
  createdAt: Date;
  expiresAt: Date;
  endedAt: Date | null;
};

export type Fill = Omit<Row, "form" | "answers" | "partnerId" | "environment"> &
  FillForm & { readonly answers: Answers };

export type FillCiphers = { readonly form: ColumnCipher; readonly answers: ColumnCipher };

export const fillCiphers = (secrets: SecretBytes): FillCiphers => ({
  form: columnCipher(secrets, uses.form),
  answers: columnCipher(secrets, uses.answers),
});

const columns: Statement = sql`f.id, f.partner_id AS "partnerId", f.environment, f.state, f.form, f.answers, f.revision, f.mails,
  f.created_at AS "createdAt", f.expires_at AS "expiresAt", f.ended_at AS "endedAt", ${verified(fillState, sql`f`)}`;

const sealedJson = (cipher: ColumnCipher, content: object, id: string): Buffer =>
  cipher.encrypt(Buffer.from(JSON.stringify(content)), id);
const openedJson = <Content>(cipher: ColumnCipher, sealed: Buffer, id: string): Content =>
  JSON.parse(cipher.decrypt(sealed, id).toString());

/** The stored form of the answers: pairs of field name and texts, because JSON has no Map. */
type AnswerList = [string, string[]][];

/** Decrypts the row of a fill. @throws AlteredRecordError, MissingKeyError */
function opened(ciphers: FillCiphers, { form, answers, partnerId, environment, ...row }: Row): Fill {
  const content = openedJson<FillForm>(ciphers.form, form, row.id);
  if (content.owner.partnerId !== partnerId || content.owner.environment !== environment)
    throw new AlteredRecordError(`fill ${row.id}`);
  return {
    ...row,
    ...content,
    answers: new Map(answers ? openedJson<AnswerList>(ciphers.answers, answers, row.id) : []),
  };
}

type Reading = { db: Sql; ciphers: FillCiphers };

const ownedBy = ({ partnerId, environment }: Owner): Statement =>
  sql`f.partner_id = ${partnerId} AND f.environment = ${environment}`;

/**
 * Finds a fill by its id.
 * @param owner finds only a fill of this owner; null for the holder of the link
 */
export async function findFill({ db, ciphers }: Reading, id: string, owner: Owner | null): Promise<Fill | undefined> {
  const [row] = await db.query<Row>(sql`
    SELECT ${columns} FROM fills f WHERE f.id = ${id}${owner ? sql` AND ${ownedBy(owner)}` : nothing}`);
  return row && opened(ciphers, row);
}

export async function listFills(
  { db, ciphers }: Reading,
  owner: Owner,
  { after, limit }: { after: string | null; limit: number },
): Promise<Fill[]> {
  const rows = await db.query<Row>(sql`
    SELECT ${columns} FROM fills f WHERE ${ownedBy(owner)}
    ${after === null ? nothing : sql`AND (f.created_at, f.id) < (SELECT created_at, id FROM fills WHERE id = ${after})`}
    ORDER BY f.created_at DESC, f.id DESC LIMIT ${limit}`);
  return rows.map((row) => opened(ciphers, row));
}

export async function isOwnFill(db: Sql, id: string, owner: Owner): Promise<boolean> {
  return (await db.query(sql`SELECT FROM fills f WHERE f.id = ${id} AND ${ownedBy(owner)}`)).length === 1;
}

/** Counts the firm's open fills. A concurrent call waits until this transaction ends. */
export async function countOpen(tx: Tx, owner: Owner, at: Date): Promise<number> {
  const { partnerId, environment } = owner;
  await tx.query(sql`SELECT pg_advisory_xact_lock(hashtextextended(${`fills ${partnerId} ${environment}`}, 0))`);
  const [row] = await tx.query<{ count: number }>(sql`
    SELECT count(*)::int AS count FROM fills f WHERE ${ownedBy(owner)} AND f.state = 'open' AND f.expires_at > ${at}`);
  return row?.count ?? 0;
}

export type NewFill = FillForm & { id: string; answers: Answers; createdBy: string; createdAt: Date; expiresAt: Date };

export async function insertFill(tx: Tx, ciphers: FillCiphers, fill: NewFill): Promise<void> {
  const { id, answers, createdBy, createdAt, expiresAt, ...form } = fill;
  const { owner, use } = form;
  await tx.query(sql`
    INSERT INTO fills (id, partner_id, environment, template_id, version, form, answers, created_by, created_at, expires_at)
    VALUES (${id}, ${owner.partnerId}, ${owner.environment}, ${use.templateId}, ${use.version},
      ${sealedJson(ciphers.form, form, id)}, ${sealedJson(ciphers.answers, [...answers], id)}, ${createdBy}, ${createdAt}, ${expiresAt})`);
  await writeStateMacs(tx, fillState, sql`id = ${id}`);
}

export type Saved = { id: string; answers: Answers; revision: number | null; now: Date };

/**
 * Stores new answers. A `revision` must equal the stored one; null overwrites any revision.
 * @returns false when another window has stored newer answers, or the fill has ended
 */
export const saveAnswers = (
  { db, ciphers }: { db: Database; ciphers: FillCiphers },
  { id, answers, revision, now }: Saved,
): Promise<boolean> =>
  db.transaction((tx) =>
    changeRowIf(
      tx,
      fillState,
      id,
      sql`answers = ${sealedJson(ciphers.answers, [...answers], id)}, revision = revision + 1`,
      openAt(now, revision),
    ),
  );

/** SQL condition: the fill is open. @param revision the revision that its answers must have; null for any */
const openAt = (now: Date, revision: number | null): Statement =>
  sql`state = 'open' AND expires_at > ${now} ${revision === null ? nothing : sql`AND revision = ${revision}`}`;

/**
 * Ends an open fill and deletes its answers.
 * @returns false when the fill had already ended, or its answers are no longer those of `revision`
 */
export const endFill = (
  tx: Tx,
  id: string,
  { state, at, revision = null }: { state: "completed" | "canceled"; at: Date; revision?: number | null },
): Promise<boolean> =>
  changeRowIf(tx, fillState, id, sql`state = ${state}, answers = NULL, ended_at = ${at}`, openAt(at, revision));

/**
 * Counts one more mail for an open fill.
 * @returns false when the maximum number of mails was already sent, or the fill has ended
 */
export const countMail = (tx: Tx, id: string, max: number, now: Date): Promise<boolean> =>
  changeRowIf(tx, fillState, id, sql`mails = mails + 1`, sql`mails < ${max} AND ${openAt(now, null)}`);

/**
 * A fill is deleted this long after its end. Until then its firm can see the outcome. An order can use its document
 * only for a shorter time.
 */
const retentionMs = 30 * dayMs;

const batchSize = 500;

/**
 * Ends fills that expired unfinished, and deletes their answers. Deletes fills with their personal data 30 days after
 * their end. Works in batches.
 */
export async function sweepEndedFills(db: Database, now: Date, stopping?: AbortSignal): Promise<void> {
  const due = sql`id IN (
    SELECT id FROM fills WHERE state = 'open' AND expires_at <= ${now} ORDER BY expires_at LIMIT ${batchSize})`;
  const end = sql`state = 'canceled', answers = NULL, ended_at = ${now}`;
  let ended = batchSize;
  while (ended === batchSize && !stopping?.aborted)
    ended = await db.transaction((tx) => changeRows(tx, fillState, due, end));
  await db.query(sql`DELETE FROM fills WHERE state <> 'open' AND ended_at <= ${new Date(now.getTime() - retentionMs)}`);
}
