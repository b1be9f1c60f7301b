/**
 * Messages that people wrote in a session. They are part of its recording: encrypted with the recording's key, and
 * deleted with the recording.
 */
import { canonicalJson } from "@signsealship/evidence/manifest";
import { minuteMs } from "../../../kernel/platform/clock.ts";
import { type ColumnCipher, columnCipher } from "../../../kernel/platform/column-cipher.ts";
import type { Sql, Tx } from "../../../kernel/platform/database/database.ts";
import { sql } from "../../../kernel/platform/database/sql.ts";
import {
  isAltered,
  nullIfAltered,
  type StateMac,
  verified,
  writeStateMacs,
} from "../../../kernel/platform/database/state-mac.ts";
import { AlteredRecordError, ServiceError } from "../../../kernel/platform/errors.ts";
import { newUuid } from "../../../kernel/platform/ids.ts";
import { stateRows } from "../../../kernel/platform/protected-data.ts";
import type { Random } from "../../../kernel/platform/random.ts";
import { type SecretBytes, secretBytes } from "../../../kernel/platform/secrets.ts";
import { sha256Hex } from "../../../providers/providers.ts";
import { type Recording, recordingOf, recordKeyOf } from "./store.ts";

/** A message as people in the session see it. `person` is the session's id of the writer, such as `signer-1`. */
export type Message = { readonly n: number; readonly at: string; readonly person: string; readonly text: string };

export type NewMessage = { readonly at: Date; readonly person: string; readonly text: string };

export type StoredMessage = Message & {
  /** The message's line in the exported file of messages: canonical JSON of the message and a random salt. */
  readonly line: string;
  readonly sha256: string;
};

const messageState: StateMac = {
  table: sql`recording_messages`,
  key: sql`id`,
  mac: sql`row_mac`,
  covered: (m) =>
    sql`${m}.id, ${m}.recording_id, ${m}.n, ${m}.person, extract(epoch FROM ${m}.written_at), ${m}.sha256`,
};

export const messageRows = stateRows(messageState);

const maxMessages = 500;
const maxInMinute = 20;

const cipherOf = async (db: Sql, secrets: SecretBytes, id: string): Promise<ColumnCipher> =>
  columnCipher(secretBytes(await recordKeyOf(db, secrets, id)), "recording_messages.line");

const contextOf = (id: string, n: number): string => `${id} ${n}`;

type Writing = { secrets: SecretBytes; random: Pick<Random, "bytes"> };

/**
 * Adds a message to a recording. The transaction must have locked the session, so that message numbers have no gaps.
 * @throws ServiceError `conflict` while nothing is recorded and after 500 messages; `rate_limited` after 20 messages of
 * one person in a minute
 */
export async function insertMessage(
  tx: Tx,
  { secrets, random }: Writing,
  session: string,
  { at, person, text }: NewMessage,
): Promise<StoredMessage> {
  const recording = await recordingOf(tx, session);
  if (!recording || recording.endedAt)
    throw new ServiceError("conflict", "Nothing is recorded now, so no message is passed on.");
  const { id } = recording;
  const [counted] = await tx.query<{ all: number; recent: number }>(sql`
    SELECT count(*)::int AS all,
      count(*) FILTER (WHERE person = ${person} AND written_at > ${new Date(at.getTime() - minuteMs)})::int AS recent
    FROM recording_messages WHERE recording_id = ${id}`);
  const { all, recent } = counted ?? { all: 0, recent: 0 };
  if (all >= maxMessages) throw new ServiceError("conflict", `A session has at most ${maxMessages} messages.`);
  if (recent >= maxInMinute)
    throw new ServiceError("rate_limited", `At most ${maxInMinute} messages in a minute. Wait a moment.`);
  const message: Message = { n: all + 1, at: at.toISOString(), person, text };
  // The hash of this line is not deleted with the recording. Without the salt, a short text could be guessed from it.
  const line = canonicalJson({ ...message, salt: random.bytes(16).toString("hex") });
  const sha256 = sha256Hex(line);
  const sealed = (await cipherOf(tx, secrets, id)).encrypt(Buffer.from(line), contextOf(id, message.n));
  const messageId = newUuid();
  await tx.query(sql`
    INSERT INTO recording_messages (id, recording_id, n, person, written_at, line, sha256)
    VALUES (${messageId}, ${id}, ${message.n}, ${person}, ${at}, ${sealed}, ${sha256})`);
  await writeStateMacs(tx, messageState, sql`id = ${messageId}`);
  return { ...message, line, sha256 };
}

/**
 * The messages of a recording, in order. Empty after the recording was deleted.
 * @throws ServiceError `unavailable` for an altered message
 */
export async function messagesOf(db: Sql, secrets: SecretBytes, { id }: Pick<Recording, "id">) {
  const rows = await db.query<{ n: number; line: Buffer; sha256: string }>(sql`
    SELECT n, line, sha256, ${verified(messageState, sql`recording_messages`)}
    FROM recording_messages WHERE recording_id = ${id} ORDER BY n`);
  if (rows.length === 0) return [];
  const cipher = await cipherOf(db, secrets, id);
  return rows.map(({ n, line: sealed, sha256 }): StoredMessage => {
    const line = opened(cipher, sealed, contextOf(id, n));
    if (line === null || sha256Hex(line) !== sha256) throw new AlteredRecordError(`message ${n} of the recording`);
    const { at, person, text } = JSON.parse(line) as Message;
    return { n, at, person, text, line, sha256 };
  });
}

function opened(cipher: ColumnCipher, sealed: Buffer, context: string): string | null {
  try {
    return cipher.decrypt(sealed, context).toString();
  } catch (error) {
    return nullIfAltered(error);
  }
}

/**
 * The file with the lines of the messages. For each message, the manifest has a mark that states the hash of the line.
 */
export const messagesText = (messages: readonly Pick<StoredMessage, "line">[]): string =>
  messages.map(({ line }) => `${line}\n`).join("");

/** Compares the messages with the hashes in the manifest, and returns a fault for each difference. */
export async function messageFaults(db: Sql, secrets: SecretBytes, recording: Recording): Promise<string[]> {
  const { marks } = JSON.parse(recording.manifest ?? '{"marks":[]}') as { marks: { kind: string; sha256?: string }[] };
  const stated = marks.flatMap(({ kind, sha256 }) => (kind === "message" ? [sha256] : []));
  try {
    const found = (await messagesOf(db, secrets, recording)).map(({ sha256 }) => sha256);
    const at = stated.findIndex((sha256, index) => sha256 !== found[index]);
    if (at !== -1) return [`Message ${at + 1} is missing, or is not the one that the manifest names.`];
    return found.length > stated.length ? [`Message ${stated.length + 1} is not in the manifest.`] : [];
  } catch (error) {
    if (!isAltered(error)) throw error;
    return [`${error.what} is not what was written.`];
  }
}

export const deleteMessages = (tx: Tx, recordingId: string) =>
  tx.query(sql`DELETE FROM recording_messages WHERE recording_id = ${recordingId}`);
