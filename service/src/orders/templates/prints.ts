import { runOr, type Task, type Workers } from "../../kernel/platform/workers/task.ts";
import type { PagePrint } from "./prints-task.ts";

export type { PagePrint } from "./prints-task.ts";

const task: Task<null, PagePrint[] | null> = {
  name: "recognize a form",
  module: import.meta.resolve("./prints-task.ts"),
  limitMs: 3_000,
};

/** The fingerprints of a document's pages; null when its text can't be read. */
export const printsIn = (workers: Workers, holder: string, bytes: Buffer): Promise<PagePrint[] | null> =>
  runOr(workers, task, { holder, bytes, input: null }, () => null);

const maxStored = 32;
/**
 * The fingerprints to store. Only the smallest hashes of each page are stored, as a random sample of all its hashes.
 */
export const storedPrints = (prints: readonly PagePrint[]): PagePrint[] =>
  prints.map(({ shingles, title, words, ...size }) => ({
    ...size,
    shingles: shingles.slice(0, maxStored),
    ...(title && { title: title.slice(0, 1) }),
    ...(words && { words: words.slice(0, maxStored) }),
  }));

/** `unreadable`: the documents have no words to compare, as with scans. */
export type Likeness = "same_file" | "same_form" | "other" | "unreadable";

/**
 * The fractions of the stored hashes of a form's page that a copy's page must share. `phrases` (the `shingles`) or
 * `words` suffice if the copy also has the form's title. The title is required because different forms of one office
 * share whole clauses.
 *
 * An entry between two labels changes the phrases around it. So a form that has only labels is recognized by its words.
 *
 * `phrasesWithoutTitle` is for a form whose title isn't stored. Measured with the 160 forms of
 * `testing/inputs/office-forms`.
 */
const min = { phrases: 0.6, words: 0.9, phrasesWithoutTitle: 0.8 } as const;
const maxOff = 1;

export type FormPrint = { readonly sha256: string; readonly pages: number; readonly prints: readonly PagePrint[] };

/**
 * Compares a document with a template's form.
 * @param onPages the pages whose words must match, counted from 1; null for all. The sizes of all pages must match.
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
  const [title] = form.prints[0]?.title ?? [];
  if (title !== undefined && !prints[0]?.title?.includes(title)) return "other";
  const isTitled = title !== undefined;
  let read = false;
  for (const [index, page] of form.prints.entries()) {
    const other = prints[index];
    if (!other) return "other";
    if (Math.abs(page.width - other.width) > maxOff || Math.abs(page.height - other.height) > maxOff) return "other";
    if (onPages && !onPages.includes(index + 1)) continue;
    const isEmpty = page.shingles.length === 0 && !(isTitled && page.words?.length);
    if (isEmpty && other.shingles.length > 0) return "other";
    if (isEmpty) continue;
    if (!isSamePage(page, other, isTitled)) return "other";
    read = true;
  }
  return read ? "same_form" : "unreadable";
}

function isSamePage(page: PagePrint, other: PagePrint, isTitled: boolean): boolean {
  const phrases = sharedOf(page.shingles, other.shingles);
  if (!isTitled) return phrases >= min.phrasesWithoutTitle;
  return phrases >= min.phrases || sharedOf(page.words ?? [], other.words ?? []) >= min.words;
}

/**
 * The fraction of the hashes in `sample` (one page's) that are also in `all` (another page's); 0 for an empty sample.
 */
function sharedOf(sample: readonly number[], all: readonly number[]): number {
  const found = new Set(all);
  return sample.filter((shingle) => found.has(shingle)).length / Math.max(sample.length, 1);
}
