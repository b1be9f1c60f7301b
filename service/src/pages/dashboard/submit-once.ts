import type { FastifyRequest } from "fastify";
import { principalOf } from "../../kernel/http/authentication.ts";
import type { Environment } from "../../kernel/identity/identity.ts";
import { isServiceError, ServiceError } from "../../kernel/platform/errors.ts";
import { type OnceDeps, once, onceRecorded, type RecordResult } from "../../kernel/platform/idempotency.ts";
import { fingerprintOf, requestKey } from "../../kernel/platform/idempotency-keys.ts";
import { newSecret } from "../../kernel/platform/ids.ts";
import { isSecret } from "../../kernel/platform/text.ts";
import { hiddenFields } from "../ui/forms/button-form.ts";
import type { FormValues } from "../ui/forms/form-body.ts";
import type { PageCall } from "../ui/page/route.ts";
import type { Html } from "../ui/render.ts";

/** The hidden fields that make a form create only one object, even if it is sent twice with the same content. */
export type FormSubmission = {
  /** The environment (live or test) in which the form was opened. */
  environment: Environment;
  /** Identifies this form, so that submitting it twice with the same content creates one object. */
  submission: string;
};

export const submissionFields = ({ environment, submission }: FormSubmission): Html =>
  hiddenFields({ submission, environment });

/** The hidden fields for a form. If a rejected form is shown again, it keeps its submission key. */
export function submissionFor(request: FastifyRequest, typed: FormValues = {}): FormSubmission {
  const { submission = "" } = typed;
  const { environment } = principalOf(request);
  return { environment, submission: isSecret(submission) ? submission : newSecret() };
}

/**
 * Rejects a form if the member has switched between live and test since the form was opened. A form that names no
 * environment passes.
 * @throws ServiceError `conflict`
 */
export function requireSameEnvironment(request: FastifyRequest, opened: string | undefined): void {
  if ((opened ?? principalOf(request).environment) !== principalOf(request).environment)
    throw new ServiceError(
      "conflict",
      "You switched between test and live since you opened this form. Nothing was changed.",
    );
}

/**
 * The idempotency key of a submission. Resending the same form with the same content creates one object. Changed
 * content has another key, and creates another object.
 * @returns null for a form without a submission
 */
export function submissionKey(fields: ReadonlyMap<string, string>, documentSha256: string | null): string | null {
  if (!isSecret(fields.get("submission") ?? "")) return null;
  return fingerprintOf(fields, documentSha256).toString("hex");
}

type Submitted<Created> = {
  fields: ReadonlyMap<string, string>;
  documentSha256?: string;
  make: () => Promise<Created>;
  /**
   * Returns the name by which a repeated request finds what the first request created. The name is stored for a day, so
   * it must never be a secret.
   */
  nameOf: (created: Created) => string;
};

/**
 * Creates an object from a form, once per submission and content. Without a submission, each request creates an object.
 * After an error, the form can be submitted again.
 * @returns the new object and its name; `created` is null when an earlier request of the same form created it
 * @throws ServiceError from `make`. Also throws one while an earlier request of the form is in progress, and if the
 * outcome of that request is unknown
 */
export async function submitOnce<Created>(
  deps: OnceDeps,
  request: FastifyRequest,
  { fields, documentSha256, make, nameOf }: Submitted<Created>,
): Promise<{ created: Created | null; name: string }> {
  const key = keyOf(request, `POST ${request.routeOptions.url}`, fields, documentSha256 ?? null);
  let created: Created | null = null;
  const { result } = await once(deps, key, {
    status: 303,
    readText: (name) => ({ name }),
    refuseAbandoned: "This form may have been carried out already. Check first. To send it again, open its page again.",
    work: async () => {
      const it = await make();
      created = it;
      return { name: nameOf(it) };
    },
  }).catch(inOurWords(inProgress));
  return { created, name: result.name };
}

const inProgress = "This form was already sent and is being processed. Check again in a moment.";

function keyOf(
  request: FastifyRequest,
  route: string,
  fields: ReadonlyMap<string, string>,
  documentSha256: string | null,
) {
  // Idempotency keys belong to the whole firm. The key includes the member's id, so that the forms of two members never
  // have the same key.
  const shownTo = principalOf(request).member?.userId ?? "";
  const submission = submissionKey(new Map([...fields, ["member", shownTo]]), documentSha256);
  const fingerprint = fingerprintOf(fields, documentSha256);
  return requestKey(principalOf(request), route, submission, fingerprint);
}

/**
 * Variant of `submitOnce` for a form whose work ends in one transaction. This transaction calls `record` with the
 * result. After a crash, either the work was committed, or the form can be sent again.
 */
export async function submitRecorded<Result extends object>(
  deps: OnceDeps,
  request: FastifyRequest,
  fields: ReadonlyMap<string, string>,
  work: (record: RecordResult) => Promise<Result>,
): Promise<Result> {
  // With the word `recorded`, these keys differ from the keys of earlier releases. A result stored under such an old
  // key may name a room in which documents are missing.
  const key = keyOf(request, `POST ${request.routeOptions.url} recorded`, fields, null);
  const run = (it: typeof work) => onceRecorded(deps, key, { status: 303, work: it });
  // This request may have failed only because the same form was sent twice at once. So after an error, a second run
  // looks up the result of the other request.
  const { result } = await run(work)
    .catch((error) => run(() => Promise.reject(error)))
    .catch(inOurWords(inProgress));
  return result;
}

type Done = { redirect: string };

/**
 * Runs a form's action once per submission: a repeated request gets the first response. If the process or the database
 * failed, the outcome of the first request may be unknown, and the repeated request is rejected.
 */
export const doOnce =
  <Params>(deps: OnceDeps, act: (call: PageCall<Params>) => Promise<Done>) =>
  async (call: PageCall<Params>): Promise<Done> => {
    const { submission, ...form } = call.form;
    const { name: redirect } = await submitOnce(deps, call.request, {
      fields: new Map(Object.entries({ ...call.form, ...(call.params ?? {}) })),
      make: () => act({ ...call, form }),
      nameOf: (done) => done.redirect,
    });
    return { redirect };
  };

/**
 * Returns an error handler. If the API's error says that the same request is in progress, the handler throws `message`
 * instead. It throws every other error unchanged.
 */
export const inOurWords =
  (message: string) =>
  (error: unknown): never => {
    throw isServiceError(error, "idempotency_in_flight") ? new ServiceError("conflict", message) : error;
  };
