import { openWithinBounds } from "../../../kernel/pdf/pdf-js.ts";
import {
  type Box,
  type OpenedPdf,
  overlaps,
  type PdfPage,
  type Shown,
  shownOn,
  tolerance,
  wordsOn,
} from "../../../kernel/pdf/shown.ts";

/**
 * The largest size of a notary's signature on a page, in points. A notary's stamp has at most about 2.5 by 2 inches.
 * The limit is wider, because programs write the signer's name and the date next to the picture.
 */
export const maxSignature = { width: 300, height: 150 } as const;
/**
 * The largest share of a page's area that additions may take. `each` is for one addition, such as a certificate across
 * the page's width; `all` is for all additions together.
 */
const maxShare = { each: 0.2, all: 0.25 } as const;
const maxQuoted = 60;

/**
 * Checks where a notary's additions are visible. They must be small, and must not cover words or fields of the original
 * document, because nobody agreed to hide these. Words in pictures are not detected.
 *
 * A reserved field is not an addition, because it is at the same place in both documents.
 * @returns the reason why the additions are rejected; null when they are accepted
 */
export async function placeProblem(original: Buffer, upload: Buffer): Promise<string | null> {
  const [before, after] = [await openWithinBounds(original), await openWithinBounds(upload)];
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

async function problemIn(original: OpenedPdf, upload: OpenedPdf): Promise<string | null> {
  if (original.numPages !== upload.numPages) return "The document has another number of pages.";
  for (let number = 1; number <= upload.numPages; number++) {
    const [before, after] = [await original.getPage(number), await upload.getPage(number)];
    const problem = await pageProblem(before, after);
    if (problem) return `On page ${number} ${problem}`;
    before.cleanup();
    after.cleanup();
  }
  return null;
}

async function pageProblem(before: PdfPage, after: PdfPage): Promise<string | null> {
  const old = await shownOn(before);
  const oldKeys = new Set(old.map(keyOf));
  const added = (await shownOn(after)).filter((one) => !oldKeys.has(keyOf(one)));
  if (added.length === 0) return null;
  const words = await wordsOn(before);
  const [left = 0, bottom = 0, right = 0, top = 0] = before.view;
  const page = Math.max(1, (right - left) * (top - bottom));
  const share = added.reduce((sum, { box }) => sum + areaOf(box), 0) / page;
  if (share > maxShare.all)
    return `the additions take ${percent(share)} percent of the page: at most ${percent(maxShare.all)}.`;
  for (const one of added) {
    const problem = sizeProblem(one, page, before.userUnit);
    if (problem) return problem;
    const what = one.isSignature ? "the signature" : "an addition";
    const covered = words.find(({ box }) => overlaps(one.box, box));
    if (covered)
      return `${what} covers words of the document: “${covered.text.slice(0, maxQuoted)}”. Put it where nothing is printed.`;
    if (old.some(({ subtype, box }) => subtype === "Widget" && overlaps(one.box, box)))
      return `${what} covers another field. Put it where nothing is.`;
  }
  return null;
}

function sizeProblem({ isSignature, box }: Shown, page: number, unit: number): string | null {
  const [left, bottom, right, top] = box;
  // Compares the shorter sides and the longer sides, because width and height are swapped on a page that is shown
  // rotated.
  const [shorter = 0, longer = 0] = [(right - left) * unit, (top - bottom) * unit].sort((one, other) => one - other);
  const { width, height } = maxSignature;
  if (isSignature && (longer > width + tolerance || shorter > height + tolerance))
    return `the signature is ${Math.round(longer)} by ${Math.round(shorter)} points large: at most ${width} by ${height}.`;
  const share = areaOf(box) / page;
  return share > maxShare.each
    ? `an addition takes ${percent(share)} percent of the page: at most ${percent(maxShare.each)}.`
    : null;
}

const unreadable = "Where the additions show can't be read.";

const keyOf = ({ id, box }: Shown): string => `${id} ${box.join(" ")}`;

const areaOf = ([left, bottom, right, top]: Box): number => (right - left) * (top - bottom);

const percent = (share: number): number => Math.round(share * 100);
