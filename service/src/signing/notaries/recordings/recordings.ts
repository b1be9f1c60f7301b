/**
 * Recordings of sessions: each person's takes as received, and one hash chain over all takes. Their retention follows
 * the rules of the notary's state.
 */
import { rmdir } from "node:fs/promises";
import { join } from "node:path";
import { auditLine } from "../../../kernel/audit/audit.ts";
import type { Environment } from "../../../kernel/identity/identity.ts";
import type { Blobs } from "../../../kernel/platform/blobs/blobs.ts";
import type { Clock } from "../../../kernel/platform/clock.ts";
import type { Database, Tx } from "../../../kernel/platform/database/database.ts";
import { ServiceError } from "../../../kernel/platform/errors.ts";
import { newUuid } from "../../../kernel/platform/ids.ts";
import type { Log } from "../../../kernel/platform/logs.ts";
import type { Random } from "../../../kernel/platform/random.ts";
import type { SecretBytes } from "../../../kernel/platform/secrets.ts";
import { emptyChain, headAfter, type MediaEngine, type MediaEvent, spoolFiles } from "../../../providers/providers.ts";
import type { ReadEligibility } from "../eligibility/changes/in-force.ts";
import { endTakes, lineOf, tellOfRecording } from "./events.ts";
import { quietFiles, spoolFolders } from "./folders.ts";
import { type Mark, stopped, writeManifest } from "./manifest.ts";
import { insertMessage, messagesOf, type NewMessage, type StoredMessage } from "./messages.ts";
import { inOrder, type Queues, required, storePart, takesInRun } from "./parts.ts";
import { recoverParts } from "./recover.ts";
import { yearsAfter, yearsOf } from "./retention.ts";
import {
  insertRecording,
  keyCipher,
  nextRun,
  type RecordedPerson,
  type RequireHeld,
  recordingOf,
  recordKeyOf,
} from "./store.ts";

export type RecordingDeps = {
  db: Database;
  clock: Clock;
  random: Random;
  secrets: SecretBytes;
  blobs: Blobs;
  log: Log;
  /** The media engine, and the folder to which this node writes. Other nodes have folders in the same parent folder. */
  media: { engine: MediaEngine; spoolDir: string };
  readEligibility: ReadEligibility;
};

type RecordingInput = {
  /** The name of the session in the media engine. */
  session: string;
  notaryId: string;
  orderId: number | null;
  environment: Environment;
  people: readonly RecordedPerson[];
  requireHeld: RequireHeld;
};

/** The head of a session's hash chain at one moment. Every line up to `seq` is on disk. */
export type RecordingHead = { recording: string; seq: number; headSha256: string; at: string };

export class Recordings {
  readonly #deps: RecordingDeps;
  readonly #heads = new Map<string, RecordingHead>();
  readonly #ids = new Map<string, string>();
  /** For each session, the queue in which its parts and rows are written one after another. */
  readonly #queues: Queues = new Map();
  /** For each session, the queue of the calls that open and close it. */
  readonly #turns: Queues = new Map();
  /** The sessions that this node is leaving. If a call is opening such a session again, that call fails. */
  readonly #leaving = new Set<string>();
  readonly #stopping = new AbortController();
  /** Ends the subscription to the media engine's events, and the recovery of leftover parts. */
  readonly stop: () => void;

  constructor(deps: RecordingDeps) {
    this.#deps = deps;
    const end = deps.media.engine.listen((event) => this.#hear(event));
    this.stop = () => {
      end();
      this.#stopping.abort();
    };
  }

  /**
   * Begins the recording of a session, and opens the session in the media engine.
   * @throws ServiceError `conflict` for a session with a recording, unless an earlier call failed before anything was
   * recorded
   */
  async begin(input: RecordingInput): Promise<string> {
    return inOrder(this.#turns, input.session, () => this.#begin(input));
  }

  async #begin({ requireHeld, ...input }: RecordingInput): Promise<string> {
    const { session, notaryId, orderId, environment, people } = input;
    const { db, clock, random, secrets, readEligibility } = this.#deps;
    const existing = await recordingOf(db, session);
    if (existing) {
      const isRecorded = new ServiceError("conflict", "The session has a recording.");
      if (existing.endedAt || this.#ids.has(session)) throw isRecorded;
      // An earlier call may have created this recording, and then failed because the media engine refused or crashed.
      // The recording is reused if nothing was recorded in it. Leftover parts are stored first, because only then is
      // this certain.
      await this.#settle(session, "all");
      const now = await required(this.#deps, session);
      if (now.headSeq > 0) throw isRecorded;
      await this.#openRun(now.id, requireHeld);
      return now.id;
    }
    const id = newUuid();
    const startedAt = clock();
    const years = await yearsOf(db, readEligibility, notaryId);
    const keepUntil = years === null ? null : yearsAfter(startedAt, years);
    const recording = { id, session, notaryId, orderId, environment, people: [...people], startedAt, keepUntil };
    await db.transaction(async (tx) => {
      const key = keyCipher(secrets).encrypt(random.bytes(32), id);
      await insertRecording(tx, { ...recording, headSha256: emptyChain.sha256 }, key);
      const detail = { recording: id, people: people.length, keepUntil };
      await tx.query(auditLine({ ...lineOf(recording), at: startedAt, action: "recording.started", detail }));
      await tellOfRecording(tx, "recording.started", recording, startedAt);
    });
    await this.#openRun(id, requireHeld);
    return id;
  }

  /**
   * Opens the session again after the media engine was lost or the service was restarted.
   * @throws ServiceError `not_found` when the session has no recording, `conflict` when its recording has ended;
   * otherwise as `requireHeld`
   */
  async resume(session: string, requireHeld: RequireHeld): Promise<void> {
    await inOrder(this.#turns, session, () => this.#resume(session, requireHeld));
  }

  async #resume(session: string, requireHeld: RequireHeld): Promise<void> {
    const { db, clock, media } = this.#deps;
    // Closes the earlier run first. Otherwise it could still write parts that the new run's chain doesn't include.
    await media.engine.close(session);
    await this.#settle(session, "all");
    const recording = await required(this.#deps, session);
    if (recording.endedAt) throw new ServiceError("conflict", "The recording has ended.");
    await this.#openRun(recording.id, requireHeld);
    await db.transaction((tx) => tellOfRecording(tx, "recording.interrupted", recording, clock(), stopped));
  }

  /** Closes the session on this node, because another node continues it or has ended it. */
  async leave(session: string): Promise<void> {
    this.#leaving.add(session);
    try {
      // Does not wait for the queue of calls, because the database may block an earlier call in it.
      await this.#deps.media.engine.close(session);
      await inOrder(this.#turns, session, () => this.#leave(session, false));
    } finally {
      this.#leaving.delete(session);
    }
  }

  async #leave(session: string, hasEnded: boolean): Promise<void> {
    const { engine, spoolDir } = this.#deps.media;
    await engine.close(session, hasEnded);
    await this.#settle(session, hasEnded ? "all" : "own");
    await rmdir(join(spoolDir, session)).catch((error: NodeJS.ErrnoException) => {
      // The folder stays while it contains a part that was set aside (a file that can't be stored).
      if (error.code !== "ENOENT" && error.code !== "ENOTEMPTY") throw error;
    });
    for (const map of [this.#ids, this.#heads]) map.delete(session);
  }

  /** Tells the firm that the recording of a session was interrupted. */
  async tellInterrupted(tx: Tx, session: string, at: Date, cause: string): Promise<void> {
    const recording = await recordingOf(tx, session);
    if (recording) await tellOfRecording(tx, "recording.interrupted", recording, at, cause);
  }

  /**
   * The latest head of a session's chain that this node heard of. Null before its first chunk, and after it has closed
   * the session.
   */
  headOf(session: string): RecordingHead | null {
    return this.#heads.get(session) ?? null;
  }

  /**
   * Adds a message that a person wrote in the session.
   * @throws as `insertMessage`
   */
  writeMessage(tx: Tx, session: string, message: NewMessage): Promise<StoredMessage> {
    return insertMessage(tx, this.#deps, session, message);
  }

  /** The messages of the session, in order; empty before the recording begins. */
  async messages(session: string): Promise<StoredMessage[]> {
    const { db, secrets } = this.#deps;
    const recording = await recordingOf(db, session);
    return recording ? messagesOf(db, secrets, recording) : [];
  }

  /** Closes the session, stores the last part, and writes `recording.json`. Safe to repeat. */
  async end(session: string, marks: readonly Mark[]): Promise<{ recording: string; manifestSha256: string }> {
    await inOrder(this.#turns, session, () => this.#leave(session, true));
    return writeManifest(this.#deps, session, marks);
  }

  /**
   * Stores the parts that killed processes left on the disk.
   * @param isLeased resolves to true if a node holds the session's lease
   */
  recover(isLeased: (session: string) => Promise<boolean>): Promise<void> {
    const { media, log } = this.#deps;
    return recoverParts({
      spoolDir: media.spoolDir,
      log,
      signal: this.#stopping.signal,
      isLeased,
      // Skips a session that was opened at this node again. Its earlier parts were stored when it was opened.
      whileClosed: (session, work) =>
        inOrder(this.#turns, session, async () => (this.#ids.has(session) ? undefined : work())),
      store: (session, files) => this.#store(session, files),
    });
  }

  #hear(event: MediaEvent): void {
    const { log } = this.#deps;
    const recording = "session" in event ? this.#ids.get(event.session) : undefined;
    if (recording === undefined) return;
    const later = (session: string, failed: string, work: () => Promise<void>) =>
      void inOrder(this.#queues, session, work).catch((error: Error) => log.error({ err: error, recording }, failed));
    if (event.kind === "chunk") {
      const { seq, sha256 } = headAfter(event.line);
      this.#heads.set(event.session, { recording, seq, headSha256: sha256, at: event.line.at });
    }
    // Stores the part that the event names, and retries the earlier parts that could not be stored.
    if (event.kind === "part")
      later(event.session, "a part of a recording was not stored; it stays on the disk", () =>
        this.#storeClosed(event.session),
      );
    if (event.kind === "take" && event.ended !== null) {
      const { session, take, at, ended } = event;
      later(session, "the end of a take was not recorded", () =>
        endTakes(this.#deps, session, { [take]: { at, endedBy: ended } }),
      );
    }
  }

  /**
   * Stores the session's parts that are on this disk, including the last one.
   * @param scope `all` includes the parts that other nodes wrote; allowed only while no other node can write to the
   * session
   */
  async #settle(session: string, scope: "own" | "all"): Promise<void> {
    const { spoolDir } = this.#deps.media;
    const dirs = scope === "own" ? [spoolDir] : await spoolFolders(spoolDir);
    const files = await quietFiles(dirs.map((dir) => join(dir, session)));
    await inOrder(this.#queues, session, () => this.#store(session, files));
  }

  async #storeClosed(session: string): Promise<void> {
    await this.#store(session, await spoolFiles(join(this.#deps.media.spoolDir, session), { closedOnly: true }));
  }

  async #store(session: string, files: readonly string[]): Promise<void> {
    for (const file of files) await storePart(this.#deps, session, file);
  }

  async #openRun(id: string, requireHeld: RequireHeld): Promise<void> {
    const { db, secrets, media } = this.#deps;
    const { session, runs, headSeq, headSha256 } = await db.transaction((tx) => nextRun(tx, id, requireHeld));
    const key = await recordKeyOf(db, secrets, id);
    const firstTake = runs * takesInRun;
    const head = { seq: headSeq, sha256: headSha256 };
    await media.engine.open(session, { key, head, firstTake, lastTake: firstTake + takesInRun - 1 });
    if (this.#leaving.has(session))
      throw new ServiceError("conflict", "This server is closing its part of the session. Try again in some seconds.");
    // Events are handled only after this line. None was missed, because nobody can send media yet.
    this.#ids.set(session, id);
  }
}
