import { randomBytes, randomUUID } from "node:crypto";

const BASE32 = "abcdefghijklmnopqrstuvwxyz234567";

/** Lowercase base32 (RFC 4648 alphabet, no padding) of the bytes; the last character carries the left-over bits. */
export function base32(bytes: Uint8Array): string {
  let out = "";
  let buffer = 0;
  let bits = 0;
  for (const byte of bytes) {
    buffer = (buffer << 8) | byte;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      out += BASE32[(buffer >>> bits) & 31];
    }
    buffer &= (1 << bits) - 1;
  }
  return bits > 0 ? out + BASE32[(buffer << (5 - bits)) & 31] : out;
}

/** Order and room codes: 160 bits of the CSPRNG as 40 lowercase hex characters. */
export const newCode = (): string => randomBytes(20).toString("hex");

/** Verify codes: 128 bits as 26 lowercase base32 characters. */
export const newVerifyCode = (): string => base32(randomBytes(16));

/** The random part of keys and secrets: 256 bits as 52 lowercase base32 characters. */
export const newSecret = (): string => base32(randomBytes(32));

export const newUuid = (): string => randomUUID();

/** `abcdef…`: what a log may show of a code that is a credential. */
export const maskCode = (code: string): string => `${code.slice(0, 6)}…`;
