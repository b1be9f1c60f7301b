import type { Fetch } from "../platform/bounds/bounded-request.ts";
import type { Log } from "../platform/logs.ts";
import type { SentRequest } from "./fields.ts";
import type { AccessDeps } from "./issue.ts";
import { requestAccess } from "./request.ts";
import { type RecaptchaSettings, recaptchaScorer } from "./screening/recaptcha.ts";
import { readScreeningRules } from "./screening/rules.ts";

/** Takes a request from an address and says what became of it. */
export type RequestAccess = (request: SentRequest, remoteIp: string) => Promise<"issued" | "pending">;

export type OpenAccessDeps = AccessDeps & {
  log: Log;
  fetch: Fetch;
  /** File of the screening rules. */
  rulesPath: string;
  /** Null for no bot score. */
  recaptcha: RecaptchaSettings | null;
  /** Host name of the page that tokens must come from. */
  hostname: string;
  /** How many addresses of a domain are issued a trial key without review. */
  trialsPerDomain: number;
};

/** Opens access requests, with a bot score where reCAPTCHA is set up. @throws StartupError for rules that can't be used. */
export function openAccess(deps: OpenAccessDeps): RequestAccess {
  const rules = readScreeningRules(deps.rulesPath);
  const { recaptcha: settings, hostname, fetch, log } = deps;
  const scoreBot = settings && recaptchaScorer({ settings, hostname, minScore: rules.minScore, fetch, log });
  return (request, remoteIp) => requestAccess({ ...deps, rules, scoreBot }, request, remoteIp);
}
