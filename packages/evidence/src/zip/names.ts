import { refusal } from "./faults.ts";
import { finderSubject } from "./finder.ts";

/**
 * The kinds of zips. `evidence`: an evidence zip, whose files are in no folder. `documents`: a zip that people get with
 * their documents (docs/evidence-format.md, section 9.4), with everything in one folder.
 */
export type ZipForm = "evidence" | "documents";

/** Names of plain files of the current folder. Windows opens some of them as devices: see `isDeviceName`. */
const PLAIN = /^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$/;

/**
 * A part of a path that all systems interpret as the same name. Excludes characters that a system forbids, white space
 * other than spaces, and characters that change the direction of text. Does not exclude device names of Windows.
 */
const PART = /^(?:[^<>:"/\\|?*\p{Cc}\p{Cf}\p{Z}]| )+$/u;
const EDGES = /^[ .]|[ .]$/;

/** Names that Windows reserves for devices, with any extension. Windows ignores spaces before the extension. */
const DEVICE = /^(?:con|prn|aux|nul|com[\d\u00b9\u00b2\u00b3]|lpt[\d\u00b9\u00b2\u00b3]|conin\$|conout\$) *(?:\.|$)/i;

/** True for a file or folder name that Windows opens as a device, such as `NUL` or `con.pdf`. */
export const isDeviceName = (part: string): boolean => DEVICE.test(part);

/**
 * Decodes the name of a zip entry. Null for characters beyond ASCII without the flag for UTF-8, and for invalid UTF-8.
 */
export function nameIn(bytes: Uint8Array, isUtf8: boolean): string | null {
  // Without the flag for UTF-8, programs decode bytes beyond ASCII in the character set of their system.
  if (!isUtf8 && bytes.some((byte) => byte > 0x7f)) return null;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

export const isNameOf = (form: ZipForm, name: string | null): name is string =>
  name !== null &&
  (form === "evidence" ? PLAIN.test(name) && !isDeviceName(name) : isDocumentPath(name, 2) || isFinderName(name));

function isFinderName(name: string): boolean {
  const subject = finderSubject(name);
  return subject === "" || (subject !== null && isDocumentPath(subject, 1));
}

/**
 * True if a path is FOLDER/FILE or FOLDER/FOLDER/FILE, or one of these folders with a slash at its end. Only Unicode's
 * form NFC is accepted, because some file systems treat two forms of a letter as the same name.
 * @param minParts usually 2; with 1, the top folder's name without a slash is accepted too, because a Finder entry
 * can describe that folder
 */
function isDocumentPath(name: string, minParts: number): boolean {
  const parts = name.split("/");
  const isDeep = parts.length >= minParts && parts.length <= 3;
  if (parts.at(-1) === "") parts.pop();
  return isDeep && name === name.normalize("NFC") && parts.every(isPart);
}

const isPart = (part: string): boolean => PART.test(part) && !EDGES.test(part) && !isDeviceName(part);

/**
 * Asserts that all files are in one folder, and that no file has the same name as a folder. Entries that the Finder of
 * macOS added must describe files in that folder.
 */
export function requireOneFolder(entries: readonly { readonly name: string }[]): void {
  const folderOf = (name: string) => name.slice(0, name.lastIndexOf("/")).toLowerCase();
  const topOf = (path: string) => path.split("/", 1)[0];
  const names = entries.map(({ name }) => name);
  const own = names.filter((name) => finderSubject(name) === null);
  const folders = new Set(own.map(folderOf));
  const [first = ""] = own;
  for (const name of names) {
    const path = finderSubject(name) ?? name;
    if (path !== "" && topOf(path) !== topOf(first)) throw refusal("name");
    if (folders.has(name.toLowerCase())) throw refusal("same-name");
  }
}
