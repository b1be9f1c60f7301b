import type { FastifyRequest } from "fastify";
import type { Operator } from "../../../firms/operators/operators.ts";
import { HttpError } from "../../../kernel/http/errors/http-error.ts";
import { type Form, readForm } from "../../../kernel/http/uploads/multipart.ts";
import type { UploadPlaces } from "../../../kernel/http/uploads/upload-places.ts";
import type { Clock } from "../../../kernel/platform/clock.ts";
import { invalid, ServiceError } from "../../../kernel/platform/errors.ts";
import type { PageAnswer } from "../../ui/page/route.ts";
import { type ConsoleDeps, requireRights } from "./console.ts";

export type UploadDeps = Pick<ConsoleDeps, "resolveOperator"> & { clock: Clock; uploadPlaces: UploadPlaces };

const messages = {
  notMultipart: "The form could not be read. Please choose the document again.",
  tooLarge: "document must be a PDF of at most 35 MB.",
  incomplete: "The upload was interrupted. Please send the form again.",
};

/**
 * Reads a form with a document, and passes it to `work`. Afterwards releases the memory that was reserved for the form.
 * @throws ServiceError
 */
export async function withUpload(
  deps: UploadDeps,
  request: FastifyRequest,
  operator: Operator,
  work: (form: { bytes: Buffer; fields: Form["fields"] }) => Promise<PageAnswer>,
): Promise<PageAnswer> {
  const form = await readForm(request, {
    filePart: "document",
    places: deps.uploadPlaces,
    messages,
    // Operators share the upload slots of live firms.
    holder: { partnerId: operator.actor, environment: "live", liveEnabled: true, tier: "trial" },
    async authenticate() {
      const again = await deps.resolveOperator(request.headers.cookie);
      if (!again) throw new HttpError("sign_in_required", "Sign in to continue.");
      if (again.actor !== operator.actor || again.environment !== operator.environment)
        throw new ServiceError(
          "conflict",
          "You switched person or environment while the form was on its way. Send it again.",
        );
      requireRights(request, again, deps.clock());
    },
  });
  try {
    const bytes = form.upload?.bytes;
    if (!bytes || bytes.length === 0) throw invalid("document must be a PDF.");
    return await work({ bytes, fields: form.fields });
  } finally {
    form.release();
  }
}
