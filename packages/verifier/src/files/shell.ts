/** A word of a POSIX shell command; a path that would read as an option is made to begin with `./`. */
export function quoted(word: string): string {
  const safe = word.startsWith("-") ? `./${word}` : word;
  return /^[A-Za-z0-9_./:@%+=,-]+$/.test(safe) ? safe : `'${safe.replaceAll("'", "'\\''")}'`;
}

/** Text without what could move a terminal's cursor or turn its writing direction. */
export function printable(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is taken out
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, "\ufffd");
}
