import { type Fetch, requestBounded } from "../../../kernel/platform/bounds/bounded-request.ts";
import type { Log } from "../../../kernel/platform/logs.ts";

/** The two keys of the operator's reCAPTCHA v3 site, and the base URL of its API. */
type RecaptchaSettings = { siteKey: string; secret: string; apiBase: string };

/** The action name in the page's tokens. A token for another action is not accepted. */
export const recaptchaAction = "request_access";

/** The scorer's verdict on a token: `unscored` when no score was available. */
export type BotVerdict = "person" | "bot" | "unscored";

/** Scores the token of a request. Never rejects. */
export type BotScorer = (token: string, remoteIp: string) => Promise<BotVerdict>;

export type ScorerDeps = {
  settings: RecaptchaSettings;
  /** The host name of the page that issues tokens. */
  hostname: string;
  /** The lowest score that is accepted, from 0 to 1. A lower score means a bot. */
  minScore: number;
  fetch: Fetch;
  log: Pick<Log, "warn">;
  timeoutMs?: number;
};

const maxAnswerBytes = 16 * 1024;

/** Values of `error-codes` that mean wrong settings, not a bad token. */
const settingsAtFault: ReadonlySet<unknown> = new Set(["missing-input-secret", "invalid-input-secret", "bad-request"]);

/** Scores with reCAPTCHA v3's `siteverify`, which accepts a token once, within two minutes. */
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
  if (typeof answer !== "object" || answer === null) throw new Error("its answer is not an object");
  return answer as Record<string, unknown>;
}
