/** Which of a person's pages has the person's media connection: the one on which the person acted last. */
import type { Ticket } from "../../../providers/providers.ts";

/** The page of a person that has the media connection, and when the person last acted on it. */
export type Holder = { page: string; actedAt: number };

/** A page that asks for its person's media connection. */
export type AskingPage = {
  /** The name that the page gave itself. */
  page: string;
  /** The time since the person opened the page, or last asked on it for the connection. */
  agoMs: number;
};

/** The answer to a page that asks: a ticket, unless the person acted later on another page, which has the connection. */
export type Connected = Ticket | { isElsewhere: true };

/** @param typed the fields of the page's form @returns null for a page without a name */
export function askingPage({ page, ago = "" }: Partial<Record<string, string>>): AskingPage | null {
  return page ? { page, agoMs: /^\d{1,12}$/.test(ago) ? Number(ago) : 0 } : null;
}

/** Makes the page the holder, unless the person acted later on another page. */
export function hold(holders: Map<string, Holder>, person: string, { page, agoMs }: AskingPage, now: number): void {
  const actedAt = now - agoMs;
  const holder = holders.get(person);
  if (!holder || holder.page === page || actedAt > holder.actedAt) holders.set(person, { page, actedAt });
}
