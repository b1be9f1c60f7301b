import { withLowS } from "../keys/ecdsa-sig-value.ts";
import type { SealKey } from "../keys/seal-key.ts";
import { type SealPlace, type SignedDataWriter, type SignerChain, signedDataWriter } from "./signed-data.ts";

/** A signature whose CMS can be written out, at first without and then with a time-stamp token. */
export type SealSignature = {
  /** SignerInfo.signature: what a time-stamping authority is asked to stamp. */
  readonly signature: Uint8Array;
  /** DER of the ContentInfo. */
  readonly cms: (timeStampToken?: Uint8Array) => Uint8Array<ArrayBuffer>;
};

/** Signs the places of seals with one key under one chain. */
export type CmsSigner = Pick<SignedDataWriter, "maxLength"> & {
  /** @throws {SealKeyError} */
  readonly sign: (place: SealPlace) => Promise<SealSignature>;
};

/** A signer with a key that is at hand. For one that is not, see two-step.ts. */
export function createCmsSigner({ key, chain }: { readonly key: SealKey; readonly chain: SignerChain }): CmsSigner {
  const { signedAttributes, cms, maxLength } = signedDataWriter(chain);
  return {
    async sign(place) {
      const signedAttrs = signedAttributes(place);
      const given = await key.sign(signedAttrs);
      const signature = key.algorithm === "ecdsa-p256-sha256" ? withLowS(given) : given;
      return { signature, cms: (timeStampToken) => cms(signedAttrs, signature, timeStampToken) };
    },
    maxLength,
  };
}
