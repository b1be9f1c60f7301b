import { hash } from "node:crypto";
import { canonicalJson, type JsonObject } from "@signsealship/evidence/manifest";
import type { Linked } from "./links.ts";

/**
 * Checks an act that may have waited in a table without a MAC: its record must match its hash and name the signer. The
 * verifier checks whether the signature contains the same hash, because the hash may be encrypted in the document.
 * @throws Error for an act that was altered, or is another signer's
 */
export function requireOwnAct(
  { record, actSha256 }: { record: JsonObject; actSha256: string },
  { envelope, signer }: Linked,
): void {
  const isWhole = hash("sha256", canonicalJson(record)) === actSha256;
  const isOwn = record["envelope"] === envelope.verifyCode && signerIn(record)?.["n"] === signer.n;
  if (!isWhole || !isOwn) throw new Error(`a prepared act of signer ${signer.id} was altered: it is not signed`);
}

/** Whether the record of an act has the signer's present name and address. */
export function namesSigner(record: JsonObject, { n, name, email }: Linked["signer"]): boolean {
  const recorded = signerIn(record);
  return recorded?.["n"] === n && recorded["name"] === name && recorded["email"] === email;
}

function signerIn({ signer }: JsonObject): JsonObject | null {
  return typeof signer === "object" && signer !== null && !Array.isArray(signer) ? (signer as JsonObject) : null;
}
