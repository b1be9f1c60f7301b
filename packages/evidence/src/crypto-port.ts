/** The hashes that evidence may use. SHA-1 is reported, but accepted only for naming a certificate (RFC 2634). */
export type HashName = "SHA-1" | "SHA-256" | "SHA-384" | "SHA-512";

/** A signature scheme with its parameters, as an AlgorithmIdentifier names it. */
export type SignatureScheme =
  | { readonly scheme: "rsa-pkcs1"; readonly hash: HashName }
  | { readonly scheme: "rsa-pss"; readonly hash: HashName; readonly saltLength: number }
  | { readonly scheme: "ecdsa"; readonly hash: HashName };

/** One signature to verify. `spki` is a DER SubjectPublicKeyInfo; an ECDSA signature is the DER pair of r and s. */
export interface SignatureInput {
  readonly spki: Uint8Array;
  readonly algorithm: SignatureScheme;
  readonly signature: Uint8Array;
  readonly data: Uint8Array;
}

/**
 * The cryptographic functions that the evidence formats need. Two implementations: `createWebCrypto` (browser and Node)
 * and the verifier's `createNodeCrypto`, which is twice as fast on small documents.
 */
export interface EvidenceCrypto {
  /** The digest of the chunks, as one message. */
  digest(hash: HashName, chunks: readonly Uint8Array[]): Uint8Array | Promise<Uint8Array>;

  /**
   * Computes the digests of several messages. Messages whose first chunks start at the same byte of the same buffer may
   * be hashed together, which saves work.
   */
  digests(
    hash: HashName,
    messages: readonly (readonly Uint8Array[])[],
  ): readonly Uint8Array[] | Promise<readonly Uint8Array[]>;

  /** Verifies a signature. A key or signature that the library cannot use yields `false`, not an exception. */
  verify(input: SignatureInput): boolean | Promise<boolean>;
}
