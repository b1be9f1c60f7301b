// Seals 34 MB once in its own process; prints the process's peak memory in MB.
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { sealers } from "./sealers.ts";

const [which = "ours", path] = process.argv.slice(2);
if (path === undefined) {
  // A second process seals the file, so that the peak does not include the memory of the file generator.
  const { execFileSync } = await import("node:child_process");
  const file = join(tmpdir(), `sss-seal-once-${process.pid}.pdf`);
  writeFileSync(file, makePdf({ pages: 40, bytes: 34 * 1024 * 1024 }));
  try {
    process.stdout.write(execFileSync(process.execPath, [import.meta.filename, which, file]));
  } finally {
    rmSync(file);
  }
} else {
  const { ours, libpdf } = await sealers("P-256");
  await (which === "ours" ? ours : libpdf)(readFileSync(path));
  process.stdout.write(String(Math.round(process.resourceUsage().maxRSS / 1024)));
}
