import { readFile } from "node:fs/promises";
import type { FastifyInstance } from "fastify";
import type { RateLimits } from "../../http/rate-limits.ts";
import { ServiceError } from "../../platform/errors.ts";
import type { Assets } from "../ui/assets/assets.ts";
import { publicHeaders } from "../ui/page/headers.ts";
import { pageRoute } from "../ui/page/route.ts";
import { guidePage, indexPage } from "./pages.ts";
import { readGuides } from "./read-guides.ts";

export type GuideDeps = { limits: RateLimits; assets: Pick<Assets, "url">; baseUrl: string };

const exampleFile = new URL("../../../../examples/lien-release.pdf", import.meta.url);

/** The guides for partners' developers; the reference beside them is `http/openapi/reference-page.ts`. */
export function guidePages(app: FastifyInstance, deps: GuideDeps): void {
  const guides = readGuides(deps.baseUrl);
  const common = { policy: "page", headers: publicHeaders } as const;
  pageRoute(app, deps, { ...common, url: "/docs", handle: kept(() => indexPage(deps.assets, guides)) });
  for (const guide of guides)
    pageRoute(app, deps, {
      ...common,
      url: `/docs/${guide.name}`,
      handle: kept(() => guidePage(deps.assets, guides, guide)),
    });
  pageRoute(app, deps, {
    ...common,
    url: "/docs/example.pdf",
    async handle() {
      const pdf = await readFile(exampleFile).catch(() => null);
      if (pdf === null) throw new ServiceError("not_found", "Not found.");
      return { pdf, name: "example.pdf" };
    },
  });
}

/** Made when it is asked for first: no start waits for what few visit. */
function kept<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
