import { createHash, type Hash } from "node:crypto";
import { finished } from "node:stream/promises";
import multipart, { type MultipartFile } from "@fastify/multipart";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { invalid } from "../platform/errors.ts";
import { freeMemory } from "../platform/free-memory.ts";
import type { UploadMemory } from "./upload-memory.ts";

/** 35 MiB: this many bytes pass, one more does not (contract, Limits). */
export const maxUploadBytes = 35 * 1024 * 1024;
// Room for part headers and text fields around the file.
const maxBodyBytes = maxUploadBytes + 1024 * 1024;
const maxFieldBytes = 64 * 1024;

export type Upload = {
  bytes: Buffer;
  sha256: string;
  /** State of the hash after the last byte; copy it to go on. */
  hash: Hash;
  /** Bytes of the same memory after `bytes` that belong to this upload. */
  spare: number;
};

export type Form = {
  fields: ReadonlyMap<string, string>;
  /** The file part, when one came. */
  upload: Upload | null;
  /** Gives the memory of the upload back; call it when nothing reads the bytes any more: they are gone then. */
  release: () => void;
};

export type FormRules = {
  /** Name of the one file part. */
  filePart: string;
  memory: UploadMemory;
  /** Memory to hold ready after the file, for what will be appended to it. */
  spareBytes?: number;
  messages: { notMultipart: string; tooLarge: string; incomplete: string };
  /**
   * Gets the fields as they come, for a page that shows a refused form again; then the fields after a file that is too large are
   * read, too.
   */
  typed?: Map<string, string>;
};

export async function acceptMultipart(app: FastifyInstance): Promise<void> {
  await app.register(multipart, {
    // One byte over the limit must be seen, or a file of exactly the limit could not be told from a cut one.
    limits: {
      fileSize: maxUploadBytes + 1,
      fields: 100,
      fieldSize: maxFieldBytes,
      fieldNameSize: 100,
      parts: 102,
      headerPairs: 100,
    },
    throwFileSizeLimit: false,
    // The plugin would parse text parts that are labelled as JSON; as files they come as they were sent.
    isPartAFile: (_name, contentType, filename) =>
      filename !== undefined || contentType === "application/octet-stream" || contentType === "application/json",
  });
}

/**
 * Reads a form with at most one file. The file is hashed as it arrives and held once, in memory reserved before.
 * @throws ServiceError `validation` for a body that is no such form, is cut off, too large or holds a second file.
 */
export async function readForm(request: FastifyRequest, rules: FormRules): Promise<Form> {
  if (!request.isMultipart()) throw invalid(rules.messages.notMultipart);
  const declared = Number(request.headers["content-length"] ?? maxBodyBytes);
  if (declared > maxBodyBytes && !rules.typed) throw invalid(rules.messages.tooLarge);
  const capacity = Math.min(declared, maxUploadBytes);
  const release = await rules.memory.reserve(capacity + (rules.spareBytes ?? 0));
  try {
    const parts = await readParts(request, rules, capacity);
    const releaseAll = () => {
      if (parts.upload) freeMemory(parts.upload.bytes.buffer);
      release();
    };
    return { ...parts, release: releaseAll };
  } catch (error) {
    release();
    throw error;
  }
}

async function readParts(request: FastifyRequest, rules: FormRules, capacity: number): Promise<Omit<Form, "release">> {
  const fields = rules.typed ?? new Map<string, string>();
  let upload: Upload | "too large" | null = null;
  try {
    for await (const part of request.parts()) {
      if (part.type === "file") {
        if (part.fieldname !== rules.filePart) {
          if (part.filename !== undefined) throw invalid(`${part.fieldname} must be a text field, not a file.`);
          addField(fields, part.fieldname, await readText(part));
          continue;
        }
        if (upload) throw invalid(`${rules.filePart} must be sent once.`);
        upload = await readFile(part, rules, capacity);
        if (upload === "too large" && !rules.typed) throw invalid(rules.messages.tooLarge);
      } else {
        if (part.valueTruncated) throw invalid(`${part.fieldname} must be at most ${maxFieldBytes} bytes.`);
        addField(fields, part.fieldname, String(part.value));
      }
    }
  } catch (error) {
    // What is still to come is read and left aside: unread it would hold up the connection, and what is sent on it next.
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

/** The parser ends a file one byte after the limit. */
async function readFile(part: MultipartFile, rules: FormRules, capacity: number): Promise<Upload | "too large"> {
  const hash = createHash("sha256");
  const held = Buffer.allocUnsafeSlow(capacity + (rules.spareBytes ?? 0));
  let length = 0;
  // As they come: an iterator would join what waits into yet another copy.
  part.file.on("data", (chunk: Buffer) => {
    if (length + chunk.length > maxUploadBytes) {
      length = Number.POSITIVE_INFINITY;
      return;
    }
    // A body longer than its Content-Length never gets here; the check keeps the copy in bounds all the same.
    if (length + chunk.length > capacity) {
      part.file.destroy(invalid(rules.messages.incomplete));
      return;
    }
    hash.update(chunk);
    chunk.copy(held, length);
    length += chunk.length;
  });
  await finished(part.file);
  if (length > maxUploadBytes) return "too large";
  return { bytes: held.subarray(0, length), sha256: hash.copy().digest("hex"), hash, spare: held.length - length };
}

/** Errors of the form parser (cut body, bad boundary, too many parts), as opposed to ours. */
function isFormError(error: unknown): boolean {
  if (!(error instanceof Error) || error.name === "ServiceError") return false;
  const { code } = error as NodeJS.ErrnoException;
  return (
    code?.startsWith("FST_") === true ||
    code === "ECONNRESET" ||
    code === "ERR_STREAM_PREMATURE_CLOSE" ||
    /Unexpected end|Malformed|Multipart|boundary|aborted|Premature/i.test(error.message)
  );
}
