// npm run bench [NAME ...] [-- --json]: runs the named benchmarks, or all, and compares each figure with its ceiling or
// rival.
import { globSync } from "node:fs";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import type { Result } from "./result.ts";

type Bench = { run: () => Promise<Result[]> };

const folder = fileURLToPath(new URL(".", import.meta.url));
const words = process.argv.slice(2);
const asJson = words.includes("--json");
const wanted = words.filter((word) => !word.startsWith("--"));
const all = globSync("*.bench.ts", { cwd: folder }).sort();
const names = all.map((file) => basename(file, ".bench.ts"));
const unknown = wanted.find((name) => !names.includes(name));
if (unknown) {
  console.error(`no bench named ${unknown}; there are: ${names.join(", ")}`);
  process.exit(2);
}

const figure = (value: number): string => (value >= 100 ? value.toFixed(0) : value.toPrecision(3));
const results: Result[] = [];
for (const name of names.filter((each) => wanted.length === 0 || wanted.includes(each))) {
  const { run } = (await import(`./${name}.bench.ts`)) as Bench;
  for (const result of await run()) {
    results.push(result);
    const { ours, other, unit, ratio, budget, holds } = result;
    if (!asJson)
      console.log(
        `${result.name.padEnd(44)} ${figure(ours)} ${figure(other)} ${unit} ${ratio.toFixed(2)} ${budget} ${holds ? "holds" : "short"}`,
      );
  }
}
if (asJson) console.log(JSON.stringify({ benches: results }));
