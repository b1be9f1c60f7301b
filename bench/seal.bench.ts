import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { atLeast, atMost, type Result } from "./result.ts";
import { type KeyKind, type Sealer, sealers } from "./support/sealers.ts";

const kilobyte = 1024;
const megabyte = 1024 * kilobyte;

/** Measures seals per second of several sealers. They take turns in time slices, so load affects them equally. */
async function race<Name extends string>(
  runners: Record<Name, Sealer>,
  pdf: Buffer,
  options: { rounds: number; ms: number },
) {
  const names = Object.keys(runners) as Name[];
  const rates = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<Name, number[]>;
  const slice = async (name: Name, ms: number): Promise<number> => {
    const started = performance.now();
    let done = 0;
    do {
      await runners[name](pdf);
      done++;
    } while (performance.now() - started < ms);
    return done / ((performance.now() - started) / 1000);
  };
  for (const name of names) await slice(name, options.ms);
  for (let round = 0; round < options.rounds; round++)
    for (const name of names) rates[name].push(await slice(name, options.ms));
  return rates;
}

function peakMegabytes(which: "ours" | "libpdf"): number {
  return Number(
    execFileSync(process.execPath, [join(import.meta.dirname, "support/seal-once.ts"), which], { encoding: "utf8" }),
  );
}

/**
 * Sealing at PAdES level B-B, compared with two rivals: hashing and signing alone in the same process, and
 * @libpdf/core.
 */
export async function run(): Promise<Result[]> {
  const results: Result[] = [];
  const small = makePdf({ pages: 1, bytes: 100 * kilobyte });
  const middle = makePdf({ pages: 10, bytes: megabyte });
  const large = makePdf({ pages: 40, bytes: 34 * megabyte });
  const long = makePdf({ pages: 1000 });
  const budgets: [KeyKind, limit: number, rival: number][] = [
    ["RSA-3072", 0.85, 3],
    ["P-256", 0.6, 10],
  ];
  for (const [kind, limit, rival] of budgets) {
    const all = await sealers(kind);
    const bare = { ours: all.ours, limit: all.limit };
    const of100 = await race(all, small, { rounds: 7, ms: 300 });
    results.push(atLeast(`seal 100 KB ${kind}, hash and sign`, of100.ours, of100.limit, "seals/s", limit));
    results.push(atLeast(`seal 100 KB ${kind}, @libpdf/core`, of100.ours, of100.libpdf, "seals/s", rival));
    const of1 = await race(bare, middle, { rounds: 5, ms: 300 });
    results.push(atLeast(`seal 1 MB ${kind}, hash and sign`, of1.ours, of1.limit, "seals/s", 0.9));
    const of34 = await race(all, large, { rounds: 5, ms: 300 });
    results.push(atLeast(`seal 34 MB ${kind}, hash and sign`, of34.ours, of34.limit, "seals/s", 0.95));
    if (kind === "RSA-3072") continue;
    results.push(atLeast("seal 34 MB P-256, @libpdf/core", of34.ours, of34.libpdf, "seals/s", 2));
    const of1000 = await race({ ours: all.ours, libpdf: all.libpdf }, long, { rounds: 5, ms: 300 });
    results.push(atLeast("seal 1,000 pages P-256, @libpdf/core", of1000.ours, of1000.libpdf, "seals/s", 10));
  }
  const peaks = [1, 2, 3].map(() => ({ ours: peakMegabytes("ours"), libpdf: peakMegabytes("libpdf") }));
  const pick = (name: "ours" | "libpdf") => peaks.map((peak) => peak[name]);
  results.push(atMost("peak memory of a 34 MB seal, @libpdf/core", pick("ours"), pick("libpdf"), "MB", 0.65));
  return results;
}
