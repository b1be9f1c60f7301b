import { EvidenceError } from "@signsealship/evidence/errors";
import { evidenceNames, otherPdfs } from "@signsealship/evidence/records";
import { openZip, zipLimits } from "@signsealship/evidence/zip";
import { isExplanation } from "@signsealship/verifier/documents";
import { kindOf, type NamedBytes } from "./files.ts";
import { type FailedOutcome, failed, sentence } from "./outcome.ts";

/**
 * The files, with zips replaced by their files. All zips together may unpack to as many bytes as one zip, so that a few
 * small zips can't fill the memory. Zips in zips are not unpacked.
 * @param failures gets the zips that are refused
 */
export function unpacked(
  files: readonly NamedBytes[],
  failures: FailedOutcome[],
  mostBytes: number = zipLimits.totalBytes,
): NamedBytes[] {
  let left = mostBytes;
  return files.flatMap((file) => {
    if (kindOf(file) !== "zip") return [file];
    try {
      const inside = filesIn(file.bytes, left);
      left -= inside.reduce((sum, { bytes }) => sum + bytes.length, 0);
      const stray = strayPdfs(inside);
      if (stray.length === 0) return inside;
      failures.push(failed(file, `It holds a PDF that is not its sealed.pdf: ${stray.join(", ")}. Do not rely on it.`));
    } catch (error) {
      if (!(error instanceof EvidenceError)) throw error;
      failures.push(failed(file, `${sentence(error.message)} Unpack it, and choose the files inside.`));
    }
    return [];
  });
}

/** @throws EvidenceError for a zip that is refused, or whose files have more than `mostBytes` in total */
function filesIn(bytes: Uint8Array, mostBytes: number): NamedBytes[] {
  const { form, files } = openZip(bytes, mostBytes);
  const named = [...files].map(([name, content]) => ({ name, bytes: content }));
  // A PDF by another name is judged like each PDF, because some programs open it as one.
  return form === "documents" ? named.filter((file) => !isExplanation(file.name) || kindOf(file) === "pdf") : named;
}

/** The PDFs in an evidence zip that a reader could take for its sealed PDF. */
function strayPdfs(inside: readonly NamedBytes[]): string[] {
  const files = new Map(inside.map(({ name, bytes }) => [name, bytes]));
  return files.has(evidenceNames.sealed) || files.has(evidenceNames.record) ? otherPdfs(files) : [];
}
