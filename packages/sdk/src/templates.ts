import { formWith, type NamedPdf, type Pdf } from "./documents.ts";
import { wireName, wireValue } from "./names.ts";
import { allOf } from "./pages.ts";
import type { Language, SignatureField, SignerAuth } from "./signer-fields.ts";
import { newIdempotencyKey, path, type StreamedBody, type Transport, type WriteOptions } from "./transport.ts";

/** A role of a template. Each order assigns the role to a person. */
export type TemplateRole = { name: string; routing: number; auth: SignerAuth; language: Language };

/** A role in the request that makes a template. */
export type NewTemplateRole = {
  /** The name of the role. No two roles of a template can have the same name. */
  name: string;
  /**
   * The role's turn: 1 to 10. Roles with the same number sign in parallel, after those with lower numbers. Default 1.
   */
  routing?: number | undefined;
  /** The identification of the signer in this role. Default `link`. */
  auth?: SignerAuth | undefined;
  /** Language of mails and pages. Default `en`. */
  language?: Language | undefined;
};

export type TemplateSummary = {
  templateId: string;
  name: string;
  /** The version's number. The content of a version never changes. */
  version: number;
  /** The roles. A field's `signer` is the position of its role in this list, counted from 1. */
  roles: TemplateRole[];
  /** The template's services, joined by a comma and a space: `Sign, Notarize, Ship`. */
  services: string;
  pages: number;
  /** When this version was made: ISO 8601, UTC. */
  createdAt: string;
  /** The time at which the template was archived; null while orders can be placed from it. */
  archivedAt: string | null;
};

export type Template = TemplateSummary & {
  documentSha256: string;
  documentBytes: number;
  docSlug: string | null;
  shipMethod: string | null;
  /** The firm's message to the signers. */
  message: string | null;
  /**
   * The fields as they were sent, with property names as in the HTTP interface (`show_when`). Null when the template
   * uses the document's own fields or tags.
   */
  fields: Record<string, unknown>[] | null;
  requestId: string;
};

export type TemplateList = { templates: TemplateSummary[]; nextCursor: string | null; requestId: string };

export type SavedTemplate = { templateId: string; version: number; requestId: string };

export type TemplateMatches = {
  /** The templates that match the document. Those with the same file come first. */
  matches: { templateId: string; name: string; version: number; likeness: "same_file" | "same_form" }[];
  requestId: string;
};

/** An option of a dropdown or a radio. Each option of a radio has its own place, in points. */
export type ProposedOption = { label: string; x?: number; y?: number; width?: number; height?: number };

/**
 * A place in a document where somebody should sign or fill something in. Positions and sizes are in points; positions
 * are measured from the upper left corner.
 */
export type ProposedField = {
  kind: "signature" | "initials" | "date" | "name" | "text" | "checkbox" | "dropdown" | "radio";
  /**
   * The role that the nearby words name: its position in the `roles` that you sent, counted from 1. Null when the words
   * name no role, or several.
   */
  signer: number | null;
  /** The page, counted from 1. */
  page: number;
  x: number;
  y: number;
  width: number;
  height: number;
  /** The label, for texts, checkboxes, dropdowns and radios; empty for other kinds of fields. */
  label: string;
  /** The options, if the document itself already contains this dropdown or radio. */
  options?: ProposedOption[];
  /** The words on the page that ask for this entry. */
  words: string;
  /** The party that the nearby words name, such as `Buyer`; null when they name none. */
  role: string | null;
  reason:
    | "own_field"
    | "label_in_box"
    | "label_left"
    | "label_below"
    | "label_right"
    | "label_above"
    | "column_heading"
    | "initials_list"
    | "signer_block"
    | "like_others"
    | "label_alone";
  confidence: "high" | "medium" | "low";
};

export type ProposedFields = {
  /** The places that were found, from the first page to the last. */
  fields: ProposedField[];
  /**
   * `read`: all pages were searched. `partly`: a limit ended the search early, or a page could not be read. `picture`:
   * the pages have no words.
   */
  state: "read" | "partly" | "picture";
  pages: number;
  requestId: string;
};

/**
 * The form fields of a request for a new version of a template. If you omit one, the previous version's value stays.
 */
export type TemplateVersionFields = {
  name?: string | undefined;
  roles?: readonly NewTemplateRole[] | undefined;
  /**
   * The places where signers sign; each place's `signer` is the position of its role in `roles`. Default: the
   * document's own signature fields, otherwise its tags.
   */
  fields?: readonly SignatureField[] | undefined;
  /** Your message to the signers: up to 500 characters, without web or email addresses. */
  message?: string | undefined;
  /** A document type of the catalog. The type then decides whether the document is signed and notarized. */
  docSlug?: string | undefined;
  svcSign?: boolean | undefined;
  svcNotary?: boolean | undefined;
  svcShip?: boolean | undefined;
  shipMethod?: "label" | "print_mail" | undefined;
};

/** The form fields of a request for a new template. */
export type TemplateFields = TemplateVersionFields & {
  name: string;
  /**
   * The code of one of your orders. Send it instead of a document: the template then copies that order's document,
   * fields and services. It copies values only of read-only fields.
   */
  order?: string | undefined;
};

function formOf(fields: TemplateVersionFields, document: Pdf | NamedPdf | null): FormData | StreamedBody {
  const texts = Object.entries(fields).flatMap(([name, value]): [string, string][] =>
    value === undefined
      ? []
      : [[wireName(name), typeof value === "object" ? JSON.stringify(wireValue(value)) : String(value)]],
  );
  return formWith(texts, document && ["document", document]);
}

const at = "/api/partner/templates";

export function templatesOf(transport: Transport) {
  const { json } = transport;
  const list = (
    query: { archived?: "true" | "false" | undefined; limit?: number | undefined; cursor?: string | undefined } = {},
  ): Promise<TemplateList> => json("GET", at, { query });
  return {
    /**
     * Creates a template.
     * @param document the form as a PDF, of at most 35 MB; null when `order` is sent
     */
    create: async (
      fields: TemplateFields,
      document: Pdf | NamedPdf | null,
      { idempotencyKey = newIdempotencyKey() }: WriteOptions = {},
    ): Promise<SavedTemplate> => json("POST", at, { body: formOf(fields, document), idempotencyKey }),

    /**
     * Adds a version to a template. Existing orders use the version with which they were placed.
     * @param document null to reuse the document of the previous version
     */
    addVersion: async (
      templateId: string,
      fields: TemplateVersionFields,
      document: Pdf | NamedPdf | null = null,
      { idempotencyKey = newIdempotencyKey() }: WriteOptions = {},
    ): Promise<SavedTemplate> =>
      json("POST", path`/api/partner/templates/${templateId}/versions`, {
        body: formOf(fields, document),
        idempotencyKey,
      }),

    /**
     * Returns one page of the templates in their latest versions, newest template first. With `archived: "true"`, lists
     * only archived templates; otherwise lists only templates that are not archived.
     */
    list,

    /** All templates from which orders can be placed, newest first; pages are fetched on demand. */
    all: (): AsyncGenerator<TemplateSummary, void, undefined> =>
      allOf(transport, at, { limit: 100 }, ({ templates }: TemplateList) => templates),

    /** Returns the latest version of a template. */
    get: (templateId: string): Promise<Template> => json("GET", path`/api/partner/templates/${templateId}`),

    /** Returns one version. The content of a version never changes. */
    version: (templateId: string, version: number): Promise<Template> =>
      json("GET", path`/api/partner/templates/${templateId}/versions/${String(version)}`),

    /** Archives the template, so that no more orders can be placed from it. */
    archive: (templateId: string): Promise<Template> =>
      json("POST", path`/api/partner/templates/${templateId}/archive`),

    restore: (templateId: string): Promise<Template> =>
      json("POST", path`/api/partner/templates/${templateId}/restore`),

    /** Finds the templates with the same form as the document, except archived ones. Nothing is stored. */
    match: async (document: Pdf | NamedPdf): Promise<TemplateMatches> =>
      json("POST", "/api/partner/templates/match", { body: formOf({}, document) }),

    /**
     * Finds the places that ask to be signed or filled in. Nothing is stored.
     * @param roles the roles that the proposed fields may be assigned to
     */
    proposeFields: async (document: Pdf | NamedPdf, roles?: readonly NewTemplateRole[]): Promise<ProposedFields> =>
      json("POST", "/api/partner/fields/propose", { body: formOf({ roles }, document) }),
  };
}
