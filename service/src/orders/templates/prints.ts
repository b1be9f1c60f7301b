import { type Task, tooCostly, type Workers } from "../../kernel/platform/workers/task.ts";
import type { PagePrint } from "./prints-task.ts";

export type { PagePrint } from "./prints-task.ts";

const task: Task<null, PagePrint[] | null> = {
  name: "recognize a form",
  module: import.meta.resolve("./prints-task.ts"),
  limitMs: 3_000,
};

/** The fingerprints of a document's pages; null when its text can't be read. */
export const printsIn = (workers: Workers, holder: string, bytes: Buffer): Promise<PagePrint[] | null> =>
  workers.run(task, { holder, bytes, input: null }).catch((error) => {
    if (tooCostly(error)) return null;
    throw error;
  });

const mostStored = 32;
/** Keeps the smallest hashes, which are a random sample of all hashes. */
export const storedPrints = (prints: readonly PagePrint[]): PagePrint[] =>
  prints.map((print) => ({ ...print, shingles: print.shingles.slice(0, mostStored) }));

/** `unreadable`: the documents have no words to compare, as with scans. */
export type Likeness = "same_file" | "same_form" | "other" | "unreadable";

/** Different forms share some phrases, so two pages match only if they share at least this fraction of their hashes. */
const leastShared = 0.8;
const mostOff = 1;

export type FormPrint = { readonly sha256: string; readonly pages: number; readonly prints: readonly PagePrint[] };

/**
 * Compares a document with a template's form.
 * @param onPages the pages that must match, counted from 1; null for all
 */
export function likenessOf(
  form: FormPrint,
  document: { sha256: string; pages: number; prints: readonly PagePrint[] | null },
  onPages: readonly number[] | null,
): Likeness {
  if (form.sha256 === document.sha256) return "same_file";
  if (form.pages !== document.pages) return "other";
  if (document.prints === null || document.prints.length === 0) return "unreadable";
  const { prints } = document;
  let read = false;
  for (const [index, page] of form.prints.entries()) {
    const other = prints[index];
    if (!other) return "other";
    if (Math.abs(page.width - other.width) > mostOff || Math.abs(page.height - other.height) > mostOff) return "other";
    if (onPages && !onPages.includes(index + 1)) continue;
    if (page.shingles.length === 0) {
      if (other.shingles.length > 0) return "other";
      continue;
    }
    if (sharedOf(page.shingles, other.shingles) < leastShared) return "other";
    read = true;
  }
  return read ? "same_form" : "unreadable";
}

function sharedOf(sample: readonly number[], all: readonly number[]): number {
  const found = new Set(all);
  return sample.filter((shingle) => found.has(shingle)).length / sample.length;
}
