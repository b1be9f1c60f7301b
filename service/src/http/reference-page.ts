import { createHash } from "node:crypto";
import fastify, { type FastifyInstance } from "fastify";

const path = "/docs";

// The library is 4 MB of JavaScript, a tenth of the service's start: it is loaded with the first reader.
async function openReference(): Promise<FastifyInstance> {
  const { default: scalar } = await import("@scalar/fastify-api-reference");
  const reference = fastify({ routerOptions: { ignoreTrailingSlash: true } });
  await reference.register(scalar, {
    routePrefix: path,
    configuration: {
      url: "/openapi.json",
      pageTitle: "SignSealShip partner interface",
      withDefaultFonts: false,
      telemetry: false,
      hideClientButton: true,
      showDeveloperTools: "never",
      // Nothing on the page may send a reader's requests to another service.
      agent: { disabled: true },
      mcp: { disabled: true },
    } as object,
  });
  return reference;
}

const inlineScript = /<script type="text\/javascript">([\s\S]*?)<\/script>/;

/** The page starts itself by an inline script and styles itself: it alone gets a policy that allows just these. */
function contentSecurityPolicy(html: string): string {
  const script = inlineScript.exec(html)?.[1];
  const hash = script === undefined ? "" : ` 'sha256-${createHash("sha256").update(script).digest("base64")}'`;
  return `default-src 'self'; script-src 'self'${hash}; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self' data:; object-src 'none'; frame-ancestors 'none'; base-uri 'none'`;
}

/** `/openapi.json` in readable form. */
export function referencePage(app: FastifyInstance): void {
  let opening: Promise<FastifyInstance> | undefined;
  const schema = { hide: true };
  for (const url of [path, `${path}/*`])
    app.get(url, { schema }, async (request, reply) => {
      opening ??= openReference();
      const reference = await opening;
      const { statusCode, headers, payload } = await reference.inject({ method: "GET", url: request.url });
      if (statusCode === 404) return reply.callNotFound();
      for (const name of ["content-type", "location"]) {
        const value = headers[name];
        if (value !== undefined) reply.header(name, value);
      }
      reply.header("Content-Security-Policy", contentSecurityPolicy(payload));
      return reply.code(statusCode).send(payload);
    });
}
