import { existsSync, mkdirSync, readFileSync, statfsSync, unlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { writeFileDurably } from "./durable-file.ts";
import { StartupError } from "./errors.ts";

// The least free disk space. An empty database takes 40 MB, so with less space the first orders would fail half-way.
const neededBytes = 64 * 1024 * 1024;

/**
 * Creates a folder and its missing parents, one at a time. Node's recursive mkdir loops forever if a parent folder
 * refuses new names with ENOENT.
 */
function makeFolder(folder: string, mode?: number): void {
  if (existsSync(folder)) return;
  makeFolder(dirname(folder));
  mkdirSync(folder, mode);
}

/**
 * The mode of new folders. When root starts the service, the database server runs as another user, who must be able to
 * pass through them.
 */
export const passableMode = (): number => (process.getuid?.() === 0 ? 0o711 : 0o700);

const addressFile = (folder: string): string => join(folder, "address");

/** Stores the service's base URL, so that commands print links with it. */
export const storeAddress = (folder: string, baseUrl: string): void =>
  writeFileSync(addressFile(folder), `${baseUrl}\n`, { mode: 0o600 });

/**
 * The base URL of the service that last used this folder; undefined before the first start.
 * @throws StartupError if the URL can't be read, for example because another user's service stored it
 */
export function storedAddress(folder: string): string | undefined {
  try {
    return readFileSync(addressFile(folder), "utf8").trim();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw new StartupError(`the address of the service in ${folder} cannot be read (${code})`);
  }
}

/** A marker file. While it exists, a restore into this folder is unfinished. */
export const unfinishedRestore = (folder: string): string => join(folder, "restore-unfinished");

export const openUnfinishedRestore = (folder: string): Promise<void> =>
  writeFileDurably(unfinishedRestore(folder), `${process.pid}\n`);

/**
 * Refuses a folder whose restore was interrupted: its database or blobs may be missing.
 * @throws StartupError
 */
export function requireWholeFolder(folder: string): void {
  if (existsSync(unfinishedRestore(folder)))
    throw new StartupError(`a restore into DATA_DIR ${folder} did not end: empty the folder and restore again`);
}

/**
 * Creates the folder, and checks that it is writable and has free space.
 * @throws StartupError that names the folder and the problem.
 */
export function prepareDataFolder(folder: string): void {
  const probe = join(folder, `.probe-${process.pid}`);
  try {
    makeFolder(folder, passableMode());
    writeFileSync(probe, new Uint8Array(64 * 1024), { flush: true });
  } catch (error) {
    throw new StartupError(`DATA_DIR ${folder} cannot be written (${(error as NodeJS.ErrnoException).code})`);
  } finally {
    try {
      unlinkSync(probe);
    } catch {
      // There is nothing to remove: the probe file was not created. The error of its creation is already being thrown.
    }
  }
  const { bavail, bsize } = statfsSync(folder);
  if (bavail * bsize < neededBytes)
    throw new StartupError(
      `DATA_DIR ${folder} has ${Math.floor((bavail * bsize) / 1048576)} MB free; at least 64 MB are needed`,
    );
}
