/** Decides which of a person's pages has the media connection: the page on which the person acted last. */
import { wholeNumberIn } from "../../../kernel/platform/text.ts";
import type { Ticket } from "../../../providers/providers.ts";

/** The page of a person that has the media connection, and when the person last acted on it. */
export type Holder = { page: string; actedAt: number };

/** A page that requests its person's media connection. */
export type AskingPage = {
  /** The random name that the page chose for itself. */
  page: string;
  /** Milliseconds since the person opened the page, or last requested the connection there. */
  agoMs: number;
};

/**
 * The answer to a page that requests the media connection: a ticket, or `isElsewhere` if the person acted later on
 * another page.
 */
export type Connected = Ticket | { isElsewhere: true };

/**
 * Reads which page requests the media connection, from the fields of the page's form.
 * @returns null for a page without a name
 */
export function askingPage({ page, ago }: Partial<Record<string, string>>): AskingPage | null {
  return page ? { page, agoMs: wholeNumberIn(ago, 0, 999_999_999_999) ?? 0 } : null;
}

/**
 * Makes the page the holder, unless the person acted later on another page.
 * @returns a function that makes the former holder the holder again, for a page that could not be connected
 */
export function hold(
  holders: Map<string, Holder>,
  person: string,
  { page, agoMs }: AskingPage,
  now: number,
): () => void {
  const holder = { page, actedAt: now - agoMs };
  const before = holders.get(person);
  if (!before || before.page === page || holder.actedAt > before.actedAt) holders.set(person, holder);
  return () => {
    if (holders.get(person) !== holder) return;
    if (before) holders.set(person, before);
    else holders.delete(person);
  };
}
