import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const folder = fileURLToPath(new URL("../../node_modules/.cache/tessera-fsck", import.meta.url));

/** The program by the authors of tlog-tiles that checks a whole log, tile by tile and leaf by leaf. */
export const fsckProgram = join(folder, "fsck");

/** Builds the program from Go modules; Go's own database has their checksums. */
function buildFsck(): void {
  mkdirSync(folder, { recursive: true });
  const env = { ...process.env, GOBIN: folder };
  execFileSync("go", ["install", "github.com/transparency-dev/tessera/cmd/fsck@v1.0.2"], {
    env,
    stdio: ["ignore", "ignore", "pipe"],
  });
}

export const tesseraFsck = { isHere: () => existsSync(fsckProgram), build: buildFsck };
