import { auditLine } from "../../../kernel/audit/audit.ts";
import { changeRow, changeRowIf } from "../../../kernel/platform/database/change-rows.ts";
import type { Sql, Tx } from "../../../kernel/platform/database/database.ts";
import { type Statement, sql } from "../../../kernel/platform/database/sql.ts";
import { type StateMac, verified, writeStateMacs } from "../../../kernel/platform/database/state-mac.ts";
import { type ProtectedTable, stateRows } from "../../../kernel/platform/protected-data.ts";
import { derivedToken, deriveKey, type SecretBytes, tokenOfHash } from "../../../kernel/platform/secrets.ts";
import type { ProofType, QuizRules } from "../eligibility/online-rules.ts";

/** A check of a person's identity that a notary requested. All of its types of proof must be passed. */
export type IdentityCheck = {
  id: string;
  orderId: number;
  notaryId: string;
  /** The number of the person who is to appear, counted from 1. */
  person: number;
  needs: ProofType[];
  quiz: QuizRules | null;
  askedAt: Date;
  expiresAt: Date;
  state: "asked" | "passed" | "failed" | "expired";
  endedAt: Date | null;
};

export type ProofKind = "credential" | "questions";

/** One try of one type of proof. */
export type Proof = {
  id: string;
  checkId: string;
  kind: ProofKind;
  attempt: number;
  provider: string;
  reference: string | null;
  begunAt: Date;
  state: "begun" | "answering" | "passed" | "failed" | "inconclusive";
  endedAt: Date | null;
  correct: number | null;
  asked: number | null;
  seconds: number | null;
  /**
   * The provider's findings about a credential, encrypted. Null before the provider has any, after their deletion, and
   * for a quiz.
   */
  content: Buffer | null;
};

const checkState: StateMac = {
  table: sql`identity_checks`,
  key: sql`id`,
  mac: sql`row_mac`,
  covered: (c) => sql`${c}.id, ${c}.order_id, ${c}.notary_id, ${c}.person, ${c}.needs, ${c}.quiz,
    encode(${c}.token_sha256, 'hex'), extract(epoch FROM ${c}.asked_at), extract(epoch FROM ${c}.expires_at), ${c}.state,
    extract(epoch FROM ${c}.ended_at)`,
};

const proofState: StateMac = {
  table: sql`identity_proofs`,
  key: sql`id`,
  mac: sql`row_mac`,
  // The MAC covers only whether a row has content. The encryption already binds the content itself to its row.
  covered: (p) => sql`${p}.id, ${p}.check_id, ${p}.kind, ${p}.attempt, ${p}.provider, ${p}.reference,
    extract(epoch FROM ${p}.begun_at), ${p}.state, extract(epoch FROM ${p}.ended_at), ${p}.correct, ${p}.asked, ${p}.seconds,
    extract(epoch FROM ${p}.forgotten_at), ${p}.content IS NULL`,
};

/** The name from which the key that encrypts the findings is derived. */
export const foundColumn = "identity_proofs";

export const checkRows = stateRows(checkState);
export const identityProofRows: ProtectedTable = stateRows(proofState, {
  ciphers: [{ use: foundColumn, column: sql`content`, context: sql`id::text` }],
});

const checkColumns = sql`
  SELECT c.id, c.order_id AS "orderId", c.notary_id AS "notaryId", c.person, c.needs, c.quiz, c.asked_at AS "askedAt",
    c.expires_at AS "expiresAt", c.state, c.ended_at AS "endedAt", ${verified(checkState, sql`c`)}
  FROM identity_checks c`;

const proofColumns = sql`
  SELECT p.id, p.check_id AS "checkId", p.kind, p.attempt, p.provider, p.reference, p.begun_at AS "begunAt", p.state,
    p.ended_at AS "endedAt", p.correct, p.asked, p.seconds, p.content, ${verified(proofState, sql`p`)}
  FROM identity_proofs p`;

/** The identity checks of an order. If a person has several, the latest one comes last. */
export const checksOf = (db: Sql, orderId: number): Promise<IdentityCheck[]> =>
  db.query<IdentityCheck>(sql`${checkColumns} WHERE c.order_id = ${orderId} ORDER BY c.person, c.asked_at, c.id`);

/** A text that changes whenever an identity check of the order, or a try of such a check, changes its state. */
export async function checksVersion(db: Sql, orderId: number): Promise<string> {
  const [row] = await db.query<{ states: string | null }>(sql`
    SELECT string_agg(concat(c.id, c.state, p.id, p.state), ' ' ORDER BY c.id, p.id) AS states
    FROM identity_checks c LEFT JOIN identity_proofs p ON p.check_id = c.id WHERE c.order_id = ${orderId}`);
  return row?.states ?? "";
}

const oneCheck = async (db: Sql, where: Statement): Promise<IdentityCheck | undefined> =>
  (await db.query<IdentityCheck>(sql`${checkColumns} WHERE ${where}`))[0];

export const findCheck = (db: Sql, id: string) => oneCheck(db, sql`c.id = ${id}`);
export const checkOfToken = (db: Sql, sha256: Buffer) => oneCheck(db, sql`c.token_sha256 = ${sha256}`);

/**
 * Locks the check until the transaction ends. A transaction that also locks the check's order must lock the order
 * first.
 */
export async function lockCheck(tx: Tx, id: string): Promise<IdentityCheck | undefined> {
  await tx.query(sql`SELECT FROM identity_checks WHERE id = ${id} FOR NO KEY UPDATE`);
  return findCheck(tx, id);
}

export type NewCheck = Omit<IdentityCheck, "state" | "endedAt"> & { tokenSha256: Buffer };

export async function insertCheck(tx: Tx, check: NewCheck): Promise<void> {
  const { id, orderId, notaryId, person, needs, quiz, tokenSha256, askedAt, expiresAt } = check;
  await tx.query(sql`
    INSERT INTO identity_checks (id, order_id, notary_id, person, needs, quiz, token_sha256, asked_at, expires_at)
    VALUES (${id}, ${orderId}, ${notaryId}, ${person}, ${needs}::text[], ${quiz === null ? null : JSON.stringify(quiz)}::jsonb,
      ${tokenSha256}, ${askedAt}, ${expiresAt})`);
  await writeStateMacs(tx, checkState, sql`id = ${id}`);
}

/** Ends a check with this state. The caller must have locked the check with `lockCheck`. */
export const endCheck = (tx: Tx, id: string, state: IdentityCheck["state"], at: Date): Promise<void> =>
  changeRow(tx, checkState, id, sql`state = ${state}, ended_at = ${at}`);

/** Ends an open check as expired, so that its link no longer works. The transaction must have locked the order. */
export async function expireCheck(
  tx: Tx,
  { id, orderId, person }: Pick<IdentityCheck, "id" | "orderId" | "person">,
  { partnerId, at }: { partnerId: string; at: Date },
): Promise<void> {
  await lockCheck(tx, id);
  await endCheck(tx, id, "expired", at);
  const detail = { checkId: id, person };
  await tx.query(auditLine({ at, action: "identity.expired", actor: "system", partnerId, orderId, detail }));
}

/** The tries of these checks. The tries of one type of proof are in the order in which they were made. */
export const proofsOf = (db: Sql, checkIds: readonly string[]): Promise<Proof[]> =>
  db.query<Proof>(
    sql`${proofColumns} WHERE p.check_id = ANY (${checkIds}::uuid[]) ORDER BY p.check_id, p.kind, p.attempt`,
  );

/**
 * The times, from `since` on, at which this person failed a quiz for the order. Counts only checks that this notary
 * requested.
 */
export async function failedQuizzes(
  db: Sql,
  check: Pick<IdentityCheck, "orderId" | "notaryId" | "person">,
  since: Date,
) {
  const rows = await db.query<{ endedAt: Date }>(sql`
    SELECT p.ended_at AS "endedAt", ${verified(proofState, sql`p`)}
    FROM identity_proofs p JOIN identity_checks c ON c.id = p.check_id
    WHERE c.order_id = ${check.orderId} AND c.notary_id = ${check.notaryId} AND c.person = ${check.person}
      AND p.kind = 'questions' AND p.state = 'failed' AND p.ended_at > ${since} ORDER BY p.ended_at`);
  return rows.map(({ endedAt }) => endedAt);
}

export async function proofOfReference(db: Sql, provider: string, reference: string): Promise<Proof | undefined> {
  const [found] = await db.query<Proof>(sql`
    ${proofColumns} WHERE p.provider = ${provider} AND p.reference = ${reference}`);
  return found;
}

export async function findProof(db: Sql, id: string): Promise<Proof | undefined> {
  const [found] = await db.query<Proof>(sql`${proofColumns} WHERE p.id = ${id}`);
  return found;
}

type NewProof = Pick<Proof, "id" | "checkId" | "kind" | "attempt" | "provider" | "begunAt">;

/** Stores a new try. The caller must have locked its check with `lockCheck`. */
export async function insertProof(tx: Tx, { id, checkId, kind, attempt, provider, begunAt }: NewProof): Promise<void> {
  await tx.query(sql`
    INSERT INTO identity_proofs (id, check_id, kind, attempt, provider, begun_at)
    VALUES (${id}, ${checkId}, ${kind}, ${attempt}, ${provider}, ${begunAt})`);
  await writeStateMacs(tx, proofState, sql`id = ${id}`);
}

/** How a try has ended. */
export type ProofEnd = {
  state: "passed" | "failed" | "inconclusive";
  at: Date;
  correct?: number;
  asked?: number;
  seconds?: number;
  content?: Buffer;
};

/**
 * Ends a try. A try that has already ended stays unchanged. The caller must have locked the try's check with
 * `lockCheck`.
 * @returns false when the try has already ended
 */
export async function endProof(tx: Tx, id: string, end: ProofEnd): Promise<boolean> {
  const { state, at, correct = null, asked = null, seconds = null, content = null } = end;
  return changeRowIf(
    tx,
    proofState,
    id,
    sql`state = ${state}, ended_at = ${at}, correct = ${correct}, asked = ${asked}, seconds = ${seconds}, content = ${content}`,
    sql`state IN ('begun', 'answering')`,
  );
}

/**
 * Changes a try in the state `begun`. A try in another state stays unchanged. The caller must have locked the try's
 * check with `lockCheck`.
 */
export async function setProof(tx: Tx, id: string, set: { reference: string } | "answering"): Promise<void> {
  const what = set === "answering" ? sql`state = 'answering'` : sql`reference = ${set.reference}`;
  await changeRowIf(tx, proofState, id, what, sql`state = 'begun'`);
}

/** Deletes this service's copy of the findings about a credential, after the provider has deleted its own. */
export const forgetProof = (tx: Tx, id: string, at: Date): Promise<void> =>
  changeRow(tx, proofState, id, sql`content = NULL, forgotten_at = ${at}`);

/** Derives the token of a check's link from these secrets. */
export const tokenUnder = (secrets: SecretBytes, checkId: string): string =>
  derivedToken(deriveKey(secrets, "identity-link"), checkId);

/**
 * The token of a check's link, derived again. Tries each of the secrets until the token has the hash `sha256`;
 * undefined if none gives it.
 */
export const linkTokenOf = (secrets: SecretBytes, checkId: string, sha256: Buffer): string | undefined =>
  tokenOfHash(secrets, sha256, (key) => tokenUnder(key, checkId));

/** The hash of the token of a check's link. */
export const tokenSha256Of = async (db: Sql, id: string): Promise<Buffer | undefined> =>
  (await db.query<{ sha256: Buffer }>(sql`SELECT token_sha256 AS sha256 FROM identity_checks WHERE id = ${id}`))[0]
    ?.sha256;
