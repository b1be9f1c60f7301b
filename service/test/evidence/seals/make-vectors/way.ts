import { bodyOf, latin1, type NewObject } from "../../../../../packages/evidence/test/seal/signed-pdf.ts";
import type { Expectation } from "./case.ts";
import { document } from "./sealing.ts";

/**
 * A document under a good seal, and the expected result of a verifier that reads it by docs/evidence-format.md, section
 * 2.6.
 */
export type Way = readonly [name: string, pdf: string, expect: Expectation, teaches: string];

export const plain = latin1(document());
export const catalogWith = (entries: string): NewObject => [1, bodyOf(plain, 1).replace(/ >>$/, ` ${entries} >>`)];
export const withField: NewObject = catalogWith("/AcroForm << /SigFlags 3 /Fields [90 0 R] >>");
export const readStrictly =
  "What is found otherwise than ISO 32000-2 says is refused, and nothing is searched for (2.6).";
export const tolerated = "Tolerated, or not asked (2.6).";
