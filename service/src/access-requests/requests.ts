import { keySha256, newKey } from "../partners/keys/resolve.ts";
import * as partners from "../partners/store.ts";
import type { Clock } from "../platform/clock.ts";
import type { Database, Tx } from "../platform/database.ts";
import { invalid, ServiceError } from "../platform/errors.ts";
import { newUuid } from "../platform/ids.ts";
import { enqueue } from "../platform/jobs/jobs.ts";
import { columnCipher, type SecretBytes } from "../platform/secrets.ts";
import type { SentRequest } from "./fields.ts";
import { listedDomains } from "./screening/domains.ts";
import type { BotScorer } from "./screening/recaptcha.ts";
import type { ScreeningRules } from "./screening/rules.ts";
import { type Reason, screen } from "./screening/screening.ts";
import * as requests from "./store.ts";

export type { ListedRequest } from "./store.ts";

export type AccessDeps = { db: Database; clock: Clock; secrets: SecretBytes };

/** The queue of mails that carry a key; the payload is `{requestId}`. */
export const accessMailQueue = "access-mail";

/** Encrypts an issued key until it was mailed; the request's id is the context. */
export const keyCipher = (secrets: SecretBytes) => columnCipher(secrets, "access_requests.sealed_key");

const listLimit = 1000;
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

type Actor = "system" | "operator";

const audit = (tx: Tx, at: Date, actor: Actor, action: string, partnerId: string | null, detail: object) =>
  tx.rows("INSERT INTO audit_log (occurred_at, action, actor, partner_id, detail) VALUES ($1, $2, $3, $4, $5)", [
    at,
    action,
    actor,
    partnerId,
    detail,
  ]);

/** Makes the firm and its test key, and has the key mailed once: all in the caller's transaction. */
async function issue(
  tx: Tx,
  { clock, secrets }: AccessDeps,
  request: { requestId: string; firmName: string; actor: Actor },
): Promise<string> {
  const { requestId, firmName, actor } = request;
  const at = clock();
  const [partnerId, keyId, key] = [newUuid(), newUuid(), newKey("test")];
  await partners.insertPartner(tx, { id: partnerId, name: firmName, tier: "trial", live: false, demo: false });
  await partners.insertKey(tx, {
    id: keyId,
    partnerId,
    environment: "test",
    sha256: keySha256(key),
    last4: key.slice(-4),
  });
  const sealedKey = keyCipher(secrets).encrypt(Buffer.from(key), requestId);
  await requests.markIssued(tx, requestId, { partnerId, sealedKey, at });
  await audit(tx, at, actor, "partner.created", partnerId, { tier: "trial", live: false, requestId });
  await audit(tx, at, actor, "key.issued", partnerId, { keyId, environment: "test", requestId });
  await audit(tx, at, actor, "access_request.issued", partnerId, { requestId });
  await enqueue(tx, accessMailQueue, { requestId });
  return partnerId;
}

export type ScreeningDeps = {
  rules: ScreeningRules;
  /** Null where no bot score can be had. */
  scoreBot: BotScorer | null;
};

async function reasonsAgainst(deps: ScreeningDeps, request: SentRequest, remoteIp: string): Promise<Reason[]> {
  const { rules, scoreBot } = deps;
  const { recaptchaToken } = request;
  const [listed, verdict] = await Promise.all([
    listedDomains(),
    recaptchaToken === null ? null : scoreBot?.(recaptchaToken, remoteIp),
  ]);
  return [...screen(rules, listed, request), ...(verdict === "bot" ? (["bot_score"] as const) : [])];
}

/**
 * Takes a request: what meets the rules is issued a key at once, the rest waits for a person. The answer comes from what was sent
 * alone: an address that has its key gets no second one, and whoever asks can't tell.
 */
export async function requestAccess(
  deps: AccessDeps & ScreeningDeps,
  request: SentRequest,
  remoteIp: string,
): Promise<"issued" | "pending"> {
  const { db, clock } = deps;
  // The scorer is asked before the transaction is opened: it may take seconds.
  const reasons = await reasonsAgainst(deps, request, remoteIp);
  const status = reasons.length === 0 ? "issued" : "pending";
  const requestId = newUuid();
  await db.transaction(async (tx) => {
    const at = clock();
    await requests.lockAddress(tx, request.workEmail);
    if (status === "issued" && (await requests.addressHasKey(tx, request.workEmail))) {
      await audit(tx, at, "system", "access_request.repeated", null, {});
      return;
    }
    await requests.insertRequest(tx, requestId, request, reasons, at);
    await audit(tx, at, "system", "access_request.received", null, { requestId, reasons });
    if (status === "issued") await issue(tx, deps, { requestId, firmName: request.firmName, actor: "system" });
  });
  return status;
}

/** Those that wait come first. At most 1000. */
export const listRequests = ({ db }: { db: Database }) => requests.selectRequests(db, listLimit);

/** The longest waiting ones, and how many wait in all. */
export async function pendingRequests({ db }: { db: Database }, limit: number) {
  const [waiting, total] = await Promise.all([requests.selectPending(db, limit), requests.countPending(db)]);
  return { waiting, total };
}

/** Hands a waiting request to `decide` with its row and its address locked. */
async function decideOn<T>(
  { db }: AccessDeps,
  requestId: string,
  decide: (tx: Tx, request: { firmName: string; workEmail: string }) => Promise<T>,
): Promise<T> {
  if (!uuid.test(requestId)) throw invalid("ID must be a UUID.");
  return db.transaction(async (tx) => {
    const request = await requests.selectForDecision(tx, requestId);
    if (!request) throw new ServiceError("not_found", "No such request.");
    if (request.status !== "pending") throw new ServiceError("conflict", `The request was ${request.status} before.`);
    await requests.lockAddress(tx, request.workEmail);
    return decide(tx, request);
  });
}

/** @throws ServiceError for an unknown request, one that was decided, or an address that has its key. */
export const approveRequest = (deps: AccessDeps, requestId: string) =>
  decideOn(deps, requestId, async (tx, { firmName, workEmail }) => {
    if (await requests.addressHasKey(tx, workEmail))
      throw new ServiceError("conflict", "This address was issued a key before; `key issue` gives its firm another.");
    const partnerId = await issue(tx, deps, { requestId, firmName, actor: "operator" });
    return { requestId, status: "issued" as const, partnerId };
  });

/** Tells nobody. @throws ServiceError for an unknown request or one that was decided. */
export const declineRequest = (deps: AccessDeps, requestId: string) =>
  decideOn(deps, requestId, async (tx) => {
    const at = deps.clock();
    await requests.markDeclined(tx, requestId, at);
    await audit(tx, at, "operator", "access_request.declined", null, { requestId });
    return { requestId, status: "declined" as const };
  });
