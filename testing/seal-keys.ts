import { createPrivateKey, generateKeyPairSync, type KeyObject } from "node:crypto";
import { cpSync, existsSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const cache = fileURLToPath(new URL("../node_modules/.cache/seal-keys", import.meta.url));

let given = 0;

/** Puts a pregenerated seal key into a data folder that has no folder `keys` yet. */
export function prepareSealKey(dataDir: string): void {
  const keys = join(dataDir, "keys");
  if (existsSync(keys)) return;
  mkdirSync(keys, { recursive: true, mode: 0o700 });
  cpSync(nextKey(), join(keys, "seal"));
}

/** A pregenerated RSA-3072 key. */
export const preparedKey = (): KeyObject => createPrivateKey(readFileSync(nextKey()));

/** A key file that is unique in this test process. Generating a key takes half a second, because of its primes. */
function nextKey(): string {
  const path = join(cache, String(given++));
  if (!existsSync(path)) makeKey(path);
  return path;
}

/** Creates a key file. Another test process may create the same file at the same time; the first process wins. */
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
