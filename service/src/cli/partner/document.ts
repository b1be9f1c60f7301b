import { LIMITS } from "../../kernel/pdf/limits.ts";
import { StartupError } from "../../kernel/platform/errors.ts";
import { readInput } from "../verb.ts";

/** The bytes of the file that `--document` names. @throws StartupError when the file can't be read or is too large */
export async function readDocument(path: string): Promise<Buffer> {
  const bytes = await readInput(path, `--document ${path}`);
  if (bytes.length > LIMITS.fileBytes) throw new StartupError(`--document ${path} must be a PDF of at most 35 MB`);
  return bytes;
}
