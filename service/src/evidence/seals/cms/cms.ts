import { createPublicKey, verify } from "node:crypto";
import { ecdsaSigValue, withLowS } from "../keys/ecdsa-sig-value.ts";
import { type SealKey, SealKeyError } from "../keys/seal-key.ts";
import { type SealPlace, type SignedDataWriter, type SignerChain, signedDataWriter } from "./signed-data.ts";

/** A signature, with a function that writes its CMS, with or without a time-stamp token. */
export type SealSignature = {
  /** SignerInfo.signature: the value that a time-stamping authority stamps. */
  readonly signature: Uint8Array;
  /** DER of the ContentInfo. */
  readonly cms: (timeStampToken?: Uint8Array) => Uint8Array<ArrayBuffer>;
};

/** A signer of seals with one key and chain. */
export type CmsSigner = Pick<SignedDataWriter, "maxLength"> & {
  /**
   * Signs the covered bytes of a file.
   * @throws {SealKeyError}
   */
  readonly sign: (place: SealPlace) => Promise<SealSignature>;
};

/**
 * A signer with a key that this process can use: in a file, behind PKCS#11, or in AWS KMS. For any other key, use the
 * two steps below.
 */
export function createCmsSigner({ key, chain }: { readonly key: SealKey; readonly chain: SignerChain }): CmsSigner {
  const { signedAttributes, cms, maxLength } = signedDataWriter(chain);
  return {
    async sign(place) {
      const signedAttrs = signedAttributes(place);
      const rawSignature = await key.sign(signedAttrs);
      const signature = key.algorithm === "ecdsa-p256-sha256" ? withLowS(rawSignature) : rawSignature;
      return { signature, cms: (timeStampToken) => cms(signedAttrs, signature, timeStampToken) };
    },
    maxLength,
  };
}

// For a key that is elsewhere, such as in a signer's browser, signing takes two steps. First get the bytes to sign,
// then assemble the CMS around the signature.

/** DER of the SET OF signed attributes: the bytes that the key of the first certificate has to sign. */
export const signedAttributesOf = ({ chain, place }: { chain: SignerChain; place: SealPlace }): Uint8Array =>
  signedDataWriter(chain).signedAttributes(place);

export const maxCmsLength = (chain: SignerChain, tokenLength?: number): number =>
  signedDataWriter(chain).maxLength(tokenLength);

/**
 * Signed attributes with the signature over them. RSA: PKCS#1 v1.5. ECDSA on P-256: DER, or r followed by s, as
 * WebCrypto returns it.
 */
export type SignedAttributes = {
  readonly chain: SignerChain;
  readonly signedAttrs: Uint8Array;
  readonly signature: Uint8Array;
};

/**
 * Verifies a signature with the key of the chain's first certificate.
 * @returns the signature in the form that SignerInfo contains, which is also the value to time-stamp; null when it is
 * not valid
 */
export function verifySignedAttributes({ chain: [leaf], signedAttrs, signature }: SignedAttributes): Uint8Array | null {
  const value = leaf.publicKey.type === "rsa" ? signature : ecdsaValueOf(signature);
  if (value === null) return null;
  const key = createPublicKey({ key: Buffer.from(leaf.spki), format: "der", type: "spki" });
  return verify("sha256", signedAttrs, key, value) ? value : null;
}

/** The length of r and s of P-256, 32 bytes each. */
const RAW_LENGTH = 64;

function ecdsaValueOf(signature: Uint8Array): Uint8Array | null {
  try {
    return withLowS(signature.length === RAW_LENGTH ? ecdsaSigValue(signature) : signature);
  } catch (error) {
    if (error instanceof SealKeyError) return null;
    throw error;
  }
}

/**
 * DER of the ContentInfo around a signature.
 * @param signed the input of `verifySignedAttributes`; `token` a time-stamp token over its result
 * @throws RangeError for a signature that is not valid
 */
export function assembleCms({ token, ...signed }: SignedAttributes & { readonly token?: Uint8Array }): Uint8Array {
  const value = verifySignedAttributes(signed);
  if (value === null) throw new RangeError("the signature is not of these attributes by the certificate's key");
  return signedDataWriter(signed.chain).cms(signed.signedAttrs, value, token);
}
