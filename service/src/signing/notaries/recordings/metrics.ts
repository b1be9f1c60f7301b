/** Metrics of recordings: the amount of received data, how takes ended, and the backlogs of the disk and the store. */
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { type Clock, minuteMs } from "../../../kernel/platform/clock.ts";
import type { Sql } from "../../../kernel/platform/database/database.ts";
import { sql } from "../../../kernel/platform/database/sql.ts";
import type { Metrics } from "../../../kernel/platform/metrics.ts";
import { type ChainLine, type MediaEngine, spoolFiles } from "../../../providers/providers.ts";
import { type RecordingDisk, recordedBytes } from "./disk.ts";
import { sessionsIn, spoolFolders } from "./folders.ts";

type MetricsDeps = {
  db: Sql;
  clock: Clock;
  engine: Pick<MediaEngine, "listen">;
  spoolDir: string;
  disk: RecordingDisk;
};

export function recordingMetrics(metrics: Metrics, { db, clock, engine, spoolDir, disk }: MetricsDeps): void {
  const deaths = metrics.counter("media_engine_deaths_total", "Times that the media engine's process died.", []);
  const breaks = metrics.counter(
    "recording_breaks_total",
    "Sessions that ended because they could not be recorded.",
    [],
  );
  const takes = metrics.counter("recording_takes_total", "Takes that began.", []);
  const ends = metrics.counter("recording_take_ends_total", "Takes that ended, by cause.", ["cause"]);
  const chunks = metrics.counter("recording_chunks_total", "Chunks that are durable on this node's disk.", []);
  const bytes = metrics.counter("recording_bytes_total", "Bytes of these chunks.", []);
  const late = lateness(clock);
  engine.listen((event) => {
    if (event.kind === "lost") deaths.inc({});
    if (event.kind === "broken") breaks.inc({});
    if (event.kind === "take" && event.ended === null) takes.inc({});
    if (event.kind === "take" && event.ended !== null) ends.inc({ cause: event.ended });
    if (event.kind !== "chunk") return;
    chunks.inc({});
    bytes.inc({}, event.line.bytes);
    late.add(event.session, event.line);
  });
  const lateHelp = "How much later than its take's fastest chunk one became durable: the worst of the last minute.";
  metrics.gauge("recording_chunk_late_seconds", lateHelp, null, async () => new Map([["", late.worst() / 1_000]]));
  const oldestHelp = "How long the oldest closed part waits on this node's disk for the store.";
  metrics.gauge(
    "recording_part_oldest_seconds",
    oldestHelp,
    null,
    async () => new Map([["", await oldestPart(spoolDir, clock().getTime())]]),
  );
  const one = async (value: Promise<number>) => new Map([["", await value]]);
  metrics.gauge("recording_disk_free_bytes", "Free space on this node's disk for recordings.", null, () =>
    one(disk.freeBytes()),
  );
  metrics.gauge("recording_disk_least_bytes", "With less free space no session begins.", null, () =>
    one(Promise.resolve(disk.minBytes)),
  );
  metrics.gauge("recording_stored_bytes", "Bytes of all stored recordings.", null, () =>
    one(recordedBytes(db, clock()).then(({ stored }) => stored)),
  );
  metrics.gauge("recordings", "Recordings, by state.", "state", () => recordingsByState(db));
}

/**
 * Estimates how late each chunk is written, by comparison with the take's fastest chunk. Only the media engine knows
 * when a chunk's first packet arrived, so the delay can't be measured.
 */
function lateness(clock: Clock) {
  const fastest = new Map<string, number>();
  let recent: { at: number; ms: number }[] = [];
  return {
    add(session: string, { take, at, to }: ChainLine): void {
      const began = Date.parse(at) - to;
      const name = `${session} ${take}`;
      const before = fastest.get(name) ?? began;
      // Drops the takes of all sessions at once when there are too many. Few sessions run at a time, so most of these
      // takes have ended.
      if (fastest.size > 1_000) fastest.clear();
      fastest.set(name, Math.min(before, began));
      recent.push({ at: clock().getTime(), ms: Math.max(0, began - before) });
      if (recent.length > 10_000) recent = recent.slice(-5_000);
    },
    worst(): number {
      const since = clock().getTime() - minuteMs;
      recent = recent.filter(({ at }) => at > since);
      return recent.reduce((worst, { ms }) => Math.max(worst, ms), 0);
    },
  };
}

async function oldestPart(spoolDir: string, now: number): Promise<number> {
  const folders = await Promise.all(
    (await spoolFolders(spoolDir)).map(async (dir) => (await sessionsIn(dir)).map((session) => join(dir, session))),
  );
  const files = await Promise.all(folders.flat().map((folder) => spoolFiles(folder, { closedOnly: true })));
  const times = await Promise.all(
    files.flat().map((file) =>
      stat(file).then(
        ({ mtimeMs }) => mtimeMs,
        () => null,
      ),
    ),
  );
  const oldest = Math.min(now, ...times.flatMap((time) => time ?? []));
  return (now - oldest) / 1_000;
}

async function recordingsByState(db: Sql): Promise<ReadonlyMap<string, number>> {
  const rows = await db.query<{ state: string; count: number }>(sql`
    SELECT CASE WHEN deleted_at IS NOT NULL THEN 'deleted' WHEN ended_at IS NULL THEN 'running' WHEN is_held THEN 'held' ELSE 'kept' END AS state,
      count(*)::int AS count FROM recordings GROUP BY 1`);
  return new Map(rows.map(({ state, count }) => [state, count]));
}
