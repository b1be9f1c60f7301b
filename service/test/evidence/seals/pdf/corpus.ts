/**
 * Seals every PDF under a folder, checks each result with other PDF readers, and prints how many were refused, and why.
 * OUT then contains the sealed files and a table of all outcomes.
 *
 * Usage: bin/run service/test/evidence/seals/pdf/corpus.ts FOLDER [OUT]
 */
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { sealReasons } from "@signsealship/evidence/seal";
import { sealChainPem } from "../../../../src/evidence/seals/certificate/certificate.ts";
import { createSealer } from "../../../../src/evidence/seals/sealer.ts";
import { PdfRefusal } from "../../../../src/kernel/pdf/refusal.ts";
import { systemRandom } from "../../../../src/kernel/platform/random.ts";
import { inlineWorkers } from "../../../../src/kernel/platform/workers/inline.ts";
import { memoryKey, selfSigned } from "../signers.ts";
import { mutoolOpens, mutoolVerdict, pdfsig, run } from "./oracles.ts";

/**
 * `reason` is `sealed`, or the reason of the refusal. `faults` lists the other readers' complaints about the sealed
 * file.
 */
type Outcome = { path: string; wellFormed: boolean; reason: string; detail: string; earlier: number; faults: string[] };

const [folder = ".", out = mkdtempSync(join(tmpdir(), "corpus-"))] = process.argv.slice(2);
mkdirSync(out, { recursive: true });
const key = memoryKey("p-256");
const certificate = await selfSigned(key, Date.now());
const chainPem = sealChainPem([certificate]);
writeFileSync(join(out, "certificate.pem"), chainPem);
const seal = createSealer({
  workers: inlineWorkers,
  random: systemRandom,
  identity: { key, chain: [certificate], chainPem },
  clock: () => new Date(),
  stamp: null,
});

/** qpdf's exit code for a file: 0 is fine, 3 is a warning, 2 means damaged or password-protected. */
const qpdf = async (path: string) => (await run("qpdf", ["--check", path])).code;

async function attempt(path: string, bytes: Buffer, sealedPath: string): Promise<Outcome> {
  const outcome = { path, wellFormed: (await qpdf(path)) === 0, detail: "", earlier: 0, faults: [] };
  try {
    const sealed = await seal({ bytes, reason: sealReasons.proof.test });
    writeFileSync(sealedPath, sealed.bytes);
    return { ...outcome, reason: "sealed", ...(await judge(path, sealedPath, outcome.wellFormed)) };
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    if (error.cause instanceof PdfRefusal) return { ...outcome, ...error.cause };
    return { ...outcome, reason: error.name === "ServiceError" ? "not_verifiable" : "crash", detail: error.message };
  }
}

/**
 * Returns the readers that reject the sealed file although they must accept it. pdfsig must always accept it. qpdf and
 * mutool must accept it if they read the original without a repair. pdfsig must also accept each signature that it
 * accepted in the original.
 */
async function judge(path: string, sealedPath: string, wellFormed: boolean) {
  const [before, signatures, opens] = await Promise.all([pdfsig(path), pdfsig(sealedPath), mutoolOpens(path)]);
  const faults: string[] = [];
  const last = signatures.at(-1);
  if (!last?.valid || !last.whole) faults.push("pdfsig");
  if (before.some(({ valid }, i) => valid && !signatures[i]?.valid)) faults.push("earlier signature");
  if (wellFormed && (await qpdf(sealedPath)) !== 0) faults.push("qpdf");
  const unchanged = /The document is unchanged since signing/.test(await mutoolVerdict(sealedPath));
  if (opens && !unchanged) faults.push("mutool");
  return { earlier: before.filter(({ valid }) => valid).length, faults };
}

function distinct(): [string, Buffer][] {
  const seen = new Set<string>();
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => /\.pdf$/i.test(name));
  return names.sort().flatMap((name) => {
    const bytes = readFileSync(join(folder, name));
    const hash = createHash("sha256").update(bytes).digest("hex");
    if (seen.has(hash)) return [];
    seen.add(hash);
    return [[join(folder, name), bytes]];
  });
}

const files = distinct();
const outcomes: Outcome[] = [];
let next = 0;
async function work(): Promise<void> {
  for (let at = next++; at < files.length; at = next++) {
    const [path, bytes] = files[at] ?? ["", Buffer.alloc(0)];
    outcomes[at] = await attempt(path, bytes, join(out, `${String(at).padStart(5, "0")}.pdf`));
  }
}
await Promise.all(Array.from({ length: availableParallelism() }, work));

function summary(title: string, all: readonly Outcome[]): void {
  const counts = Map.groupBy(all, ({ reason }) => reason);
  const sealed = counts.get("sealed") ?? [];
  console.log(
    `${title}: ${sealed.length} of ${all.length} sealed (${((100 * sealed.length) / all.length).toFixed(1)} %)`,
  );
  for (const [reason, { length }] of [...counts].sort(([, a], [, b]) => b.length - a.length)) {
    if (reason !== "sealed") console.log(`  ${String(length).padStart(5)} ${reason}`);
  }
  const wrong = sealed.filter(({ faults }) => faults.length > 0);
  const earlier = sealed.reduce((sum, one) => sum + one.earlier, 0);
  console.log(`  ${earlier} earlier signatures; ${wrong.length} sealed files with which a reader finds fault`);
  for (const { path, faults } of wrong) console.log(`        ${path}: ${faults.join(", ")}`);
}
const row = (one: Outcome, at: number) =>
  [at, one.reason, one.wellFormed ? "well-formed" : "faulty", one.faults.join("+"), one.detail, one.path].join("\t");
writeFileSync(join(out, "outcomes.tsv"), `${outcomes.map(row).join("\n")}\n`);
summary("all files", outcomes);
summary(
  "what qpdf --check finds well-formed",
  outcomes.filter(({ wellFormed }) => wellFormed),
);
console.log(`outcomes.tsv and the sealed files are in ${out}`);
