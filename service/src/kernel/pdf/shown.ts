import type { openWithPdfJs } from "./pdf-js.ts";

export type OpenedPdf = Awaited<Awaited<ReturnType<typeof openWithPdfJs>>["opening"]["promise"]>;
export type PdfPage = Awaited<ReturnType<OpenedPdf["getPage"]>>;

export type Box = readonly [left: number, bottom: number, right: number, top: number];
export type Shown = { readonly id: string; readonly subtype: string; readonly isSignature: boolean; readonly box: Box };

/** In points. A smaller overlap of two boxes is ignored, because the white space between lines is usually that high. */
export const tolerance = 1;
const hiddenFlag = 2;

/** The annotations and fields of a page. Hidden ones are left out, and so are popups without an appearance. */
export async function shownOn(page: PdfPage): Promise<Shown[]> {
  const annotations: readonly Readonly<Record<string, unknown>>[] = await page.getAnnotations({ intent: "any" });
  return annotations.flatMap(({ id, subtype, fieldType, rect, annotationFlags, hasAppearance }) => {
    const box = boxOf(rect);
    const isHidden = typeof annotationFlags === "number" && (annotationFlags & hiddenFlag) !== 0;
    // Readers open a popup in its own window, but poppler prints the appearance of one that has it.
    const isInWindow = subtype === "Popup" && hasAppearance !== true;
    if (box === null || isHidden || isInWindow) return [];
    return [{ id: String(id), subtype: String(subtype), isSignature: fieldType === "Sig", box }];
  });
}

function boxOf(rect: unknown): Box | null {
  const [left, bottom, right, top] = Array.isArray(rect) ? rect.map(Number) : [];
  if (left === undefined || bottom === undefined || right === undefined || top === undefined) return null;
  return right > left && top > bottom ? [left, bottom, right, top] : null;
}

/** The runs of text on a page, each with the box of its letters. */
export async function wordsOn(page: PdfPage): Promise<{ readonly text: string; readonly box: Box }[]> {
  const { items } = await page.getTextContent();
  return items.flatMap((item) => {
    if (!("str" in item) || item.str.trim() === "") return [];
    const [a = 1, b = 0, c = 0, d = 1, x = 0, y = 0]: number[] = item.transform;
    const [along, across] = [Math.hypot(a, b) || 1, Math.hypot(c, d) || 1];
    // Letters fill about seven tenths of their line's height.
    const [right, up] = [item.width / along, (0.7 * item.height) / across];
    const xs = [x, x + right * a, x + up * c, x + right * a + up * c];
    const ys = [y, y + right * b, y + up * d, y + right * b + up * d];
    return [{ text: item.str, box: [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)] as const }];
  });
}

export function overlaps(one: Box, other: Box): boolean {
  const across = Math.min(one[2], other[2]) - Math.max(one[0], other[0]);
  const up = Math.min(one[3], other[3]) - Math.max(one[1], other[1]);
  return across > tolerance && up > tolerance;
}
