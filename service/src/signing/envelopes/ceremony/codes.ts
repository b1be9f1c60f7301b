import { createHmac, timingSafeEqual } from "node:crypto";
import { deriveKey, keysOf, type SecretBytes } from "../../../kernel/platform/secrets.ts";
import type { Signer } from "../records/envelope.ts";

/** The six digits of a code, derived from its id and not stored. */
export function signingCode(secrets: SecretBytes, codeId: string): string {
  const random = createHmac("sha256", deriveKey(secrets, "signing-code")).update(codeId).digest().readUIntBE(0, 6);
  return String(random % 1_000_000).padStart(6, "0");
}

/**
 * The entry link that is mailed with a code: 160 bits derived from the code's id. Nobody can guess it, so wrong codes
 * don't lock it. A stranger with only the signing link therefore can't lock out the signer, who reads the mail.
 */
export const signingEntry = (secrets: SecretBytes, codeId: string): string =>
  entryBytes(secrets, codeId).toString("hex").slice(0, 40);

const letters = "abcdefghijkmnpqrstuvwxyz23456789";

/**
 * The long code for a phone: twelve characters (60 bits) to type on the page of the mailed link. A text message with an
 * entry link would let in anyone who has the phone alone.
 */
export const longCode = (secrets: SecretBytes, codeId: string): string =>
  [...entryBytes(secrets, codeId).subarray(20, 32)].map((byte) => letters[byte % letters.length]).join("");

const entryBytes = (secrets: SecretBytes, codeId: string): Buffer =>
  createHmac("sha256", deriveKey(secrets, "signing-entry")).update(codeId).digest();

/** Whether a typed code equals the six digits derived from this id. */
export function isCodeOf(secrets: SecretBytes, codeId: string, typed: string): boolean {
  const digits = Buffer.from(typed.replaceAll(/\D/g, "").slice(0, 12).padEnd(12));
  return keysOf(secrets).some((key) => timingSafeEqual(Buffer.from(signingCode(key, codeId).padEnd(12)), digits));
}

/** Whether a text is the entry link's secret, or for a phone the long code, derived from this id. */
export function isEntryOf(
  secrets: SecretBytes,
  { auth }: Pick<Signer, "auth">,
  codeId: string,
  given: string,
): boolean {
  const entryOf = auth === "text_code" ? longCode : signingEntry;
  const typed = Buffer.from(auth === "text_code" ? given.toLowerCase().replaceAll(/[^a-z0-9]/g, "") : given);
  return keysOf(secrets).some((key) => {
    const expected = Buffer.from(entryOf(key, codeId));
    return expected.length === typed.length && timingSafeEqual(expected, typed);
  });
}
