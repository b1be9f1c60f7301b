import { EvidenceError } from "../errors.ts";

/** The object identifiers in the evidence formats, by their names in the standards. */
export const OID = {
  // Content types and attributes: RFC 5652, RFC 5035, RFC 3161
  idData: "1.2.840.113549.1.7.1",
  idSignedData: "1.2.840.113549.1.7.2",
  idContentType: "1.2.840.113549.1.9.3",
  idMessageDigest: "1.2.840.113549.1.9.4",
  idSigningTime: "1.2.840.113549.1.9.5",
  idCtTSTInfo: "1.2.840.113549.1.9.16.1.4",
  idAaSigningCertificate: "1.2.840.113549.1.9.16.2.12",
  idAaTimeStampToken: "1.2.840.113549.1.9.16.2.14",
  idAaSigningCertificateV2: "1.2.840.113549.1.9.16.2.47",
  // Hashes
  md5: "1.2.840.113549.2.5",
  sha1: "1.3.14.3.2.26",
  sha256: "2.16.840.1.101.3.4.2.1",
  sha384: "2.16.840.1.101.3.4.2.2",
  sha512: "2.16.840.1.101.3.4.2.3",
  // Keys and signatures: RFC 8017, RFC 5758
  rsaEncryption: "1.2.840.113549.1.1.1",
  md5WithRsa: "1.2.840.113549.1.1.4",
  sha1WithRsa: "1.2.840.113549.1.1.5",
  mgf1: "1.2.840.113549.1.1.8",
  rsassaPss: "1.2.840.113549.1.1.10",
  sha256WithRsa: "1.2.840.113549.1.1.11",
  sha384WithRsa: "1.2.840.113549.1.1.12",
  sha512WithRsa: "1.2.840.113549.1.1.13",
  ecPublicKey: "1.2.840.10045.2.1",
  ecdsaWithSha1: "1.2.840.10045.4.1",
  ecdsaWithSha256: "1.2.840.10045.4.3.2",
  ecdsaWithSha384: "1.2.840.10045.4.3.3",
  ecdsaWithSha512: "1.2.840.10045.4.3.4",
  p256: "1.2.840.10045.3.1.7",
  p384: "1.3.132.0.34",
  p521: "1.3.132.0.35",
  // Certificate extensions: RFC 5280
  subjectKeyIdentifier: "2.5.29.14",
  keyUsage: "2.5.29.15",
  subjectAltName: "2.5.29.17",
  nameConstraints: "2.5.29.30",
  basicConstraints: "2.5.29.19",
  certificatePolicies: "2.5.29.32",
  authorityKeyIdentifier: "2.5.29.35",
  extKeyUsage: "2.5.29.37",
  noRevAvail: "2.5.29.56",
  cRLDistributionPoints: "2.5.29.31",
  cRLNumber: "2.5.29.20",
  cRLReason: "2.5.29.21",
  issuingDistributionPoint: "2.5.29.28",
  qualifierCps: "1.3.6.1.5.5.7.2.1",
  // Extended key usages: RFC 5280, RFC 9336, and two that the vendors of widely used PDF readers define
  anyExtendedKeyUsage: "2.5.29.37.0",
  kpEmailProtection: "1.3.6.1.5.5.7.3.4",
  kpTimeStamping: "1.3.6.1.5.5.7.3.8",
  kpDocumentSigning: "1.3.6.1.5.5.7.3.36",
  adobeAuthenticDocumentsTrust: "1.2.840.113583.1.1.5",
  microsoftDocumentSigning: "1.3.6.1.4.1.311.10.3.12",
  // Names: RFC 4519
  commonName: "2.5.4.3",
  serialNumber: "2.5.4.5",
  countryName: "2.5.4.6",
  localityName: "2.5.4.7",
  stateOrProvinceName: "2.5.4.8",
  organizationName: "2.5.4.10",
  organizationalUnitName: "2.5.4.11",
  organizationIdentifier: "2.5.4.97",
  emailAddress: "1.2.840.113549.1.9.1",
  // SignSealShip's identifier for the attribute that states a seal's position in its file (docs/evidence-format.md). It
  // is derived from a UUID (X.667).
  sealStatement: "2.25.246765420328738535511036021239598967444",
  // SignSealShip's identifier, derived from a UUID, of the policy of signers' certificates
  signerCertificatePolicy: "2.25.111866052031204128962551240606479865688",
  // SignSealShip's identifier, derived from a UUID, of the policy of the certificate that seals test documents only
  testSealPolicy: "2.25.90401434281206024303202631071032608259",
} as const;

const MAX_OID_LENGTH = 64;
/**
 * The largest arc (number in an object identifier) that is computed as a JavaScript number. Larger arcs, up to the 128
 * bits of a UUID (X.667), are bigints.
 */
const MAX_PLAIN_ARC = 2 ** 45;
const MAX_ARC = 2n ** 128n - 1n;

/**
 * Decodes the content octets of an OBJECT IDENTIFIER into its dotted form.
 * @throws EvidenceError `der` when malformed or over-long
 */
export function decodeOid(content: Uint8Array, start = 0, end = content.length): string {
  if (end <= start || end - start > MAX_OID_LENGTH)
    throw new EvidenceError("der", "Object identifier has no usable length");
  let text = "";
  let arc = 0;
  let first = start;
  for (let i = start; i < end; i++) {
    const octet = content[i] ?? 0;
    if (i === first && octet === 0x80) throw new EvidenceError("der", "Object identifier is not minimal");
    arc = arc * 128 + (octet & 0x7f);
    if (octet >= 0x80) continue;
    const exact = arc <= MAX_PLAIN_ARC ? arc : largeArc(content, first, i + 1);
    if (text === "") {
      const root = exact < 80 ? Math.floor(Number(exact) / 40) : 2;
      text = `${root}.${typeof exact === "number" ? exact - root * 40 : exact - 80n}`;
    } else text += `.${exact}`;
    arc = 0;
    first = i + 1;
  }
  if (first !== end) throw new EvidenceError("der", "Object identifier is cut off");
  return text;
}

function largeArc(content: Uint8Array, start: number, end: number): bigint {
  let arc = 0n;
  for (let i = start; i < end; i++) arc = arc * 128n + BigInt((content[i] ?? 0) & 0x7f);
  if (arc > MAX_ARC) throw new EvidenceError("der", "Object identifier has an arc too large");
  return arc;
}

/**
 * Encodes a dotted object identifier as content octets.
 * @throws EvidenceError `der` for any other text
 */
export function encodeOid(dotted: string): Uint8Array {
  const arcs = dotted.split(".").map(arcOf);
  const [root, second] = arcs;
  if (root === undefined || second === undefined || root > 2 || (root < 2 && second > 39)) throw notDotted();
  const octets: number[] = [];
  pushArc(octets, typeof second === "bigint" ? 80n + second : Number(root) * 40 + second);
  for (let i = 2; i < arcs.length; i++) pushArc(octets, arcs[i] ?? 0);
  return Uint8Array.from(octets);
}

/**
 * Parses one number (arc) of a dotted identifier: decimal, without sign or leading zeros. The largest has 39 digits.
 */
function arcOf(text: string): number | bigint {
  if (!/^(?:0|[1-9]\d{0,38})$/.test(text)) throw notDotted();
  return text.length < 13 ? Number(text) : BigInt(text);
}

function pushArc(octets: number[], arc: number | bigint): void {
  if (typeof arc === "bigint") {
    if (arc > MAX_ARC) throw notDotted();
    for (let shift = 126n; shift > 0n; shift -= 7n) {
      if (arc >> shift > 0n) octets.push(0x80 | Number((arc >> shift) & 0x7fn));
    }
    octets.push(Number(arc & 0x7fn));
    return;
  }
  let scale = 1;
  while (arc / scale >= 128) scale *= 128;
  for (; scale > 1; scale /= 128) octets.push(0x80 | (Math.floor(arc / scale) % 128));
  octets.push(arc % 128);
}

const notDotted = (): EvidenceError => new EvidenceError("der", "Not a dotted object identifier");
