/** The lines of a page's text; empty ones are left out. */
export const linesOf = (text: string): string[] =>
  text
    .split("\n")
    .map((line) => line.replace(/\s+/g, " ").trim())
    .filter((line) => line !== "");
