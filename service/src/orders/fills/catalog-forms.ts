import { hash } from "node:crypto";
import type { Environment, Owner } from "../../kernel/identity/identity.ts";
import { orDiscard } from "../../kernel/platform/blobs/blobs.ts";
import type { StoredFile } from "../../kernel/platform/blobs/stored-file.ts";
import { memoryHolder } from "../../kernel/platform/bounds/memory-budget.ts";
import { invalid, ServiceError } from "../../kernel/platform/errors.ts";
import { isPlainText, shownText } from "../../kernel/platform/text.ts";
import { documentUse, looksLikePdf, pagesOf } from "../order/order.ts";
import {
  addCatalogVersion,
  type FormVersion,
  findCatalogForm,
  findVersionBySlug,
  retireCatalogForm,
  type TemplateDeps,
} from "../templates/templates.ts";
import { questionsIn, uploaded } from "./questions.ts";

type Deps = Pick<TemplateDeps, "db" | "blobs" | "rowMac" | "clock" | "workers"> & {
  pricing: Pick<TemplateDeps["pricing"], "catalogRow">;
};

/** A change of the form of a catalog document, named by its slug. `actor`: who changes the form, for the audit log. */
type FormChange = { slug: string; environment: Environment; actor: string };

/**
 * Stores a PDF as the next version of a catalog document's form. Firms can then ask people to fill it in online, unless
 * their own template for the document has form fields.
 * @throws ServiceError naming the field and the rule; nothing was written then
 */
export async function addCatalogForm(
  deps: Deps,
  { slug, environment, actor }: FormChange,
  { bytes, maxBytes }: { bytes: Buffer; maxBytes: number },
): Promise<{ slug: string; environment: Environment; version: number; questions: number; pages: number }> {
  const row = deps.pricing.catalogRow(slug);
  if (!row) throw invalid(`SLUG must name a document in the catalog; ${shownText(slug)} is not there.`);
  if (!looksLikePdf(bytes)) throw invalid("FILE must be a PDF.");
  if (bytes.length > maxBytes) throw invalid(`FILE must have at most ${maxBytes} bytes.`);
  const questions = await questionsIn(deps.workers, "operator", bytes, uploaded);
  const pages = await pagesOf(deps.workers, "operator", bytes);
  const sha256 = hash("sha256", bytes);
  const blobKey = await deps.blobs.put(bytes, documentUse(sha256));
  const file = { name: row.title, sha256, bytes: bytes.length, pages, blobKey };
  const version = await orDiscard(deps.blobs, blobKey, () =>
    deps.db.transaction((tx) =>
      addCatalogVersion(tx, deps.rowMac, { ...file, slug, environment, actor, at: deps.clock() }),
    ),
  );
  return { slug, environment, version, questions: questions.length, pages };
}

/** Opens the latest version of a catalog document's form. @throws ServiceError `not_found` */
export async function openCatalogForm(
  { blobs, ...reading }: Pick<Deps, "db" | "rowMac" | "blobs">,
  { slug, environment }: Pick<FormChange, "slug" | "environment">,
): Promise<StoredFile> {
  requireSlugText({ slug, environment });
  const form = await findCatalogForm(reading, environment, slug);
  const holder = memoryHolder({ partnerId: "operator", environment });
  const file = form && (await blobs.open(form.blobKey, documentUse(form.sha256), holder));
  if (!file) throw noForm(slug, environment);
  return file;
}

/** Retires a catalog document's form. @throws ServiceError `not_found` for a document without a form in use */
export async function endCatalogForm({ db, clock }: Pick<Deps, "db" | "clock">, change: FormChange): Promise<void> {
  requireSlugText(change);
  const retired = await db.transaction((tx) => retireCatalogForm(tx, { ...change, at: clock() }));
  if (!retired) throw noForm(change.slug, change.environment);
}

/**
 * Rejects a NUL character, which PostgreSQL can't store in a text. Doesn't look up the slug, because a document that
 * was removed from the catalog can still have a form.
 */
function requireSlugText({ slug, environment }: Pick<FormChange, "slug" | "environment">): void {
  if (!isPlainText(slug)) throw noForm(slug, environment);
}

const noForm = (slug: string, environment: Environment) =>
  new ServiceError("not_found", `${shownText(slug)} has no form for ${environment} orders.`);

/**
 * The forms for a catalog document: that of the firm's own template for the document, and the operator's.
 * @throws ServiceError naming the field and the rule
 */
export async function formsOfDocument(
  { pricing, ...reading }: Pick<TemplateDeps, "db" | "rowMac" | "pricing">,
  { partnerId, environment }: Owner,
  slug: string,
): Promise<{ own: FormVersion | undefined; ofCatalog: () => Promise<FormVersion | undefined> }> {
  if (!pricing.catalogRow(slug)) throw invalid("docSlug is not a document of the catalog.");
  return {
    own: await findVersionBySlug(reading, { partnerId, environment }, slug),
    ofCatalog: () => findCatalogForm(reading, environment, slug),
  };
}

/** The beginning of an error message about a form that can't be filled in online. The reason follows it. */
export const formSubject = (isCatalogForm: boolean): string =>
  isCatalogForm ? "docSlug" : "docSlug takes the form of your own template, which";
