import type { PdfFile } from "../file.ts";
import { hasWord, type Span, skipSpace } from "../lexer.ts";
import { spendLexed } from "../limits.ts";
import { resolve } from "../objects.ts";
import { PdfRefusal } from "../refusal.ts";
import { asRef, type Dict, elements, isArray, isDict, readDict } from "../values.ts";

/** A dictionary of a document, and the keys on the path to it. */
export type Reached = {
  readonly dict: Dict;
  readonly isStream: boolean;
  /** The key that led to the dictionary. For a dictionary in an array, it is the key of the array. */
  readonly key: string;
  /** The key that led to the parent dictionary. */
  readonly above: string;
};

/**
 * Yields every dictionary that can be reached from a value, each once.
 * @param skipped is called for an unreadable part, which other readers may repair
 * @throws PdfRefusal `too_complex` when the budget of the file is used up
 */
export function* dictionariesFrom(
  file: PdfFile,
  start: Span,
  skipped: () => void,
): Generator<Reached, void, undefined> {
  const seen = new Set<number>();
  const pending: { value: Span; key: string; above: string }[] = [{ value: start, key: "", above: "" }];
  for (let open = pending.pop(); open; open = pending.pop()) {
    const { key, above } = open;
    const value = follow(open.value);
    if (!value) continue;
    if (isArray(value)) {
      spendLexed(file.budget, value.end - value.start);
      for (const element of readable(() => [...elements(value)]) ?? [])
        if (leads(element)) pending.push({ value: element, key, above });
    } else if (isDict(value)) {
      spendLexed(file.budget, value.end - value.start);
      const dict = readable(() => readDict(value.bytes, value.start));
      if (!dict) continue;
      const after = skipSpace(dict.bytes, dict.end);
      yield { dict, isStream: value.end === dict.end && hasWord(dict.bytes, after, "stream"), key, above };
      for (const [name, entry] of dict.entries) {
        // An empty span marks a key with two different values. Some readers use the first value, others the second.
        if (entry.start === entry.end) skipped();
        else if (leads(entry)) pending.push({ value: entry, key: name, above: key });
      }
    }
  }

  function follow(value: Span): Span | undefined {
    const ref = asRef(value);
    if (!ref) return value;
    if (seen.has(ref.num)) return undefined;
    seen.add(ref.num);
    return readable(() => resolve(file, value));
  }

  function readable<Value>(read: () => Value): Value | undefined {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof PdfRefusal) || error.reason === "too_complex") throw error;
      skipped();
      return undefined;
    }
  }
}

/** True if a value can lead to a dictionary. */
const leads = (value: Span): boolean => isDict(value) || isArray(value) || asRef(value) !== undefined;
