import type { FastifyInstance } from "fastify";
import { acceptTextForms } from "./text-forms.ts";
import { acceptMultipart } from "./uploads/multipart.ts";

/** For routes that take no body: one that comes, of whatever type, is read and discarded. */
export function acceptNoBody(scope: FastifyInstance): void {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser("*", { parseAs: "string" }, (_request, _body, done) => done(null, undefined));
}

/** For routes whose JSON body may be left out: an empty one counts as `{}`. */
export function acceptEmptyJson(scope: FastifyInstance): void {
  const parse = scope.getDefaultJsonParser("error", "error");
  scope.removeContentTypeParser("application/json");
  scope.addContentTypeParser("application/json", { parseAs: "string" }, (request, body, done) => {
    if (String(body).trim() === "") done(null, {});
    else parse(request, String(body), done);
  });
}

/** What a route takes other than JSON, each by the parsers of a scope of its own. */
export const acceptBody = {
  none: acceptNoBody,
  optional: acceptEmptyJson,
  form: acceptTextForms,
  upload: acceptMultipart,
} as const;

/**
 * `none`: what comes is read and discarded; `optional`: JSON, and an empty body counts as `{}`; `form`: a form of text fields, read
 * by `formFields`; `upload`: a form with a file, read by `readForm`.
 */
export type BodyKind = keyof typeof acceptBody;
