import type { FastifyInstance } from "fastify";
import { type ActDeps, actRoutes } from "./act-routes.ts";
import { documentRoute } from "./document-route.ts";
import { pictureRoute } from "./picture-route.ts";
import { textRoute } from "./text-route.ts";
import { viewRoute } from "./view-route.ts";

export type SigningDeps = ActDeps;

/** `/sign/{token}`: the pages of who was asked to sign. The link is all they need, besides the code that some are asked for. */
export function signingPages(app: FastifyInstance, deps: SigningDeps): void {
  viewRoute(app, deps);
  documentRoute(app, deps);
  textRoute(app, deps);
  actRoutes(app, deps);
  pictureRoute(app, deps);
}
