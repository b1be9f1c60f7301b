import { opendir, stat } from "node:fs/promises";
import { join } from "node:path";
import { evidenceNames } from "@signsealship/evidence/records";
import { zipLimits } from "@signsealship/evidence/zip";

/**
 * The smallest part of a folder that is verified separately. It is a file with its `.ots` proof (if there is one), or
 * an unpacked zip of evidence or documents. A file of an unknown kind is listed only if it has a proof.
 */
export type Unit =
  | { readonly type: "file"; readonly path: string; readonly ots: string | null }
  | { readonly type: "evidence" | "documents"; readonly path: string; readonly names: readonly string[] };

const folderLimits = { files: 1_000_000, depth: 32 } as const;

const evidenceFiles: readonly string[] = Object.values(evidenceNames);

/** True if a file's name marks it as evidence. */
export const isEvidenceName = (name: string): boolean => /\.(pdf|json|zip|ots|tst|tsr)$/i.test(name);

/**
 * Lists the units in a folder and its subfolders, sorted by path. Links are not followed.
 *
 * @returns `passedOver` counts each entry that is neither a file nor a folder. It also counts each file that has no
 * `.ots` proof and no name of a kind of evidence
 * @throws Error of the file system; RangeError if the folder exceeds `folderLimits`
 */
export async function unitsOf(root: string): Promise<{ units: Unit[]; passedOver: number }> {
  const units: Unit[] = [];
  let passedOver = 0;
  let seen = 0;
  const walk = async (folder: string, depth: number): Promise<void> => {
    if (depth > folderLimits.depth) throw new RangeError(`folders are nested more than ${folderLimits.depth} deep`);
    const files: string[] = [];
    const folders: string[] = [];
    for await (const entry of await opendir(folder)) {
      if (++seen > folderLimits.files) throw new RangeError(`more than ${folderLimits.files} files`);
      if (entry.isDirectory()) folders.push(entry.name);
      else if (entry.isFile()) files.push(entry.name);
      else passedOver++;
    }
    const names = new Set(files);
    const documents = isUnpackedDocuments(names) ? await filesBelow(folder) : null;
    if (documents) {
      units.push({ type: "documents", path: folder, names: documents });
      return;
    }
    const unpacked = isUnpackedEvidence(names) ? files.filter((name) => evidenceFiles.includes(name)) : [];
    if (unpacked.length > 0) units.push({ type: "evidence", path: folder, names: unpacked });
    for (const name of files.sort()) {
      if (unpacked.includes(name)) continue;
      const ots = `${name}.ots`;
      const about = name.endsWith(".ots") ? name.slice(0, -".ots".length) : "";
      if (!isEvidenceName(name) && !names.has(ots)) passedOver++;
      else if (!names.has(about) || unpacked.includes(about)) {
        units.push({ type: "file", path: join(folder, name), ots: names.has(ots) ? join(folder, ots) : null });
      }
    }
    for (const name of folders.sort()) await walk(join(folder, name), depth + 1);
  };
  await walk(root, 0);
  return { units, passedOver };
}

/** True if the files at the top of a folder are those of a zip of documents (docs/evidence-format.md, section 9.4). */
const isUnpackedDocuments = (names: ReadonlySet<string>): boolean =>
  names.has("contents.json") && names.has("verify.html");

/** The PDFs of a zip of documents and their proofs are at its top, or one folder below. */
const isOfDocuments = (path: string): boolean => /^(?:[^/]+\/)?[^/]+\.pdf(?:\.tlog-proof|\.ots)?$/i.test(path);

/**
 * The files in a folder and its subfolders, by relative path. Null if they are too many or too large to read at once.
 * Also null if some evidence can't be part of a zip of documents. In both cases, the files are verified one by one,
 * without their log proofs.
 */
async function filesBelow(folder: string): Promise<string[] | null> {
  const names: string[] = [];
  const folders = [""];
  let [seen, bytes] = [0, 0];
  for (const below of folders)
    for await (const entry of await opendir(join(folder, below))) {
      // `documentEntries` limits only the files of a zip. Twice that number leaves room for folders.
      if (++seen > 2 * zipLimits.documentEntries) return null;
      const name = `${below}${entry.name}`;
      if (entry.isDirectory()) folders.push(`${name}/`);
      if (!entry.isFile()) continue;
      if (isEvidenceName(name) && !isOfDocuments(name) && name !== "contents.json") return null;
      // If a file was deleted in the meantime, the later attempt to read it fails.
      const found = await stat(join(folder, name)).catch(() => null);
      bytes += found?.size ?? 0;
      if (names.push(name) > zipLimits.documentEntries || bytes > zipLimits.totalBytes) return null;
    }
  return names.sort();
}

function isUnpackedEvidence(names: ReadonlySet<string>): boolean {
  return names.has(evidenceNames.record) || names.has(evidenceNames.token);
}
