import { fileURLToPath } from "node:url";
import type { Fetch } from "../../kernel/platform/bounds/bounded-request.ts";
import type { Resources } from "../../kernel/resources.ts";
import type { SentRequest } from "./fields.ts";
import { requestAccess } from "./request.ts";
import { recaptchaScorer } from "./screening/recaptcha.ts";
import { readScreeningRules } from "./screening/rules-file.ts";

const rulesFile = fileURLToPath(new URL("../../../data/screening.yaml", import.meta.url));

/** Handles a request from an IP address and returns its outcome. */
export type RequestAccess = (request: SentRequest, remoteIp: string) => Promise<"issued" | "pending">;

/**
 * Opens access requests with the shipped rules, and with a bot score where reCAPTCHA is set up.
 * @param trialsPerDomain when so many addresses of a domain have access, further ones wait for review. Access that an
 * operator gave counts, too
 * @throws StartupError for invalid rules
 */
export function openAccess(resources: Resources, fetch: Fetch, trialsPerDomain: number): RequestAccess {
  const { config, db, clock, log, secrets, rowMac } = resources;
  const rules = readScreeningRules(rulesFile);
  const { hostname } = new URL(config.baseUrl);
  const { recaptcha: settings } = config;
  const scoreBot = settings && recaptchaScorer({ settings, hostname, minScore: rules.minScore, fetch, log });
  const deps = { db, clock, secrets, rowMac, rules, scoreBot, trialsPerDomain };
  return (request, remoteIp) => requestAccess(deps, request, remoteIp);
}
