import { readDer, TAG } from "../asn1/der.ts";
import { OID } from "../asn1/oid.ts";
import { fieldsOf, membersOf, readOid, readText } from "../asn1/values.ts";
import { EvidenceError } from "../errors.ts";

const SHORT_NAMES: Readonly<Record<string, string>> = {
  [OID.commonName]: "CN",
  [OID.serialNumber]: "serialNumber",
  [OID.countryName]: "C",
  [OID.localityName]: "L",
  [OID.stateOrProvinceName]: "ST",
  [OID.organizationName]: "O",
  [OID.organizationalUnitName]: "OU",
  [OID.organizationIdentifier]: "organizationIdentifier",
  [OID.emailAddress]: "emailAddress",
};

const MAX_ATTRIBUTES = 64;

/** One attribute of a distinguished name: its dotted type and its text. */
interface NameAttribute {
  readonly type: string;
  readonly text: string;
}

/**
 * The attributes of a DER Name, in the order encoded.
 * @throws EvidenceError `x509`, `der`, `unsupported` or `limit`.
 */
function nameAttributes(name: Uint8Array): NameAttribute[] {
  const attributes: NameAttribute[] = [];
  for (const relative of membersOf(readDer(name), "x509", TAG.sequence)) {
    for (const member of membersOf(relative, "x509", TAG.set)) {
      const fields = fieldsOf(member, "x509");
      const type = readOid(fields.next("type"));
      const text = readText(fields.next("value"));
      fields.end();
      attributes.push({ type, text });
      if (attributes.length > MAX_ATTRIBUTES) throw new EvidenceError("limit", "A name has too many attributes");
    }
  }
  return attributes;
}

/**
 * Makes a Name readable, most specific attribute first: `CN=..., O=..., C=...`. Escapes separators and control
 * characters in values, so that no value looks like another attribute. For display, not for comparing.
 * @throws EvidenceError `x509`, `der`, `unsupported` or `limit`
 */
export function nameText(name: Uint8Array): string {
  return nameAttributes(name)
    .reverse()
    .map(({ type, text }) => `${SHORT_NAMES[type] ?? type}=${escaped(text)}`)
    .join(", ");
}

/**
 * The commonName, or null when there is none.
 * @throws EvidenceError `x509`, `der`, `unsupported` or `limit`.
 */
export function commonNameOf(name: Uint8Array): string | null {
  return nameAttributes(name).findLast((attribute) => attribute.type === OID.commonName)?.text ?? null;
}

/**
 * Every commonName, in the order encoded.
 * @throws EvidenceError `x509`, `der`, `unsupported` or `limit`.
 */
export const commonNamesOf = (name: Uint8Array): string[] =>
  nameAttributes(name).flatMap(({ type, text }) => (type === OID.commonName ? [text] : []));

function escaped(text: string): string {
  return text
    .replace(/[\\,+="<>;]/g, (character) => `\\${character}`)
    .replace(/[\p{Cc}\p{Cf}]/gu, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}
