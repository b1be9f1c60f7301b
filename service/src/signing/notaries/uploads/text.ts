import { withPdf } from "../../../kernel/pdf/pdf-js.ts";

const maxPages = 500;

/**
 * The text of a document's first 500 pages as readers show it, including annotations and field values. Text in pictures
 * is not included.
 * @param originalSha256 hex SHA-256 of the document that the notary received
 * @returns null when pdf.js can't read the document, or it has too much text
 */
export async function textOf(bytes: Buffer, originalSha256: string): Promise<string | null> {
  return withPdf(bytes, async (document) => {
    const texts: string[] = [];
    for (let number = 1; number <= Math.min(document.numPages, maxPages); number++) {
      const page = await document.getPage(number);
      for (const item of (await page.getTextContent()).items) if ("str" in item) texts.push(item.str);
      for (const annotation of await page.getAnnotations())
        texts.push(...textsIn(annotation, blockName(originalSha256)));
      page.cleanup();
    }
    return texts.join(" ");
  });
}

function textsIn(annotation: { [name: string]: unknown }, ownBlock: string): string[] {
  const { fieldName, fieldValue, contentsObj, textContent, alternativeText, rect } = annotation as {
    fieldName?: unknown;
    fieldValue?: unknown;
    contentsObj?: { str?: unknown };
    textContent?: unknown;
    alternativeText?: unknown;
    rect?: unknown;
  };
  // The notary's block is a field that the service drew. Its description (/TU) repeats the words drawn in it, so it
  // counts as text. Other fields' descriptions don't, because they may contain words that no page shows.
  const [left = 0, , right = 0] = Array.isArray(rect) ? rect.map(Number) : [];
  const block = fieldName === ownBlock && right > left ? alternativeText : undefined;
  return [fieldValue, contentsObj?.str, textContent, block].flat().filter((each) => typeof each === "string");
}

/**
 * The name of the signature field that the service adds for the notary. It contains the document's hash, so no field in
 * the document can have the same name.
 */
export const blockName = (originalSha256: string): string => `SignSealShip-Notary-${originalSha256.slice(0, 32)}`;

const plain = (text: string): string =>
  text.normalize("NFKC").toLowerCase().replace(/[‘’]/g, "'").replace(/[‐-―]/g, "-").replace(/\s+/g, "");

/**
 * True if a text contains a sentence. Line breaks, spacing, case, and the shapes of apostrophes and dashes don't
 * matter.
 */
export const hasSentence = (text: string, sentence: string): boolean => plain(text).includes(plain(sentence));
