import { createHmac, timingSafeEqual } from "node:crypto";
import { deriveKey, keysOf, type SecretBytes } from "../../../kernel/platform/secrets.ts";
import type { Signer } from "../records/envelope.ts";

/** Derives the six digits of a code from the code's id. The digits are not stored. */
export function signingCode(secrets: SecretBytes, codeId: string): string {
  const random = createHmac("sha256", deriveKey(secrets, "signing-code")).update(codeId).digest().readUIntBE(0, 6);
  return String(random % 1_000_000).padStart(6, "0");
}

/**
 * The secret in the entry link that is mailed with a code: 160 bits derived from the code's id. It can't be guessed, so
 * the entry link works even while wrong codes have locked the signing link. A stranger who only has the signing link
 * therefore can't lock out the signer, who receives the mail.
 */
export const signingEntry = (secrets: SecretBytes, codeId: string): string =>
  entryBytes(secrets, codeId).toString("hex").slice(0, 40);

const letters = "abcdefghijkmnpqrstuvwxyz23456789";

/**
 * The long code for a phone: twelve characters (60 bits), which the signer types on the page of the mailed link. A text
 * message contains no entry link, because a holder of the phone alone could then sign.
 */
export const longCode = (secrets: SecretBytes, codeId: string): string =>
  [...entryBytes(secrets, codeId).subarray(20, 32)].map((byte) => letters[byte % letters.length]).join("");

const entryBytes = (secrets: SecretBytes, codeId: string): Buffer =>
  createHmac("sha256", deriveKey(secrets, "signing-entry")).update(codeId).digest();

/** The letters and digits of a typed code, in lower case: full-width ones count, and spaces and hyphens don't. */
const lettersIn = (entered: string): string =>
  entered
    .normalize("NFKC")
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, "");

/**
 * True if `entered` equals the secret that is derived from this id. A signer who gets codes by text message enters the
 * long code. For all others, it is the secret in the entry link.
 */
export function isEntryOf(
  secrets: SecretBytes,
  { auth }: Pick<Signer, "auth">,
  codeId: string,
  entered: string,
): boolean {
  const entryOf = auth === "text_code" ? longCode : signingEntry;
  const typed = Buffer.from(auth === "text_code" ? lettersIn(entered) : entered);
  return keysOf(secrets).some((key) => {
    const expected = Buffer.from(entryOf(key, codeId));
    return expected.length === typed.length && timingSafeEqual(expected, typed);
  });
}
