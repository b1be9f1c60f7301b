import { createHmac, timingSafeEqual } from "node:crypto";
import { deriveKey, keysOf, type SecretBytes } from "../../../kernel/platform/secrets.ts";
import type { Signer } from "../records/envelope.ts";

/** Derives the six digits of a code from the code's id. The digits are not stored. */
export function signingCode(secrets: SecretBytes, codeId: string): string {
  const random = createHmac("sha256", deriveKey(secrets, "signing-code")).update(codeId).digest().readUIntBE(0, 6);
  return String(random % 1_000_000).padStart(6, "0");
}

/**
 * The secret in the entry link that is mailed with a code: 160 bits derived from the code's id. Nobody can guess the
 * secret, so the entry link works even after wrong codes have locked the signing link. So a stranger who only has the
 * signing link can't lock out the signer, who gets the mail.
 */
export const signingEntry = (secrets: SecretBytes, codeId: string): string =>
  entryBytes(secrets, codeId).toString("hex").slice(0, 40);

const letters = "abcdefghijkmnpqrstuvwxyz23456789";

/**
 * The long code for a phone: twelve characters (60 bits). The signer types them on the page of the mailed link. An
 * entry link in the text message would let in anyone who has only the phone.
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

/**
 * Whether a text equals the secret that is derived from this id: the long code for a signer with text codes, otherwise
 * the secret in the entry link.
 */
export function isEntryOf(
  secrets: SecretBytes,
  { auth }: Pick<Signer, "auth">,
  codeId: string,
  entered: string,
): boolean {
  const entryOf = auth === "text_code" ? longCode : signingEntry;
  const typed = Buffer.from(auth === "text_code" ? entered.toLowerCase().replaceAll(/[^a-z0-9]/g, "") : entered);
  return keysOf(secrets).some((key) => {
    const expected = Buffer.from(entryOf(key, codeId));
    return expected.length === typed.length && timingSafeEqual(expected, typed);
  });
}
