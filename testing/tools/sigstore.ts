import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const folder = fileURLToPath(new URL("../../node_modules/.cache/sigstore", import.meta.url));
const dist = join(folder, "node_modules/@sigstore/verify/dist");

function install(): void {
  const quietly = ["--no-audit", "--no-fund", "--no-save", "--prefix", folder];
  execFileSync("npm", ["install", ...quietly, "@sigstore/verify@4.1.3"], { stdio: ["ignore", "ignore", "pipe"] });
}

/** Sigstore's verifier of transparency logs, from npm. */
export const sigstore = { isHere: () => existsSync(dist), build: install };

/** An entry of a log with its proof, and a log, in the forms that this library accepts. */
type Entry = {
  canonicalizedBody: Uint8Array;
  inclusionProof: { logIndex: string; hashes: Uint8Array[]; checkpoint: { envelope: string } };
};
type Log = { logID: Uint8Array; baseURL: string; publicKey: unknown };

type Library = {
  verifyCheckpoint: (entry: Entry, logs: readonly Log[]) => object;
  verifyMerkleInclusion: (entry: Entry, checkpoint: object) => void;
};

/** @throws Error for an entry that the log does not contain, or whose checkpoint the log did not sign */
export function verifyBySigstore(entry: Entry, log: Log): void {
  const require = createRequire(import.meta.url);
  const { verifyCheckpoint } = require(join(dist, "tlog/checkpoint.js")) as Library;
  const { verifyMerkleInclusion } = require(join(dist, "tlog/merkle.js")) as Library;
  verifyMerkleInclusion(entry, verifyCheckpoint(entry, [log]));
}
