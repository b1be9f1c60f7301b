import { open } from "node:fs/promises";
import { UsageError } from "../errors.ts";

/** The largest file that is read, in bytes. */
const maxFileBytes = 256 * 1024 * 1024;

/** A file's bytes. @throws UsageError when it cannot be read or is larger than `maxBytes` */
export async function readBounded(path: string, maxBytes: number = maxFileBytes): Promise<Uint8Array> {
  let handle: Awaited<ReturnType<typeof open>> | undefined;
  try {
    handle = await open(path);
    const { size } = await handle.stat();
    if (size > maxBytes) throw new UsageError(`${path} is larger than ${maxBytes} bytes`);
    return await handle.readFile();
  } catch (error) {
    if (error instanceof UsageError || !(error instanceof Error && "code" in error)) throw error;
    throw new UsageError(`${path} cannot be read (${error.code})`);
  } finally {
    await handle?.close();
  }
}
