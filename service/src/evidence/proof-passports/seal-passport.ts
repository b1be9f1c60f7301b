import { sealReasons } from "@signsealship/evidence/seal";
import type { RequireStorage } from "../../firms/partners/partners.ts";
import { actorOf, type Principal } from "../../kernel/identity/identity.ts";
import type { Blobs } from "../../kernel/platform/blobs/blobs.ts";
import type { Database } from "../../kernel/platform/database/database.ts";
import { type DocumentNames, documentName } from "../../kernel/platform/document-name.ts";
import { recordNothing } from "../../kernel/platform/idempotency.ts";
import { newUuid, newVerifyCode } from "../../kernel/platform/ids.ts";
import type { RowMac } from "../../kernel/platform/row-mac.ts";
import type { Anchoring } from "../anchoring/anchoring.ts";
import { type SealInput, type Sealing, sealChainOf } from "../seals/seals.ts";
import type { TransparencyLog } from "../transparency-log/transparency-log.ts";
import type { SealedPassport } from "./schemas.ts";
import { insertPassport, type PassportFacts, passportUse } from "./store.ts";
import { sealedView } from "./views.ts";

/** The services that publish a passport: its page, the calendars and the transparency log. */
type Publication = {
  baseUrl: string;
  /** Submits hashes to the OpenTimestamps calendars; null when none are configured. */
  anchoring: Anchoring | null;
  originOf: TransparencyLog["originOf"];
};

export type SealPassportDeps = {
  db: Database;
  blobs: Blobs;
  rowMac: RowMac;
  names: DocumentNames;
  sealing: Pick<Sealing, "sealDocument" | "chainPem">;
  publication: Publication;
  /** Checks the firm's storage limit; null when sealed PDFs are not stored (KEEP_SEALED). */
  requireStorage: RequireStorage | null;
};

/**
 * Seals an uploaded PDF and records its passport. First the sealed PDF is stored durably, if such files are kept. Then
 * one transaction writes the passport, the audit line, the event, and the response that repeated requests get. The
 * upload is never stored by itself.
 * @returns the contract's seal response
 * @throws ServiceError; then nothing was recorded, unless the connection broke during the commit
 */
export async function sealPassport(
  deps: SealPassportDeps,
  principal: Principal,
  upload: Pick<SealInput, "bytes" | "hash" | "spare"> & { filename: string | undefined },
  record = recordNothing,
): Promise<SealedPassport> {
  const { blobs, sealing } = deps;
  const { anchoring, originOf, baseUrl } = deps.publication;
  const { partnerId, environment } = principal;
  await deps.requireStorage?.(principal, upload.bytes.length);
  const { filename, ...document } = upload;
  const sealed = await sealing.sealDocument({ ...document, holder: partnerId, reason: sealReasons.proof[environment] });
  const id = newUuid();
  const [anchor, blobKey] = await Promise.all([
    anchoring?.submit(Buffer.from(sealed.sealedSha256, "hex")) ?? null,
    deps.requireStorage ? blobs.put(sealed.bytes, passportUse({ id, sealedSha256: sealed.sealedSha256 })) : null,
  ]);
  const facts: PassportFacts = {
    id,
    verifyCode: newVerifyCode(),
    partnerId,
    environment,
    docSha256: sealed.docSha256,
    sealedSha256: sealed.sealedSha256,
    createdAt: sealed.sealedAt,
  };
  const { timeStamp } = sealed;
  const chain = sealChainOf(sealing.chainPem[environment]);
  // If the transaction below fails, the blob is not deleted here: the connection may have broken after the commit.
  // Without a row, the sweep of orphaned blobs deletes the blob.
  const bytes = sealed.bytes.length;
  const name = deps.names.seal(documentName(filename), id);
  const times = {
    authority: timeStamp?.authority ?? null,
    stampedAt: timeStamp?.genTime ?? null,
    calendar: anchor?.calendar ?? null,
    submittedAt: anchor?.submittedAt ?? null,
    anchorStatus: anchor && ("pending" as const),
  };
  const view = sealedView(facts, times, { origin: originOf(environment), state: "queued" }, baseUrl);
  const passport = { ...facts, name, blobKey, bytes, chain, timeStamp, anchor };
  await deps.db.transaction(async (tx) => {
    await record(tx, view);
    await insertPassport({ db: tx, rowMac: deps.rowMac }, passport, actorOf(principal));
  });
  return view;
}
