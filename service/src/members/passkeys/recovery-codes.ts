import { hash, randomBytes } from "node:crypto";
import type { Tx } from "../../platform/database/database.ts";
import { base32 } from "../../platform/ids.ts";
import type { RowMac } from "../../platform/row-mac.ts";
import { replaceCodes, takeCode } from "./store.ts";

const count = 10;
// 120 bits: from 112 on a plain hash is enough to keep them (OWASP ASVS 5.0.0, 6.5.2).
const bytes = 15;

const codeSha256 = (code: string): Buffer => hash("sha256", code, "buffer");

const readable = (code: string): string => code.match(/.{6}/g)?.join("-") ?? code;

/** Ten new codes, in the place of all that the person had. Only their hashes are kept. */
export async function newRecoveryCodes(tx: Tx, rowMac: RowMac, userId: string, at: Date): Promise<string[]> {
  const codes = Array.from({ length: count }, () => base32(randomBytes(bytes)));
  await replaceCodes(tx, rowMac, { userId, at, hashes: codes.map(codeSha256) });
  return codes.map(readable);
}

/** Uses a code up, however it was typed. @returns whether the person has it */
export const useRecoveryCode = (
  tx: Tx,
  rowMac: RowMac,
  { userId, typed, at }: { userId: string; typed: string; at: Date },
): Promise<boolean> =>
  takeCode(tx, rowMac, { userId, at, codeSha256: codeSha256(typed.toLowerCase().replaceAll(/[^a-z2-7]/g, "")) });
