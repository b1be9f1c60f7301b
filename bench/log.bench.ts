import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { databaseOf } from "@signsealship/testing/database";
import { startWitness } from "@signsealship/testing/doubles/witness";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { newPartner, ownProcess, type Service, startService, temporaryFolder } from "@signsealship/testing/service";
import { sql } from "../service/src/kernel/platform/database/sql.ts";
import { atLeast, type Result } from "./result.ts";
import { anchoring } from "./support/anchoring.ts";
import { fillLog, published } from "./support/filled-log.ts";
import {
  carried,
  fsck,
  type Measured,
  monitoring,
  numbering,
  provableSeals,
  proving,
  quantile,
  steadyLoad,
  within,
} from "./support/log-figures.ts";

const rounds = 16;
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
 * Measures how much the transparency log slows sealing. Each round measures both, and the rounds
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

const documents = (count: number, text: string): Buffer[] =>
  Array.from({ length: count }, (_, i) => makePdf({ bytes: 20_000, text: `${text} ${i}` }));

/** The log's own speed: first with the few entries of the comparison, then with 100,000, then with a million. */
async function figures(test: Measured, live: Measured): Promise<Result[]> {
  const { db } = test;
  const results = [await numbering(test), await steadyLoad(test, 60_000)];
  await published(db);
  await fillLog(db, 100_000, 100_000);
  results.push(await fsck(test, await published(db)));
  const filled = await fillLog(db, 1_000_000, 1_000_000);
  await db.query(sql`ANALYZE log_leaves, log_tiles`);
  const size = await published(db);
  const sealed = await provableSeals(test, documents(100, "provable"), "index ");
  const waits = sealed.map(({ provableMs }) => provableMs);
  const witnessed = await provableSeals(live, documents(60, "witnessed"), witnessName);
  const witnessedWaits = witnessed.map(({ provableMs }) => provableMs);
  results.push(
    within("seal to provable, median", quantile(waits, 0.5), 1_000, "ms"),
    within("seal to provable, p99", quantile(waits, 0.99), 2_000, "ms"),
    within("seal to witnessed by a local witness, p99", quantile(witnessedWaits, 0.99), 3_000, "ms"),
    carried(sealed),
    ...(await proving(test, filled, size, sealed)),
    ...(await monitoring(test, 3_000_000)),
    ...(await anchoring(db, 4_000_000)),
  );
  return results;
}

const witnessName = "witness.example.com/bench";

/** Compares sealing with the transparency log's work to sealing without any of it. Also measures the log itself. */
export async function run(): Promise<Result[]> {
  const folders = [temporaryFolder(), temporaryFolder()] as const;
  try {
    return [await comparison(folders[0].path, folders[1].path), ...(await ownFigures(folders[0].path))];
  } finally {
    for (const folder of folders) folder.remove();
  }
}

async function comparison(path: string, otherPath: string): Promise<Result> {
  const settings = { RATE_LIMITS: "off", KEEP_SEALED: "off", ...ownProcess };
  const preload = `--import=${new URL("support/without-log.ts", import.meta.url)}`;
  const [ours, other] = await Promise.all([
    startService({ ...settings, DATA_DIR: path }),
    startService({ ...settings, DATA_DIR: otherPath, NODE_OPTIONS: preload }),
  ]);
  try {
    const [mine, theirs] = [await newPartner(ours), await newPartner(other)];
    const result = await sealing(
      () => rate(ours, mine.headers),
      () => rate(other, theirs.headers),
    );
    const checkpoint = await fetch(`${other.baseUrl}/log/test/checkpoint`);
    if (checkpoint.status !== 404) throw new Error("the service without the log has one");
    return result;
  } finally {
    await Promise.all([ours.stop(), other.stop()]);
  }
}

async function ownFigures(path: string): Promise<Result[]> {
  const witness = await startWitness(witnessName);
  const policy = join(path, "witnesses");
  writeFileSync(policy, `witness one ${witness.key} ${witness.url}\nquorum one\n`);
  const settings = { RATE_LIMITS: "off", LOG_POLICY: policy, WITNESS_INTERVAL: "1" };
  const service = await startService({ ...settings, ...ownProcess, DATA_DIR: path });
  const db = await databaseOf(path);
  try {
    const [test, live] = [await newPartner(service), await newPartner(service, { live: true })];
    return await figures({ service, db, headers: test.headers }, { service, db, headers: live.headers });
  } finally {
    await db.close();
    await Promise.all([service.stop(), witness.close()]);
  }
}
