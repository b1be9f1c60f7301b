import { archivalEntries } from "./pdf-a.ts";
import { createPdfFile, type PdfFile, pdfDate, pdfText } from "./pdf-file.ts";
import type { Sheets } from "./sheet.ts";

/**
 * Data attached to a certificate, JSON by default. Name and description hold no character that PDF strings would
 * escape.
 */
export type Attached = { name: string; description: string; bytes: Uint8Array; media?: string };

export type CertificateFacts = {
  title: string;
  /** The creation and modification date of the file. */
  at: Date;
  /** One attachment, or several in the order of their names. */
  attached: Attached | readonly Attached[];
};

/** Builds an archivable PDF of the drawn pages: tagged, with its data attached (ISO 32000-2 section 14.13). */
export function certificateFile(sheets: Sheets, { title, at, attached }: CertificateFacts): Buffer {
  const file = createPdfFile();
  const date = pdfDate(at);
  const files = [attached].flat().map((each) => ({ name: each.name, ref: attach(file, each, date) }));
  const names = files.map(({ name, ref }) => `(${name})${ref}`).join("");
  const root = file.add(
    `<</Type/Catalog${sheets.addWholeTo(file)}${archivalEntries(file, title, at)}` +
      `/Lang(en-US)/ViewerPreferences<</DisplayDocTitle true>>` +
      `/AF[${files.map(({ ref }) => ref).join(" ")}]/Names<</EmbeddedFiles<</Names[${names}]>>>>>>`,
  );
  const info = file.add(`<</Title${pdfText(title)}/Producer(SignSealShip)/CreationDate${date}>>`);
  return file.finish(root, info);
}

function attach(
  file: PdfFile,
  { name, description, bytes, media = "application/json" }: Attached,
  date: string,
): string {
  const size = `/Params<</Size ${bytes.length}/ModDate${date}>>`;
  const data = file.stream(`/Type/EmbeddedFile/Subtype/${media.replace("/", "#2F")}${size}`, bytes, {
    compress: false,
  });
  return file.add(
    `<</Type/Filespec/F(${name})/UF(${name})/AFRelationship/Data` +
      `/Desc(${description})/EF<</F ${data}/UF ${data}>>>>`,
  );
}
