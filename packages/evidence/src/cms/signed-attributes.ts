import { readDer } from "../asn1/der.ts";
import { OID } from "../asn1/oid.ts";
import { readTime } from "../asn1/time.ts";
import { readOctetString, readOid } from "../asn1/values.ts";
import { EvidenceError } from "../errors.ts";
import { type Attribute, attributeValues, type SignerInfo } from "./signed-data.ts";

/** The values of the two attributes that must be among the signed attributes. */
export interface Stated {
  readonly contentType: string;
  readonly messageDigest: Uint8Array;
}

/** The content type and digest from the signed attributes; null unless each occurs exactly once and is readable. */
export function statedIn(signerInfo: SignerInfo): Stated | null {
  const { signedAttrs } = signerInfo;
  const contentType = onlyValue(signedAttrs ?? [], OID.idContentType);
  const messageDigest = onlyValue(signedAttrs ?? [], OID.idMessageDigest);
  if (contentType === null || messageDigest === null) return null;
  return readOrNull(() => ({
    contentType: readOid(readDer(contentType)),
    messageDigest: readOctetString(readDer(messageDigest)),
  }));
}

export function signingTimeOf(signedAttrs: readonly Attribute[]): number | null {
  const value = onlyValue(signedAttrs, OID.idSigningTime);
  return value === null ? null : readOrNull(() => readTime(readDer(value)));
}

function onlyValue(attributes: readonly Attribute[], type: string): Uint8Array | null {
  const occurrences = attributes.filter((attribute) => attribute.type === type);
  const [first, second] = attributeValues(occurrences, type);
  return occurrences.length === 1 && first !== undefined && second === undefined ? first : null;
}

function readOrNull<Value>(read: () => Value): Value | null {
  try {
    return read();
  } catch (error) {
    if (error instanceof EvidenceError) return null;
    throw error;
  }
}
