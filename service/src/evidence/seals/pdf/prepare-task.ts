import type { SealReason } from "@signsealship/evidence/seal";
import { PdfRefusal, type PdfRefusalReason } from "../../../kernel/pdf/refusal.ts";
import type { Tail } from "../../../kernel/pdf/revision/revision.ts";
import { lookUpPdf } from "../../../kernel/pdf/xref/lookup.ts";
import { type Draw, holdsDecoy } from "./decoys.ts";
import type { SealLock } from "./objects.ts";
import { buildTail } from "./tail.ts";

export type PrepareInput = {
  readonly docSha256: string;
  readonly at: Date;
  readonly reason: SealReason;
  readonly isOwn: boolean;
  readonly locks?: SealLock;
  readonly checkpoint?: string;
  /**
   * Random lengths for the appended revision. They are tried in order, until the file contains no other numbers that
   * would pass as the seal's /ByteRange (a decoy, see decoys.ts).
   */
  readonly draws: readonly Draw[];
};

export type PrepareOutput =
  | { readonly tail: Tail }
  | { readonly refusal: { readonly reason: PdfRefusalReason; readonly detail: string } }
  | "decoys";

/**
 * Builds the revision to append. Uses the first of the `draws` for which the file contains no other numbers that would
 * pass as the seal's /ByteRange.
 */
export function run(original: Buffer, { docSha256, draws, ...description }: PrepareInput): PrepareOutput {
  try {
    for (const lengths of draws) {
      const tail = buildTail(lookUpPdf(original), { ...description, ...lengths }, docSha256);
      if (!holdsDecoy(original, tail)) return { tail };
    }
    return "decoys";
  } catch (error) {
    if (error instanceof PdfRefusal) return { refusal: { reason: error.reason, detail: error.detail } };
    throw error;
  }
}
