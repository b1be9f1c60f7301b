import { hash } from "node:crypto";
import { canonicalJson, type JsonObject } from "@signsealship/evidence/manifest";
import type { Linked } from "./links.ts";

/**
 * An act may have waited in a table that bears no MAC: what it says is compared with what its tail bears and with its signer.
 * @throws Error for an act that was altered, or is another signer's
 */
export function requireOwnAct(
  { record, actSha256, tail }: { record: JsonObject; actSha256: string; tail: Buffer },
  { envelope, signer }: Linked,
): void {
  const isWhole = hash("sha256", canonicalJson(record)) === actSha256 && tail.includes(`/SSSActSha256<${actSha256}>`);
  const isOwn = record["envelope"] === envelope.verifyCode && signerIn(record)?.["n"] === signer.n;
  if (!isWhole || !isOwn) throw new Error(`a prepared act of signer ${signer.id} was altered: it is not signed`);
}

/** Whether the record of an act names its signer as they are called now. */
export function namesSigner(record: JsonObject, { n, name, email }: Linked["signer"]): boolean {
  const said = signerIn(record);
  return said?.["n"] === n && said["name"] === name && said["email"] === email;
}

function signerIn({ signer }: JsonObject): JsonObject | null {
  return typeof signer === "object" && signer !== null && !Array.isArray(signer) ? (signer as JsonObject) : null;
}
