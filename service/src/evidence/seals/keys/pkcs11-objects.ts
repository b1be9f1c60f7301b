import { createPublicKey, type KeyObject } from "node:crypto";
import { contentOf, readDer, TAG } from "@signsealship/evidence/asn1";
import type { Attribute } from "pkcs11js";
import type { Handle, Token } from "./pkcs11-token.ts";
import type { Pkcs11Uri } from "./pkcs11-uri.ts";
import { SealKeyError } from "./seal-key.ts";

/**
 * The one private key with the URI's label and id.
 * @throws {SealKeyError} `not-found`, or `bad-uri` when several match
 */
export function findPrivateKey(token: Token, session: Handle, uri: Pkcs11Uri): Handle {
  const { library } = token;
  const [key, another] = find(token, session, [
    { type: library.CKA_CLASS, value: library.CKO_PRIVATE_KEY },
    ...(uri.object === undefined ? [] : [{ type: library.CKA_LABEL, value: uri.object }]),
    ...(uri.id === undefined ? [] : [{ type: library.CKA_ID, value: Buffer.from(uri.id) }]),
  ]);
  if (key === undefined) {
    throw new SealKeyError("not-found", `pkcs11: the token ${token.name} shows no such private key to this PIN`);
  }
  if (another !== undefined) throw new SealKeyError("bad-uri", "pkcs11: several private keys match; name one by id");
  return key;
}

/**
 * The public key: from the private key object if that contains it, else from a public key object of the same type. If
 * the private key has a CKA_ID, the public key object must have the same CKA_ID.
 * @throws {SealKeyError} `not-supported` for a key that is neither RSA nor on P-256, `unreadable` without a public key
 */
export function readPublicKey(token: Token, session: Handle, privateKey: Handle): KeyObject {
  const { library } = token;
  const type = numberOf(attribute(token, session, privateKey, library.CKA_KEY_TYPE));
  if (type !== library.CKK_RSA && type !== library.CKK_EC) {
    throw new SealKeyError("not-supported", "pkcs11: a seal key is RSA or P-256");
  }
  const id = attribute(token, session, privateKey, library.CKA_ID);
  const publicKeys = find(token, session, [
    { type: library.CKA_CLASS, value: library.CKO_PUBLIC_KEY },
    { type: library.CKA_KEY_TYPE, value: type },
    ...(id === undefined ? [] : [{ type: library.CKA_ID, value: id }]),
  ]);
  for (const object of [privateKey, ...publicKeys]) {
    const found = type === library.CKK_RSA ? rsaKey(token, session, object) : ecKey(token, session, object);
    if (found !== undefined) return found;
  }
  throw new SealKeyError("unreadable", "pkcs11: the token has the private key without its public key");
}

function rsaKey(token: Token, session: Handle, object: Handle): KeyObject | undefined {
  const n = attribute(token, session, object, token.library.CKA_MODULUS);
  const e = attribute(token, session, object, token.library.CKA_PUBLIC_EXPONENT);
  if (n === undefined || e === undefined || n.length === 0 || e.length === 0) return undefined;
  return createPublicKey({ key: { kty: "RSA", n: base64url(n), e: base64url(e) }, format: "jwk" });
}

const p256Parameters = "06082a8648ce3d030107";

function ecKey(token: Token, session: Handle, object: Handle): KeyObject | undefined {
  const parameters = attribute(token, session, object, token.library.CKA_EC_PARAMS);
  if (parameters !== undefined && parameters.toString("hex") !== p256Parameters) {
    throw new SealKeyError("not-supported", "pkcs11: an EC seal key is on P-256");
  }
  const value = attribute(token, session, object, token.library.CKA_EC_POINT);
  const point = value === undefined ? undefined : uncompressedPoint(value);
  if (point === undefined) return undefined;
  const x = base64url(point.subarray(1, 33));
  return createPublicKey({ key: { kty: "EC", crv: "P-256", x, y: base64url(point.subarray(33)) }, format: "jwk" });
}

/** CKA_EC_POINT is an OCTET STRING in DER, but some modules return the bare point. */
function uncompressedPoint(value: Buffer): Uint8Array | undefined {
  const isBare = value.length === 65 && value[0] === 0x04;
  if (isBare) return value;
  const isWrapped = value.length === 67 && value[0] === TAG.octetString && value[2] === 0x04;
  return isWrapped ? contentOf(readDer(value)) : undefined;
}

function find({ module }: Token, session: Handle, template: Attribute[]): Handle[] {
  module.C_FindObjectsInit(session, template);
  try {
    return module.C_FindObjects(session, 16);
  } finally {
    module.C_FindObjectsFinal(session);
  }
}

/** The value of an attribute of the object. Undefined if the object has no such attribute or the token hides it. */
function attribute({ module }: Token, session: Handle, object: Handle, type: number): Buffer | undefined {
  try {
    return module.C_GetAttributeValue(session, object, [{ type }])[0]?.value;
  } catch {
    return undefined;
  }
}

/** A CK_ULONG in the machine's word size. */
function numberOf(value: Buffer | undefined): number | undefined {
  if (value === undefined) return undefined;
  return value.length >= 8 ? Number(value.readBigUInt64LE()) : value.readUInt32LE();
}

const base64url = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64url");
