import { randomBytes, randomUUID } from "node:crypto";
import { codeStart } from "./text.ts";

const BASE32 = "abcdefghijklmnopqrstuvwxyz234567";

/**
 * The bytes in lowercase base32 (RFC 4648 alphabet, no padding). If fewer than five bits remain at the end, they get a
 * character of their own.
 */
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

/** The code of an order or room: 160 random bits as 40 lowercase hex characters. */
export const newCode = (): string => randomBytes(20).toString("hex");

/** A verify code: 128 random bits as 26 lowercase base32 characters. */
export const newVerifyCode = (): string => base32(randomBytes(16));

/** The random part of keys and secrets: 256 bits as 52 lowercase base32 characters. */
export const newSecret = (): string => base32(randomBytes(32));

export const newUuid = (): string => randomUUID();

/** `abcdef…`: the part of a secret code that a log may show. */
export const maskCode = (code: string): string => `${codeStart(code)}…`;
