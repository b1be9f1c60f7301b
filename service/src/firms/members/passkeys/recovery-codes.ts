import { hash } from "node:crypto";
import type { Tx } from "../../../kernel/platform/database/database.ts";
import { base32 } from "../../../kernel/platform/ids.ts";
import type { Random } from "../../../kernel/platform/random.ts";
import type { RowMac } from "../../../kernel/platform/row-mac.ts";
import { consumeRecoveryCode, replaceCodes } from "./store.ts";

const count = 10;
// A code has 120 random bits. From 112 bits on, storing a plain hash is enough (OWASP ASVS 5.0.0, 6.5.2).
const bytes = 15;

const codeSha256 = (code: string): Buffer => hash("sha256", code, "buffer");

const readable = (code: string): string => code.match(/.{6}/g)?.join("-") ?? code;

/** Creates ten codes that replace all earlier ones. Only their hashes are stored. */
export async function newRecoveryCodes(
  tx: Tx,
  { rowMac, random }: { rowMac: RowMac; random: Random },
  userId: string,
  at: Date,
): Promise<string[]> {
  const codes = Array.from({ length: count }, () => base32(random.bytes(bytes)));
  await replaceCodes(tx, rowMac, { userId, at, hashes: codes.map(codeSha256) });
  return codes.map(readable);
}

/**
 * Consumes a recovery code. The person may type it in upper or lower case, with or without hyphens.
 * @returns true if it was a valid code of the person
 */
export const useRecoveryCode = (
  tx: Tx,
  rowMac: RowMac,
  { userId, typed, at }: { userId: string; typed: string; at: Date },
): Promise<boolean> =>
  consumeRecoveryCode(tx, rowMac, {
    userId,
    at,
    codeSha256: codeSha256(typed.toLowerCase().replaceAll(/[^a-z2-7]/g, "")),
  });
