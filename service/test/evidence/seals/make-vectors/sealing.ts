import { readFileSync } from "node:fs";
import { sealReasons } from "@signsealship/evidence/seal";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { type SignOptions, signPdf } from "../../../../../packages/evidence/test/seal/signed-pdf.ts";
import { sealPdf } from "../../../../src/evidence/seals/pdf/seal-pdf.ts";
import { p256Cms, seal, sealedAt, stamp } from "./signers.ts";

export type Sealing = {
  readonly cms?: typeof p256Cms;
  readonly reason?: string;
  readonly checkpoint?: string;
  readonly stamp?: (signature: Uint8Array) => Uint8Array;
};

/** Bytes reserved for a time-stamp token of the vectors' authority. */
const TOKEN = 750;

/** Seals as the service does, but without random lengths, so that the same document gives the same file. */
export async function sealed(original: Uint8Array, options: Sealing = {}): Promise<Uint8Array> {
  const { cms = p256Cms, reason = sealReasons.proof.live, checkpoint, stamp: token } = options;
  const bytes = Buffer.from(original);
  const { tail } = await sealPdf({
    original: bytes,
    at: sealedAt,
    reserve: cms.maxLength(token === undefined ? undefined : TOKEN),
    reason,
    ...(checkpoint !== undefined && { checkpoint }),
    sign: async (prepared) => {
      const signature = await cms.sign(prepared);
      return signature.cms(token?.(signature.signature));
    },
  });
  return Uint8Array.from(Buffer.concat([bytes, tail]));
}

/** Like `sealed`, with a time stamp by the authority that the cases trust. */
export const stamped = (original: Uint8Array, options: Sealing = {}): Promise<Uint8Array> =>
  sealed(original, { stamp, ...options });

export type SealOptions = Partial<SignOptions>;

/** A seal by the tests' own writer. It has the sealer's form, except where an option changes it. */
export const oddSeal = (original: Uint8Array, options: SealOptions = {}): Uint8Array =>
  signPdf(original, { signer: seal, reserve: 900, ...options });

export const document = (text = "Contract"): Uint8Array => Uint8Array.from(makePdf({ text }));
export const zooFile = (name: string): Uint8Array =>
  Uint8Array.from(readFileSync(new URL(`../../../../../testing/inputs/zoo/pdfs/${name}.pdf`, import.meta.url)));
