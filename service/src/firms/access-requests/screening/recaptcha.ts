import { type Fetch, requestBounded } from "../../platform/bounds/bounded-request.ts";
import type { Log } from "../../platform/logs.ts";

/** Both keys of the operator's site at reCAPTCHA v3, and where it is reached. */
export type RecaptchaSettings = { siteKey: string; secret: string; apiBase: string };

/** The name under which the page asks for its token, and the only one that counts. */
export const recaptchaAction = "request_access";

/** What the scorer says of a token: `unscored` when it could not be had. */
export type BotVerdict = "person" | "bot" | "unscored";

/** Asks about a token that came with a request. Never rejects. */
export type BotScorer = (token: string, remoteIp: string) => Promise<BotVerdict>;

export type ScorerDeps = {
  settings: RecaptchaSettings;
  /** Host name of the page that tokens must come from. */
  hostname: string;
  /** Below it a token speaks for a bot; from 0 to 1. */
  minScore: number;
  fetch: Fetch;
  log: Pick<Log, "warn">;
  timeoutMs?: number;
};

const maxAnswerBytes = 16 * 1024;

/** Codes of `error-codes` that blame the settings and not the token. */
const settingsAtFault: ReadonlySet<unknown> = new Set(["missing-input-secret", "invalid-input-secret", "bad-request"]);

/** reCAPTCHA v3 by its `siteverify`; a token counts once and for two minutes there. */
export function recaptchaScorer(deps: ScorerDeps): BotScorer {
  const { settings, hostname, minScore, fetch, log, timeoutMs = 3000 } = deps;

  async function ask(token: string, remoteIp: string): Promise<Record<string, unknown>> {
    const init = {
      method: "POST",
      body: new URLSearchParams({ secret: settings.secret, response: token, remoteip: remoteIp }),
    };
    const bounds = { timeoutMs, maxBytes: maxAnswerBytes };
    const answer = await requestBounded(fetch, `${settings.apiBase}/api/siteverify`, init, bounds);
    if (!answer.ok) throw new Error(answer.why);
    if (answer.status !== 200) throw new Error(`it answered with ${answer.status}`);
    return parsed(Buffer.from(answer.body).toString());
  }

  function judge(answer: Record<string, unknown>): BotVerdict {
    const { success, score, action, hostname: from, "error-codes": codes } = answer;
    if (typeof success !== "boolean") throw new Error("its answer doesn't say whether it succeeded");
    if (Array.isArray(codes) && codes.some((code) => settingsAtFault.has(code)))
      log.warn({ codes }, "reCAPTCHA refuses the settings; every token counts as a bot's until they are right");
    if (!success) return "bot";
    if (typeof score !== "number") throw new Error("its answer has no score; the keys must be of version 3");
    return score >= minScore && action === recaptchaAction && from === hostname ? "person" : "bot";
  }

  return async (token, remoteIp) => {
    try {
      return judge(await ask(token, remoteIp));
    } catch (error) {
      log.warn({ err: error }, "no score from reCAPTCHA; the request goes on as one without a token");
      return "unscored";
    }
  };
}

function parsed(text: string): Record<string, unknown> {
  const answer: unknown = JSON.parse(text);
  if (typeof answer !== "object" || answer === null) throw new Error("its answer is no object");
  return answer as Record<string, unknown>;
}
