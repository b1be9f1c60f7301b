import { EvidenceError } from "@signsealship/evidence/errors";
import { evidenceNames, otherPdfs } from "@signsealship/evidence/records";
import { openZip, zipLimits } from "@signsealship/evidence/zip";
import { isExplanation } from "@signsealship/verifier/documents";
import { kindOf, type NamedBytes } from "./files.ts";
import { type FailedOutcome, failed, sentence } from "./outcome.ts";

/**
 * Replaces zips by the files in them. The size limit for one unpacked zip applies to all zips together, so a few zip
 * bombs can't fill the memory. Zips within zips are not unpacked.
 * @param failures gets the rejected zips
 */
export function unpacked(
  files: readonly NamedBytes[],
  failures: FailedOutcome[],
  maxBytes: number = zipLimits.totalBytes,
): NamedBytes[] {
  let left = maxBytes;
  return files.flatMap((file, index) => {
    if (kindOf(file) !== "zip") return [file];
    try {
      const inside = filesIn(file.bytes, left, files.length > 1 ? `${index + 1}/` : "");
      left -= inside.reduce((sum, { bytes }) => sum + bytes.length, 0);
      const stray = strayPdfs(inside);
      if (inside.length === 0) failures.push(failed(file, "It has no PDF and no evidence."));
      if (stray.length === 0) return inside;
      failures.push(failed(file, `It holds a PDF that is not its sealed.pdf: ${stray.join(", ")}. Do not rely on it.`));
    } catch (error) {
      if (!(error instanceof EvidenceError)) throw error;
      failures.push(failed(file, `${sentence(error.message)} Unpack it, and choose the files inside.`));
    }
    return [];
  });
}

/**
 * Unpacks a zip.
 * @param folder put before the names of the files in a zip of documents. Zips of two orders can contain equal names,
 * and each document needs the proof from its own zip
 * @throws EvidenceError for a rejected zip, and for one whose files have more than `maxBytes` in total
 */
function filesIn(bytes: Uint8Array, maxBytes: number, folder: string): NamedBytes[] {
  const { form, files } = openZip(bytes, maxBytes);
  const named = [...files].map(([name, content]) => ({ name, bytes: content }));
  // A PDF with the name of an explanation file is verified like every PDF, because some programs open it as one.
  if (form !== "documents") return named;
  return named
    .filter((file) => !isExplanation(file.name) || kindOf(file) === "pdf")
    .map(({ name, bytes: content }) => ({ name: `${folder}${name}`, bytes: content }));
}

/** The PDFs in an evidence zip that a reader could mistake for its sealed PDF. */
function strayPdfs(inside: readonly NamedBytes[]): string[] {
  const files = new Map(inside.map(({ name, bytes }) => [name, bytes]));
  return files.has(evidenceNames.sealed) || files.has(evidenceNames.record) ? otherPdfs(files) : [];
}
