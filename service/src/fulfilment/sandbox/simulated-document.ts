import { createPdfFile } from "@signsealship/certificate/pdf-file";

/**
 * A one-page PDF that stands for a test order's document where that cannot be sealed.
 * @param sha256 of the document it stands for, hex
 */
export function simulatedDocument(sha256: string): Buffer {
  const lines = [
    "Simulated document of a test order",
    "The document that was sent cannot be sealed. Its SHA-256:",
    sha256,
  ];
  const shown = lines.map((line, n) => `1 0 0 1 56 ${720 - 24 * n} Tm (${line}) Tj`).join(" ");
  const file = createPdfFile();
  const font = file.add("<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>");
  const content = file.stream("", `BT /F1 11 Tf ${shown} ET`, { compress: false });
  const pages = file.reserve();
  const resources = `<</Font<</F1 ${font}>>>>`;
  const page = file.add(
    `<</Type/Page/Parent ${pages.ref}/MediaBox[0 0 612 792]/Contents ${content}/Resources${resources}>>`,
  );
  pages.fill(`<</Type/Pages/Kids[${page}]/Count 1>>`);
  const root = file.add(`<</Type/Catalog/Pages ${pages.ref}>>`);
  return file.finish(root, file.add("<</Producer(SignSealShip)>>"));
}
