import type { FastifyInstance } from "fastify";
import type { RateLimits } from "../../http/rate-limits.ts";
import { findLogo, logoPath } from "../../partners/partners.ts";
import type { Sql } from "../../platform/database/database.ts";
import { ServiceError } from "../../platform/errors.ts";

/** The logos that firms uploaded; a picture never changes under its address. */
export function logoRoute(app: FastifyInstance, { db, limits }: { db: Sql; limits: RateLimits }): void {
  app.get<{ Params: { file: string } }>(
    `${logoPath}/:file`,
    { schema: { hide: true }, onRequest: limits.limit("page") },
    async (request, reply) => {
      const [, sha256] = /^([0-9a-f]{64})\.png$/.exec(request.params.file) ?? [];
      const png = sha256 === undefined ? undefined : await findLogo(db, sha256);
      if (!png) throw new ServiceError("not_found", "Not found.");
      reply.headers({
        "Cache-Control": "public, max-age=31536000, immutable",
        // Mail programs and other firms' pages show it, too.
        "Cross-Origin-Resource-Policy": "cross-origin",
      });
      return reply.type("image/png").send(png);
    },
  );
}
