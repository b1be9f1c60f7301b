/** The rows of live sessions: the session, its people, and its events. */
import { hash } from "node:crypto";
import { canonicalJson, type JsonObject } from "@signsealship/evidence/manifest";
import { changeRow } from "../../../kernel/platform/database/change-rows.ts";
import type { Sql, Tx } from "../../../kernel/platform/database/database.ts";
import { nothing, type Statement, sql } from "../../../kernel/platform/database/sql.ts";
import { type StateMac, verified, writeStateMacs } from "../../../kernel/platform/database/state-mac.ts";
import { AlteredRecordError } from "../../../kernel/platform/errors.ts";
import { type MacTable, stateRows } from "../../../kernel/platform/protected-data.ts";
import type { Members, RowMac } from "../../../kernel/platform/row-mac.ts";
import { tokenSha256 } from "../../../kernel/platform/secrets.ts";
import { joinOrder } from "../../../orders/order/order.ts";
import type { Place } from "../places.ts";
import type { SheetOutcome } from "../sheets/store.ts";

/** A meeting of a notary and the signers of an order by audio and video. */
export type LiveSession = {
  /** The id of the session, which the media engine and the recording use as well. */
  id: string;
  orderId: number;
  taskId: number;
  notaryId: string;
  sheetId: string;
  state: "open" | "live" | "held" | "signed" | "ended";
  outcome: SheetOutcome | null;
  /** True if the notary has paused the session. */
  isPaused: boolean;
  openedAt: Date;
  liveAt: Date | null;
  endedAt: Date | null;
  headPosition: number;
  headSha256: string | null;
};

/** A person's answer to the request to be recorded. */
type RecordingConsent = {
  agreed: boolean;
  version: string;
  language: string;
  textSha256: string;
  at: string;
  /** The numbers of the observers who were invited when the person answered. Absent when there were none. */
  observers?: readonly number[];
  /**
   * The person confirmed that nobody coerces them. Absent after a refusal, and in answers from releases that did not
   * ask this.
   */
  own?: true;
  /**
   * The place that the person stated. Absent after a refusal, and in answers from releases that stored the place as one
   * text.
   */
  where?: Place;
};

export type LivePerson = {
  id: string;
  sessionId: string;
  n: number;
  name: string;
  role: "signer" | "credible_witness" | "interpreter" | "witness" | "observer";
  /**
   * The email address of a third person. The order states the address and the language of a signer, so both are null
   * for a signer.
   */
  email: string | null;
  language: string | null;
  /** For a credible witness, the number of the signer for whom the witness vouches; null for other people. */
  forSigner: number | null;
  tokenSha256: Buffer;
  codeId: string | null;
  codeSentAt: Date | null;
  codesSent: number;
  failures: number;
  browserSha256: Buffer | null;
  place: string | null;
  consent: RecordingConsent | null;
  waitingAt: Date | null;
  admittedAt: Date | null;
};

export const sessionState: StateMac = {
  table: sql`live_sessions`,
  key: sql`id`,
  mac: sql`row_mac`,
  covered: (
    s,
  ) => sql`${s}.id, ${s}.order_id, ${s}.task_id, ${s}.notary_id, ${s}.sheet_id, ${s}.state, ${s}.outcome, ${s}.is_paused,
    extract(epoch FROM ${s}.opened_at), extract(epoch FROM ${s}.live_at), extract(epoch FROM ${s}.ended_at),
    ${s}.head_position, ${s}.head_sha256`,
};

/**
 * The MAC covers every column; otherwise a changed hash could admit another browser to a room.
 *
 * For third persons, one value has the name together with the columns that only third persons have. So MACs that were
 * computed before these columns existed stay valid.
 */
const personState: StateMac = {
  table: sql`live_people`,
  key: sql`id`,
  mac: sql`row_mac`,
  covered: (p) => sql`${p}.id, ${p}.session_id, ${p}.n,
    CASE WHEN ${p}.role = 'signer' THEN ${p}.name
      ELSE jsonb_build_array(${p}.name, ${p}.role, ${p}.email, ${p}.language, ${p}.for_signer)::text END, encode(${p}.token_sha256, 'hex'), ${p}.code_id,
    extract(epoch FROM ${p}.code_sent_at), ${p}.codes_sent, ${p}.failures, encode(${p}.browser_sha256, 'hex'), ${p}.place, ${p}.consent,
    extract(epoch FROM ${p}.waiting_at), extract(epoch FROM ${p}.admitted_at)`,
};

type EventFacts = { sessionId: string; position: number; sha256: string };

const eventMembers = ({ sessionId, position, sha256 }: EventFacts): Members => ({ sessionId, position, sha256 });

const eventRows: MacTable<EventFacts> = {
  table: sql`live_events`,
  key: sql`id`,
  mac: sql`row_mac`,
  rows: sql`SELECT id AS key, session_id AS "sessionId", position, sha256, row_mac AS mac FROM live_events`,
  members: eventMembers,
};

export const liveTables = [stateRows(sessionState), stateRows(personState), eventRows];

async function sessionsWhere(db: Sql, where: Statement, lock: Statement = nothing): Promise<LiveSession[]> {
  return db.query<LiveSession>(sql`
    SELECT id, order_id AS "orderId", task_id AS "taskId", notary_id AS "notaryId", sheet_id AS "sheetId", state, outcome,
      is_paused AS "isPaused", opened_at AS "openedAt", live_at AS "liveAt", ended_at AS "endedAt", head_position AS "headPosition",
      head_sha256 AS "headSha256", ${verified(sessionState, sql`live_sessions`)}
    FROM live_sessions WHERE ${where} ORDER BY opened_at, id ${lock}`);
}

export async function findLive(db: Sql, id: string): Promise<LiveSession | undefined> {
  return (await sessionsWhere(db, sql`id = ${id}`))[0];
}

/** Locks a session until the transaction ends. The caller must have locked the order. */
export async function lockLive(tx: Tx, id: string): Promise<LiveSession | undefined> {
  return (await sessionsWhere(tx, sql`id = ${id}`, sql`FOR NO KEY UPDATE`))[0];
}

/** The session of a task that has not ended, whether it has begun or not; undefined for none. */
export async function openLiveOf(db: Sql, taskId: number): Promise<LiveSession | undefined> {
  return (await sessionsWhere(db, sql`task_id = ${taskId} AND state <> 'ended'`))[0];
}

/** The sessions of an order, the latest last. */
export const liveSessionsOf = (db: Sql, orderId: number): Promise<LiveSession[]> =>
  sessionsWhere(db, sql`order_id = ${orderId}`);

/**
 * Finds the sessions that this node should close. Either their act has ended, or their order no longer waits for a
 * notary and the notary has not signed.
 */
export const sessionsToEnd = (db: Sql, node: string): Promise<{ id: string }[]> =>
  db.query(sql`
    SELECT l.id FROM live_sessions l JOIN notary_sheets n ON n.id = l.sheet_id ${joinOrder(sql`l.order_id`)}
    WHERE l.state <> 'ended' AND (n.outcome IS NOT NULL OR l.state <> 'signed' AND o.status <> 'NotarizationPending') AND (l.node IS NULL OR l.node = ${node} OR l.lease_until < clock_timestamp())
    LIMIT 50`);

/**
 * Finds abandoned sessions. Either their service process ended 30 minutes ago and no node has continued them, or they
 * were opened a day ago and never began.
 */
export const leftSessions = (db: Sql, now: Date): Promise<{ id: string }[]> =>
  db.query(sql`
    SELECT id FROM live_sessions WHERE state IN ('live', 'held', 'signed') AND (lease_until IS NULL OR lease_until < clock_timestamp() - interval '30 minutes')
      OR state = 'open' AND opened_at < ${now}::timestamptz - interval '1 day' ORDER BY opened_at LIMIT 50`);

/** The number of sessions in each state except `ended`. */
export async function sessionsByState(db: Sql): Promise<ReadonlyMap<string, number>> {
  const rows = await db.query<{ state: string; count: number }>(sql`
    SELECT state, count(s.id)::int AS count FROM unnest(ARRAY['open', 'live', 'held', 'signed']) AS state
    LEFT JOIN (SELECT id, state FROM live_sessions WHERE state <> 'ended') s USING (state) GROUP BY state`);
  return new Map(rows.map(({ state, count }) => [state, count]));
}

type NewSession = Pick<LiveSession, "id" | "orderId" | "taskId" | "notaryId" | "sheetId" | "openedAt">;

export async function insertLive(tx: Tx, session: NewSession): Promise<void> {
  const { id, orderId, taskId, notaryId, sheetId, openedAt } = session;
  await tx.query(sql`
    INSERT INTO live_sessions (id, order_id, task_id, notary_id, sheet_id, opened_at)
    VALUES (${id}, ${orderId}, ${taskId}, ${notaryId}, ${sheetId}, ${openedAt})`);
  await writeStateMacs(tx, sessionState, sql`id = ${id}`);
}

/** Changes a session. The caller must have locked it. */
export async function updateLive(tx: Tx, id: string, set: Statement): Promise<void> {
  await tx.query(sql`UPDATE live_sessions SET ${set} WHERE id = ${id}`);
  await writeStateMacs(tx, sessionState, sql`id = ${id}`);
}

async function peopleWhere(db: Sql, where: Statement, lock: Statement = nothing): Promise<LivePerson[]> {
  return db.query<LivePerson>(sql`
    SELECT id, session_id AS "sessionId", n, name, role, email, language, for_signer AS "forSigner", token_sha256 AS "tokenSha256", code_id AS "codeId", code_sent_at AS "codeSentAt",
      codes_sent AS "codesSent", failures, browser_sha256 AS "browserSha256", place, consent, waiting_at AS "waitingAt",
      admitted_at AS "admittedAt", ${verified(personState, sql`live_people`)}
    FROM live_people WHERE ${where} ORDER BY n ${lock}`);
}

export const livePeople = (db: Sql, sessionId: string): Promise<LivePerson[]> =>
  peopleWhere(db, sql`session_id = ${sessionId}`);

export async function personOfToken(db: Sql, token: string): Promise<LivePerson | undefined> {
  return (await peopleWhere(db, sql`token_sha256 = ${tokenSha256(token)}`))[0];
}

export async function findPerson(db: Sql, id: string): Promise<LivePerson | undefined> {
  return (await peopleWhere(db, sql`id = ${id}`))[0];
}

/** Locks a person of a session. The caller must have locked the session. */
export async function lockPerson(tx: Tx, id: string): Promise<LivePerson | undefined> {
  return (await peopleWhere(tx, sql`id = ${id}`, sql`FOR NO KEY UPDATE`))[0];
}

type NewPerson = Pick<LivePerson, "id" | "sessionId" | "n" | "name"> & { token: string } & Partial<
    Pick<LivePerson, "role" | "email" | "language" | "forSigner">
  >;

/** Adds a person to a session: a signer, unless another role is given. */
export async function insertPerson(tx: Tx, { id, sessionId, n, name, token, ...third }: NewPerson): Promise<void> {
  const { role = "signer", email = null, language = null, forSigner = null } = third;
  await tx.query(sql`
    INSERT INTO live_people (id, session_id, n, name, token_sha256, role, email, language, for_signer)
    VALUES (${id}, ${sessionId}, ${n}, ${name}, ${tokenSha256(token)}, ${role}, ${email}, ${language}, ${forSigner})`);
  await writeStateMacs(tx, personState, sql`id = ${id}`);
}

export const deletePerson = (tx: Tx, id: string) => tx.query(sql`DELETE FROM live_people WHERE id = ${id}`);

/** The values of a person who must enter again, in any browser: with a new code, a consent, and an admission. */
export const unbound = sql`browser_sha256 = NULL, code_id = NULL, code_sent_at = NULL, codes_sent = 0, admitted_at = NULL, waiting_at = NULL, consent = NULL`;

/**
 * Changes a person of a session.
 * @throws ServiceError `unavailable` for a person whose row has an invalid MAC
 */
export const updatePerson = (tx: Tx, id: string, set: Statement): Promise<void> => changeRow(tx, personState, id, set);

/** An event in a session. `person` is the person's name in the media engine. */
type LiveEvent = {
  readonly name: string;
  readonly by: string;
  readonly person: string | null;
  readonly detail: unknown;
};

/** Appends an event to the record of a session. The transaction must have locked the session. */
export async function appendEvent(
  tx: Tx,
  rowMac: RowMac,
  { id, headPosition, headSha256 }: LiveSession,
  { at, ...event }: LiveEvent & { at: Date },
): Promise<void> {
  const position = headPosition + 1;
  const record = canonicalJson({
    ...(event as unknown as JsonObject),
    format: "signsealship session 1",
    session: id,
    position,
    previousSha256: headSha256,
    at: at.toISOString(),
  });
  const sha256 = hash("sha256", record);
  await tx.query(sql`
    INSERT INTO live_events (session_id, position, record, sha256, row_mac)
    VALUES (${id}, ${position}, ${record}, ${sha256}, ${rowMac.of("live_events", eventMembers({ sessionId: id, position, sha256 }))})`);
  await updateLive(tx, id, sql`head_position = ${position}, head_sha256 = ${sha256}`);
}

type Stored = { at: string } & LiveEvent;

/** The events of a session, oldest first. @throws AlteredRecordError */
export async function eventsOf(db: Sql, rowMac: RowMac, session: LiveSession): Promise<Stored[]> {
  const rows = await db.query<{ position: number; record: string; sha256: string; mac: Buffer | null }>(sql`
    SELECT position, record, sha256, row_mac AS mac FROM live_events WHERE session_id = ${session.id} ORDER BY position`);
  let before: string | null = null;
  return rows.map(({ position, record, sha256, mac }, index) => {
    const facts = { sessionId: session.id, position, sha256 };
    const isOurs = rowMac.holds("live_events", eventMembers(facts), mac) && hash("sha256", record) === sha256;
    const event = isOurs ? (JSON.parse(record) as Stored & { previousSha256: string | null }) : null;
    if (event === null || position !== index + 1 || event.previousSha256 !== before)
      throw new AlteredRecordError(`event ${index + 1} of session ${session.id}`);
    before = sha256;
    return event;
  });
}

/** The event of a session that ended because it could not be recorded any longer. */
export const unrecorded = "recording_stopped";

/** True if a session ended because it could not be recorded any longer. */
export async function isUnrecorded(
  { db, rowMac }: { db: Sql; rowMac: RowMac },
  session: LiveSession,
): Promise<boolean> {
  if (session.outcome !== "technical") return false;
  return (await eventsOf(db, rowMac, session)).some(({ name }) => name === unrecorded);
}
