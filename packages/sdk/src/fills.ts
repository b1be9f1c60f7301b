import { allOf } from "./pages.ts";
import type { Language } from "./signer-fields.ts";
import { newIdempotencyKey, path, type Transport, type WriteOptions } from "./transport.ts";

/** A form that somebody fills in online. */
export type FillSummary = {
  fillId: string;
  /** The template of the form. Its id is null for the service's form of a catalog document. */
  template: { templateId: string | null; version: number };
  /**
   * The catalog document that the form is for. An order with `fillToken` is for this document. Null if the form is for
   * no catalog document.
   */
  docSlug: string | null;
  /** The template's name. */
  title: string;
  /**
   * `completed`: an order may use the document. `used`: an order used it. `gone`: no order used it within seven days,
   * and none can use it any more.
   */
  state: "open" | "completed" | "used" | "gone" | "canceled" | "expired";
  name: string | null;
  email: string | null;
  language: Language;
  /**
   * The link to the form: anyone who has it sees and changes the answers. Null for a key without the scope `orders`.
   */
  url: string | null;
  /** The time when the fill was created: ISO 8601, UTC. */
  createdAt: string;
  expiresAt: string;
  endedAt: string | null;
  /**
   * The token to pass as `fillToken` of one order. Null unless `state` is `completed`. Always null for a key without
   * the scope `orders`.
   */
  fillToken: string | null;
  usableUntil: string | null;
  /** The code of the order that used the document; null until an order uses it. */
  orderCode: string | null;
};

export type Fill = FillSummary & { requestId: string };

export type FillList = { fills: FillSummary[]; nextCursor: string | null; requestId: string };

export type FillQuestions = {
  /** The questions of the form, in reading order. */
  questions: {
    /** The name of the question's form field. It is the key for the question in `values` and `labels`. */
    name: string;
    kind: "text" | "checkbox" | "radio" | "dropdown" | "list";
    label: string;
    /**
     * True if the form has no words for this question, so that the label is a guess. You can then send your own words
     * in `labels`.
     */
    isGuessed: boolean;
    required: boolean;
    /** The page of the field, counted from 1. */
    page: number;
    maxLength: number | null;
    options: { value: string; label: string }[];
  }[];
  requestId: string;
};

/** The request to create a form that somebody fills in online. */
export type NewFill = {
  /** The id of one of your templates. Send this or `docSlug`. */
  template?: string | undefined;
  /**
   * A document of the catalog. The form is your newest template for that document or, without one, the service's form.
   */
  docSlug?: string | undefined;
  /** The version of the template. Default: the latest. */
  templateVersion?: number | undefined;
  /** The name of the person who fills in the form; `email` is the person's email address. */
  name?: string | undefined;
  email?: string | undefined;
  /** The language of the page and the mail. Default `en`. */
  language?: Language | undefined;
  /** The number of days for which the link works: 1 to 90, default 30. */
  days?: number | undefined;
  /** An https URL to which the form's page redirects at the end. */
  returnUrl?: string | undefined;
  /** Answers, keyed by field name: a boolean for a checkbox, a list of texts for a list, otherwise a text. */
  values?: Record<string, unknown> | undefined;
  /** Your own words for the questions, keyed by field name. */
  labels?: Record<string, string> | undefined;
  /** True to mail the link to `email`. */
  send?: boolean | undefined;
  /** True to complete the form at once with `values`, so that nobody needs to fill it in. */
  complete?: boolean | undefined;
};

const at = "/api/partner/fills";

export function fillsOf(transport: Transport) {
  const { json } = transport;
  return {
    /** Creates a web form from the fields of a template or of a catalog document, with a link for one person. */
    create: async (fields: NewFill, { idempotencyKey = newIdempotencyKey() }: WriteOptions = {}): Promise<Fill> =>
      json("POST", at, { body: fields, idempotencyKey }),

    /** One page of fills, newest first. */
    list: (query: { limit?: number | undefined; cursor?: string | undefined } = {}): Promise<FillList> =>
      json("GET", at, { query }),

    /** All fills, newest first; pages are fetched on demand. */
    all: (): AsyncGenerator<FillSummary, void, undefined> =>
      allOf(transport, at, { limit: 100 }, ({ fills }: FillList) => fills),

    get: (fillId: string): Promise<Fill> => json("GET", path`/api/partner/fills/${fillId}`),

    /** Cancels an open fill: its link no longer works, and the typed answers are deleted. */
    cancel: (fillId: string): Promise<Fill> => json("POST", path`/api/partner/fills/${fillId}/cancel`),

    /** Mails the link to the fill's email address, at most five times. */
    send: (fillId: string): Promise<Fill> => json("POST", path`/api/partner/fills/${fillId}/send`),

    /** The questions of a template's latest version. */
    questions: (templateId: string): Promise<FillQuestions> =>
      json("GET", path`/api/partner/templates/${templateId}/questions`),

    /**
     * Returns the questions of the form for a catalog document: your newest template or, without one, the service's
     * form.
     */
    documentQuestions: (docSlug: string): Promise<FillQuestions> =>
      json("GET", path`/api/partner/catalog/${docSlug}/questions`),
  };
}
