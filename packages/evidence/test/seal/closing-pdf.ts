import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { sealReasons } from "../../src/seal/purpose.ts";
import { appendRevision, bodyOf, bytesOf, latin1, type SignOptions, signPdf } from "./signed-pdf.ts";

/** Seals a document with this /Reason. */
export function sealedFor(reason: string, options: SignOptions, document: Uint8Array): Uint8Array {
  return signPdf(document, { reason, ...options });
}

/** How a file is attached; by default as `manifest.json`, uncompressed, under /Names. */
export type Attachment = {
  readonly name?: string;
  /** The body of the embedded file's object. */
  readonly file?: string;
  /** The value of the catalog's /Names. */
  readonly names?: string;
  readonly objects?: readonly (readonly [number, string])[];
};

/** A PDF with an attached file. */
export function withAttachment(data: Uint8Array, attachment: Attachment = {}): Uint8Array {
  const pdf = latin1(Uint8Array.from(makePdf({ text: "Certificate" })));
  const name = attachment.name ?? "(manifest.json)";
  const file =
    attachment.file ?? `<< /Type /EmbeddedFile /Length ${data.length} >>\nstream\n${latin1(data)}\nendstream`;
  const names = attachment.names ?? `<< /EmbeddedFiles << /Names [${name} 101 0 R] >> >>`;
  const text = appendRevision(pdf, [
    [100, file],
    [101, `<< /Type /Filespec /F ${name} /UF ${name} /EF << /F 100 0 R >> >>`],
    ...(attachment.objects ?? []),
    [1, bodyOf(pdf, 1).replace(/ >>$/, ` /Names ${names} >>`)],
  ]);
  return bytesOf(text);
}

/** Makes a PDF with these files attached, in the order of their names. Without files, it is a plain PDF. */
export function withAttachments(files: Readonly<Record<string, Uint8Array>>): Uint8Array {
  const [first, ...rest] = Object.entries(files).sort(([a], [b]) => (a < b ? -1 : 1));
  if (first === undefined) return Uint8Array.from(makePdf({ text: "Certificate" }));
  const objects = rest.flatMap(([name, bytes], index): [number, string][] => [
    [102 + 2 * index, `<< /Type /EmbeddedFile /Length ${bytes.length} >>\nstream\n${latin1(bytes)}\nendstream`],
    [103 + 2 * index, `<< /Type /Filespec /F (${name}) /UF (${name}) /EF << /F ${102 + 2 * index} 0 R >> >>`],
  ]);
  const names = [first, ...rest].map(([name], index) => `(${name}) ${101 + 2 * index} 0 R`).join(" ");
  const attachment = { name: `(${first[0]})`, names: `<< /EmbeddedFiles << /Names [${names}] >> >>`, objects };
  return withAttachment(first[1], attachment);
}

/** A closing certificate: a PDF with its manifest attached, sealed for this purpose. */
export function closingCertificate(
  manifest: Uint8Array,
  options: SignOptions,
  reason: string = sealReasons.closing.live,
): Uint8Array {
  return sealedFor(reason, options, withAttachment(manifest));
}
