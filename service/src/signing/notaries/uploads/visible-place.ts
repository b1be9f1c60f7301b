import { openWithinBounds, type openWithPdfJs } from "../../../kernel/pdf/pdf-js.ts";

type Opened = Awaited<Awaited<ReturnType<typeof openWithPdfJs>>["opening"]["promise"]>;
type Page = Awaited<ReturnType<Opened["getPage"]>>;

/**
 * The largest signature that a notary may add, in points. Notary stamps (round and rectangular ones) are at most about
 * 2.5 inches wide and 2 inches high, and programs write the signer's name and the date next to the picture.
 */
export const mostSignature = { width: 300, height: 150 } as const;
/** Shares of a page: for one addition, such as a certificate across its width, and for all additions together. */
const mostShare = { each: 0.2, all: 0.25 } as const;
/** Boxes that only touch, or overlap in the white space between lines, don't count as covering anything. */
const tolerance = 1;
const hiddenFlag = 2;
const mostQuoted = 60;

export type Box = readonly [left: number, bottom: number, right: number, top: number];
type Shown = { readonly id: string; readonly subtype: string; readonly isSignature: boolean; readonly box: Box };

/**
 * Checks where a notary's additions are visible. They must be small, and not cover words or fields of the given
 * document, because nobody else has agreed to hide them. A reserved field already has its place. Words in pictures are
 * not detected.
 * @returns why the additions are refused; null when they are accepted
 */
export async function placeProblem(given: Buffer, upload: Buffer): Promise<string | null> {
  const [before, after] = [await openWithinBounds(given), await openWithinBounds(upload)];
  try {
    if (!before || !after) return unreadable;
    return await problemIn(await before.opening.promise, await after.opening.promise);
  } catch {
    return unreadable;
  } finally {
    await before?.opening.destroy();
    await after?.opening.destroy();
  }
}

async function problemIn(given: Opened, upload: Opened): Promise<string | null> {
  if (given.numPages !== upload.numPages) return "The document has another number of pages.";
  for (let number = 1; number <= upload.numPages; number++) {
    const [before, after] = [await given.getPage(number), await upload.getPage(number)];
    const problem = await pageProblem(before, after);
    if (problem) return `On page ${number} ${problem}`;
    before.cleanup();
    after.cleanup();
  }
  return null;
}

async function pageProblem(before: Page, after: Page): Promise<string | null> {
  const old = await shownOn(before);
  const known = new Set(old.map(keyOf));
  const added = (await shownOn(after)).filter((one) => !known.has(keyOf(one)));
  if (added.length === 0) return null;
  const words = await wordsOn(before);
  const [left = 0, bottom = 0, right = 0, top = 0] = before.view;
  const page = Math.max(1, (right - left) * (top - bottom));
  const share = added.reduce((sum, { box }) => sum + areaOf(box), 0) / page;
  if (share > mostShare.all)
    return `the additions take ${percent(share)} percent of the page: at most ${percent(mostShare.all)}.`;
  for (const one of added) {
    const problem = sizeProblem(one, page, before.userUnit);
    if (problem) return problem;
    const what = one.isSignature ? "the signature" : "an addition";
    const covered = words.find(({ box }) => overlaps(one.box, box));
    if (covered)
      return `${what} covers words of the document: “${covered.text.slice(0, mostQuoted)}”. Put it where nothing is printed.`;
    if (old.some(({ subtype, box }) => subtype === "Widget" && overlaps(one.box, box)))
      return `${what} covers another field. Put it where nothing is.`;
  }
  return null;
}

function sizeProblem({ isSignature, box }: Shown, page: number, unit: number): string | null {
  const [left, bottom, right, top] = box;
  // The coordinates are sorted, because the sides are swapped on a page that is shown rotated.
  const [shorter = 0, longer = 0] = [(right - left) * unit, (top - bottom) * unit].sort((one, other) => one - other);
  const { width, height } = mostSignature;
  if (isSignature && (longer > width + tolerance || shorter > height + tolerance))
    return `the signature is ${Math.round(longer)} by ${Math.round(shorter)} points large: at most ${width} by ${height}.`;
  const share = areaOf(box) / page;
  return share > mostShare.each
    ? `an addition takes ${percent(share)} percent of the page: at most ${percent(mostShare.each)}.`
    : null;
}

/** The visible parts of annotations and fields on a page, on screen or on paper. */
export async function shownOn(page: Page): Promise<Shown[]> {
  const annotations: readonly Readonly<Record<string, unknown>>[] = await page.getAnnotations({ intent: "any" });
  return annotations.flatMap(({ id, subtype, fieldType, rect, annotationFlags }) => {
    const box = boxOf(rect);
    const isHidden = typeof annotationFlags === "number" && (annotationFlags & hiddenFlag) !== 0;
    // Readers open a popup in its own window and never print it.
    if (box === null || isHidden || subtype === "Popup") return [];
    return [{ id: String(id), subtype: String(subtype), isSignature: fieldType === "Sig", box }];
  });
}

function boxOf(rect: unknown): Box | null {
  const [left, bottom, right, top] = Array.isArray(rect) ? rect.map(Number) : [];
  if (left === undefined || bottom === undefined || right === undefined || top === undefined) return null;
  return right > left && top > bottom ? [left, bottom, right, top] : null;
}

const unreadable = "Where the additions show can't be read.";

const keyOf = ({ id, box }: Shown): string => `${id} ${box.join(" ")}`;

/** The runs of text on a page, each with the box of its letters. */
export async function wordsOn(page: Page): Promise<{ readonly text: string; readonly box: Box }[]> {
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

const areaOf = ([left, bottom, right, top]: Box): number => (right - left) * (top - bottom);

export function overlaps(one: Box, other: Box): boolean {
  const across = Math.min(one[2], other[2]) - Math.max(one[0], other[0]);
  const up = Math.min(one[3], other[3]) - Math.max(one[1], other[1]);
  return across > tolerance && up > tolerance;
}

const percent = (share: number): number => Math.round(share * 100);
