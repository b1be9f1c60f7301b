import { createPdfFile, pdfDate, pdfText } from "./pdf-file.ts";
import type { Sheets } from "./sheet.ts";

export type CertificateFacts = {
  title: string;
  /** What the file's own dates say. */
  at: Date;
  /** JSON that the certificate speaks of; the name without characters that PDF strings would escape. */
  attached: { name: string; description: string; bytes: Uint8Array };
};

/** The file of the drawn pages, with its data attached (ISO 32000-2 section 14.13). */
export function certificateFile(sheets: Sheets, { title, at, attached }: CertificateFacts): Buffer {
  const { name, description, bytes } = attached;
  const file = createPdfFile();
  const date = pdfDate(at);
  const size = `/Params<</Size ${bytes.length}/ModDate${date}>>`;
  const data = file.stream(`/Type/EmbeddedFile/Subtype/application#2Fjson${size}`, bytes, { compress: false });
  const attachment = file.add(
    `<</Type/Filespec/F(${name})/UF(${name})/AFRelationship/Data` +
      `/Desc(${description})/EF<</F ${data}/UF ${data}>>>>`,
  );
  const pages = sheets.addTo(file);
  const root = file.add(
    `<</Type/Catalog/Pages ${pages}/Lang(en)/ViewerPreferences<</DisplayDocTitle true>>/AF[${attachment}]` +
      `/Names<</EmbeddedFiles<</Names[(${name})${attachment}]>>>>>>`,
  );
  const info = file.add(`<</Title${pdfText(title)}/Producer(SignSealShip)/CreationDate${date}>>`);
  return file.finish(root, info);
}
