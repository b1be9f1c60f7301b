import { readDer, TAG } from "../asn1/der.ts";
import { OID } from "../asn1/oid.ts";
import { fieldsOf, membersOf, readOctetString, readSmallInteger } from "../asn1/values.ts";
import { type Attribute, attributeValues } from "../cms/signed-data.ts";
import { EvidenceError } from "../errors.ts";

/** What a seal says under its signature of what no signature over bytes covers: where its own gap belongs. */
export type SealStatement = {
  readonly byteRange: readonly number[];
  /** How many bytes of the file are the document as it was handed in. */
  readonly originalLength: number;
  /** SHA-256 of the certificates that came with it, one after the other. */
  readonly certificatesSha256: Uint8Array;
};

/**
 * Reads the signed attribute of that name (docs/evidence-format.md, section 3.1). Seals made before there was one have
 * none; one that is there twice or not as defined is `malformed`.
 */
export function readSealStatement(signedAttrs: readonly Attribute[]): SealStatement | "absent" | "malformed" {
  const [value, another] = attributeValues(signedAttrs, OID.sealStatement);
  if (value === undefined) {
    return signedAttrs.some(({ type }) => type === OID.sealStatement) ? "malformed" : "absent";
  }
  if (another !== undefined) return "malformed";
  try {
    const fields = fieldsOf(readDer(value), "cms");
    const version = readSmallInteger(fields.next("version"));
    const byteRange = membersOf(fields.next("byteRange"), "cms", TAG.sequence).map((item) => readSmallInteger(item));
    const originalLength = readSmallInteger(fields.next("originalLength"));
    const certificatesSha256 = readOctetString(fields.next("certificates"));
    fields.end();
    return version === 1 ? { byteRange, originalLength, certificatesSha256 } : "malformed";
  } catch (error) {
    if (error instanceof EvidenceError) return "malformed";
    throw error;
  }
}
