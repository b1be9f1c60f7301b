import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from "node:crypto";
import { promisify } from "node:util";

/**
 * The cost of scrypt: 16 MiB and about 30 ms for each hash. At this cost, trying all six-digit codes takes eight hours
 * on one core.
 */
const cost = { N: 2 ** 14, r: 8, p: 1 } as const satisfies ScryptOptions;
const [saltBytes, hashBytes] = [16, 32];
const derive = promisify<string, Buffer, number, ScryptOptions, Buffer>(scrypt);

/** A salted hash of a secret that a person chose, as one text: scheme, cost, salt and hash. */
export async function slowHash(secret: string, salt: Buffer = randomBytes(saltBytes)): Promise<string> {
  const hash = await derive(secret.normalize("NFC"), salt, hashBytes, cost);
  return ["scrypt", cost.N, cost.r, cost.p, salt.toString("base64url"), hash.toString("base64url")].join("$");
}

/**
 * True if the text is a hash of the secret.
 * @throws Error for a text in another format
 */
export async function slowHashHolds(text: string, secret: string): Promise<boolean> {
  const [scheme, N, r, p, salt = "", hash = ""] = text.split("$");
  const expected = Buffer.from(hash, "base64url");
  if (scheme !== "scrypt" || expected.length !== hashBytes) throw new Error("not a hash of a chosen secret");
  const options = { N: Number(N), r: Number(r), p: Number(p) };
  const found = await derive(secret.normalize("NFC"), Buffer.from(salt, "base64url"), hashBytes, options);
  return timingSafeEqual(found, expected);
}
