import { type DocumentNotice, type NoticeCode, noticeCodes } from "../../kernel/pdf/unseen/notice.ts";
import type { Sql } from "../../kernel/platform/database/database.ts";
import { sql } from "../../kernel/platform/database/sql.ts";
import type { DocumentNames } from "../../kernel/platform/document-name.ts";
import type { VersionedPricing } from "../pricing/pricing.ts";

/** The stored fields from which a document's title is derived. */
export type Titled = { code: string; documentName: Buffer | null; docSlug: string | null };

/** The title of an order's document: its stored name, else its catalog title; null without either. */
export type TitleOf = (order: Titled) => string | null;

export const titleReader =
  ({ names, pricing }: { names: DocumentNames; pricing: Pick<VersionedPricing, "catalog"> }): TitleOf =>
  ({ code, documentName, docSlug }) =>
    names.open(documentName, code) ?? pricing.catalog.find(({ slug }) => slug === docSlug)?.title ?? null;

/** Numbers the names that occur more than once: "Deed (1)" and "Deed (2)". */
export const numberedNames = <Name extends string | null>(names: readonly Name[]): (Name | string)[] =>
  names.map((name, index) => {
    if (name === null || names.indexOf(name) === names.lastIndexOf(name)) return name;
    const number = names.slice(0, index + 1).filter((each) => each === name).length;
    return `${name} (${number})`;
  });

/** The stored notices about parts of the document that people may overlook. */
type Noted = { code: string; documentNotices: Buffer | null };

/** Reads the stored notices about an order's present document. */
export type NoticesOf = (order: Noted) => DocumentNotice[];

/**
 * The cipher context of an order's notices. Notices and document names are encrypted with the same cipher, so their
 * contexts must differ.
 */
const holderOf = (code: string): string => `${code}/notices`;

export const sealNotices = (names: DocumentNames, code: string, notices: readonly DocumentNotice[]): Buffer | null =>
  names.seal(notices.length === 0 ? null : JSON.stringify(notices), holderOf(code));

export const noticeReader =
  (names: DocumentNames): NoticesOf =>
  ({ code, documentNotices }) => {
    if (documentNotices === null) return [];
    const text = names.open(documentNotices, holderOf(code));
    // If the notices can't be decrypted, a single notice states that the document was only partly examined.
    if (text === null) return [{ code: "partly_examined", page: null, text: null }];
    return (JSON.parse(text) as DocumentNotice[]).filter(({ code }) => isCode(code));
  };

/** Reads the notices of an order by its row id. */
export const storedNotices =
  (db: Sql, noticesOf: NoticesOf) =>
  async (orderId: number): Promise<DocumentNotice[]> => {
    const [order] = await db.query<Noted>(
      sql`SELECT code AS "code@order", document_notices AS "documentNotices" FROM orders WHERE id = ${orderId}`,
    );
    return order ? noticesOf(order) : [];
  };

const isCode = (code: string): code is NoticeCode => noticeCodes.some((noticeCode) => noticeCode === code);

const sentences: Readonly<Record<NoticeCode, string>> = {
  text_below_place: "A place to sign or fill in is on top of words",
  active_content: "The document has actions that can change what a reader shows",
  xfa_form: "The document has an XFA form, which some readers show in place of its pages",
  drawn_by_readers: "The document has readers draw the values of its form fields, so that they may differ",
  hidden_layer: "The document has a layer that is switched off",
  screen_only: "An annotation is shown on screens and is not printed",
  print_differs:
    "The document may look different on paper: it asks for other pages, another crop or another place of a mark",
  media: "The document has sound, film or 3D content",
  attached_files: "The document has files inside it, which its pages do not show",
  hidden_text: "The document has words that its pages do not show as ink, and which its text has",
  partly_examined: "Parts of the document could not be examined",
  ink_only: "The document can be notarized in ink only, because it takes no electronic signature",
};

/** The notice as one English sentence. */
export function noticeMessage({ code, page, text }: DocumentNotice): string {
  const where = page === null ? "" : ` (page ${page})`;
  return `${sentences[code]}${where}${text === null || text === "" ? "." : `: "${text}".`}`;
}
