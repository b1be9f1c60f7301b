import type { Static } from "typebox";
import type { Owner } from "../../kernel/identity/identity.ts";
import type { StoredFile } from "../../kernel/platform/blobs/stored-file.ts";
import { memoryHolder } from "../../kernel/platform/bounds/memory-budget.ts";
import type { Sql } from "../../kernel/platform/database/database.ts";
import { cursorOf, foreignCursor, limitOf, type PageQuery, pageOf } from "../../kernel/platform/database/page.ts";
import { invalid, ServiceError } from "../../kernel/platform/errors.ts";
import { isUuid } from "../../kernel/platform/text.ts";
import { deletedMessage } from "../../kernel/retention/retention.ts";
import { documentUse, pagesOf, type SentDocument, serviceFlags } from "../order/order.ts";
import { pagesWithFields } from "./expand.ts";
import { likenessOf, printsIn } from "./prints.ts";
import type { TemplateDeps } from "./save.ts";
import type { Template, TemplateMatches, TemplateSummary } from "./schemas.ts";
import { isOwnTemplate, listTemplates, type TemplateVersion, withPrints } from "./store.ts";

export function summaryOf(template: TemplateVersion): Static<typeof TemplateSummary> {
  const { templateId, name, version, pages, createdAt, archivedAt, content } = template;
  const { services } = content;
  return {
    templateId,
    name,
    version,
    roles: [...content.roles],
    services: serviceFlags({
      sign: services.svc_sign !== undefined,
      notarize: services.svc_notary !== undefined,
      ship: services.svc_ship !== undefined,
      fax: false,
    }),
    pages,
    createdAt: createdAt.toISOString(),
    archivedAt: archivedAt?.toISOString() ?? null,
  };
}

export const templateView = (template: TemplateVersion, requestId: string): Static<typeof Template> => ({
  ...summaryOf(template),
  documentSha256: template.sha256,
  documentBytes: template.bytes,
  docSlug: template.content.services.doc_slug ?? null,
  shipMethod: template.content.services.ship_method ?? null,
  message: template.content.message,
  fields: template.content.fields && [...template.content.fields],
  requestId,
});

export type TemplateQuery = PageQuery & { archived?: string };

const pageSize = { usual: 50, max: 100 };

/** A page of the owner's templates, newest first. @throws ServiceError naming the parameter and its rule */
export async function templatePage(
  deps: { db: Sql } & Pick<TemplateDeps, "rowMac">,
  owner: Owner,
  query: TemplateQuery,
) {
  const limit = limitOf(query.limit, pageSize);
  const { archived = "" } = query;
  if (!["", "true", "false"].includes(archived)) throw invalid("archived must be true or false.");
  const after = cursorOf(query.cursor);
  if (after !== null && !(isUuid(after) && (await isOwnTemplate(deps.db, after, owner)))) throw foreignCursor();
  const rows = await listTemplates(deps, owner, { archived: archived === "true", after, limit: limit + 1 });
  return pageOf(rows, limit, ({ templateId }) => templateId);
}

type Matches = Static<typeof TemplateMatches>["matches"];
const maxCompared = 200;

/**
 * The owner's templates in use whose form is the same as the document's. Templates with exactly the same file come
 * first.
 */
export async function matchesOf(deps: TemplateDeps, owner: Owner, { bytes, sha256 }: SentDocument): Promise<Matches> {
  const { partnerId: holder } = owner;
  const listed = await listTemplates(deps, owner, { archived: false, after: null, limit: maxCompared });
  if (listed.length === 0) return [];
  const pages = await pagesOf(deps.workers, holder, bytes);
  const alike = listed.filter((each) => each.sha256 === sha256 || each.pages === pages);
  // Reading the words may last seconds, so it is done only if a template has the same number of pages.
  if (alike.length === 0) return [];
  const templates = await withPrints(deps, alike);
  const prints = await printsIn(deps.workers, holder, bytes);
  const found = templates.flatMap((template): Matches => {
    const { templateId, name, version, content } = template;
    const likeness = likenessOf(template, { sha256, pages, prints }, pagesWithFields(content));
    return likeness === "same_file" || likeness === "same_form" ? [{ templateId, name, version, likeness }] : [];
  });
  return [
    ...found.filter((each) => each.likeness === "same_file"),
    ...found.filter((each) => each.likeness !== "same_file"),
  ];
}

/** Opens the document of a template's version. @throws ServiceError when it was deleted */
export async function openTemplateDocument(
  { blobs }: Pick<TemplateDeps, "blobs">,
  template: TemplateVersion,
): Promise<StoredFile> {
  if (template.deletedAt)
    throw new ServiceError("not_found", deletedMessage("The document of this template", template.deletedAt));
  const file = await blobs.open(template.blobKey, documentUse(template.sha256), memoryHolder(template));
  if (!file) throw new ServiceError("not_found", "Template not found.");
  return file;
}
