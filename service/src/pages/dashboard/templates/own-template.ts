import type { FastifyRequest } from "fastify";
import { principalOf } from "../../../kernel/http/authentication.ts";
import { type Form, readForm } from "../../../kernel/http/uploads/multipart.ts";
import { ServiceError } from "../../../kernel/platform/errors.ts";
import { isUuid, wholeNumberIn } from "../../../kernel/platform/text.ts";
import type { BulkDeps } from "../../../orders/bulk/bulk.ts";
import type { FillDeps } from "../../../orders/fills/fills.ts";
import type { OrderDeps, TitleOf, WithTemplate } from "../../../orders/order/order.ts";
import { findVersion, type TemplateDeps, type TemplateVersion } from "../../../orders/templates/templates.ts";
import type { DashboardFrame } from "../page-shell.ts";
import { reauthenticate } from "../reauthenticate.ts";
import { requireSameEnvironment } from "../submit-once.ts";

/** The features that the pages of templates use. */
export type TemplatePagesDeps = {
  frame: DashboardFrame;
  orders: OrderDeps;
  templates: TemplateDeps;
  withTemplate: WithTemplate;
  titleOf: TitleOf;
  bulk: BulkDeps;
  fills: FillDeps;
};

const messages = {
  notMultipart: "The form could not be read. Please fill it out again.",
  tooLarge: "document must be a PDF of at most 35 MB.",
  incomplete: "The upload was interrupted. Please send the form again.",
};

/**
 * Reads a form with at most one PDF, and passes it to `work`. If no file is chosen, browsers send an empty one; `work`
 * then gets null.
 *
 * @param shownAgain gets the typed values, even on failure, so that the form can be shown again with these values
 */
export async function withForm<Result>(
  { frame }: Pick<TemplatePagesDeps, "frame">,
  request: FastifyRequest,
  shownAgain: Record<string, string>,
  work: (form: Form) => Promise<Result>,
): Promise<Result> {
  const typed = new Map<string, string>();
  const authenticate = reauthenticate(frame.callers);
  try {
    const form = await readForm(request, {
      filePart: "document",
      places: frame.uploadPlaces,
      messages,
      typed,
      authenticate,
    });
    try {
      requireSameEnvironment(request, form.fields.get("environment"));
      return await work({ ...form, upload: form.upload?.bytes.length === 0 ? null : form.upload });
    } finally {
      form.release();
    }
  } finally {
    Object.assign(shownAgain, Object.fromEntries(typed));
  }
}

export async function ownTemplate(
  { orders }: Pick<TemplatePagesDeps, "orders">,
  request: FastifyRequest,
  templateId: string,
  version: string | null = null,
): Promise<TemplateVersion> {
  const asked = version === null ? null : (wholeNumberIn(version, 1, 9999) ?? 0);
  const found = isUuid(templateId) ? await findVersion(orders, principalOf(request), templateId, asked) : undefined;
  if (!found) throw new ServiceError("not_found", "Template not found.");
  return found;
}
