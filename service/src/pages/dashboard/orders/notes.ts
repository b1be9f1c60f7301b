import type { FastifyInstance } from "fastify";
import { principalOf } from "../../../kernel/http/authentication.ts";
import type { RateLimits } from "../../../kernel/http/rate-limits.ts";
import type { OnceDeps } from "../../../kernel/platform/idempotency.ts";
import type { FirmNote, FirmNotes, PublicOrderRow } from "../../../orders/order/order.ts";
import { plainTime } from "../../ui/format.ts";
import { hiddenFields } from "../../ui/forms/button-form.ts";
import { textArea } from "../../ui/forms/fields.ts";
import type { FormValues } from "../../ui/forms/form-body.ts";
import { type PageCall, type PageRoute, pageRoute } from "../../ui/page/route.ts";
import { type Html, html } from "../../ui/render.ts";
import { done } from "../flash-messages.ts";
import { doOnce } from "../submit-once.ts";
import { whoIs } from "./activity.ts";
import { ownOrder } from "./own-order.ts";

export type NotesView = {
  submission: string;
  order: Pick<PublicOrderRow, "code" | "documentsDeletedAt">;
  /** The notes, the latest first. */
  notes: readonly FirmNote[];
  /** Names of people, by their identifiers in the audit log. */
  names: ReadonlyMap<string, string>;
  typed?: FormValues;
};

/** The firm's own notes on the order, and a form to add one. */
export function notesPart({ submission, order, notes, names, typed }: NotesView): Html {
  if (order.documentsDeletedAt !== null)
    return html`<p>This order’s documents were deleted, and its notes with them.</p>`;
  return html`${notes.length > 0 && html`<ol class="notes">${notes.map((note) => oneNote(note, names))}</ol>`}
<form class="form" method="post" action="/dashboard/orders/${order.code}/notes">
${hiddenFields({ submission })}${textArea({
  form: "note",
  name: "note",
  label: notes.length === 0 ? "Note" : "Another note",
  required: true,
  rows: 3,
  maxLength: 2_000,
  value: typed?.["note"],
  hint: "Only members of your firm see it. It is deleted with the order’s documents.",
})}
<div class="form-actions"><button type="submit" class="quiet-button">Add note</button></div>
</form>`;
}

const oneNote = ({ author, text, createdAt }: FirmNote, names: ReadonlyMap<string, string>): Html =>
  html`<li><p class="note-text">${text ?? "This note can’t be read."}</p><p class="second-line">${whoIs(author, names)} · ${plainTime(createdAt)}</p></li>`;

export type NoteFormDeps = OnceDeps & { limits: RateLimits; firmNotes: FirmNotes };

type Form = Pick<PageRoute<string>, "method" | "policy"> & {
  refused: (call: PageCall<{ code: string }>, error: string) => Promise<string>;
};

export function noteForm(forms: FastifyInstance, deps: NoteFormDeps, form: Form): void {
  pageRoute(forms, deps, {
    ...form,
    url: "/dashboard/orders/:code/notes",
    handle: doOnce(deps, async ({ params, form: typed, request }) => {
      const { code } = await ownOrder(deps.db, request, params.code);
      await deps.firmNotes.add(principalOf(request), code, typed["note"] ?? "");
      return done(`/dashboard/orders/${code}#notes-title`, "order-noted");
    }),
  });
}
