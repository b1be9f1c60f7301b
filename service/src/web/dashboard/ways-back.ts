import type { FastifyInstance } from "fastify";

/**
 * A refused form leaves a browser at the form's own address: when reloaded, each such address redirects to the page that the form
 * is on, the nearest one above it. Counts in the routes of the scope that are registered after this.
 * @returns what registers the ways, once all routes are there
 */
export function waysBack(scope: FastifyInstance): (after: FastifyInstance) => void {
  const pages = new Set<string>();
  const forms = new Set<string>();
  scope.addHook("onRoute", ({ method, url }) => {
    for (const each of [method].flat())
      if (each === "GET" || each === "POST") (each === "GET" ? pages : forms).add(url);
  });
  return (after) => {
    // What is registered here is no page that others could lead to.
    const found = new Set(pages);
    for (const form of [...forms].filter((url) => !found.has(url))) {
      const length = pageAbove(form, found)?.split("/").length;
      if (length === undefined) continue;
      after.get(form, { schema: { hide: true } }, async ({ url }, reply) =>
        reply.redirect((url.split("?", 1)[0] ?? "").split("/").slice(0, length).join("/"), 303),
      );
    }
  };
}

function pageAbove(form: string, pages: ReadonlySet<string>): string | undefined {
  for (let end = form.lastIndexOf("/"); end > 0; end = form.lastIndexOf("/", end - 1))
    if (pages.has(form.slice(0, end))) return form.slice(0, end);
  return undefined;
}
