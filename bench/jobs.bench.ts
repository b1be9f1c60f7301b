import { prepareDatabase } from "@signsealship/testing/data-template";
import { temporaryFolder } from "@signsealship/testing/temporary-folder";
import { Logger, type Runner, run as runWorker } from "graphile-worker";
import pg from "pg";
import { type Database, openDatabase } from "../service/src/kernel/platform/database/database.ts";
import { sql } from "../service/src/kernel/platform/database/sql.ts";
import { createJobs, type Jobs } from "../service/src/kernel/platform/jobs/jobs.ts";
import { openLog } from "../service/src/kernel/platform/logs.ts";
import { openEmbeddedPostgres } from "../service/src/kernel/platform/postgres/embedded.ts";
import { atLeast, type Result } from "./result.ts";

const jobsEach = 2_000;
const rounds = 7;
const concurrency = 10;

/** Counts calls of `one`, and lets a caller wait for a number of them. */
function countdown() {
  let left = 0;
  let done = () => {};
  return {
    one: async () => {
      if (--left === 0) done();
    },
    /** Resolves once `one` has been called `count` times. */
    of: (count: number) =>
      new Promise<void>((resolve) => {
        left = count;
        done = resolve;
      }),
  };
}

type Queue = { enqueue: (count: number) => Promise<unknown>; counter: ReturnType<typeof countdown> };

/** Jobs per second, from the enqueuing statement to the end of the last job. */
async function rate({ enqueue, counter }: Queue): Promise<number> {
  const started = performance.now();
  const all = counter.of(jobsEach);
  await enqueue(jobsEach);
  await all;
  return jobsEach / ((performance.now() - started) / 1000);
}

async function startOurs(db: Database): Promise<Queue & { jobs: Jobs }> {
  const counter = countdown();
  const jobs = createJobs({ db, log: openLog("silent") });
  jobs.work("bench", counter.one, { concurrency });
  await jobs.start();
  const enqueue = (count: number) =>
    db.query(sql`SELECT enqueue_job('bench', jsonb_build_object('n', n)) FROM generate_series(1, ${count}) AS n`);
  return { jobs, counter, enqueue };
}

async function startTheirs(db: Database, pgPool: pg.Pool): Promise<Queue & { runner: Runner }> {
  const counter = countdown();
  const logger = new Logger(() => () => {});
  const runner = await runWorker({
    pgPool,
    concurrency,
    logger,
    noHandleSignals: true,
    taskList: { bench: counter.one },
  });
  const enqueue = (count: number) =>
    db.query(
      sql`SELECT graphile_worker.add_job('bench', json_build_object('n', n)) FROM generate_series(1, ${count}) AS n`,
    );
  return { runner, counter, enqueue };
}

/** Throughput of empty jobs that one statement enqueued, compared with graphile-worker with its default settings. */
export async function run(): Promise<Result[]> {
  const folder = temporaryFolder();
  await prepareDatabase(folder.path);
  const server = await openEmbeddedPostgres(folder.path);
  const db = openDatabase(server.owner, () => {});
  const pgPool = new pg.Pool({ ...server.owner, max: 20 });
  // graphile-worker warns about a pool that lacks these listeners. An error at the server's shutdown is not a failure
  // of the benchmark.
  for (const event of ["error", "connect"] as const) pgPool.on(event, () => {});
  const ours = await startOurs(db);
  const theirs = await startTheirs(db, pgPool);
  const rates = { ours: [] as number[], other: [] as number[] };
  for (let round = 0; round < rounds; round++) {
    rates.ours.push(await rate(ours));
    rates.other.push(await rate(theirs));
  }
  await ours.jobs.stop();
  await theirs.runner.stop();
  await pgPool.end();
  await db.close();
  await server.release();
  folder.remove();
  return [atLeast("jobs done, 2,000 by one statement", rates.ours, rates.other, "jobs/s", 1)];
}
