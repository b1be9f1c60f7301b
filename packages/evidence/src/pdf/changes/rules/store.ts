import type { PdfValue } from "../../values.ts";
import { worst } from "../levels.ts";
import { ROLE } from "../roles.ts";
import { changedKeys, type Rule, type Step } from "../step.ts";
import { dictionaryOf, plainDictionary, storedOf } from "../view.ts";

const LISTS = ["Certs", "CRLs", "OCSPs"];
const RECORD_LISTS = ["Cert", "CRL", "OCSP"];

/**
 * Classifies a change of the document security store (ISO 32000-2 section 12.8.4.3): streams may be added to its lists
 * and removed.
 */
export const store: Rule = ({ before, after }, step) => {
  const [old, now] = [dictionaryOf(before), dictionaryOf(after)];
  if (now === undefined || (before !== undefined && old === undefined)) return "other";
  return worst(
    changedKeys(old, now).map((key) => {
      const [was, is] = [old?.entries.get(key), now.entries.get(key)];
      if (key === "Type") return is?.kind === "name" && is.value === "DSS" ? "validation" : "other";
      if (key === "VRI") return step.between(ROLE.validation, was, is);
      return LISTS.includes(key) ? step.between(ROLE.storeList, was, is) : "other";
    }),
  );
};

/**
 * Classifies a change of a list of certificates, revocation lists or OCSP responses: all items must be references to
 * streams.
 */
export const storeList: Rule = ({ after }, step) => {
  if (after === undefined) return "validation";
  return after.value.kind === "array" && after.value.items.every((item) => isStream(step, item))
    ? "validation"
    : "other";
};

/** Classifies a change of /VRI, which has a record for the hash of each signature. Existing records may not change. */
export const validation: Rule = ({ before, after }, step) => {
  const [old, now] = [dictionaryOf(before), dictionaryOf(after)];
  if (now === undefined || (before !== undefined && old === undefined)) return "other";
  const fit = changedKeys(old, now).every((key) => {
    const record = plainDictionary(step.later, now.entries.get(key));
    if (old?.entries.has(key) || record === undefined || !/^[0-9A-F]{40}$/i.test(key)) return false;
    return [...record.entries].every(([name, value]) => isRecordEntry(step, name, value));
  });
  return fit ? "validation" : "other";
};

function isRecordEntry(step: Step, name: string, value: PdfValue): boolean {
  const found = storedOf(step.later, value);
  if (RECORD_LISTS.includes(name)) {
    return found?.value.kind === "array" && found.value.items.every((item) => isStream(step, item));
  }
  if (name === "TS") return isStream(step, value);
  return (name === "TU" && found?.value.kind === "string") || (name === "Type" && found?.value.kind === "name");
}

function isStream({ later }: Step, value: PdfValue): boolean {
  return value.kind === "reference" && storedOf(later, value)?.data !== undefined;
}
