import {
  childrenOf,
  contentOf,
  derFromBer,
  fieldsOf,
  OID,
  onlyChildOf,
  readDer,
  readOctetString,
  readOid,
  readSmallInteger,
  TAG,
} from "@signsealship/evidence/asn1";
import { concatBytes } from "@signsealship/evidence/bytes";
import { EvidenceError } from "@signsealship/evidence/errors";
import { type Certificate, parseCertificate } from "@signsealship/evidence/x509";
import { decryptLegacy } from "./legacy-pkcs12.ts";

type Node = ReturnType<typeof readDer>;
type Bytes = Uint8Array<ArrayBuffer>;

/** The reason why a file provides no key to sign with. */
export type Pkcs12Fault = "format" | "password" | "legacy" | "cipher" | "no_key" | "key_kind" | "no_certificate";

export class Pkcs12Error extends Error {
  readonly fault: Pkcs12Fault;

  constructor(fault: Pkcs12Fault) {
    super(fault);
    this.name = "Pkcs12Error";
    this.fault = fault;
  }
}

/** A non-exportable key in this browser, and its certificate. */
export type OpenedKey = {
  readonly sign: (data: Uint8Array) => Promise<Uint8Array>;
  readonly certificate: Certificate;
};

// Object identifiers of RFC 7292 (PKCS#12), RFC 8018 (PBES2) and NIST's AES.
const bag = {
  key: "1.2.840.113549.1.12.10.1.1",
  shrouded: "1.2.840.113549.1.12.10.1.2",
  certificate: "1.2.840.113549.1.12.10.1.3",
  nested: "1.2.840.113549.1.12.10.1.6",
} as const;
const encryptedData = "1.2.840.113549.1.7.6";
const x509Certificate = "1.2.840.113549.1.9.22.1";
const pbes2 = "1.2.840.113549.1.5.13";
const pbkdf2 = "1.2.840.113549.1.5.12";
/** The beginning of the object identifiers of 3DES, RC2 and RC4 with the key derivation of PKCS#12 itself. */
const legacy = "1.2.840.113549.1.12.1.";
const hashOf: Readonly<Record<string, string>> = {
  "1.2.840.113549.2.7": "SHA-1",
  "1.2.840.113549.2.9": "SHA-256",
  "1.2.840.113549.2.10": "SHA-384",
  "1.2.840.113549.2.11": "SHA-512",
};
const aesBits: Readonly<Record<string, number>> = {
  "2.16.840.1.101.3.4.1.2": 128,
  "2.16.840.1.101.3.4.1.22": 192,
  "2.16.840.1.101.3.4.1.42": 256,
};
/** Far above the count that programs write. Without a limit, a malicious count would block the page for hours. */
const maxIterations = 10_000_000;
const maxNested = 4;
const maxCertificates = 10;

/**
 * Opens a PKCS#12 file. The MAC over the file is not checked: decrypting the key reveals a wrong password, and the key
 * is compared with its certificate.
 * @throws Pkcs12Error
 */
export async function openPkcs12(file: Uint8Array, password: string): Promise<OpenedKey> {
  const found: Found = { keys: [], certificates: [] };
  try {
    const parts = fieldsOf(readBer(file), "der");
    if (readSmallInteger(parts.next("version")) !== 3) throw new Pkcs12Error("format");
    await readSafes(readBer(dataIn(parts.next("authSafe"))), password, found);
    if (found.keys.length === 0) throw new Pkcs12Error("no_key");
    return await matched(found);
  } catch (error) {
    if (error instanceof EvidenceError) throw new Pkcs12Error(found.decrypted ? "password" : "format");
    throw error;
  } finally {
    for (const key of found.keys) key.fill(0);
  }
}

type Found = {
  /** Keys as PrivateKeyInfo, in DER. */
  keys: Bytes[];
  certificates: Certificate[];
  /** Set if something was decrypted. If the decrypted bytes can't be parsed, the password was wrong. */
  decrypted?: true;
};

const readBer = (bytes: Uint8Array): Node => readDer(derFromBer(bytes).der);

/** The octets of a ContentInfo of type data. */
function dataIn(info: Node): Uint8Array {
  const parts = fieldsOf(info, "der");
  if (readOid(parts.next("contentType")) !== OID.idData) throw new Pkcs12Error("format");
  return readOctetString(onlyChildOf(parts.next("content")));
}

async function readSafes(safes: Node, password: string, found: Found): Promise<void> {
  for (const info of childrenOf(safes)) {
    const parts = fieldsOf(info, "der");
    const type = readOid(parts.next("contentType"));
    const content = onlyChildOf(parts.next("content"));
    if (type === OID.idData) await readBags(readBer(readOctetString(content)), password, found, 0);
    else if (type === encryptedData) {
      const encrypted = fieldsOf(fieldsAfterVersion(content), "der");
      encrypted.next("contentType");
      const algorithm = encrypted.next("algorithm");
      const plain = await decrypt(algorithm, implicitOctets(encrypted.next("content")), password);
      found.decrypted = true;
      await readBags(readBer(plain), password, found, 0);
    } else throw new Pkcs12Error("cipher");
  }
}

function fieldsAfterVersion(node: Node): Node {
  const parts = fieldsOf(node, "der");
  parts.next("version");
  return parts.next("encryptedContentInfo");
}

/** Reads a [0] IMPLICIT OCTET STRING. DER has it in one piece; BER may split it into several. */
const implicitOctets = (node: Node): Uint8Array =>
  node.tag === 0xa0 ? concatBytes(childrenOf(node).map((each) => readOctetString(each))) : contentOf(node);

async function readBags(bags: Node, password: string, found: Found, depth: number): Promise<void> {
  if (depth > maxNested) throw new Pkcs12Error("format");
  for (const each of childrenOf(bags)) {
    const parts = fieldsOf(each, "der");
    const type = readOid(parts.next("bagId"));
    const value = onlyChildOf(parts.next("bagValue"));
    if (type === bag.nested) await readBags(value, password, found, depth + 1);
    if (type === bag.key) found.keys.push(copyOf(value));
    if (type === bag.shrouded) {
      const shrouded = fieldsOf(value, "der");
      const algorithm = shrouded.next("algorithm");
      found.keys.push(await decrypt(algorithm, readOctetString(shrouded.next("encryptedData")), password));
      found.decrypted = true;
    }
    if (type === bag.certificate) found.certificates.push(...certificateIn(value));
    if (found.certificates.length > maxCertificates) throw new Pkcs12Error("format");
  }
}

const copyOf = (node: Node): Bytes => Uint8Array.from(node.source.subarray(node.start, node.end));

function certificateIn(value: Node): Certificate[] {
  const parts = fieldsOf(value, "der");
  if (readOid(parts.next("certId")) !== x509Certificate) return [];
  return [parseCertificate(Uint8Array.from(readOctetString(onlyChildOf(parts.next("certValue")))))];
}

/** Decrypts with PBES2 (PBKDF2 with HMAC, and AES in CBC), or with the ciphers of old files. @throws Pkcs12Error */
async function decrypt(algorithm: Node, data: Uint8Array, password: string): Promise<Bytes> {
  const scheme = fieldsOf(algorithm, "der");
  const oid = readOid(scheme.next("algorithm"));
  if (oid.startsWith(legacy)) {
    const parts = fieldsOf(scheme.next("parameters"), "der");
    const salt = readOctetString(parts.next("salt"));
    const iterations = readSmallInteger(parts.next("iterations"));
    const plain = await decryptLegacy({ scheme: oid.slice(legacy.length), salt, iterations, data }, password);
    if (plain === "cipher") throw new Pkcs12Error("legacy");
    if (plain === null) throw new Pkcs12Error("password");
    return plain;
  }
  if (oid !== pbes2) throw new Pkcs12Error("cipher");
  const parts = fieldsOf(scheme.next("parameters"), "der");
  const derivation = fieldsOf(parts.next("keyDerivationFunc"), "der");
  if (readOid(derivation.next("algorithm")) !== pbkdf2) throw new Pkcs12Error("cipher");
  const { salt, iterations, hash } = derivationOf(derivation.next("parameters"));
  const encryption = fieldsOf(parts.next("encryptionScheme"), "der");
  const length = aesBits[readOid(encryption.next("algorithm"))];
  if (length === undefined) throw new Pkcs12Error("cipher");
  const iv = Uint8Array.from(readOctetString(encryption.next("iv")));
  const typed = await crypto.subtle.importKey("raw", new TextEncoder().encode(password), "PBKDF2", false, [
    "deriveKey",
  ]);
  const derived = { name: "PBKDF2", salt, iterations, hash };
  const key = await crypto.subtle.deriveKey(derived, typed, { name: "AES-CBC", length }, false, ["decrypt"]);
  try {
    return new Uint8Array(await crypto.subtle.decrypt({ name: "AES-CBC", iv }, key, Uint8Array.from(data)));
  } catch {
    // Browsers report only a generic error. Its only possible cause is wrong padding, which means that the password is
    // wrong.
    throw new Pkcs12Error("password");
  }
}

function derivationOf(parameters: Node) {
  const parts = fieldsOf(parameters, "der");
  const salt = Uint8Array.from(readOctetString(parts.next("salt")));
  const iterations = readSmallInteger(parts.next("iterationCount"));
  parts.optional(TAG.integer);
  const prf = parts.optional(TAG.sequence);
  const hash = prf ? hashOf[readOid(fieldsOf(prf, "der").next("algorithm"))] : "SHA-1";
  if (hash === undefined || iterations < 1 || iterations > maxIterations) throw new Pkcs12Error("cipher");
  return { salt, iterations, hash };
}

const rsa = { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" } as const;
const ecdsa = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const;

/** The first key with a matching certificate in the file. @throws Pkcs12Error */
async function matched({ keys, certificates }: Found): Promise<OpenedKey> {
  let fault: Pkcs12Fault = "key_kind";
  for (const der of keys) {
    const algorithm = algorithmOf(der);
    if (!algorithm) continue;
    const key = await crypto.subtle.importKey("pkcs8", der, algorithm, false, ["sign"]).catch(() => null);
    if (!key) continue;
    fault = "no_certificate";
    const sign = async (data: Uint8Array) =>
      new Uint8Array(await crypto.subtle.sign(algorithm, key, Uint8Array.from(data)));
    const probe = crypto.getRandomValues(new Uint8Array(32));
    const signature = await sign(probe);
    for (const leaf of certificates)
      if (await verifies(leaf, algorithm, signature, probe)) return { sign, certificate: leaf };
  }
  throw new Pkcs12Error(fault);
}

function algorithmOf(der: Bytes): typeof rsa | typeof ecdsa | null {
  const parts = fieldsOf(readDer(der), "der");
  parts.next("version");
  const [oid, curve] = childrenOf(parts.next("algorithm"));
  if (!oid) return null;
  if (readOid(oid) === OID.rsaEncryption) return rsa;
  const isP256 = readOid(oid) === OID.ecPublicKey && curve?.tag === TAG.oid && readOid(curve) === OID.p256;
  return isP256 ? ecdsa : null;
}

async function verifies(
  { spki }: Certificate,
  algorithm: typeof rsa | typeof ecdsa,
  signature: Uint8Array,
  data: Bytes,
): Promise<boolean> {
  const key = await crypto.subtle
    .importKey("spki", Uint8Array.from(spki), algorithm, false, ["verify"])
    .catch(() => null);
  return key !== null && crypto.subtle.verify(algorithm, key, Uint8Array.from(signature), data);
}
