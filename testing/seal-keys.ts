import { generateKeyPairSync } from "node:crypto";
import { cpSync, existsSync, linkSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const cache = fileURLToPath(new URL("../node_modules/.cache/seal-keys", import.meta.url));

let given = 0;

/**
 * Puts a seal key made beforehand into a data folder that has none: finding the primes of one takes half a second. Services of
 * one test process never share a key.
 */
export function prepareSealKey(dataDir: string): void {
  const keys = join(dataDir, "keys");
  if (existsSync(keys)) return;
  const from = join(cache, String(given++));
  if (!existsSync(from)) makeKey(from);
  mkdirSync(keys, { recursive: true, mode: 0o700 });
  cpSync(from, join(keys, "seal"));
}

/** Other test processes may make the same key: the first one stays. */
function makeKey(path: string): void {
  mkdirSync(cache, { recursive: true });
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 3072 });
  const making = `${path}.${process.pid}`;
  writeFileSync(making, privateKey.export({ type: "pkcs8", format: "pem" }), { mode: 0o600 });
  try {
    linkSync(making, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
  rmSync(making);
}
