import type { FastifyInstance, FastifyRequest } from "fastify";
import { invalid, ServiceError } from "../platform/errors.ts";
import { shownText } from "../platform/text.ts";
import { acceptMultipart } from "./uploads/multipart.ts";

const limits = { fileSize: 1, files: 1, fields: 50, parts: 51, fieldSize: 16 * 1024, fieldNameSize: 100 };
const urlEncoded = "application/x-www-form-urlencoded";

/** The content types of a form of text fields. */
export const formTypes = [urlEncoded, "multipart/form-data"] as const;

/** Accepts form-encoded and multipart bodies. Any other body is read and counts as a form without fields. */
export async function acceptTextForms(scope: FastifyInstance): Promise<void> {
  await acceptMultipart(scope);
  scope.removeContentTypeParser(["application/json", "text/plain"]);
  scope.addContentTypeParser(urlEncoded, { parseAs: "string" }, (_request, body, done) =>
    done(null, [...new URLSearchParams(String(body))]),
  );
  scope.addContentTypeParser("*", { parseAs: "buffer" }, (_request, _body, done) => done(null, undefined));
}

/**
 * The fields of the request's form, in their order. Empty for a body of another type.
 * @throws ServiceError `validation` for a malformed form, one that exceeds `limits`, or one that contains a file.
 */
export async function formFields(request: FastifyRequest): Promise<[string, string][]> {
  if (!request.isMultipart()) return Array.isArray(request.body) ? (request.body as [string, string][]) : [];
  const fields: [string, string][] = [];
  try {
    for await (const part of request.parts({ limits })) {
      if (part.type === "file") throw invalid(`${shownText(part.fieldname)} must be a text field, not a file.`);
      if (part.valueTruncated) throw invalid(`${shownText(part.fieldname)} is too long.`);
      fields.push([part.fieldname, String(part.value)]);
    }
  } catch (error) {
    throw error instanceof ServiceError ? error : invalid("The form is incomplete or malformed.");
  }
  return fields;
}
