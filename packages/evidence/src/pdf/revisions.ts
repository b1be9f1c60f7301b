import { EvidenceError } from "../errors.ts";
import type { Budget } from "./budget.ts";
import { readXrefSection, type XrefSection } from "./xref.ts";

/** A cross-reference section and, in a hybrid file, the stream that its trailer names. */
export type Revision = { readonly main: XrefSection; readonly hybrid: XrefSection | undefined };

/**
 * The section at an offset relative to the base, with the stream that it names; undefined without a section. @throws
 * EvidenceError
 */
export function revisionAt(bytes: Uint8Array, base: number, offset: number, budget: Budget): Revision | undefined {
  const main = withoutPrevZero(bytes, base, readXrefSection(bytes, offset + base, budget), budget);
  if (main === undefined || main.hybridStream === undefined) return main && { main, hybrid: undefined };
  const hybrid = readXrefSection(bytes, main.hybridStream + base, budget);
  if (hybrid?.kind !== "stream") throw new EvidenceError("pdf", "/XRefStm does not lead to a cross-reference stream");
  return { main, hybrid };
}

/**
 * Treats /Prev 0 as no /Prev, because some producers write it so. If a section is at offset 0, readers would disagree.
 */
function withoutPrevZero(
  bytes: Uint8Array,
  base: number,
  section: XrefSection | undefined,
  budget: Budget,
): XrefSection | undefined {
  if (section?.prev !== 0) return section;
  if (readXrefSection(bytes, base, budget) !== undefined) {
    throw new EvidenceError("pdf", "/Prev 0 leads to a cross-reference section");
  }
  return { ...section, prev: undefined };
}

/**
 * The sections at an offset, one for each base that leads to a section.
 *
 * @throws EvidenceError also when only one base leads to a section and that section is unreadable, because another
 * reader might be able to read it
 */
export function readings(
  bytes: Uint8Array,
  bases: readonly number[],
  offset: number | undefined,
  budget: Budget,
): { readonly base: number; readonly revision: Revision }[] {
  const found: { base: number; revision: Revision }[] = [];
  for (const base of offset === undefined ? [] : bases) {
    const revision = revisionAt(bytes, base, offset ?? 0, budget);
    if (revision !== undefined) found.push({ base, revision });
  }
  return found;
}
