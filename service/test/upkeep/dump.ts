import { gunzipSync, inflateRawSync, inflateSync } from "node:zlib";

const inflated = (bytes: Buffer): Buffer[] =>
  [inflateSync, inflateRawSync, gunzipSync].flatMap((inflate) => {
    try {
      return [inflate(bytes)];
    } catch {
      return [];
    }
  });

/**
 * Yields a value, and everything that up to two layers of encoding hide in it: bytes as text, decoded base64, and
 * decompressed data.
 */
export function* readings(value: string, depth = 0): Generator<string> {
  yield value;
  if (depth === 2) return;
  const packed: Buffer[] = [];
  for (const [hex] of value.matchAll(/(?<=\\x)(?:[0-9a-f]{2})+/g)) packed.push(Buffer.from(hex, "hex"));
  for (const [text] of value.matchAll(/[A-Za-z0-9+/_-]{24,}/g)) packed.push(Buffer.from(text, "base64"));
  for (const bytes of packed.flatMap((each) => [each, ...inflated(each)]))
    yield* readings(bytes.toString("latin1"), depth + 1);
}

/** True if a value, or data that `readings` decodes from it, contains a text or the text's hexadecimal digits. */
export function holds(value: string, text: string): boolean {
  const hex = Buffer.from(text).toString("hex");
  for (const one of readings(value)) if (one.includes(text) || one.includes(hex)) return true;
  return false;
}

/** Routes that a code or token opens without other credentials. */
const routesOf = (token: string, orderCode: string): string[] => [
  ...["", "/document", "/evidence", "/certificate"].map((part) => `/api/passport/verify/${token}${part}`),
  `/verify/${token}`,
  ...["", "/pdf"].map((part) => `/api/verify/room/${token}${part}`),
  `/api/verify/envelope/${token}`,
  `/v/room/${token}`,
  `/v/envelope/${token}`,
  `/rooms/${token}`,
  `/api/rooms/${token}`,
  `/orders/${token}`,
  `/orders/${orderCode}/documents/${token}`,
  `/sign/${token}`,
  `/sign/${token}/document`,
  `/sign/${token}/document.pdf`,
  `/embed/${token}`,
  `/identity/${token}`,
  `/notary-room/${token}`,
  `/notary-room/${token}/document`,
  `/notary-room/${token}/document.pdf`,
  `/appointments/${token}`,
  `/orders/${token}/appointment`,
  `/orders/${orderCode}/closing/${token}`,
  `/internal/playbooks/${token}`,
  `/sign-in/${token}`,
  `/operator/sign-in/${token}`,
  `/invitation/${token}`,
  `/outbox/${token}/`,
];

const bearerRoutes = ["/api/partner/me", "/api/rooms", "/api/partner/orders"];

/** The texts of values that might be codes, tokens or keys. */
export function tokensIn(values: Iterable<string>): Set<string> {
  const tokens = new Set<string>();
  for (const value of values)
    for (const [token] of value.replaceAll("\\x", "").matchAll(/[A-Za-z0-9._-]{20,200}/g)) tokens.add(token);
  return tokens;
}

/**
 * The public routes that one of the tokens opens, and the routes that accept a token as a key. @param orderCode the
 * code of an existing order
 */
export async function openedBy(baseUrl: string, tokens: Iterable<string>, orderCode: string): Promise<string[]> {
  const answerOf = async (path: string, token: string) => {
    const response = await fetch(baseUrl + path, { redirect: "manual" });
    return `${response.status} ${(await response.text()).replaceAll(token, "")}`;
  };
  // Some pages show a message for an unknown token instead of an error. A response that equals such a message is not a
  // success.
  const unknown = "0".repeat(40);
  const toUnknown = await Promise.all(routesOf(unknown, orderCode).map((path) => answerOf(path, unknown)));
  const opened: string[] = [];
  for (const token of tokens) {
    const paths = routesOf(token, orderCode);
    const answers = await Promise.all(paths.map((path) => answerOf(path, token)));
    opened.push(...paths.filter((_, n) => !/^4/.test(answers[n] ?? "") && answers[n] !== toUnknown[n]));
    for (const path of bearerRoutes) {
      const asKey = await fetch(baseUrl + path, { headers: { Authorization: `Bearer ${token}` } });
      await asKey.arrayBuffer();
      if (asKey.status !== 401) opened.push(`${path} by key`);
    }
  }
  return opened;
}
