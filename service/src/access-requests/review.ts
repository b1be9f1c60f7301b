import type { Database, Tx } from "../platform/database/database.ts";
import { ServiceError } from "../platform/errors.ts";
import { requireUuid } from "../platform/text.ts";
import { type AccessDeps, auditRequest, issueTrialKey, mailKey } from "./issue.ts";
import * as requests from "./store.ts";

const listLimit = 1000;

/** All access requests, pending ones first; at most 1000. */
export const listRequests = ({ db }: { db: Database }) => requests.selectRequests(db, listLimit);

/** The pending requests, oldest first, and how many there are in all. */
export async function pendingRequests({ db }: { db: Database }, limit: number) {
  const [waiting, total] = await Promise.all([requests.selectPending(db, limit), requests.countPending(db)]);
  return { waiting, total };
}

/** Calls `decide` with a pending request, its row and its address locked. */
async function decideOn<T>(
  { db }: AccessDeps,
  requestId: string,
  decide: (tx: Tx, request: { firmName: string; workEmail: string }) => Promise<T>,
): Promise<T> {
  requireUuid("ID", requestId);
  return db.transaction(async (tx) => {
    const request = await requests.selectForDecision(tx, requestId);
    if (!request) throw new ServiceError("not_found", "No such request.");
    if (request.status !== "pending") throw new ServiceError("conflict", `The request was ${request.status} before.`);
    await requests.lockAddress(tx, request.workEmail);
    return decide(tx, request);
  });
}

/** Issues the trial key. @param actor for the audit log @throws ServiceError for an unknown or decided request, or an address that already has a key. */
export const approveRequest = (deps: AccessDeps, requestId: string, actor = "operator") =>
  decideOn(deps, requestId, async (tx, { firmName, workEmail }) => {
    if (await requests.addressHasKey(tx, workEmail))
      throw new ServiceError("conflict", "This address was issued a key before; `key issue` gives its firm another.");
    const partnerId = await issueTrialKey(tx, deps, { requestId, firmName, actor });
    await mailKey(tx, requestId);
    await requests.closeReview(tx, requestId, { at: deps.clock(), by: actor, outcome: "approved" });
    return { requestId, status: "issued" as const, partnerId };
  });

/** Declines without sending mail. @param actor for the audit log @throws ServiceError for an unknown or decided request. */
export const declineRequest = (deps: AccessDeps, requestId: string, actor = "operator") =>
  decideOn(deps, requestId, async (tx) => {
    const at = deps.clock();
    await requests.markDeclined(tx, requestId, at);
    await auditRequest(tx, { at, actor }, "declined", { requestId });
    await requests.closeReview(tx, requestId, { at, by: actor, outcome: "declined" });
    return { requestId, status: "declined" as const };
  });
