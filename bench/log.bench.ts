import { hash } from "node:crypto";
import { databaseOf } from "@signsealship/testing/database";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { newPartner, type Service, startService, temporaryFolder } from "@signsealship/testing/service";
import { until } from "@signsealship/testing/until";
import { logProof, queueEntry } from "../service/src/evidence/transparency-log/transparency-log.ts";
import type { Database } from "../service/src/kernel/platform/database/database.ts";
import { sql } from "../service/src/kernel/platform/database/sql.ts";
import { atLeast, atMost, type Result } from "./result.ts";

const rounds = 8;
const roundMs = 2_000;
const callers = 4;
const document = makePdf({ bytes: 100_000 });

/** Seals per second over HTTP. */
async function rate({ baseUrl }: Service, headers: Record<string, string>): Promise<number> {
  const from = performance.now();
  let sealed = 0;
  const caller = async () => {
    while (performance.now() - from < roundMs) {
      const body = new FormData();
      body.append("file", new Blob([new Uint8Array(document)]), "deed.pdf");
      const answer = await fetch(`${baseUrl}/api/passport/seal`, { method: "POST", headers, body });
      if (answer.status !== 200) throw new Error(`a seal was refused: ${await answer.text()}`);
      await answer.arrayBuffer();
      sealed += 1;
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
  return sealed / ((performance.now() - from) / 1_000);
}

/**
 * Compares sealing with the transparency log with sealing without it. Each round measures both, and the rounds
 * alternate which of the two is first. The result is the median of the rounds' ratios, so a machine that slows down
 * affects both equally.
 */
async function sealing(ours: () => Promise<number>, other: () => Promise<number>): Promise<Result> {
  await ours();
  await other();
  const rates = { ours: [] as number[], other: [] as number[] };
  for (let round = 0; round < rounds; round++) {
    const early = round % 2 === 0 ? await ours() : undefined;
    rates.other.push(await other());
    rates.ours.push(early ?? (await ours()));
  }
  const budget = 0.97;
  const result = atLeast("seal with the log against without", rates.ours, rates.other, "seals/s", budget);
  const ones = rates.ours.map(() => 1);
  const { ratio } = atLeast(
    result.name,
    rates.ours.map((one, i) => one / (rates.other[i] ?? 0)),
    ones,
    "",
    budget,
  );
  return { ...result, ratio, holds: ratio >= budget };
}

const entries = 20_000;
const proofs = 500;
const entryOf = (n: number) => ({ kind: "artifact/v1", commitment: hash("sha256", `bench ${n}`) }) as const;

/** Entries that the running service sequences per second, including its pauses between batches. */
async function sequencing(db: Database): Promise<Result> {
  await db.transaction(async (tx) => {
    for (let n = 0; n < entries; n++) await tx.query(queueEntry("test", entryOf(n), new Date()));
  });
  const from = performance.now();
  await until(async () => {
    const waiting = await db.query(sql`SELECT FROM log_entries WHERE log = 'test' AND leaf IS NULL LIMIT 1`);
    return waiting.length === 0;
  });
  const perSecond = entries / ((performance.now() - from) / 1_000);
  return atLeast("log entries numbered, against 5,000 a second", [perSecond], [5_000], "entries/s", 1);
}

async function proving(db: Database): Promise<Result> {
  await until(async () => (await logProof(db, "test", entryOf(entries - 1))).state === "logged");
  const times: number[] = [];
  for (let n = 0; n < proofs; n++) {
    const from = performance.now();
    await logProof(db, "test", entryOf((n * 7_919) % entries));
    times.push(performance.now() - from);
  }
  const slowest = times.toSorted((a, b) => a - b)[Math.floor(proofs * 0.99)] ?? 0;
  return atMost(`log proof among ${entries} entries, p99, against 5 ms`, [slowest], [5], "ms", 1);
}

/**
 * Sealing with the transparency log, compared with a service whose database discards the log's lines, so that it
 * sequences nothing. Also the log's own rates.
 */
export async function run(): Promise<Result[]> {
  const folders = [temporaryFolder(), temporaryFolder()] as const;
  const [ours, other] = await Promise.all(
    folders.map(({ path }) => startService({ DATA_DIR: path, RATE_LIMITS: "off", KEEP_SEALED: "off" })),
  );
  if (!ours || !other) throw new Error("a service did not start");
  const [db, without] = [await databaseOf(ours.dataDir), await databaseOf(other.dataDir)];
  try {
    await without.transaction((tx) =>
      tx.script(`CREATE FUNCTION drop_line() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
        CREATE TRIGGER drop_lines BEFORE INSERT ON log_entries FOR EACH ROW EXECUTE FUNCTION drop_line();`),
    );
    const [mine, theirs] = [await newPartner(ours), await newPartner(other)];
    const seals = await sealing(
      () => rate(ours, mine.headers),
      () => rate(other, theirs.headers),
    );
    return [seals, await sequencing(db), await proving(db)];
  } finally {
    await Promise.all([db.close(), without.close()]);
    await Promise.all([ours.stop(), other.stop()]);
    for (const folder of folders) folder.remove();
  }
}
