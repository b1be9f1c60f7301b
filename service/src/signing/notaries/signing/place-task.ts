import { blankPlace, type PlannedBox } from "../../../kernel/pdf/blank-place.ts";
import { typesetFor } from "../../../kernel/pdf/typeset.ts";
import type { PlannedBlock } from "../../envelopes/envelopes.ts";
import { maxSignature } from "../uploads/visible-place.ts";
import { blockLook, heightOf } from "./block-look.ts";

export type BlockToPlace = {
  /** The lines of the notary's block, as far as they are determined before the act. */
  readonly lines: readonly string[];
  readonly planned: readonly PlannedBox[];
  readonly hasSeal: boolean;
};

/**
 * The number of extra lines for which the block has space, unless its height is at the limit. Until the act, the name
 * of a county or person may still be replaced by a longer one.
 */
const spareLines = 2;
const lineHeight = 11;

/** Finds the place of a notary's block before the first signature. `at` is null when no page has a blank place. */
export async function run(document: Buffer, { lines, planned, hasSeal }: BlockToPlace): Promise<PlannedBlock> {
  const height = Math.min(
    heightOf(await typesetFor(lines), lines, hasSeal) + spareLines * lineHeight,
    maxSignature.height,
  );
  const { width } = blockLook;
  const place = await blankPlace(document, { width, height }, planned);
  return { width, height, at: place && { page: place.page, ...place.upperLeft } };
}
