import { toHex } from "@signsealship/evidence/bytes";
import { part } from "../../ui/browser/parts.ts";
import type { SigningConfig } from "./config.ts";

/**
 * Lets the signer sign when the bytes that this browser has got are the ones that would be signed, or when it has no way
 * to tell, and says which.
 * @param bytes the whole file, as it is shown
 * @param onEqual called with them before anybody can sign, when they are the ones
 */
export async function checkBytes(
  { sha256, words }: SigningConfig,
  bytes: () => Promise<Uint8Array>,
  onEqual: (bytes: Uint8Array) => void,
): Promise<void> {
  const [said, button] = [part("sign-check"), part<HTMLButtonElement>("sign-button")];
  button.disabled = true;
  said.textContent = words.checking;
  const equal = await sameHash(bytes, sha256, onEqual).catch(() => null);
  said.textContent = equal === null ? words.unchecked : equal ? words.checked : words.altered;
  said.classList.toggle("field-error", equal === false);
  button.disabled = equal === false;
}

/** Null where pages have no cryptography: those that are not https. */
async function sameHash(
  bytes: () => Promise<Uint8Array>,
  sha256: string,
  onEqual: (bytes: Uint8Array) => void,
): Promise<boolean | null> {
  const subtle = globalThis.crypto?.subtle;
  if (!subtle) return null;
  const whole = await bytes();
  const digest = new Uint8Array(await subtle.digest("SHA-256", whole as Uint8Array<ArrayBuffer>));
  const isEqual = toHex(digest) === sha256;
  if (isEqual) onEqual(whole);
  return isEqual;
}
