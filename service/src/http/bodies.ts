import type { FastifyInstance } from "fastify";

/** For routes that take no body: whatever comes, of whatever type, is read and left aside. */
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
