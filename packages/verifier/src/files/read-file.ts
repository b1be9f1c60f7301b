import { type FileHandle, open } from "node:fs/promises";
import { UsageError } from "../errors.ts";

/** Largest file that is read by default, in bytes. */
const maxFileBytes = 256 * 1024 * 1024;

/**
 * Reads a file's bytes.
 * @throws UsageError when the file cannot be read or is larger than `maxBytes`
 */
export async function readBounded(path: string, maxBytes: number = maxFileBytes): Promise<Uint8Array> {
  let handle: FileHandle | undefined;
  try {
    handle = await open(path);
    const stat = await handle.stat();
    if (stat.size > maxBytes) throw tooLarge(path, maxBytes);
    return stat.isFile() ? await handle.readFile() : await readPieces(handle, path, maxBytes);
  } catch (error) {
    if (error instanceof UsageError || !(error instanceof Error && "code" in error)) throw error;
    throw new UsageError(`${path} cannot be read (${error.code})`);
  } finally {
    await handle?.close();
  }
}

const tooLarge = (path: string, maxBytes: number) => new UsageError(`${path} is larger than ${maxBytes} bytes`);

/** Reads piece by piece and stops above the limit, because a pipe or device does not state its size. */
async function readPieces(handle: FileHandle, path: string, maxBytes: number): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of handle.createReadStream({ highWaterMark: 1024 * 1024, autoClose: false })) {
    length += piece.length;
    if (length > maxBytes) throw tooLarge(path, maxBytes);
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}
