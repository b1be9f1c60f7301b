import { type Draw, holdsDecoy } from "../../../evidence/seals/seals.ts";
import { PdfRefusal } from "../../../kernel/pdf/refusal.ts";
import type { Tail } from "../../../kernel/pdf/revision/revision.ts";
import { typesetFor } from "../../../kernel/pdf/typeset.ts";
import { type Act, buildAct } from "./act.ts";
import type { Refused } from "./refused.ts";

export type ActInput = {
  readonly act: Omit<Act, "reserve" | "padding">;
  readonly docSha256: string;
  /**
   * Random lengths for the reserved space, in pairs. The task tries one pair after another, until no other numbers in
   * the document could pass as the signature's ByteRange.
   */
  readonly draws: readonly Draw[];
};

export type ActOutput = { readonly tail: Tail } | Refused | "decoys";

/**
 * Builds the revision of an act. Uses the first pair of lengths for which the document contains no decoy: a sequence of
 * numbers that a verifier could mistake for the signature's ByteRange.
 */
export async function run(document: Buffer, { act, docSha256, draws }: ActInput): Promise<ActOutput> {
  const { mark, caption, signerName, values } = act;
  const typed = mark.kind === "typed" ? [mark.text] : [];
  try {
    const typeset = await typesetFor([...typed, caption, signerName, ...values.values()]);
    for (const lengths of draws) {
      const tail = buildAct(document, docSha256, { ...act, ...lengths }, typeset);
      if (!holdsDecoy(document, tail)) return { tail };
    }
    return "decoys";
  } catch (error) {
    if (error instanceof PdfRefusal) return { refusal: { reason: error.reason, detail: error.detail } };
    throw error;
  }
}
