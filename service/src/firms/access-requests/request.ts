import type { Tx } from "../platform/database/database.ts";
import { newUuid } from "../platform/ids.ts";
import type { SentRequest } from "./fields.ts";
import { type AccessDeps, auditRequest, issueTrialKey, mailKey, type Refusal } from "./issue.ts";
import { listedDomains } from "./screening/domains.ts";
import type { BotScorer } from "./screening/recaptcha.ts";
import type { ScreeningRules } from "./screening/rules.ts";
import { type Reason, screen } from "./screening/screening.ts";
import * as requests from "./store.ts";

export type ScreeningDeps = {
  rules: ScreeningRules;
  /** Null when reCAPTCHA is not configured. */
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
 * Receives an access request: one that meets the screening rules is issued a key at once, any other waits for review. The answer depends
 * only on what was sent: an address that already has a key gets no second one, and an address of a domain that has its trial waits for
 * review, too. Neither the answer, its time nor a count shows that: a key is made and taken back, and its mail is a job that
 * sends nothing, or tells the address why.
 */
export async function requestAccess(
  deps: RequestDeps,
  request: SentRequest,
  remoteIp: string,
): Promise<"issued" | "pending"> {
  const { db, clock } = deps;
  // The scorer is asked before the transaction is opened: it may take seconds.
  const reasons = await reasonsAgainst(deps, request, remoteIp);
  const status = reasons.length === 0 ? "issued" : "pending";
  const requestId = newUuid();
  await db.transaction(async (tx) => {
    const by = { at: clock(), actor: "system" } as const;
    await requests.lockAddress(tx, request.workEmail);
    if (status === "pending") {
      await requests.insertRequest(tx, requestId, request, reasons, by.at);
      await requests.openReview(tx, requestId, by.at);
      await auditRequest(tx, by, "received", { requestId, reasons });
      return;
    }
    await issueOnce(tx, deps, { requestId, request, at: by.at });
  });
  return status;
}

/** Issues the key, unless the address or its domain has had one: then everything is done as well, and taken back. */
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
  // Of an address no second row may be issued.
  await requests.insertRequest(tx, requestId, { ...request, workEmail: address ? requestId : workEmail }, [], at);
  await issueTrialKey(tx, deps, { requestId, firmName, actor: "system" });
  await tx.script(refusal ? "ROLLBACK TO SAVEPOINT issue" : "RELEASE SAVEPOINT issue");
  await requests.insertRequest(tx, requestId, request, reasons, at, refusal === "domain");
  await requests.openReview(tx, requestId, at, refusal === "domain");
  const told = await requests.markTold(tx, workEmail, refusal !== null, at);
  await mailKey(tx, told ?? requestId, told === undefined ? null : refusal);
}

const refusalOf = (address: boolean, domain: boolean): Refusal | null => {
  if (address) return "repeated";
  return domain ? "domain" : null;
};
