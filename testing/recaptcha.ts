import { randomBytes } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { startHttpDouble } from "./http-double.ts";

/** How `siteverify` behaves: `proper`, or false in one way. */
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
  /** For `RECAPTCHA_API_BASE`. */
  readonly apiBase: string;
  /** The score of every token that is asked about from now on. */
  score: number;
  mode: RecaptchaMode;
  /** Whether `api.js` and its tokens come at all. */
  page: "proper" | "missing" | "silent";
  /** A token as a page would get it. */
  readonly newToken: (token: Token) => string;
  /** The forms that `siteverify` was sent, latest last. */
  readonly asked: URLSearchParams[];
  readonly close: () => Promise<void>;
};

// Like Google's: callable once the script is loaded, and asynchronous throughout.
const apiScript = (tokenUrl: string) => `globalThis.grecaptcha = {
  ready(callback) { setTimeout(callback, 0); },
  async execute(siteKey, { action }) {
    const answer = await fetch(${JSON.stringify(tokenUrl)}, { method: "POST", body: new URLSearchParams({ siteKey, action }) });
    if (!answer.ok) throw new Error("no token");
    return answer.text();
  },
};
`;

export async function startRecaptcha(): Promise<RecaptchaDouble> {
  const siteKey = `6L${randomBytes(19).toString("base64url").slice(0, 25)}`;
  const secret = `6L${randomBytes(19).toString("base64url").slice(0, 25)}-secret`;
  const tokens = new Map<string, Token>();
  const held: ServerResponse[] = [];

  function verify(form: URLSearchParams): object {
    const failed = (code: string) => ({ success: false, "error-codes": [code] });
    if (!form.get("secret")) return failed("missing-input-secret");
    if (form.get("secret") !== secret) return failed("invalid-input-secret");
    const token = form.get("response");
    if (!token) return failed("missing-input-response");
    const known = tokens.get(token);
    if (!known) return failed(token.startsWith("03A.") ? "timeout-or-duplicate" : "invalid-input-response");
    // A token counts once.
    tokens.delete(token);
    const solved = { success: true, challenge_ts: "2026-03-02T09:00:00Z", ...known };
    return double.mode === "no-score" ? solved : { ...solved, score: double.score };
  }

  function siteverify(request: IncomingMessage, body: Buffer, response: ServerResponse): void {
    const form = new URLSearchParams(body.toString());
    double.asked.push(form);
    const isForm = request.headers["content-type"]?.startsWith("application/x-www-form-urlencoded");
    const json = (text: string) => response.writeHead(200, { "Content-Type": "application/json" }).end(text);
    if (request.method !== "POST" || !isForm) return void json('{"success":false,"error-codes":["bad-request"]}');
    const answer = JSON.stringify(verify(form), null, 2);
    switch (double.mode) {
      case "junk":
        return void json("<html>");
      case "not-an-object":
        return void json('["success"]');
      case "oversize":
        return void json(`${answer}${" ".repeat(1 << 20)}`);
      case "server-error":
        return void response.writeHead(503).end(answer);
      case "redirect":
        return void response.writeHead(307, { Location: `${double.apiBase}/elsewhere` }).end();
      case "hang-up":
        return void response.destroy();
      case "half":
        held.push(response);
        return void response.writeHead(200).write(answer.slice(0, 9));
      case "slow":
        return void held.push(response);
      default:
        return void json(answer);
    }
  }

  const { url, close } = await startHttpDouble((request, body, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://double");
    if (pathname === "/recaptcha/api/siteverify") return siteverify(request, body, response);
    if (pathname === "/recaptcha/elsewhere") {
      const token = { success: true, score: 1, action: "request_access", hostname: "127.0.0.1" };
      return void response.writeHead(200).end(JSON.stringify(token));
    }
    if (double.page === "missing") return void response.writeHead(404).end();
    if (pathname === "/recaptcha/api.js" && searchParams.get("render") === siteKey)
      return void response
        .writeHead(200, { "Content-Type": "text/javascript" })
        .end(apiScript(`${double.apiBase}/api2/token`));
    const form = new URLSearchParams(body.toString());
    const { origin } = request.headers;
    if (pathname !== "/recaptcha/api2/token" || form.get("siteKey") !== siteKey || !origin)
      return void response.writeHead(404).end();
    if (double.page === "silent") return void held.push(response);
    const token = double.newToken({ hostname: new URL(origin).hostname, action: form.get("action") ?? "" });
    response.writeHead(200, { "Access-Control-Allow-Origin": origin }).end(token);
  });

  const double: RecaptchaDouble = {
    siteKey,
    secret,
    apiBase: `${url}/recaptcha`,
    score: 0.9,
    mode: "proper",
    page: "proper",
    newToken(token) {
      const text = `03A.${randomBytes(300).toString("base64url")}`;
      tokens.set(text, token);
      return text;
    },
    asked: [],
    async close() {
      for (const response of held) response.destroy();
      await close();
    },
  };
  return double;
}
