import { readDer, TAG } from "../asn1/der.ts";
import { OID } from "../asn1/oid.ts";
import { fieldsOf, membersOf, readOctetString, readSmallInteger } from "../asn1/values.ts";
import { type Attribute, attributeValues } from "../cms/signed-data.ts";
import { EvidenceError } from "../errors.ts";

/**
 * A statement in the signed attributes of a seal. It fixes facts that the signature over the file's bytes does not
 * cover, such as the position of the gap.
 */
export type SealStatement = {
  readonly byteRange: readonly number[];
  /** Size of the original document in the file. */
  readonly originalLength: number;
  /** SHA-256 of the included certificates, concatenated. */
  readonly certificatesSha256: Uint8Array;
};

/**
 * Reads the seal's statement from its signed attributes (docs/evidence-format.md, section 3.1). Older seals have no
 * statement. A repeated or invalid statement is `malformed`.
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
