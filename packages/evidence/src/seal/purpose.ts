import { stringText } from "../pdf/text.ts";
import type { PdfDictionary } from "../pdf/values.ts";

/** What a seal was made for. */
export type SealPurpose = {
  readonly passport: "proof" | "closing";
  readonly environment: "live" | "test";
};

/**
 * /Reason of the seals. One key seals both certificates of ours and documents that strangers upload: only this word in
 * the signed dictionary keeps a stranger's document from passing for a certificate, and a test from passing for real.
 */
export const sealReasons = {
  proof: { live: "Proof passport", test: "Proof passport (test environment)" },
  closing: { live: "Closing passport", test: "Closing passport (test environment)" },
} as const;

/** The purpose that a signature dictionary states; null when it states none that is known. */
export function sealPurposeOf(dictionary: PdfDictionary): SealPurpose | null {
  const reason = dictionary.entries.get("Reason");
  const text = reason?.kind === "string" && !dictionary.repeated.includes("Reason") ? stringText(reason) : null;
  for (const passport of ["proof", "closing"] as const) {
    for (const environment of ["live", "test"] as const) {
      if (text === sealReasons[passport][environment]) return { passport, environment };
    }
  }
  return null;
}
