import type { FastifyInstance, FastifyRequest } from "fastify";
import { type DraftDeps, endDraft, releaseFile } from "../../../closing/drafts/drafts.ts";
import { principalOf } from "../../../kernel/http/authentication.ts";
import { readForm } from "../../../kernel/http/uploads/multipart.ts";
import type { Sql } from "../../../kernel/platform/database/database.ts";
import type { OrderDeps } from "../../../orders/order/order.ts";
import type { TemplateDeps } from "../../../orders/templates/templates.ts";
import { notice } from "../../ui/components.ts";
import { acceptForms, type FormValues } from "../../ui/forms/form-body.ts";
import { formHeaders } from "../../ui/page/headers.ts";
import { viewerPolicy } from "../../ui/page/policy.ts";
import { type PageCall, pageRoute } from "../../ui/page/route.ts";
import { type Html, html, render } from "../../ui/render.ts";
import { done } from "../flash-messages.ts";
import { type DashboardFrame, dashboardPage } from "../page-shell.ts";
import { reauthenticate } from "../reauthenticate.ts";
import { requireSameEnvironment, submissionFor } from "../submit-once.ts";
import { firmZone, zoneNote } from "../time-zone.ts";
import { draftIn, draftRoutes, draftsNotice, type FormDraft, latestDrafts, resume, saveSubmitted } from "./draft.ts";
import { documentsIn, removedIn } from "./fields.ts";
import { keepFile } from "./file.ts";
import { addPath, closingFormBody, filePath, path, quotePath, rowsPath } from "./form.ts";
import { ClosingRefused, placeForm, type RefusedFields } from "./place.ts";
import { quoteOf } from "./quote.ts";
import { templateOf, templatesOf, type UsedTemplate, withTemplate } from "./templates.ts";

export type ClosingPagesDeps = {
  frame: DashboardFrame;
  orders: OrderDeps;
  templates: TemplateDeps;
  drafts: DraftDeps;
};

/** The largest accepted form, in bytes. It is enough for 20 documents that each have many placed fields. */
const maxFormBytes = 4 * 1024 * 1024;

type Shown = {
  refusals?: readonly string[];
  used?: UsedTemplate | null;
  refusedFields?: RefusedFields;
  withoutPlace?: readonly number[];
  draft?: FormDraft;
  /** A text above the form. */
  note?: Html;
};

type Saving = {
  /** The token of the document that was just removed from the form. */
  removed?: string | null;
  /** True if the closing could not be placed. */
  isRefused?: boolean;
};

const messages = {
  notMultipart: "The file could not be read. Please choose it again.",
  tooLarge: "The file must be a PDF of at most 35 MB.",
  incomplete: "The upload was interrupted. Please send the file again.",
};

/**
 * Adds the form with which a member places a whole closing. The routes accept multipart forms, because a file is stored
 * as soon as it is uploaded.
 */
export function closingPages(app: FastifyInstance, deps: ClosingPagesDeps): void {
  const { frame, orders, templates, drafts } = deps;
  const { storedFileOf, show, showSaved } = closingForm(deps);
  // The page renders the pages of its documents with pdf.js.
  const headers = { ...formHeaders, "Content-Security-Policy": viewerPolicy() };

  formRoute(app, deps, headers, show);

  pageRoute(app, frame, {
    method: "POST",
    url: filePath,
    policy: "partner-write",
    handle: async ({ request }) => ({ json: await storedFileOf(request, new Map()) }),
  });

  pageRoute(app, frame, {
    method: "POST",
    url: addPath,
    policy: "partner-write",
    headers,
    handle: async ({ request, form }) => {
      const typed = new Map<string, string>();
      try {
        for (const [name, value] of Object.entries(await storedFileOf(request, typed)))
          typed.set(name === "file" ? "add1" : `add1_${name}`, value);
      } finally {
        Object.assign(form, Object.fromEntries(typed));
      }
      return showSaved(request, Object.fromEntries(typed));
    },
    refused: ({ request, form }, message) => showSaved(request, form, { refusals: [message] }),
  });

  app.register(async (forms) => {
    acceptForms(forms, maxFormBytes);
    draftRoutes(forms, frame, drafts);
    pageRoute(forms, frame, {
      method: "POST",
      url: rowsPath,
      headers,
      handle: async ({ request, form }) => {
        const { values, used } = await withTemplate(templates, principalOf(request), form);
        return showSaved(request, values, { used, removed: removedIn(form) });
      },
    });
    pageRoute(forms, frame, {
      method: "POST",
      url: quotePath,
      handle: async ({ request, form }) => render((await quoteOf(orders, request, form)).shown),
    });
    pageRoute(forms, frame, {
      method: "POST",
      url: path,
      policy: "partner-write",
      headers,
      handle: async ({ request, form }: PageCall) => {
        requireSameEnvironment(request, form["environment"]);
        try {
          const end = (tx: Sql) => endDraft(tx, drafts, principalOf(request), draftIn(form).id);
          const { roomCode, isUncharged } = await placeForm(orders, request, form, end);
          return done(`/dashboard/rooms/${roomCode}`, isUncharged ? "closing-placed-uncharged" : "closing-placed");
        } catch (error) {
          if (!(error instanceof ClosingRefused)) throw error;
          const { messages: refusals, fields: refusedFields, withoutPlace } = error;
          const page = await showSaved(request, form, { refusals, refusedFields, withoutPlace, isRefused: true });
          return { page, status: 400 };
        }
      },
      refused: ({ request, form }, message) => showSaved(request, form, { refusals: [message], isRefused: true }),
    });
  });
}

const noDraft = notice(
  "info",
  "This draft is gone",
  "It was placed or discarded, or it has expired. Here is an empty form.",
);

type ShowForm = ReturnType<typeof closingForm>["show"];

/** Adds the form: empty, or filled with the draft in the URL. */
function formRoute(
  app: FastifyInstance,
  { frame, orders, drafts }: ClosingPagesDeps,
  headers: Readonly<Record<string, string>>,
  show: ShowForm,
): void {
  pageRoute(app, frame, {
    url: path,
    headers,
    handle: async ({ request, query: { draft: id = "" } }) => {
      const resumed = await resume({ ...drafts, clock: orders.clock }, request, id);
      if (resumed) return show(request, resumed.values, { draft: resumed.draft, refusals: resumed.lost });
      const note = id === "" ? draftsNotice(await latestDrafts(drafts, request)) : noDraft;
      return show(request, {}, { note });
    },
  });
}

/** Creates the functions that read a file of the form, show the form, and save it as a draft. */
function closingForm({ frame, orders, templates, drafts }: ClosingPagesDeps) {
  const authenticate = reauthenticate(frame.callers);

  /**
   * Reads a multipart form, and stores the one file that it contains.
   * @param typed collects the form's fields
   * @returns the result of `keepFile`, and the template that was made from the same PDF form
   */
  async function storedFileOf(
    request: FastifyRequest,
    typed: Map<string, string>,
  ): Promise<{ file: string; fault: string; template: string }> {
    const form = await readForm(request, {
      filePart: "document",
      places: frame.uploadPlaces,
      messages,
      typed,
      authenticate,
    });
    try {
      const stored = await keepFile(orders, request, form.upload);
      const template = form.upload ? await templateOf(templates, principalOf(request), form.upload) : "";
      return { ...stored, template };
    } finally {
      form.release();
    }
  }

  async function show(request: FastifyRequest, values: FormValues, shown: Shown = {}): Promise<string> {
    const {
      refusals = [],
      used = null,
      refusedFields = new Map(),
      withoutPlace = [],
      draft = draftIn(values),
      note = html``,
    } = shown;
    const zone = await firmZone(orders.db, principalOf(request));
    const body = closingFormBody({
      ...submissionFor(request, values),
      pricing: orders.offer.pricing,
      values,
      messages: refusals,
      quote: await quoteOf(orders, request, values),
      pdfJs: frame.assets.pdfJs.folder,
      zone: { note: zoneNote(zone, principalOf(request)), isChosen: zone.isChosen },
      templates: await templatesOf(templates, principalOf(request), documentsIn(values)),
      used,
      refusedFields,
      withoutPlace,
      draft,
      note,
    });
    const title = refusals.length + withoutPlace.length > 0 ? "Please check the form: new closing" : "New closing";
    return dashboardPage(frame, request, { title, section: "rooms", body, scripts: ["new-closing.js"] });
  }

  /** Saves the form as the member's draft, and shows it. If it was saved, releases the file of the removed document. */
  async function showSaved(
    request: FastifyRequest,
    values: FormValues,
    { removed = null, isRefused = false, ...shown }: Shown & Saving = {},
  ): Promise<string> {
    const { draft, note, refusal, isSaved } = await saveSubmitted(drafts, request, values, isRefused);
    if (isSaved && removed !== null) await releaseFile(drafts, principalOf(request), removed);
    const refusals = [...(shown.refusals ?? []), ...(refusal === null ? [] : [refusal])];
    return show(request, values, { ...shown, refusals, draft, note });
  }

  return { storedFileOf, show, showSaved };
}
