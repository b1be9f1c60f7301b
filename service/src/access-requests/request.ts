import { newUuid } from "../platform/ids.ts";
import type { SentRequest } from "./fields.ts";
import { type AccessDeps, auditRequest, issueTrialKey, mailKey } from "./issue.ts";
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

/**
 * Receives an access request: one that meets the screening rules is issued a key at once, any other waits for review. The answer depends
 * only on what was sent: an address that already has a key gets no second one. Neither the answer, its time nor a count shows that: a second
 * key is made and taken back, and its mail is a job that finds nothing.
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
    const by = { at: clock(), actor: "system" } as const;
    await requests.lockAddress(tx, request.workEmail);
    if (status === "pending") {
      await requests.insertRequest(tx, requestId, request, reasons, by.at);
      await auditRequest(tx, by, "received", { requestId, reasons });
      return;
    }
    const isRepeated = await requests.addressHasKey(tx, request.workEmail);
    await auditRequest(tx, by, isRepeated ? "repeated" : "received", isRepeated ? {} : { requestId, reasons });
    await tx.script("SAVEPOINT issue");
    // Of an address no second row may be issued.
    const workEmail = isRepeated ? requestId : request.workEmail;
    await requests.insertRequest(tx, requestId, { ...request, workEmail }, reasons, by.at);
    await issueTrialKey(tx, deps, { requestId, firmName: request.firmName, actor: "system" });
    await tx.script(isRepeated ? "ROLLBACK TO SAVEPOINT issue" : "RELEASE SAVEPOINT issue");
    await mailKey(tx, requestId);
  });
  return status;
}
