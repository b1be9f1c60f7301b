import type { FastifyInstance, FastifyRequest } from "fastify";
import { Type } from "typebox";
import { principalOf, requireKey } from "../../kernel/http/authentication.ts";
import { idempotencyHeader, idempotencyKeyOf, reusedKey, sendAnswer } from "../../kernel/http/idempotency-key.ts";
import { appliedWait, preferHeader } from "../../kernel/http/prefer.ts";
import { jsonRoute, type RouteDeps } from "../../kernel/http/route.ts";
import { type Form, type FormRules, readForm, type Upload } from "../../kernel/http/uploads/multipart.ts";
import type { UploadPlaces } from "../../kernel/http/uploads/upload-places.ts";
import type { Clock } from "../../kernel/platform/clock.ts";
import { invalid, isServiceError } from "../../kernel/platform/errors.ts";
import { onceRecorded, type RecordResult } from "../../kernel/platform/idempotency.ts";
import { fingerprintOf, requestKey } from "../../kernel/platform/idempotency-keys.ts";
import { expectedFile } from "../seals/seals.ts";
import type { LogWaits } from "../transparency-log/transparency-log.ts";
import { SealedPassport, sealFormSchema } from "./schemas.ts";
import { type SealPassportDeps, sealPassport } from "./seal-passport.ts";

export type SealRouteDeps = SealPassportDeps & { clock: Clock };

type SealRoute = { frame: RouteDeps; passports: SealRouteDeps; uploadPlaces: UploadPlaces; logWaits: LogWaits };

/** `POST /api/passport/seal` (contract, Proof passports). */
export function sealRoute(app: FastifyInstance, deps: SealRoute): void {
  jsonRoute(app, deps.frame, {
    tag: "Proof passports",
    caller: "key",
    policy: "public-write",
    method: "POST",
    scope: "seal",
    url: "/api/passport/seal",
    operationId: "sealPassport",
    summary: "Seal a PDF",
    description:
      "Seals one executed PDF: a signature, an RFC 3161 time stamp and an OpenTimestamps proof. The uploaded bytes are not kept; the sealed file begins with them unchanged.",
    headers: Type.Object({ ...idempotencyHeader.properties, ...preferHeader }),
    form: { schema: sealFormSchema, notForm: expectedFile },
    answer: SealedPassport,
    refusals: { 400: expectedFile, ...reusedKey, 503: "The seal can't be made now. Try again later." },
    async handle(request, reply) {
      const sentKey = idempotencyKeyOf(request);
      const { passports } = deps;
      const answer = await withUpload(deps, request, requireKey(deps.frame.resolveKey), async (upload) => {
        const fingerprint = fingerprintOf(new Map(), upload.sha256);
        const key = requestKey(principalOf(request), "POST /api/passport/seal", sentKey, fingerprint);
        const work = (record: RecordResult) => sealPassport(deps.passports, principalOf(request), upload, record);
        return onceRecorded(passports, key, { status: 200, work });
      });
      const { sealedSha256, environment: log } = answer.result;
      const line = { db: passports.db, log, entry: { kind: "seal/v1", sealedSha256 } } as const;
      const state = await deps.logWaits(line, principalOf(request).partnerId, () => appliedWait(request, reply));
      const { result } = answer;
      return sendAnswer(
        reply,
        state === null ? answer : { ...answer, result: { ...result, log: { ...result.log, state } } },
      );
    },
  });
}

const messages = { notMultipart: expectedFile, tooLarge: expectedFile, incomplete: expectedFile };
/**
 * The number of free bytes at the end of an upload's buffer. The seal is appended there, so that the document need not
 * be copied. Only a longer seal requires a copy.
 */
const tailBytes = 64 * 1024;

/**
 * Runs `work` with the form's fields and with the PDF from its part `file`. When `work` has ended, another upload uses
 * the same memory, so `work` must not keep the PDF's bytes.
 * @param authenticate authenticates the caller again (`FormRules`)
 */
export async function withUpload<Result>(
  deps: { uploadPlaces: UploadPlaces },
  request: FastifyRequest,
  authenticate: FormRules["authenticate"],
  work: (upload: Upload, fields: Form["fields"]) => Promise<Result>,
): Promise<Result> {
  const rules = { filePart: "file", places: deps.uploadPlaces, spareBytes: tailBytes, messages, authenticate };
  const form = await readUpload(request, rules);
  try {
    if (!form.upload) throw invalid(expectedFile);
    return await work(form.upload, form.fields);
  } finally {
    form.release();
  }
}

/** Reads the form. All faults of the form itself get the one message that the contract defines. */
async function readUpload(request: FastifyRequest, rules: FormRules): Promise<Form> {
  try {
    return await readForm(request, rules);
  } catch (error) {
    throw isServiceError(error, "validation") ? invalid(expectedFile) : error;
  }
}
