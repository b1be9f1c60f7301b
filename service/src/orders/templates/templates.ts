/** Templates: a firm's document types, from which orders are placed. */
import { versionRows } from "./store.ts";

export type { TemplateContent, TemplateRole } from "./content.ts";
export { expandForm } from "./expand.ts";
export { type TemplateRouteDeps, templateRoutes } from "./routes.ts";
export { addVersion, archiveTemplate, createTemplate, type SentTemplate, type TemplateDeps } from "./save.ts";
export { findVersion, messageFor, type TemplateVersion } from "./store.ts";
export { matchesOf, templatePage } from "./view.ts";

export const protectedTables = [versionRows];
