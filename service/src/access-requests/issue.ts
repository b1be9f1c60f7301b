import { auditLine } from "../audit/audit.ts";
import { addTrialPartner } from "../partners/partners.ts";
import type { Clock } from "../platform/clock.ts";
import { columnCipher } from "../platform/column-cipher.ts";
import type { Database, Tx } from "../platform/database/database.ts";
import { enqueue } from "../platform/jobs/jobs.ts";
import type { RowMac } from "../platform/row-mac.ts";
import type { SecretBytes } from "../platform/secrets.ts";
import { markIssued } from "./store.ts";

export type AccessDeps = { db: Database; clock: Clock; secrets: SecretBytes; rowMac: RowMac };

/** The queue of mails that carry a key, or say that there is none. */
export const accessMailQueue = "access-mail";

/** Encrypts an issued key until it was mailed; the request's id is the context. */
export const keyCipherColumn = "access_requests.sealed_key";
export const keyCipher = (secrets: SecretBytes) => columnCipher(secrets, keyCipherColumn);

/** `system`, `operator`, `operator:ID`. */
export type Actor = string;

/** Writes the audit line of what became of a request. */
export const auditRequest = (
  tx: Tx,
  { at, actor, partnerId }: { at: Date; actor: Actor; partnerId?: string },
  what: "received" | "repeated" | "issued" | "declined",
  detail: object,
) => tx.query(auditLine({ at, action: `access_request.${what}`, actor, partnerId, detail }));

/** Makes the firm and its test key in the caller's transaction; `mailKey` has it mailed. @returns the firm's id */
export async function issueTrialKey(
  tx: Tx,
  { clock, secrets, rowMac }: AccessDeps,
  request: { requestId: string; firmName: string; actor: Actor },
): Promise<string> {
  const { requestId, firmName, actor } = request;
  const at = clock();
  const { partnerId, issued } = await addTrialPartner(tx, rowMac, firmName, { at, actor, detail: { requestId } });
  const sealedKey = keyCipher(secrets).encrypt(Buffer.from(issued.key), requestId);
  await markIssued(tx, requestId, { partnerId, sealedKey, at });
  await auditRequest(tx, { at, actor, partnerId }, "issued", { requestId });
  return partnerId;
}

/** Why an address that meets the rules gets no key at once. */
export type Refusal = "repeated" | "domain";

/** Payload of `accessMailQueue`. */
export type AccessMail = { requestId: string; refusal: Refusal | null };

/** Has the key of a request mailed once, if it has one; or tells its address why there is none. */
export const mailKey = (tx: Tx, requestId: string, refusal: Refusal | null = null) =>
  enqueue(tx, accessMailQueue, { requestId, refusal } satisfies AccessMail);
