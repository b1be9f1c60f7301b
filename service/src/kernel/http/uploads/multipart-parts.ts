import { createHash, type Hash } from "node:crypto";
import { finished } from "node:stream/promises";
import type { MultipartFile } from "@fastify/multipart";
import type { FastifyRequest } from "fastify";
import { freeMemory } from "../../platform/bounds/free-memory.ts";
import { invalid } from "../../platform/errors.ts";

/** The largest file accepted: 35 MiB, inclusive (contract, Limits). */
export const maxUploadBytes = 35 * 1024 * 1024;
export const maxFieldBytes = 64 * 1024;

export type Upload = {
  bytes: Buffer;
  sha256: string;
  /** The file's name as the sender gave it. */
  filename: string | undefined;
  /**
   * The SHA-256 state after the file's last byte. Copy the object before adding more bytes, because `update` changes
   * it.
   */
  hash: Hash;
  /** The number of bytes reserved after `bytes` in the same memory, for data that is appended later. */
  spare: number;
};

export type PartRules = {
  /** The name of the form's only file part. */
  filePart: string;
  /** Memory to reserve after the file, for data appended later. */
  spareBytes?: number;
  messages: { tooLarge: string; incomplete: string };
  /**
   * If set, receives each text field as it arrives, so that a page can show a refused form again. The fields after a
   * file that is too large are then read as well.
   */
  typed?: Map<string, string>;
};

/**
 * Reads the parts of a multipart request. If the request is refused, discards the rest of its body.
 * @param capacity the longest file to hold; null to refuse any file as too large
 * @throws ServiceError `validation`
 */
export async function readParts(request: FastifyRequest, rules: PartRules, capacity: number | null) {
  const fields = rules.typed ?? new Map<string, string>();
  let upload: Upload | "too large" | null = null;
  try {
    for await (const part of request.parts()) {
      if (part.type === "file") {
        if (part.fieldname !== rules.filePart) {
          if (part.filename !== undefined)
            throw invalid(`${part.fieldname} must be a text field, not a file: the file is sent as ${rules.filePart}.`);
          addField(fields, part.fieldname, await readText(part));
          continue;
        }
        if (upload) throw invalid(`${rules.filePart} must be sent once.`);
        upload = await readFile(part, rules, capacity);
        if (upload === "too large" && !rules.typed) throw invalid(rules.messages.tooLarge);
      } else {
        if (part.fieldname === rules.filePart && part.value !== "") throw invalid(`${rules.filePart} must be a file.`);
        if (part.valueTruncated) throw invalid(`${part.fieldname} must be at most ${maxFieldBytes} bytes.`);
        addField(fields, part.fieldname, String(part.value));
      }
    }
  } catch (error) {
    if (upload && upload !== "too large") freeMemory(upload.bytes.buffer);
    // Unread data would block the connection and later requests on it, so the rest of the body is read and discarded.
    request.raw.unpipe();
    request.raw.resume();
    throw isFormError(error) ? invalid(rules.messages.incomplete) : error;
  }
  if (upload === "too large") throw invalid(rules.messages.tooLarge);
  return { fields, upload };
}

function addField(fields: Map<string, string>, name: string, value: string): void {
  if (fields.has(name)) throw invalid(`${name} must be sent once.`);
  fields.set(name, value);
}

async function readText(part: MultipartFile): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of part.file as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > maxFieldBytes) throw invalid(`${part.fieldname} must be at most ${maxFieldBytes} bytes.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

/**
 * Reads the form's file. If the file is too large, the parser delivers `maxUploadBytes` + 1 bytes of it. The extra byte
 * shows that the file is too large.
 */
async function readFile(part: MultipartFile, rules: PartRules, capacity: number | null): Promise<Upload | "too large"> {
  if (capacity === null) {
    await finished(part.file.resume());
    return "too large";
  }
  const hash = createHash("sha256");
  const held = Buffer.allocUnsafeSlow(capacity + (rules.spareBytes ?? 0));
  let length = 0;
  // Copies each chunk as it arrives. An async iterator would first join several chunks, which is one more copy.
  part.file.on("data", (chunk: Buffer) => {
    if (length + chunk.length > maxUploadBytes) {
      length = Number.POSITIVE_INFINITY;
      return;
    }
    // Never true, because Node.js cuts a body off at its Content-Length. The check keeps the copy from writing beyond
    // its memory.
    if (length + chunk.length > capacity) {
      part.file.destroy(invalid(rules.messages.incomplete));
      return;
    }
    hash.update(chunk);
    chunk.copy(held, length);
    length += chunk.length;
  });
  try {
    await finished(part.file);
  } catch (error) {
    freeMemory(held.buffer);
    throw error;
  }
  if (length <= maxUploadBytes)
    return {
      bytes: held.subarray(0, length),
      sha256: hash.copy().digest("hex"),
      filename: part.filename,
      hash,
      spare: held.length - length,
    };
  freeMemory(held.buffer);
  return "too large";
}

/**
 * True if the uploaded form caused the error: a body that was cut off, a bad boundary, or too many parts. For these,
 * the form parser and the stream throw plain `Error` objects. The service and JavaScript itself throw subclasses of
 * `Error`.
 */
function isFormError(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return error.name === "Error" || (error as NodeJS.ErrnoException).code?.startsWith("FST_") === true;
}
