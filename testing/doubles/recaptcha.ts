import { randomBytes } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { startHttpDouble } from "./http-double.ts";

/** The behavior of `siteverify`: `proper`, or one kind of fault. */
export type RecaptchaMode =
  | "proper"
  | "no-score"
  | "junk"
  | "not-an-object"
  | "oversize"
  | "server-error"
  | "redirect"
  | "hang-up"
  | "half"
  | "slow";

export type Token = { hostname: string; action: string };

/** reCAPTCHA v3 on loopback: `api.js` for pages and `siteverify` for servers. */
export type RecaptchaDouble = {
  readonly siteKey: string;
  readonly secret: string;
  /** The value of `RECAPTCHA_API_BASE`. */
  readonly apiBase: string;
  /** The score of every token that is created from now on. */
  score: number;
  mode: RecaptchaMode;
  /**
   * `missing`: requests for `api.js` and for new tokens get 404. `silent`: `api.js` is served, but requests for new
   * tokens get no answer.
   */
  page: "proper" | "missing" | "silent";
  /** Creates a token as a page would get it. */
  readonly newToken: (token: Token) => string;
  /** The forms sent to `siteverify`, latest last. */
  readonly asked: URLSearchParams[];
  readonly close: () => Promise<void>;
};

// Behaves like Google's script: it can be called once it is loaded, and everything in it is asynchronous.
const apiScript = (tokenUrl: string) => `globalThis.grecaptcha = {
  ready(callback) { setTimeout(callback, 0); },
  async execute(siteKey, { action }) {
    const answer = await fetch(${JSON.stringify(tokenUrl)}, { method: "POST", body: new URLSearchParams({ siteKey, action }) });
    if (!answer.ok) throw new Error("no token");
    return answer.text();
  },
};
`;

/** Tokens that pages received; a server may verify each once. */
function createTokens(secret: string) {
  const tokens = new Map<string, Token>();
  return {
    add(token: Token): string {
      const text = `03A.${randomBytes(300).toString("base64url")}`;
      tokens.set(text, token);
      return text;
    },
    /** @param score omitted from the answer when undefined */
    verify(form: URLSearchParams, score: number | undefined): object {
      const failed = (code: string) => ({ success: false, "error-codes": [code] });
      if (!form.get("secret")) return failed("missing-input-secret");
      if (form.get("secret") !== secret) return failed("invalid-input-secret");
      const token = form.get("response");
      if (!token) return failed("missing-input-response");
      const known = tokens.get(token);
      if (!known) return failed(token.startsWith("03A.") ? "timeout-or-duplicate" : "invalid-input-response");
      tokens.delete(token);
      const solved = { success: true, challenge_ts: "2026-03-02T09:00:00Z", ...known };
      return score === undefined ? solved : { ...solved, score };
    },
  };
}

/** Answers according to the mode. @returns whether the response stays open */
function answerIn(mode: RecaptchaMode, answer: string, elsewhere: string, response: ServerResponse): boolean {
  const json = (text: string) => response.writeHead(200, { "Content-Type": "application/json" }).end(text);
  if (mode === "junk") json("<html>");
  else if (mode === "not-an-object") json('["success"]');
  else if (mode === "oversize") json(`${answer}${" ".repeat(1 << 20)}`);
  else if (mode === "server-error") response.writeHead(503).end(answer);
  else if (mode === "redirect") response.writeHead(307, { Location: elsewhere }).end();
  else if (mode === "hang-up") response.destroy();
  else if (mode === "half") response.writeHead(200).write(answer.slice(0, 9));
  else if (mode !== "slow") json(answer);
  return mode === "half" || mode === "slow";
}

export async function startRecaptcha(): Promise<RecaptchaDouble> {
  const siteKey = `6L${randomBytes(19).toString("base64url").slice(0, 25)}`;
  const secret = `6L${randomBytes(19).toString("base64url").slice(0, 25)}-secret`;
  const tokens = createTokens(secret);
  const held: ServerResponse[] = [];

  function siteverify(request: IncomingMessage, body: Buffer, response: ServerResponse): void {
    const form = new URLSearchParams(body.toString());
    double.asked.push(form);
    const isForm = request.headers["content-type"]?.startsWith("application/x-www-form-urlencoded");
    const answer =
      request.method === "POST" && isForm
        ? tokens.verify(form, double.mode === "no-score" ? undefined : double.score)
        : { success: false, "error-codes": ["bad-request"] };
    const text = JSON.stringify(answer, null, 2);
    if (answerIn(double.mode, text, `${double.apiBase}/elsewhere`, response)) held.push(response);
  }

  /** Serves `api.js` and its tokens. */
  function serveScript(request: IncomingMessage, body: Buffer, response: ServerResponse): void {
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://double");
    const { origin } = request.headers;
    const form = new URLSearchParams(body.toString());
    if (double.page === "missing") response.writeHead(404).end();
    else if (pathname === "/recaptcha/api.js" && searchParams.get("render") === siteKey) {
      const script = apiScript(`${double.apiBase}/api2/token`);
      response.writeHead(200, { "Content-Type": "text/javascript" }).end(script);
    } else if (pathname !== "/recaptcha/api2/token" || form.get("siteKey") !== siteKey || !origin)
      response.writeHead(404).end();
    else if (double.page === "silent") held.push(response);
    else {
      const token = tokens.add({ hostname: new URL(origin).hostname, action: form.get("action") ?? "" });
      response.writeHead(200, { "Access-Control-Allow-Origin": origin }).end(token);
    }
  }

  const { url, close } = await startHttpDouble((request, body, response) => {
    const { pathname } = new URL(request.url ?? "/", "http://double");
    if (pathname === "/recaptcha/api/siteverify") siteverify(request, body, response);
    else if (pathname === "/recaptcha/elsewhere") {
      const token = { success: true, score: 1, action: "request_access", hostname: "127.0.0.1" };
      response.writeHead(200).end(JSON.stringify(token));
    } else serveScript(request, body, response);
  });

  const double: RecaptchaDouble = {
    siteKey,
    secret,
    apiBase: `${url}/recaptcha`,
    score: 0.9,
    mode: "proper",
    page: "proper",
    newToken: tokens.add,
    asked: [],
    async close() {
      for (const response of held) response.destroy();
      await close();
    },
  };
  return double;
}
