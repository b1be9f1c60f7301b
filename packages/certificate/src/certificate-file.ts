import { createPdfFile, type PdfFile, pdfDate, pdfText } from "./pdf-file.ts";
import type { Sheets } from "./sheet.ts";
import { srgbProfile } from "./srgb-profile.ts";

/**
 * Data attached to a certificate, JSON by default. Its name and description must not contain a character that needs an
 * escape in a PDF string.
 */
export type Attached = { name: string; description: string; bytes: Uint8Array; media?: string };

export type CertificateFacts = {
  title: string;
  /** The creation date of the file, and the modification date of its attachments. */
  at: Date;
  /** One attachment, or several that the caller has sorted by name. */
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

/**
 * Makes a tagged file conform to PDF/A-3 (ISO 19005-3, level A) and PDF/UA (ISO 14289-1). Adds the color space, and the
 * metadata that declare conformance. Only part 3 of PDF/A allows attachments of any kind.
 * @returns entries to add to the catalog of the PDF
 */
function archivalEntries(file: PdfFile, title: string, at: Date): string {
  const profile = file.stream("/N 3", srgbProfile());
  const intent =
    `<</Type/OutputIntent/S/GTS_PDFA1/OutputConditionIdentifier(sRGB)/Info${pdfText("sRGB IEC61966-2.1")}` +
    `/DestOutputProfile ${profile}>>`;
  const metadata = file.stream("/Type/Metadata/Subtype/XML", Buffer.from(xmp(title, at)), { compress: false });
  return `/Metadata ${metadata}/OutputIntents[${intent}]`;
}

const escapes: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };

/**
 * Escapes a title for XML. Characters that XML can't contain are dropped, which loses nothing: the first page shows the
 * whole title.
 */
const xmlText = (text: string): string =>
  text
    .replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, "")
    .replace(/[&<>]/g, (char) => escapes[char] ?? char);

/**
 * The metadata packet (ISO 16684-1). Its title, date and producer must equal those in the file's information
 * dictionary.
 */
function xmp(title: string, at: Date): string {
  const instant = `${at.toISOString().slice(0, 19)}Z`;
  return `<?xpacket begin="\ufeff" id="W5M0MpCehiHzreSzNTczkc9d"?>
<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
<rdf:Description rdf:about="" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:xmp="http://ns.adobe.com/xap/1.0/"
 xmlns:pdf="http://ns.adobe.com/pdf/1.3/" xmlns:pdfaid="http://www.aiim.org/pdfa/ns/id/"
 xmlns:pdfuaid="http://www.aiim.org/pdfua/ns/id/">
<dc:title><rdf:Alt><rdf:li xml:lang="x-default">${xmlText(title)}</rdf:li></rdf:Alt></dc:title>
<dc:language><rdf:Bag><rdf:li>en-US</rdf:li></rdf:Bag></dc:language>
<xmp:CreateDate>${instant}</xmp:CreateDate>
<pdf:Producer>SignSealShip</pdf:Producer>
<pdfaid:part>3</pdfaid:part><pdfaid:conformance>A</pdfaid:conformance>
<pdfuaid:part>1</pdfuaid:part>
</rdf:Description>${accessibilitySchema}</rdf:RDF></x:xmpmeta>
<?xpacket end="r"?>`;
}

/**
 * Describes the metadata schema of PDF/UA. PDF/A requires such a description of every schema that PDF/A does not
 * predefine.
 */
const accessibilitySchema = `
<rdf:Description rdf:about="" xmlns:pdfaExtension="http://www.aiim.org/pdfa/ns/extension/"
 xmlns:pdfaSchema="http://www.aiim.org/pdfa/ns/schema#" xmlns:pdfaProperty="http://www.aiim.org/pdfa/ns/property#">
<pdfaExtension:schemas><rdf:Bag><rdf:li rdf:parseType="Resource">
<pdfaSchema:schema>PDF/UA identification</pdfaSchema:schema>
<pdfaSchema:namespaceURI>http://www.aiim.org/pdfua/ns/id/</pdfaSchema:namespaceURI>
<pdfaSchema:prefix>pdfuaid</pdfaSchema:prefix>
<pdfaSchema:property><rdf:Seq><rdf:li rdf:parseType="Resource">
<pdfaProperty:name>part</pdfaProperty:name><pdfaProperty:valueType>Integer</pdfaProperty:valueType>
<pdfaProperty:category>internal</pdfaProperty:category>
<pdfaProperty:description>Part of ISO 14289 that the file conforms to</pdfaProperty:description>
</rdf:li></rdf:Seq></pdfaSchema:property>
</rdf:li></rdf:Bag></pdfaExtension:schemas>
</rdf:Description>`;
