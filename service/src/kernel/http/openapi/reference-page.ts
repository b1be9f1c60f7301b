import { hash } from "node:crypto";
import fastify, { type FastifyInstance } from "fastify";

const path = "/docs/reference";

// Loads the Scalar library when the page is first requested. The library is 4 MB of JavaScript and would take a tenth
// of the startup time.
async function openReference(): Promise<FastifyInstance> {
  const { default: scalar } = await import("@scalar/fastify-api-reference");
  const reference = fastify({ routerOptions: { ignoreTrailingSlash: true } });
  await reference.register(scalar, {
    routePrefix: path,
    configuration: {
      url: "/openapi.json",
      pageTitle: "API reference · SignSealShip",
      // Keeps the order in which the schemas list their members.
      orderSchemaPropertiesBy: "preserve",
      orderRequiredPropertiesFirst: false,
      authentication: { preferredSecurityScheme: "partnerKey" },
      withDefaultFonts: false,
      telemetry: false,
      hideClientButton: true,
      showDeveloperTools: "never",
      // Disables a feature that would send a reader's requests to another service.
      agent: { disabled: true },
      mcp: { disabled: true },
      customCss: `:root { --scalar-custom-header-height: ${barHeight} }`,
    } as object,
  });
  return reference;
}

const barHeight = "2.75rem";

/** A bar with links back to the site. The library's page has none. */
const bar = `<nav aria-label="Site" style="position: sticky; top: 0; z-index: 100; display: flex; align-items: center; gap: 1.25rem; box-sizing: border-box; height: ${barHeight}; padding: 0 1rem; border-bottom: 1px solid rgb(128 128 128 / 30%); background: Canvas; color: CanvasText; color-scheme: light dark; font: 0.9rem/1 system-ui, sans-serif"><a href="/" style="color: inherit; font-weight: 600; text-decoration: none">SignSealShip</a><a href="/docs" style="color: inherit">Guides</a><a href="/docs/quickstart" style="color: inherit">Quickstart</a></nav>`;

const framed = (html: string): string => html.replace("<html>", '<html lang="en">').replace("<body>", `<body>${bar}`);

const inlineScript = /<script type="text\/javascript">([\s\S]*?)<\/script>/;

/**
 * The Content-Security-Policy of this page alone. The library starts with an inline script and inline styles. So the
 * policy allows that script by its hash, and any inline style.
 */
function contentSecurityPolicy(html: string): string {
  const script = inlineScript.exec(html)?.[1];
  const scriptHash = script === undefined ? "" : ` 'sha256-${hash("sha256", script, "base64")}'`;
  return `default-src 'self'; script-src 'self'${scriptHash}; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self' data:; object-src 'none'; frame-ancestors 'none'; base-uri 'none'`;
}

/** The page that shows `/openapi.json` in readable form. */
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
      const isPage = String(headers["content-type"]).startsWith("text/html");
      return reply.code(statusCode).send(isPage ? framed(payload) : payload);
    });
}
