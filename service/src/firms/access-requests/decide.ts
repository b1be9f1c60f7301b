import { auditLine } from "../../kernel/audit/audit.ts";
import type { Clock } from "../../kernel/platform/clock.ts";
import { columnCipher } from "../../kernel/platform/column-cipher.ts";
import type { Database, Tx } from "../../kernel/platform/database/database.ts";
import { sql } from "../../kernel/platform/database/sql.ts";
import { invalid, ServiceError } from "../../kernel/platform/errors.ts";
import { newUuid } from "../../kernel/platform/ids.ts";
import { enqueue } from "../../kernel/platform/jobs/jobs.ts";
import { isEmail } from "../../kernel/platform/mail/email.ts";
import type { RowMac } from "../../kernel/platform/row-mac.ts";
import type { SecretBytes } from "../../kernel/platform/secrets.ts";
import { requireUuid } from "../../kernel/platform/text.ts";
import { addTrialPartner } from "../partners/partners.ts";
import { addressSha256 } from "./join.ts";
import * as requests from "./store.ts";
import { markIssued } from "./store.ts";

export type AccessDeps = { db: Database; clock: Clock; secrets: SecretBytes; rowMac: RowMac };

/** The queue of mails that contain a key or explain why there is none. */
export const accessMailQueue = "access-mail";

/** The encrypted column that stores an issued key until it is mailed. Its encryption context is the request's id. */
const keyCipherColumn = "access_requests.sealed_key";
export const keyCipher = (secrets: SecretBytes) => columnCipher(secrets, keyCipherColumn);

const requestRows: typeof requests.macOfRequests = {
  ...requests.macOfRequests,
  ciphers: [{ use: keyCipherColumn, column: sql`sealed_key`, context: sql`id::text` }],
};

export const protectedTables = [requestRows];

/** The actor who decided: `system`, `operator` or `operator:ID`. */
type Actor = string;

/** Writes the audit line of a request's outcome. */
export const auditRequest = (
  tx: Tx,
  { at, actor, partnerId }: { at: Date; actor: Actor; partnerId?: string },
  what: "received" | "repeated" | "issued" | "declined",
  detail: object,
) => tx.query(auditLine({ at, action: `access_request.${what}`, actor, partnerId, detail }));

/** Creates the firm and its test key in the caller's transaction; `mailKey` mails the key. @returns the firm's id */
export async function issueTrialKey(
  tx: Tx,
  { clock, secrets, rowMac }: AccessDeps,
  request: { requestId: string; firmName: string; workEmail: string; actor: Actor },
): Promise<string> {
  const { requestId, firmName, workEmail, actor } = request;
  const at = clock();
  const { partnerId, issued } = await addTrialPartner(tx, rowMac, firmName, { at, actor, detail: { requestId } });
  const sealedKey = keyCipher(secrets).encrypt(Buffer.from(issued.key), requestId);
  await markIssued(tx, requestId, { partnerId, sealedKey, at });
  await auditRequest(tx, { at, actor, partnerId }, "issued", { requestId, address: addressSha256(workEmail) });
  return partnerId;
}

/**
 * Why a request that passed the screening gets no key at once. `repeated`: its address was given access before, and
 * gets no key. `domain`: its domain has enough trials, so a person reviews the request.
 */
export type Refusal = "repeated" | "domain";

/** Payload of `accessMailQueue`. */
export type AccessMail = { requestId: string; refusal: Refusal | null };

/**
 * Queues a mail for a request: with the request's key, or with a refusal. The job mails nothing if the request has
 * neither a stored key nor a due refusal.
 */
export const mailKey = (tx: Tx, requestId: string, refusal: Refusal | null = null) =>
  enqueue(tx, accessMailQueue, { requestId, refusal } satisfies AccessMail);

/**
 * Gives an email address access to a firm that an operator added. The person signs in with the address, without a key.
 * The access is stored as a granted access request.
 * @throws ServiceError for a text that is not an address, and for an address that was given access to a firm before
 */
export async function nameFirstOwner(
  tx: Tx,
  { clock }: Pick<AccessDeps, "clock">,
  { partnerId, name: firmName }: { partnerId: string; name: string },
  typed: string,
): Promise<void> {
  const workEmail = typed.trim();
  if (!isEmail(workEmail)) throw invalid("owner must be an email address.");
  await requests.lockAddress(tx, workEmail);
  if (await requests.addressHasKey(tx, workEmail))
    throw new ServiceError(
      "conflict",
      "This address was given access to a firm before: an owner of this one can invite it.",
    );
  const [requestId, at] = [newUuid(), clock()];
  const unasked = { role: null, expectedVolume: null, useCase: null };
  await requests.insertRequest(tx, requestId, { firmName, contactName: workEmail, workEmail, ...unasked }, [], at);
  await markIssued(tx, requestId, { partnerId, sealedKey: null, at });
  const detail = { requestId, address: addressSha256(workEmail) };
  await auditRequest(tx, { at, actor: "operator", partnerId }, "issued", detail);
}

const listLimit = 1000;

/** At most 1000 access requests: pending ones first, then decided ones. */
export const listRequests = ({ db }: { db: Database }) => requests.selectRequests(db, listLimit);

/** The oldest pending requests, and the number of all pending ones. */
export async function pendingRequests({ db }: { db: Database }, limit: number) {
  const [waiting, total] = await Promise.all([requests.selectPending(db, limit), requests.countPending(db)]);
  return { waiting, total };
}

export const decidedRequests = ({ db }: { db: Database }, limit: number) => requests.selectDecided(db, limit);

/** Locks a pending request and its email address, then calls `decide`. */
async function decideOn<T>(
  { db, rowMac }: AccessDeps,
  requestId: string,
  decide: (tx: Tx, request: { firmName: string; workEmail: string }) => Promise<T>,
): Promise<T> {
  requireUuid("ID", requestId);
  return db.transaction(async (tx) => {
    const request = await requests.selectForDecision(tx, rowMac, requestId);
    if (!request) throw new ServiceError("not_found", "No such request.");
    if (request.status !== "pending") throw new ServiceError("conflict", `The request was ${request.status} before.`);
    await requests.lockAddress(tx, request.workEmail);
    return decide(tx, request);
  });
}

/**
 * Approves an access request, and issues its trial key.
 * @param actor for the audit log
 * @throws ServiceError for an unknown or decided request, or an address that already has a key
 */
export const approveRequest = (deps: AccessDeps, requestId: string, actor = "operator") =>
  decideOn(deps, requestId, async (tx, { firmName, workEmail }) => {
    if (await requests.addressHasKey(tx, workEmail))
      throw new ServiceError("conflict", "This address was issued a key before; `key issue` gives its firm another.");
    const partnerId = await issueTrialKey(tx, deps, { requestId, firmName, workEmail, actor });
    await mailKey(tx, requestId);
    await requests.closeReview(tx, requestId, { at: deps.clock(), by: actor, outcome: "approved" });
    return { requestId, status: "issued" as const, partnerId };
  });

/**
 * Declines an access request, without sending a mail.
 * @param actor for the audit log
 * @throws ServiceError for an unknown or decided request
 */
export const declineRequest = (deps: AccessDeps, requestId: string, actor = "operator") =>
  decideOn(deps, requestId, async (tx) => {
    const at = deps.clock();
    await requests.markDeclined(tx, requestId, at);
    await auditRequest(tx, { at, actor }, "declined", { requestId });
    await requests.closeReview(tx, requestId, { at, by: actor, outcome: "declined" });
    return { requestId, status: "declined" as const };
  });
