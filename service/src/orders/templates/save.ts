import { auditLine } from "../../kernel/audit/audit.ts";
import { actorOf, type Principal } from "../../kernel/identity/identity.ts";
import { orDiscard } from "../../kernel/platform/blobs/blobs.ts";
import { memoryHolder } from "../../kernel/platform/bounds/memory-budget.ts";
import { invalid, ServiceError } from "../../kernel/platform/errors.ts";
import type { RecordResult } from "../../kernel/platform/idempotency.ts";
import { newUuid } from "../../kernel/platform/ids.ts";
import { isUuid } from "../../kernel/platform/text.ts";
import type { Workers } from "../../kernel/platform/workers/task.ts";
import { deletedMessage } from "../../kernel/retention/retention.ts";
import { documentUse, looksLikePdf, type OrderDeps, pagesOf, type SentDocument } from "../order/order.ts";
import { type NamedContent, parseContent, requestedOf } from "./content.ts";
import { orderContent } from "./from-order.ts";
import { type PagePrint, printsIn, storedPrints } from "./prints.ts";
import {
  countTemplates,
  findVersion,
  insertTemplate,
  insertVersion,
  lockLatest,
  type PrintedVersion,
  setArchived,
  type TemplateVersion,
  withPrints,
} from "./store.ts";

export type TemplateDeps = Pick<OrderDeps, "db" | "blobs" | "rowMac" | "clock"> &
  Pick<OrderDeps["offer"], "pricing"> &
  Pick<OrderDeps["originals"], "requireStorage" | "trySigning"> & { workers: Workers };

/** The form fields and the file that the firm sent for a new template or a new version. */
export type SentTemplate = { fields: ReadonlyMap<string, string>; upload: SentDocument | null };

export type SavedVersion = { templateId: string; version: number };

const maxTemplates = 200;
const maxVersions = 1000;

export const noSuchTemplate = () => new ServiceError("not_found", "Template not found.");

type FormFile = Pick<PrintedVersion, "sha256" | "bytes" | "pages" | "blobKey" | "prints"> & {
  /** True if the document's blob was stored for this version. It must then be discarded if saving the version fails. */
  isNew: boolean;
};

/**
 * Creates a template from the sent fields and file, or from one of the firm's orders.
 * @throws ServiceError naming the field and the rule; nothing was written then
 */
export async function createTemplate(
  deps: TemplateDeps,
  principal: Principal,
  sent: SentTemplate,
  record: RecordResult,
): Promise<SavedVersion> {
  const code = sent.fields.get("order")?.trim() ?? "";
  if (code !== "" && sent.upload) throw invalid("document and order exclude each other: send one of them.");
  const from = code === "" ? null : await orderContent(deps, principal, code);
  if (!sent.upload && !from) throw invalid("document is required: the form as a PDF, or send order.");
  const content = parseContent(sent.fields, deps.pricing, from && { name: from.name, content: from.content });
  const templateId = newUuid();
  const file = sent.upload
    ? await newFile(deps, principal, sent.upload, content)
    : await copyOf(deps, principal, from, content);
  const result = { templateId, version: 1 };
  await orDiscard(deps.blobs, file.isNew ? file.blobKey : null, () =>
    deps.db.transaction(async (tx) => {
      if ((await countTemplates(tx, principal)) >= maxTemplates)
        throw invalid(`A firm has at most ${maxTemplates} templates: archive one first.`);
      const at = deps.clock();
      await insertTemplate(tx, templateId, principal, at);
      await insertVersion(tx, deps.rowMac, versionOf(principal, content, file, { ...result, at }));
      await tx.query(audited(principal, "template.created", result, at));
      await record(tx, result);
    }),
  );
  return result;
}

/**
 * Adds a version. A field that the request leaves out stays as in the latest version.
 * @throws ServiceError naming the field and the rule; `not_found` for another firm's template; `conflict` for an
 * archived template, and when another version was added at the same time
 */
export async function addVersion(
  deps: TemplateDeps,
  principal: Principal,
  { templateId, sent }: { templateId: string; sent: SentTemplate },
  record: RecordResult,
): Promise<SavedVersion> {
  const before = isUuid(templateId) ? await findVersion(deps, principal, templateId) : undefined;
  if (!before) throw noSuchTemplate();
  if (before.archivedAt) throw new ServiceError("conflict", "This template is archived. Restore it first.");
  const content = parseContent(sent.fields, deps.pricing, before);
  const file = sent.upload
    ? await newFile(deps, principal, sent.upload, content)
    : await sameFile(deps, principal, before, content);
  const result = { templateId, version: before.version + 1 };
  await orDiscard(deps.blobs, file.isNew ? file.blobKey : null, () =>
    deps.db.transaction(async (tx) => {
      const latest = await lockLatest(tx, principal, templateId);
      if (latest === undefined) throw noSuchTemplate();
      // The firm's changes are based on an older version, so saving them would undo the changes of the newer one.
      if (latest !== before.version)
        throw new ServiceError("conflict", "Another version was added at the same time. Get it, and send yours again.");
      if (latest >= maxVersions) throw invalid(`A template has at most ${maxVersions} versions.`);
      const at = deps.clock();
      await insertVersion(tx, deps.rowMac, versionOf(principal, content, file, { ...result, at }));
      await tx.query(audited(principal, "template.version_added", result, at));
      await record(tx, result);
    }),
  );
  return result;
}

/**
 * Archives a template, or restores it. Repeating it changes nothing.
 * @throws ServiceError for an unknown template. When restoring, also if its document was deleted or the firm has too
 * many other templates
 */
export async function archiveTemplate(
  { clock, db, rowMac }: Pick<TemplateDeps, "clock" | "db" | "rowMac">,
  principal: Principal,
  templateId: string,
  isArchived: boolean,
): Promise<void> {
  if (!isUuid(templateId)) throw noSuchTemplate();
  await db.transaction(async (tx) => {
    const count = await countTemplates(tx, principal);
    if ((await lockLatest(tx, principal, templateId)) === undefined) throw noSuchTemplate();
    const latest = isArchived ? undefined : await findVersion({ db: tx, rowMac }, principal, templateId);
    if (latest?.archivedAt && latest.deletedAt)
      throw new ServiceError("conflict", deletedMessage("The document of this template", latest.deletedAt));
    const at = clock();
    if (!(await setArchived(tx, principal, templateId, isArchived ? at : null))) return;
    if (!isArchived && count >= maxTemplates)
      throw invalid(`A firm has at most ${maxTemplates} templates: archive one first.`);
    const { environment } = principal;
    const action = isArchived ? "template.archived" : "template.restored";
    await tx.query(audited(principal, action, { templateId, environment }, at));
  });
}

const audited = (principal: Principal, action: string, detail: object, at: Date) =>
  auditLine({ at, action, actor: actorOf(principal), partnerId: principal.partnerId, detail });

const versionOf = (
  principal: Principal,
  { name, content }: NamedContent,
  { isNew: _isNew, ...file }: FormFile,
  { templateId, version, at }: { templateId: string; version: number; at: Date },
) => ({
  ...file,
  templateId,
  version,
  name,
  content,
  partnerId: principal.partnerId,
  environment: principal.environment,
  createdBy: actorOf(principal),
  createdAt: at,
});

async function newFile(
  deps: TemplateDeps,
  principal: Principal,
  { bytes, sha256 }: SentDocument,
  content: NamedContent,
): Promise<FormFile> {
  if (!looksLikePdf(bytes)) throw invalid("document must be a PDF.");
  const { pages, prints } = await examined(deps, principal, { bytes, sha256 }, content);
  await deps.requireStorage(principal, bytes.length);
  const blobKey = await deps.blobs.put(bytes, documentUse(sha256));
  return { sha256, bytes: bytes.length, pages, prints, blobKey, isNew: true };
}

type OrderFile = { sha256: string; blobKey: string };

/** Copies an order's document, because the retention plan will delete the order's own file. */
async function copyOf(
  deps: TemplateDeps,
  principal: Principal,
  from: OrderFile | null,
  content: NamedContent,
): Promise<FormFile> {
  if (!from) throw invalid("document is required: the form as a PDF.");
  const at = { key: from.blobKey, use: documentUse(from.sha256), holder: memoryHolder(principal) };
  return deps.blobs.withBytes(at, async (bytes) => {
    if (!bytes) throw invalid("order has no document any more: send document.");
    return newFile(deps, principal, { bytes, sha256: from.sha256 }, content);
  });
}

/** Keeps the document of the previous version, after trying it with the fields of the new version. */
async function sameFile(
  deps: TemplateDeps,
  principal: Principal,
  before: TemplateVersion,
  content: NamedContent,
): Promise<FormFile> {
  const { sha256, bytes, pages, blobKey } = before;
  const [printed] = await withPrints(deps, [before]);
  const at = { key: blobKey, use: documentUse(sha256), holder: memoryHolder(principal) };
  await deps.blobs.withBytes(at, async (read) => {
    if (!read) throw new Error("the document of a template is missing");
    await tried(deps, principal, { bytes: read, sha256 }, content);
  });
  return { sha256, bytes, pages, blobKey, prints: printed?.prints ?? [], isNew: false };
}

async function examined(
  deps: TemplateDeps,
  principal: Principal,
  document: SentDocument,
  content: NamedContent,
): Promise<{ pages: number; prints: PagePrint[] }> {
  const pages =
    (await tried(deps, principal, document, content)) ??
    (await pagesOf(deps.workers, principal.partnerId, document.bytes));
  const prints = await printsIn(deps.workers, principal.partnerId, document.bytes);
  return { pages, prints: storedPrints(prints ?? []) };
}

/**
 * Tries to sign the document, with a signer for each of the template's roles. So a field that doesn't fit is refused
 * when the template is saved.
 * @returns the number of pages; null if orders are neither signed nor notarized, or if the number can't be determined
 */
async function tried(
  deps: TemplateDeps,
  { partnerId: holder }: Principal,
  { bytes, sha256 }: SentDocument,
  { content: { roles, fields, services } }: NamedContent,
): Promise<number | null> {
  const isNotarized = services.svc_notary !== undefined;
  if (services.svc_sign === undefined && !isNotarized) return null;
  const signers = roles.map(({ name }) => name);
  const requested = fields && requestedOf(fields, roles);
  return (await deps.trySigning({ holder, bytes, sha256, signers, fields: requested, isNotarized })).pages;
}
