import type { FastifyRequest } from "fastify";
import { principalOf } from "../http/authentication.ts";
import { type Form, readForm } from "../http/multipart.ts";
import type { UploadMemory } from "../http/upload-memory.ts";
import { invalid, ServiceError } from "../platform/errors.ts";
import { expectedFile } from "./refusals.ts";
import { type SealPassportDeps, sealPassport } from "./seal-passport.ts";

export type SealUploadDeps = SealPassportDeps & { uploadMemory: UploadMemory };

const messages = { notMultipart: expectedFile, tooLarge: expectedFile, incomplete: expectedFile };
/** Far more than a seal adds to most documents; where it adds more, the document is copied. */
const tailBytes = 64 * 1024;

/**
 * Seals the PDF that a form bears as its part `file`, for the request's principal.
 * @returns the contract's seal response
 * @throws ServiceError; then nothing was recorded
 */
export async function sealUpload(deps: SealUploadDeps, request: FastifyRequest) {
  const form = await readUpload(request, deps.uploadMemory);
  try {
    if (!form.upload) throw invalid(expectedFile);
    return await sealPassport(deps, principalOf(request), form.upload);
  } finally {
    form.release();
  }
}

/** Every fault of the form has the contract's one message. */
async function readUpload(request: FastifyRequest, memory: UploadMemory): Promise<Form> {
  try {
    return await readForm(request, { filePart: "file", memory, spareBytes: tailBytes, messages });
  } catch (error) {
    throw error instanceof ServiceError && error.code === "validation" ? invalid(expectedFile) : error;
  }
}
