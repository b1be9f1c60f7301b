import type { FastifyRequest } from "fastify";
import { principalOf } from "../http/authentication.ts";
import { type Form, type FormRules, readForm, type Upload } from "../http/uploads/multipart.ts";
import type { UploadMemory } from "../http/uploads/upload-memory.ts";
import { invalid, ServiceError } from "../platform/errors.ts";
import { expectedFile } from "../seals/refusals.ts";
import { type SealPassportDeps, sealPassport } from "./seal-passport.ts";

export type SealUploadDeps = SealPassportDeps & { uploadMemory: UploadMemory };

const messages = { notMultipart: expectedFile, tooLarge: expectedFile, incomplete: expectedFile };
/** Far more than a seal adds to most documents; where it adds more, the document is copied. */
const tailBytes = 64 * 1024;

/**
 * Seals the PDF that a form bears as its part `file`, for the request's principal.
 * @param authenticate finds the principal anew (`FormRules`)
 * @returns the contract's seal response
 * @throws ServiceError; then nothing was recorded
 */
export const sealUpload = (deps: SealUploadDeps, request: FastifyRequest, authenticate: FormRules["authenticate"]) =>
  withUpload(deps, request, authenticate, (upload) => sealPassport(deps, principalOf(request), upload));

/** Hands the PDF that a form bears as its part `file`, and the form's fields, to `work`; the bytes are gone after it. */
export async function withUpload<Result>(
  deps: Pick<SealUploadDeps, "uploadMemory">,
  request: FastifyRequest,
  authenticate: FormRules["authenticate"],
  work: (upload: Upload, fields: Form["fields"]) => Promise<Result>,
): Promise<Result> {
  const rules = { filePart: "file", memory: deps.uploadMemory, spareBytes: tailBytes, messages, authenticate };
  const form = await readUpload(request, rules);
  try {
    if (!form.upload) throw invalid(expectedFile);
    return await work(form.upload, form.fields);
  } finally {
    form.release();
  }
}

/** Every fault of the form has the contract's one message. */
async function readUpload(request: FastifyRequest, rules: FormRules): Promise<Form> {
  try {
    return await readForm(request, rules);
  } catch (error) {
    throw error instanceof ServiceError && error.code === "validation" ? invalid(expectedFile) : error;
  }
}
