/** Templates: a firm's document types, from which orders are placed. */
import { versionRows } from "./store.ts";

export {
  addCatalogVersion,
  findCatalogForm,
  findCatalogVersion,
  listCatalogForms,
  retireCatalogForm,
} from "./catalog-forms.ts";
export { requestedOf, type TemplateContent, type TemplateRole } from "./content.ts";
export { expandForm, formFrom, templateOf, templateOfFill } from "./expand.ts";
export { orderContent } from "./from-order.ts";
export { type UseOfVersion, versionSource } from "./retention.ts";
export { templateRoutes } from "./routes.ts";
export { addVersion, archiveTemplate, createTemplate, type TemplateDeps } from "./save.ts";
export { roleSchema } from "./schemas.ts";
export {
  type FormVersion,
  findVersion,
  findVersionBySlug,
  joinVersion,
  messageFor,
  storedVersions,
  type TemplateVersion,
  templatePageCounts,
} from "./store.ts";
export { matchesOf, openTemplateDocument, templatePage } from "./view.ts";

export const protectedTables = [versionRows];
