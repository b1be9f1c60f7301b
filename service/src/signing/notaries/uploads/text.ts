import { openWithPdfJs } from "../../../kernel/pdf/pdf-js.ts";

const mostPages = 500;

/**
 * The text of a document as a reader shows it: of its pages, of its annotations and of the values of its fields. What is drawn as a
 * picture is no text.
 * @returns null when pdf.js can't read the document
 */
export async function textOf(bytes: Buffer): Promise<string | null> {
  const { opening } = await openWithPdfJs(bytes);
  try {
    const document = await opening.promise;
    const texts: string[] = [];
    for (let number = 1; number <= Math.min(document.numPages, mostPages); number++) {
      const page = await document.getPage(number);
      for (const item of (await page.getTextContent()).items) if ("str" in item) texts.push(item.str);
      for (const annotation of await page.getAnnotations()) texts.push(...textsIn(annotation));
      page.cleanup();
    }
    return texts.join(" ");
  } catch {
    return null;
  } finally {
    await opening.destroy();
  }
}

function textsIn(annotation: { [name: string]: unknown }): string[] {
  const { fieldValue, contentsObj, textContent, fieldType, alternativeText, rect } = annotation as {
    fieldValue?: unknown;
    contentsObj?: { str?: unknown };
    textContent?: unknown;
    fieldType?: unknown;
    alternativeText?: unknown;
    rect?: unknown;
  };
  // The block of a signature is a drawing, and its words are the field's description: of one that shows.
  const [left = 0, , right = 0] = Array.isArray(rect) ? rect.map(Number) : [];
  const block = fieldType === "Sig" && right > left ? alternativeText : undefined;
  return [fieldValue, contentsObj?.str, textContent, block].flat().filter((each) => typeof each === "string");
}

const plain = (text: string): string =>
  text.normalize("NFKC").toLowerCase().replace(/[‘’]/g, "'").replace(/[‐-―]/g, "-").replace(/\s+/g, "");

/** Whether a text has a sentence in it, however it is broken into lines, spaced and capitalised. */
export const hasSentence = (text: string, sentence: string): boolean => plain(text).includes(plain(sentence));
