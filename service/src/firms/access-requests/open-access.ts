import type { Fetch } from "../../kernel/platform/bounds/bounded-request.ts";
import type { Log } from "../../kernel/platform/logs.ts";
import type { AccessDeps } from "./decide.ts";
import type { SentRequest } from "./fields.ts";
import { requestAccess } from "./request.ts";
import { type RecaptchaSettings, recaptchaScorer } from "./screening/recaptcha.ts";
import { readScreeningRules } from "./screening/rules.ts";

/** Handles a request from an address and returns its outcome. */
export type RequestAccess = (request: SentRequest, remoteIp: string) => Promise<"issued" | "pending">;

export type OpenAccessDeps = AccessDeps & {
  log: Log;
  fetch: Fetch;
  rulesPath: string;
  /** Null: no bot score. */
  recaptcha: RecaptchaSettings | null;
  /** The host name of the page that issues tokens. */
  hostname: string;
  /** How many addresses of one domain get a trial key without review. */
  trialsPerDomain: number;
};

/** Opens access requests, with a bot score where reCAPTCHA is set up. @throws StartupError for invalid rules */
export function openAccess(deps: OpenAccessDeps): RequestAccess {
  const rules = readScreeningRules(deps.rulesPath);
  const { recaptcha: settings, hostname, fetch, log } = deps;
  const scoreBot = settings && recaptchaScorer({ settings, hostname, minScore: rules.minScore, fetch, log });
  return (request, remoteIp) => requestAccess({ ...deps, rules, scoreBot }, request, remoteIp);
}
