import type { FastifyInstance } from "fastify";
import { HttpError } from "../../../kernel/http/errors/http-error.ts";

/** The values of a form or a query: texts by name. */
export type FormValues = Readonly<Record<string, string>>;

/**
 * The text values of a parsed form or query. A line break is one LF character. Values that are not text are ignored.
 */
export function textsOf(parsed: unknown): Record<string, string> {
  const values: Record<string, string> = Object.create(null);
  if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed)) return values;
  // Browsers send line breaks in forms as CRLF (HTML, section 4.10.21.7).
  for (const [name, value] of Object.entries(parsed))
    if (typeof value === "string") values[name] = value.replaceAll("\r\n", "\n");
  return values;
}

const formType = "application/x-www-form-urlencoded";
const maxFormBytes = 64 * 1024;

/**
 * For routes that accept only multipart forms. A plain form is parsed as an empty one, so that the route rejects the
 * form with the route's own message.
 */
export function leaveForms(scope: FastifyInstance): void {
  scope.addContentTypeParser(formType, { parseAs: "string", bodyLimit: maxFormBytes }, (_request, _body, done) =>
    done(null, {}),
  );
}

/**
 * Lets the routes of a scope accept `application/x-www-form-urlencoded`, and no other body. If a name is repeated, its
 * last value is used.
 * @param bodyLimit the longest accepted body, in bytes
 */
export function acceptForms(scope: FastifyInstance, bodyLimit = maxFormBytes): void {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser(formType, { parseAs: "string", bodyLimit }, (_request, body, done) => {
    const values: Record<string, string> = Object.create(null);
    for (const [name, value] of new URLSearchParams(String(body))) values[name] = value;
    done(null, values);
  });
  scope.addContentTypeParser("*", (_request, _payload, done) =>
    done(new HttpError("unsupported_media_type", `Send the form as ${formType}.`)),
  );
}
