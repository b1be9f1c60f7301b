import type { Tx } from "../../kernel/platform/database/database.ts";
import { newUuid } from "../../kernel/platform/ids.ts";
import { type AccessDeps, auditRequest, issueTrialKey, mailKey, type Refusal } from "./decide.ts";
import type { SentRequest } from "./fields.ts";
import type { BotScorer } from "./screening/recaptcha.ts";
import type { ScreeningRules } from "./screening/rules-file.ts";
import { listedDomains, type Reason, screen } from "./screening/screening.ts";
import * as requests from "./store.ts";

type ScreeningDeps = {
  rules: ScreeningRules;
  /** Scores the bot token of a request. Null when reCAPTCHA is not configured. */
  scoreBot: BotScorer | null;
};

async function reasonsAgainst(
  { rules, scoreBot }: ScreeningDeps,
  request: SentRequest,
  remoteIp: string,
): Promise<Reason[]> {
  const { recaptchaToken } = request;
  const [listed, verdict] = await Promise.all([
    listedDomains(),
    recaptchaToken === null ? null : scoreBot?.(recaptchaToken, remoteIp),
  ]);
  return [...screen(rules, listed, request), ...(verdict === "bot" ? (["bot_score"] as const) : [])];
}

export type RequestDeps = AccessDeps & ScreeningDeps & { trialsPerDomain: number };

/**
 * Receives an access request. A request that meets the screening rules gets a key at once; any other waits for review.
 * The response depends only on the request, so that it does not reveal which email addresses and domains have a key.
 *
 * A repeated address gets no second key, and an address of a domain with enough trials waits for review. In these two
 * cases, the work of issuing a key is also done, but rolled back. A queued job mails a refusal or nothing. So all
 * requests that meet the rules take the same time.
 */
export async function requestAccess(
  deps: RequestDeps,
  request: SentRequest,
  remoteIp: string,
): Promise<"issued" | "pending"> {
  const { db, clock } = deps;
  // Asks the scorer before the transaction begins, because the answer may take seconds.
  const reasons = await reasonsAgainst(deps, request, remoteIp);
  const status = reasons.length === 0 ? "issued" : "pending";
  const requestId = newUuid();
  await db.transaction(async (tx) => {
    const by = { at: clock(), actor: "system" } as const;
    await requests.lockAddress(tx, request.workEmail);
    if (status === "pending") {
      await requests.insertRequest(tx, requestId, request, reasons, by.at);
      await requests.openReview(tx, { id: requestId, firmName: request.firmName, at: by.at });
      await auditRequest(tx, by, "received", { requestId, reasons });
      return;
    }
    await issueOnce(tx, deps, { requestId, request, at: by.at });
  });
  return status;
}

/**
 * Issues the key. If the email address or its domain has already had its keys, does the same work but rolls it back. So
 * the response time does not reveal which addresses and domains have keys.
 */
async function issueOnce(
  tx: Tx,
  deps: RequestDeps,
  { requestId, request, at }: { requestId: string; request: SentRequest; at: Date },
): Promise<void> {
  const { firmName, workEmail } = request;
  const by = { at, actor: "system" } as const;
  const { address, ofDomain } = await requests.issuedTo(tx, workEmail);
  const refusal = refusalOf(address, ofDomain >= deps.trialsPerDomain);
  const reasons: Reason[] = refusal === "domain" ? ["domain_has_trial"] : [];
  await auditRequest(tx, by, address ? "repeated" : "received", address ? {} : { requestId, reasons });
  await tx.script("SAVEPOINT issue");
  // The schema allows only one issued row for each address, so the row that will be rolled back has the request's id in
  // place of its address.
  await requests.insertRequest(tx, requestId, { ...request, workEmail: address ? requestId : workEmail }, [], at);
  await issueTrialKey(tx, deps, { requestId, firmName, workEmail, actor: "system" });
  await tx.script(refusal ? "ROLLBACK TO SAVEPOINT issue" : "RELEASE SAVEPOINT issue");
  await requests.insertRequest(tx, requestId, request, reasons, at, refusal === "domain");
  await requests.openReview(tx, { id: requestId, firmName, at }, refusal === "domain");
  const notified = await requests.markNotified(tx, workEmail, refusal !== null, at);
  await mailKey(tx, notified ?? requestId, notified === undefined ? null : refusal);
}

const refusalOf = (address: boolean, domain: boolean): Refusal | null => {
  if (address) return "repeated";
  return domain ? "domain" : null;
};
