/** The draft of a closing's form: how the form is saved, resumed and discarded. */
import type { FastifyInstance, FastifyRequest } from "fastify";
import {
  type Draft,
  type DraftDeps,
  discardDraft,
  draftsOf,
  findDraft,
  type SavedDraft,
  saveDraft,
} from "../../../closing/drafts/drafts.ts";
import { principalOf } from "../../../kernel/http/authentication.ts";
import { isServiceError } from "../../../kernel/platform/errors.ts";
import { newUuid } from "../../../kernel/platform/ids.ts";
import { isUuid, wholeNumberIn } from "../../../kernel/platform/text.ts";
import { type OrderDeps, usableUploads } from "../../../orders/order/order.ts";
import { card, notice } from "../../ui/components.ts";
import { plainTime, shortTime } from "../../ui/format.ts";
import { askFirst } from "../../ui/forms/ask-first.ts";
import { hiddenFields } from "../../ui/forms/button-form.ts";
import type { FormValues } from "../../ui/forms/form-body.ts";
import { pageRoute } from "../../ui/page/route.ts";
import { records } from "../../ui/records.ts";
import { type Html, html } from "../../ui/render.ts";
import { done } from "../flash-messages.ts";
import type { DashboardFrame } from "../page-shell.ts";
import { requireSameEnvironment } from "../submit-once.ts";
import { documentsIn } from "./fields.ts";

const formPath = "/dashboard/closings/new";
/** The URL to which our script saves the form. */
const draftPath = `${formPath}/draft`;
const discardPath = (id: string) => `/dashboard/closings/drafts/${id}/discard`;

/** The draft to which a form belongs, as the form's hidden fields name it. */
export type FormDraft = {
  id: string;
  /** The version that this window saved or loaded last; 0 before the first save. */
  version: number;
  /**
   * Identifies the browser window. If the response to a save was lost, the window saves again, and the service
   * recognizes that the second save is from the same window.
   */
  window: string;
  /**
   * When the draft and its files are deleted. Null before the first save, and in the result of `draftIn`, which does
   * not read the time.
   */
  expiresAt: Date | null;
};

/** Fields of the form that a draft does not contain: those about the draft itself, and the displayed charge. */
const hiddenNames = ["draft", "draft_version", "draft_window", "total_cents", "most_cents", "charged_method"] as const;

export const draftFields = ({ id, version, window }: FormDraft): Html =>
  hiddenFields({ draft: id, draft_version: String(version), draft_window: window });

/**
 * The draft that the form's hidden fields name; its `expiresAt` is null. Without a valid `draft` field, this is a new
 * draft. Without a valid version, the version is 0.
 */
export function draftIn(values: FormValues): FormDraft {
  const { draft = "", draft_version, draft_window = "" } = values;
  return {
    id: isUuid(draft) ? draft : newUuid(),
    version: isUuid(draft) ? (wholeNumberIn(draft_version, 0, 999_999_999) ?? 0) : 0,
    window: isUuid(draft_window) ? draft_window : newUuid(),
    expiresAt: null,
  };
}

/**
 * A form is worth saving if it has a document, or if one of these fields has a value. A form that was only opened is
 * not saved.
 */
const typedFields =
  /^(?:closing_name|file_number|closes_on|email|name|person\d_(?:name|email)|(?:doc\d+_)?ship_(?:name|line1|line2|city|postal)|fax_to)$/;

const isWorthSaving = (values: FormValues): boolean =>
  documentsIn(values).length > 0 ||
  Object.entries(values).some(([name, value]) => typedFields.test(name) && value.trim() !== "");

/**
 * Saves the form as the member's draft.
 * @param mayCopy true to save a new draft if another window has changed this one; if false, the form is then not saved
 * @returns null if nothing was saved. A new form without content is not saved. Neither is a draft that was placed or
 * discarded, or has expired
 * @throws ServiceError when the member switched environments, has too many drafts, or typed too much
 */
async function save(
  deps: DraftDeps,
  request: FastifyRequest,
  values: FormValues,
  mayCopy = true,
): Promise<SavedDraft | null> {
  requireSameEnvironment(request, values["environment"]);
  const { id, version, window } = draftIn(values);
  // A new form without content is not saved. An existing draft is saved even if the form is empty now; otherwise the
  // draft would keep a removed document.
  if (version === 0 && !isWorthSaving(values)) return null;
  const fields = Object.fromEntries(
    Object.entries(values).filter(([name]) => !hiddenNames.some((hidden) => hidden === name)),
  );
  const files = documentsIn(values).map(({ token }) => token);
  return saveDraft(deps, principalOf(request), { id, version, window, fields, files, mayCopy });
}

/**
 * Saves the form after a button was pressed. If the draft has ended, or another window has changed it, the form becomes
 * a new draft, because the person continues here.
 * @param isRefused true if the service rejected an attempt to place the closing. The form then never becomes a new
 * draft, because another request may just have placed the closing
 * @returns the draft for the form's next version. `refusal` is the message of a conflict that prevented the save. It is
 * null without a conflict, even if there was nothing to save
 */
export async function saveSubmitted(
  deps: DraftDeps,
  request: FastifyRequest,
  values: FormValues,
  isRefused = false,
): Promise<{ draft: FormDraft; note: Html; refusal: string | null; isSaved: boolean }> {
  const draft = draftIn(values);
  try {
    let saved = await save(deps, request, values, !isRefused);
    if (!saved && draft.version > 0 && !isRefused)
      saved = await save(deps, request, { ...values, draft: newUuid(), draft_version: "0" });
    const note = saved?.isCopy ? copyNote : html``;
    const stored = saved ?? (await storedEnd(deps, request, draft));
    return { draft: { ...draft, ...stored }, note, refusal: null, isSaved: saved !== null };
  } catch (error) {
    if (!isServiceError(error, "conflict")) throw error;
    const stored = await storedEnd(deps, request, draft);
    return { draft: { ...draft, ...stored }, note: html``, refusal: error.message, isSaved: false };
  }
}

/**
 * Reads when the stored draft expires, for a form that was not saved now. `expiresAt` is null if no draft is stored.
 */
async function storedEnd(
  deps: DraftDeps,
  request: FastifyRequest,
  { id }: FormDraft,
): Promise<Pick<FormDraft, "expiresAt">> {
  const stored = await findDraft(deps, principalOf(request), id);
  return { expiresAt: stored?.expiresAt ?? null };
}

const copyNote = notice(
  "info",
  "The draft was changed in another window",
  "Your version is saved as a separate draft. Both are on your start page.",
);

/**
 * The values of a draft for the form, and sentences about files that were deleted meanwhile. Undefined if the member
 * has no open draft with this id.
 */
export async function resume(
  deps: DraftDeps & Pick<OrderDeps, "clock">,
  request: FastifyRequest,
  id: string,
): Promise<{ values: FormValues; draft: FormDraft; lost: string[] } | undefined> {
  const principal = principalOf(request);
  const found = await findDraft(deps, principal, id);
  if (!found) return undefined;
  const documents = documentsIn(found.fields);
  const usable = await usableUploads(
    deps,
    documents.map(({ token }) => token),
    principal.partnerId,
  );
  const lost = documents.flatMap(({ n, token, name, fileName }) =>
    usable.has(token)
      ? []
      : [
          `Document ${n} (${name || fileName}): its file is no longer stored. Remove the document, and add the file again.`,
        ],
  );
  const { version, expiresAt } = found;
  return { values: found.fields, draft: { id, version, window: newUuid(), expiresAt }, lost };
}

/** The form's line about its draft. Our script updates the line. */
export const draftNote = ({ expiresAt }: FormDraft): Html =>
  html`<p class="hint" id="draft-state" data-draft="${draftPath}">${
    expiresAt
      ? html`Saved as a draft, for you alone. It is deleted on <span id="draft-until">${plainTime(expiresAt)}</span> unless you place it.`
      : html`It is saved as a draft as soon as you add something.`
  }</p><p id="draft-problem" class="field-error" role="alert"></p>`;

const nameOf = ({ fields }: Draft): string => (fields["closing_name"] ?? "").trim() || "Closing without a name";

/** The member's unfinished closings, each with a link to continue. */
export function draftsCard(drafts: readonly Draft[]): Html {
  const rows = drafts.map((draft) => {
    const { id, fields, updatedAt, expiresAt } = draft;
    const documents = documentsIn(fields).length;
    const number = (fields["file_number"] ?? "").trim();
    return [
      html`<a class="breakable" href="${resumePath(id)}">${nameOf(draft)}</a>${number !== "" && html` <span class="quiet-text breakable">${number}</span>`}`,
      String(documents),
      shortTime(updatedAt),
      shortTime(expiresAt),
      html`<a class="button quiet-button" href="${resumePath(id)}">Go on<span class="visually-hidden"> with ${nameOf(draft)}</span></a>
${askFirst({
  label: "Discard",
  about: nameOf(draft),
  text: "What you typed and the files that you added are deleted. Orders that are placed stay.",
  confirm: "Discard the draft",
  action: discardPath(id),
})}`,
    ];
  });
  return card(
    "drafts",
    "Closings that you have not placed",
    records(
      "Your drafts, saved last at the top",
      [
        { label: "Closing" },
        { label: "Documents", number: true },
        { label: "Saved", utc: true },
        { label: "Deleted on", utc: true },
        { label: "Next step" },
      ],
      rows,
    ),
  );
}

const resumePath = (id: string): string => `${formPath}?draft=${id}`;

/**
 * A note with links to the member's latest draft and, if there are several, to all of them. The empty form shows it.
 */
export const draftsNotice = (drafts: readonly Draft[]): Html => {
  const [latest] = drafts;
  if (!latest) return html``;
  const more = drafts.length > 1 && html` <a href="/dashboard#drafts">All ${drafts.length} drafts</a>`;
  return notice(
    "info",
    "You have started a closing that is not placed",
    html`<a class="breakable" href="${resumePath(latest.id)}">Go on with ${nameOf(latest)}</a>.${more}`,
  );
};

/**
 * Adds the URL to which our script saves the form, and the form that discards a draft. Each session may save 120 times
 * a minute. The firm's limit of 60 writes does not apply, because the scripts of five members would use it up.
 */
export function draftRoutes(forms: FastifyInstance, frame: DashboardFrame, drafts: DraftDeps): void {
  pageRoute(forms, frame, {
    method: "POST",
    url: draftPath,
    handle: async ({ request, form }) => {
      const saved = await save(drafts, request, form);
      if (saved) {
        const { id, version, isCopy, expiresAt } = saved;
        return { json: { id, version, isCopy, until: expiresAt.toISOString(), address: resumePath(id) } };
      }
      return { json: { isEnded: draftIn(form).version > 0 } };
    },
  });
  pageRoute(forms, frame, {
    method: "POST",
    url: "/dashboard/closings/drafts/:id/discard",
    policy: "partner-write",
    handle: async ({ request, params }) => {
      await discardDraft(drafts, principalOf(request), params.id);
      return done("/dashboard", "draft-discarded");
    },
  });
}

export const latestDrafts = (drafts: DraftDeps, request: FastifyRequest): Promise<Draft[]> =>
  draftsOf(drafts, principalOf(request));
