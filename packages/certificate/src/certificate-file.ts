import type { Manifest } from "@signsealship/evidence/manifest";
import { createPdfFile, pdfDate, pdfText } from "./pdf-file.ts";
import type { Sheets } from "./sheet.ts";

/** The file of the drawn pages, with the manifest attached as `manifest.json` (ISO 32000-2 section 14.13). */
export function certificateFile(sheets: Sheets, manifest: Manifest, manifestBytes: Uint8Array): Buffer {
  const { roomName, version, generatedAtUtc } = manifest.passport;
  const file = createPdfFile();
  const date = pdfDate(new Date(generatedAtUtc));
  const size = `/Params<</Size ${manifestBytes.length}/ModDate${date}>>`;
  const data = file.stream(`/Type/EmbeddedFile/Subtype/application#2Fjson${size}`, manifestBytes, { compress: false });
  const attachment = file.add(
    `<</Type/Filespec/F(manifest.json)/UF(manifest.json)/AFRelationship/Data` +
      `/Desc(Canonical manifest of the Closing Passport)/EF<</F ${data}/UF ${data}>>>>`,
  );
  const pages = sheets.addTo(file);
  const root = file.add(
    `<</Type/Catalog/Pages ${pages}/Lang(en)/ViewerPreferences<</DisplayDocTitle true>>/AF[${attachment}]` +
      `/Names<</EmbeddedFiles<</Names[(manifest.json)${attachment}]>>>>>>`,
  );
  const title = `Closing Passport, version ${version}: ${roomName}`;
  const info = file.add(`<</Title${pdfText(title)}/Producer(SignSealShip)/CreationDate${date}>>`);
  return file.finish(root, info);
}
