/** Quotes a word for a POSIX shell. A path that looks like an option gets a leading `./`. */
export function quoted(word: string): string {
  const safe = word.startsWith("-") ? `./${word}` : word;
  return /^[A-Za-z0-9_./:@%+=,-]+$/.test(safe) ? safe : `'${safe.replaceAll("'", "'\\''")}'`;
}

/** Replaces characters that could move a terminal's cursor or change its writing direction. */
export function printable(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to remove
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, "\ufffd");
}
