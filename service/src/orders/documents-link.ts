import { timingSafeEqual } from "node:crypto";
import { derivedToken, deriveKey, keysOf, type SecretBytes } from "../platform/secrets.ts";
import { isCode } from "../platform/text.ts";

/** Under whichever key: what was mailed before a rotation works as long as its key is kept. */
const tokenUnder = (key: SecretBytes, orderCode: string): string =>
  derivedToken(deriveKey(key, "order-documents"), orderCode);

/** The path of an order's page with its documents. It is mailed to the client, and shown to nobody: the code alone opens none. */
export const documentsPath = (secrets: SecretBytes, orderCode: string): string =>
  `/orders/${orderCode}/documents/${tokenUnder(secrets, orderCode)}`;

/** Whether a token is the one of an order's documents. */
export const isDocumentsToken = (secrets: SecretBytes, orderCode: string, token: string): boolean =>
  isCode(token) &&
  keysOf(secrets).some((key) => timingSafeEqual(Buffer.from(tokenUnder(key, orderCode)), Buffer.from(token)));
