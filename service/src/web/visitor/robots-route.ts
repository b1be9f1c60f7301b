import type { FastifyInstance } from "fastify";
import { publicHeaders } from "../ui/page/headers.ts";

// What is public is named; addresses of all else may be credentials, and are not spelled out for anyone.
const robots = `User-agent: *
Allow: /$
Allow: /docs
Allow: /verify$
Allow: /request-access$
Allow: /assets/
Disallow: /
`;

/** `/robots.txt` (RFC 9309). */
export function robotsRoute(app: FastifyInstance): void {
  app.get("/robots.txt", { schema: { hide: true } }, (_request, reply) =>
    reply.headers(publicHeaders).type("text/plain; charset=utf-8").send(robots),
  );
}
