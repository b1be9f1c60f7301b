import { hash } from "node:crypto";
import { canonicalJson, type JsonObject } from "@signsealship/evidence/manifest";
import { AlteredRecordError } from "../../../kernel/platform/errors.ts";
import type { Linked } from "./links.ts";

/**
 * Checks an act that may come from a table without a MAC: its record must match its hash and name the signer. Doesn't
 * check the hash in the signature, which is encrypted if the document is. The verifier checks that hash.
 * @throws AlteredRecordError if the act was altered, or names another signer
 */
export function requireOwnAct(
  { record, actSha256 }: { record: JsonObject; actSha256: string },
  { envelope, signer }: Linked,
): void {
  const isWhole = hash("sha256", canonicalJson(record)) === actSha256;
  const isOwn = record["envelope"] === envelope.verifyCode && signerIn(record)?.["n"] === signer.n;
  if (!isWhole || !isOwn) throw new AlteredRecordError(`a prepared act of signer ${signer.id}`);
}

/** True if the record of an act names the signer with the current name and email address. */
export function namesSigner(record: JsonObject, { n, name, email }: Linked["signer"]): boolean {
  const recorded = signerIn(record);
  return recorded?.["n"] === n && recorded["name"] === name && recorded["email"] === email;
}

function signerIn({ signer }: JsonObject): JsonObject | null {
  return typeof signer === "object" && signer !== null && !Array.isArray(signer) ? (signer as JsonObject) : null;
}
