import type { FastifyRequest } from "fastify";
import { principalOf } from "../../http/authentication.ts";
import {
  claimKey,
  claimsExpiredBefore,
  dropClaim,
  fingerprintOf,
  finishAnswer,
  type KeyClaim,
  keptAnswer,
} from "../../http/idempotency.ts";
import type { Environment } from "../../identity/identity.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Database } from "../../platform/database.ts";
import { ServiceError } from "../../platform/errors.ts";
import { newSecret } from "../../platform/ids.ts";
import type { FormValues } from "../ui/forms/fields.ts";
import { type Html, html } from "../ui/render.ts";

/** What a form that creates something carries unseen. */
export type Creating = {
  /** The one in which the form was opened. */
  environment: Environment;
  /** Tells this form from every other: sent twice it creates one thing. */
  submission: string;
};

export const creatingFields = ({ environment, submission }: Creating): Html =>
  html`<input type="hidden" name="submission" value="${submission}"><input type="hidden" name="environment" value="${environment}">`;

/** What a form carries that is shown now; one that was refused keeps its submission. */
export function creating(request: FastifyRequest, typed: FormValues = {}): Creating {
  const { submission = "" } = typed;
  const { environment } = principalOf(request);
  return { environment, submission: isSubmission(submission) ? submission : newSecret() };
}

/** @throws ServiceError for a form that was opened in the other environment. */
export function requireSameEnvironment(request: FastifyRequest, opened: string | undefined): void {
  if ((opened ?? principalOf(request).environment) !== principalOf(request).environment)
    throw new ServiceError(
      "conflict",
      "You switched between test and live since you opened this form. Nothing was done.",
    );
}

const isSubmission = (text: string): boolean => /^[a-z2-7]{52}$/.test(text);

/**
 * The same for the same form with the same content: sent twice it is one thing, changed and sent again it is another.
 * @returns null for a form without a submission
 */
export function submissionKey(fields: ReadonlyMap<string, string>, documentSha256: string | null): string | null {
  if (!isSubmission(fields.get("submission") ?? "")) return null;
  return fingerprintOf(fields, documentSha256).toString("hex");
}

export type OnceDeps = { db: Database; clock: Clock };

type Sent<Made> = {
  fields: ReadonlyMap<string, string>;
  documentSha256?: string;
  make: () => Promise<Made>;
  /** By what a second answer finds the thing; it is kept for a day, so never a secret. */
  nameOf: (made: Made) => string;
};

/**
 * Makes what a form asks for, once for each submission; a refusal leaves it free to be sent again.
 * @returns what was made and its name; `made` is null when the same form made it before
 * @throws ServiceError what `make` throws, and while the same form is still being worked on
 */
export async function once<Made>(
  deps: OnceDeps,
  request: FastifyRequest,
  sent: Sent<Made>,
): Promise<{ made: Made | null; name: string }> {
  const { db, clock } = deps;
  const { fields, documentSha256 = null, make, nameOf } = sent;
  const claim = claimOf(request, submissionKey(fields, documentSha256), clock());
  if (claim && !(await claimKey(db, claim, clock()))) {
    const kept = await keptAnswer(db, claim, clock).catch(inOurWords);
    // Its twin was refused.
    if (!kept) return once(deps, request, sent);
    if (!kept.unfinished) return { made: null, name: kept.body };
  }
  let made: Made;
  try {
    made = await make();
  } catch (error) {
    if (claim) await dropClaim(db, claim);
    throw error;
  }
  const name = nameOf(made);
  if (claim) await finishAnswer(db, claim, 303, name);
  return { made, name };
}

function claimOf(request: FastifyRequest, key: string | null, now: Date): KeyClaim | null {
  const callerId = principalOf(request).member?.userId;
  if (key === null || callerId === undefined) return null;
  return {
    callerId,
    route: `POST ${request.routeOptions.url}`,
    key,
    fingerprint: Buffer.from(key, "hex"),
    expiredBefore: claimsExpiredBefore(now),
  };
}

/** The refusal of a twin that is still in progress, for people. */
function inOurWords(error: unknown): never {
  throw error instanceof ServiceError && error.code === "idempotency_in_flight"
    ? new ServiceError("conflict", "This form was sent already and is being worked on. Look again in a moment.")
    : error;
}
